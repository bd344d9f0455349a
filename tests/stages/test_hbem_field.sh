# penstock-hbem-field on exact densities of the rigid sphere: far field, fields at points and 20 km
# away, target strengths, monostatic and bistatic, several incidences and files, threads and ranks,
# Laplace potentials, pictures, what is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-field mesh-surface sphere-exact compare
field=penstock-hbem-field
sample=$BUILD/tests-programs/hbem_mie_solution

same() {
    for part in real imaginary; do
        trace_values "$1" $part > a.txt; trace_values "$2" $part > b.txt
        [ -s a.txt ] && cmp -s a.txt b.txt || fail "$1 and $2 differ"
    done
}
deviation() { penstock-compare "$1" "$2" --norm space-time --measure "${3:-l2}" --tolerance 1 > out 2> err || { cat err; fail "compare $1 $2"; }
              figure "$([ "${3:-l2}" = deviation ] && echo deviation || echo relative_l2)"; }

expect 0 "" penstock-mesh-surface s.hdf --divisions 16
expect 0 "" penstock-mesh-surface t.hdf --divisions 4
directions="0,0,1 1,0,0 0,-0.6,-0.8"
"$sample" s.hdf both.hdf 1 1,5 $directions || fail "sample"
"$sample" s.hdf one.hdf 1 1 0,0,1; "$sample" s.hdf five.hdf 1 5 0,0,1

# ---- against the series ----
expect 0 "" $field both.hdf far.h5 --directions 72 --incidence 0
penstock-sphere-exact exact.h5 --quantity hard-far --like far.h5 --emitter plane:dir=0,0,1:width=1 || fail exact
within "$(deviation far.h5 exact.h5)" 0 0.02 "far field"
within "$(deviation far.h5 exact.h5 deviation)" 1e-4 0.02 "mean deviation of magnitudes"
expect 0 "" $field both.hdf near.h5 --directions 36 --distance 1.5 --incidence 0
penstock-sphere-exact exact.h5 --quantity hard-field --like near.h5 --emitter plane:dir=0,0,1:width=1 --force || fail exact
within "$(deviation near.h5 exact.h5)" 0 0.025 "near field"
# R e^{-ikR} u at 20 km is the far field up to (k a)^2/(2 k R), and TS from both agrees.
expect 0 "" $field both.hdf ts.h5 --directions 72 --incidence 0 --quantity target-strength
expect 0 "" $field both.hdf ts20.h5 --directions 72 --incidence 0 --quantity target-strength --distance 20000
within "$(deviation ts20.h5 ts.h5)" 0 1e-4 "target strength at 20 km"
trace_values ts20.h5 real | sort -g | tail -1 > top
within "$(cat top)" 4.9 5.3 "largest target strength" # 20 log10 1.818 = 5.19

# Phases of places that far away are lost in rounding.
expect 2 "more than the phases" $field both.hdf x.h5 --at 0,0,1e10 --incidence 0
expect 2 "more than the phases" $field both.hdf x.h5 --directions 4 --distance 1e15 --incidence 0
expect 2 "beyond 1e+100 m" $field both.hdf x.h5 --at 0,0,1e160 --incidence 0

# ---- int |F|^2 over all directions is (4 pi/k) Im F(0): 1.01043 at k = 1, 4.09464 at k = 5 ----
expect 0 "" $field both.hdf all.h5 --sphere 40x16 --incidence 0
penstock-sphere-exact exact.h5 --quantity hard-far --like all.h5 --emitter plane:dir=0,0,1:width=1 --force || fail exact
total() {
    trace_values "$1" real > a.txt; trace_values "$1" imaginary > b.txt
    paste a.txt b.txt | awk -v from=$2 'NR > from && NR <= from + 640 {
        t = (int((NR - 1 - from)/16) + .5) * 3.14159265358979/40
        s += ($1^2 + $2^2) * sin(t) * 3.14159265358979/40 * 2 * 3.14159265358979/16 } END { print s }'
}
within "$(total exact.h5 0)" 1.009 1.0115 "cross-section, k = 1"
within "$(total exact.h5 640)" 4.088 4.101 "cross-section, k = 5"
within "$(total all.h5 640)" 3.97 4.2 "cross-section of the mesh, k = 5"

# ---- monostatic: each wave where it comes from ----
expect 0 "" $field both.hdf back.h5 --monostatic
expect 0 "" $field both.hdf bistatic.h5 --direction 180,0 --direction 90,180 --direction 36.8698976458440,90 --incidence all
trace_values back.h5 real > a.txt; trace_values bistatic.h5 real > b.txt
paste a.txt <(awk '{ i = NR - 1; if (int(i % 9 / 3) == i % 3) print }' b.txt) |
    awk '{ if (($1 - $2)^2 > 1e-18) bad = 1 } END { exit bad || NR != 6 }' || fail "monostatic is not bistatic: $(cat a.txt b.txt)"

# ---- several files are a spectrum; threads and ranks do not change bits ----
expect 0 "" $field five.hdf one.hdf files.h5 --directions 72
same files.h5 far.h5
expect 0 "" $field both.hdf again.h5 --directions 72 --incidence 0 --threads 1; same again.h5 far.h5
expect 0 "" mpirun -n 2 $field both.hdf ranks.h5 --directions 72 --incidence 0; same ranks.h5 far.h5
expect 0 "" mpirun -n 2 $field both.hdf ranks.h5 --monostatic --force; same ranks.h5 back.h5
expect 0 "up to date" $field both.hdf again.h5 --directions 72 --incidence 0 --threads 1
expect 0 "time" $field both.hdf --plan --directions 7 --incidence 1
[ "$(figure channels)" = 7 ] || fail "--plan: channels"

# ---- close to the surface: the total field inside vanishes (extinction), pictures ----
expect 0 "lie inside" $field both.hdf cut.h5 --incidence 0 --quantity total --plane '-2,0,-2;4,0,0;0,0,4;21x21' --pictures cut --surface skin
[ -e cut.000001.hdf ] && [ -e skin.hdf.series ] || fail "no pictures"
if command -v gnuplot > /dev/null; then
    for picture in one.hdf skin.000001.hdf; do
        expect 0 "written" penstock-plot surface $picture --width 300 --height 200 --output p.png
    done
    expect 2 "fields are" penstock-plot surface one.hdf --field none --output p.png
fi
grep -q '"time" : 238.7' skin.hdf.series || fail "frequency of a picture: $(cat skin.hdf.series)"
expect 3 "2 of 2 points lie inside the body" $field one.hdf inside.h5 --quantity total --at 0,0,0 --at 0.5,0,-0.5
expect 0 "" $field one.hdf inside.h5 --quantity total --at 0,0,0 --at 0.5,0,-0.5 --allow no-field
trace_values inside.h5 real | awk '{ if ($1^2 > 1e-4) bad = 1 } END { exit bad || NR != 2 }' || fail "inside: $(trace_values inside.h5 real)"

# ---- Laplace: the double layer of 1 is -1 inside and 0 outside, also close by ----
"$sample" s.hdf laplace.hdf || fail "sample"
expect 0 "" $field laplace.hdf solid.h5 --at 0,0,0 --at 0.1,0.2,0.95 --at 0,0,1.01 --at 5,0,0 --allow no-field
trace_values solid.h5 real | awk '{ if (($1 + (NR < 3))^2 > 1e-10) bad = 1 } END { exit bad || NR != 4 }' || fail "solid angles: $(trace_values solid.h5 real)"

# ---- more receivers than are summed at a time: the last of 36,000 directions ----
"$sample" t.hdf coarse.hdf 1 1 0,0,1
expect 0 "" $field coarse.hdf many.h5 --sphere 200x180
expect 0 "" $field coarse.hdf last.h5 --direction 179.55,358
[ "$(trace_values many.h5 real | wc -l)" -eq 36000 ] || fail "36,000 directions"
paste <(trace_values many.h5 real | tail -1) <(trace_values last.h5 real) | awk '{ exit !(($1 - $2)^2 < 1e-16) }' || fail "the last direction"

# ---- refused ----
expect 2 "say --incidence 0 .. 2" $field both.hdf no.h5 --directions 4
expect 2 "from 0 on" $field both.hdf no.h5 --directions 4 --incidence 3
expect 2 "say where" $field both.hdf no.h5 --incidence 0
expect 2 "only points have a total field" $field one.hdf no.h5 --directions 4 --quantity total
expect 2 "a far field is of waves" $field laplace.hdf no.h5 --directions 4
expect 2 "need an incident wave" $field laplace.hdf no.h5 --at 3,0,0 --quantity total
expect 2 "target-strength is of directions" $field one.hdf no.h5 --at 3,0,0 --quantity target-strength
expect 2 "points already" $field one.hdf no.h5 --at 3,0,0 --distance 3
expect 2 "leave out points" $field one.hdf no.h5 --at 3,0,0 --monostatic
expect 2 "--pictures" $field one.hdf no.h5 --at 3,0,0 --pictures x
expect 3 "there twice" $field one.hdf one.hdf no.h5 --directions 4
"$sample" s.hdf side.hdf 1 5 1,0,0
expect 3 "no solution for incidence" $field one.hdf side.hdf no.h5 --directions 4 --incidence 0
expect 3 "another problem" $field one.hdf laplace.hdf no.h5 --directions 4
"$sample" t.hdf other.hdf 1 5 0,0,1
expect 3 "another surface" $field one.hdf other.hdf no.h5 --directions 4
expect 3 "penstock-hbem-solution" $field s.hdf no.h5 --directions 4
expect 4 "host-memory" $field one.hdf no.h5 --directions 4 --host-memory 1M
expect 2 "OUTPUT is missing" $field one.hdf
