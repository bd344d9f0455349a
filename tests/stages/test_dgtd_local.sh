# Local time steps: a cube whose cells are five times smaller in the middle, from mesh to fields.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-import mesh-partition dgtd-setup dgtd-march compare inspect plot
export OMP_NUM_THREADS=1
figure() { awk -v s="${2:+$1}" -v n="${2:-$1}" '/^[^ ]/ && NF == 1 { at = $1 } /^[^ ]/ && NF > 1 { at = "" }
    at == s && $1 == n { print $2; exit }' out; }

# 6 x 6 x 6 cells of six tetrahedra; 0.1 m; those in the middle third are of group 2
awk 'BEGIN { n = 6; m = n + 1; print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes"; print m * m * m
    for (v = 0; v < m * m * m; ++v) { line = v + 1; r = v
        for (c = far = 0; c < 3; ++c) { u[c] = 2 * (r % m) / n - 1; r = int(r / m); if (u[c] ^ 2 > .2) far = 1 }
        for (c = 0; c < 3; ++c) line = line " " .05 * (far ? 1 : .2) * u[c]
        print line }
    print "$EndNodes\n$Elements"; print 6 * n * n * n
    split("0 1 2 0 2 1 1 0 2 1 2 0 2 0 1 2 1 0", o, " "); step[0] = 1; step[1] = m; step[2] = m * m
    for (z = 0; z < n; ++z) for (y = 0; y < n; ++y) for (x = 0; x < n; ++x) for (k = 0; k < 6; ++k) {
        v = x + m * y + m * m * z + 1
        inner = x > 1 && x < 4 && y > 1 && y < 4 && z > 1 && z < 4 ? 2 : 1
        line = ++e " 4 2 " inner " " inner " " v
        for (i = 1; i < 4; ++i) { v += step[o[3 * k + i]]; line = line " " v }
        print line }
    print "$EndElements" }' > cube.msh
expect 0 "" penstock-mesh-import -q cube.msh cube.hdf --kind volume --orient
expect 0 "" penstock-mesh-partition -q cube.hdf cube.h5 --parts 2
setup() { # OUTPUT OPTION...
    expect 0 "" penstock-dgtd-setup -q cube.h5 "$@" --material 1:eps=1 --material 2:eps=2,sigma=.05,rho=1000
}
pulse="shape=gaussian:width=.15ns:frequency=1e9"
current="--boundary outer:absorbing --source current:at=0,0,.02:axis=0,0,1:radius=.03:moment=1e-12:$pulse"

# ---- classes ----
setup local.h5 --order 1 $current --local-steps auto
[ "$(figure local_steps levels)" -ge 2 ] || fail "too few levels"
within "$(figure local_steps updates_saved)" 1.3 10 "updates that are saved"
within "$(figure local_steps bound)" .1 .985 "largest eigenvalue"
[ "$(($(figure class_0 elements) + $(figure class_1 elements) + $(figure class_2 elements)))" -le 1296 ] || fail "classes"
saved=$(figure local_steps updates_saved) dt=$(figure time_step dt) limit=$(figure time_step limit_rule)
setup one.h5 --order 1 $current
within "$(awk "BEGIN { print $dt / $(figure time_step dt) }")" 2 20 "the step, against one for all"
expect 0 "local_levels" penstock-inspect local.h5
if command -v gnuplot > /dev/null; then
    expect 0 "" penstock-plot classes local.h5 --output classes.svg
    grep -q "1296 elements" classes.svg && grep -q "1: .* ps" classes.svg || fail "the picture of the classes"
    expect 2 "one step for all" penstock-plot classes one.h5 --output no.svg
fi
expect 2 "a number of levels" penstock-dgtd-setup cube.h5 no.h5 --material default:eps=1 $current --local-steps 9
expect 2 "centred flux" penstock-dgtd-setup cube.h5 no.h5 --material default:eps=1 $current --local-steps 2 --flux upwind

# ---- the march: balance to rounding, as one step for all, ranks, restart ----
go="--time 2ns --precision fp64 --probe .011,.007,.004 --energy-every 1 --balance"
expect 0 "" penstock-dgtd-march local.h5 local.run.h5 $go
within "$(awk "BEGIN { print 1296 / (.9 * $limit) * $dt / $(figure run updates_a_step) / $saved }")" .9999 1.0001 "updates"
trace_values local.run.h5 real | awk '{ v[NR - 1] = $1 } END { for (i = 0; i < NR; ++i) { a = v[i] < 0 ? -v[i] : v[i]
    if (i % 7 < 6 && a > most) most = a; if (i % 7 == 6 && a > off) off = a }
    if (!(most > 0) || off > 1e-12 * most) { print "balance off by", off, "of", most; exit 1 } }' || fail "balance"
expect 0 "" penstock-dgtd-march -q one.h5 one.run.h5 --time 2ns --precision fp64 --energy-every 1000000 --balance
lost() { trace_values "$1" real | tail -n 7 | sed -n "$2p"; }
for term in 4 5 6; do # conducted, lost, supplied
    within "$(awk "BEGIN { print $(lost local.run.h5 $term) / $(lost one.run.h5 $term) }")" .97 1.03 "term $term against one step"
done
expect 75 "" penstock-dgtd-march -q local.h5 again.run.h5 $go --checkpoint-every 20steps --stop-after 0.01
expect 0 "" penstock-dgtd-march -q local.h5 again.run.h5 $go
expect 0 "" penstock-compare local.run.h5 again.run.h5 --tolerance 0
expect 0 "" penstock-compare local.run.electric.h5 again.run.electric.h5 --tolerance 0
if command -v mpirun > /dev/null; then
    expect 0 "" mpirun -n 2 penstock-dgtd-march -q local.h5 two.run.h5 $go
    expect 0 "" penstock-compare local.run.electric.h5 two.run.electric.h5 --tolerance 1e-10 --no-attributes
    # Parts of as many updates: all of the small elements lie in one part, so nothing of theirs is exchanged.
    expect 0 "" penstock-mesh-partition -q cube.hdf even.h5 --parts 2 --updates local.h5
    within "$(figure imbalance)" 1 1.05 "updates of the larger part over the mean"
    expect 2 "give one of them" penstock-mesh-partition cube.hdf no.h5 --parts 2 --updates local.h5 --weight 1:2
    expect 2 "one step for all elements" penstock-mesh-partition cube.hdf no.h5 --parts 2 --updates one.h5
    expect 0 "" penstock-dgtd-setup -q even.h5 even-m.h5 --order 1 $current --local-steps auto --material 1:eps=1 --material 2:eps=2,sigma=.05,rho=1000
    expect 0 "" mpirun -n 2 penstock-dgtd-march -q even-m.h5 even.run.h5 $go
    expect 0 "" penstock-compare local.run.electric.h5 even.run.electric.h5 --tolerance 1e-10 --no-attributes
fi
expect 0 "" penstock-dgtd-march local.h5 file.run.h5 $go --state file --visit-steps 3 # parts, each sorted by itself
expect 0 "" penstock-compare local.run.h5 file.run.h5 --tolerance 0
expect 0 "" penstock-compare local.run.electric.h5 file.run.electric.h5 --tolerance 0
# ---- parts of as many updates, one of which makes all half steps of the classes while the other waits ----
expect 0 "" penstock-mesh-box -q bar.hdf --cells 24,3,3 --size 8,1,1 --region 2:box:0,0,0,.9,1,1
expect 0 "" penstock-mesh-partition -q bar.hdf bar.h5
bar="--order 1 --boundary outer:pec --material 1:eps=20 --material 2:eps=1 --local-steps auto --source mode:n=1,1,1:amplitude=0,1,-1"
expect 0 "" penstock-dgtd-setup -q bar.h5 bar-m.h5 $bar
expect 0 "" penstock-dgtd-march bar-m.h5 bar.run.h5 --steps 3
updates=$(figure run updates_a_step)
expect 0 "" penstock-mesh-partition -q bar.hdf bar.h5 --force --parts 2 --updates bar-m.h5
even=$(figure imbalance) most=$(figure elements_max)
expect 0 "" penstock-dgtd-setup -q bar.h5 bar-m.h5 --force $bar
expect 0 "" penstock-inspect bar-m.h5
within "$(figure updates_imbalance)" "$even" "$even" "updates of the larger part, as they were cut"
within "$(awk "BEGIN { print $(figure makespan_imbalance) / (2 - 2 * (1296 - $most) / $updates) }")" .99999 1.00001 "makespan"
