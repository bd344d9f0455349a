# penstock-hbem-solve: the rigid sphere against the series (numerics guide hbem, 6), iterations, fictitious
# frequencies, far fields, the optical theorem, many waves and wave numbers.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field sphere-exact hmatrix-assemble cluster-build mesh-surface compare
exact=$BUILD/tests-programs/hbem_mie_solution

# of the solutions in two files: relative L2 difference of a layer
difference() {
    penstock-compare "$1" "$2" --tolerance 2 > compared 2> err
    awk -v d="/solutions/$3" 'NF == 1 { s = $1 } s == d && $1 == "relative_l2" { print $2; exit }' compared
}
# assemble CLUSTERS OPERATOR K NAME
assemble() { expect 0 "" penstock-hmatrix-assemble "$1" "$4" --operator "$2" --wavenumber "$3" --force-coarse; }

for n in 8 12; do
    clustered s$n.hdf c$n.h5 --divisions $n
    for o in dlp hyps; do assemble c$n.h5 $o 5 $o$n.h5; done
done

# ---- k = 5: steps and trace errors of the guide ----
solve() { expect 0 "" penstock-hbem-solve "$@"; }
solve s8.hdf dlp8.h5 hyps8.h5 osrc8.hdf --direction 0,0,2 --radius 1
[ "$(figure steps_most)" = 6 ] || fail "osrc, n = 8: $(figure steps_most) steps"
"$exact" s8.hdf mie8.hdf 1 5 0,0,1 || fail sample
within "$(difference osrc8.hdf mie8.hdf double)" .076 .085 "trace error, n = 8"
solve s8.hdf dlp8.h5 hyps8.h5 miller8.hdf --direction 0,0,1 --coupling miller
[ "$(figure steps_most)" = 15 ] || fail "miller, n = 8: $(figure steps_most) steps"
solve s8.hdf dlp8.h5 hyps8.h5 plain8.hdf --direction 0,0,1 --coupling plain
[ "$(figure steps_most)" = 9 ] || fail "plain, n = 8: $(figure steps_most) steps"
solve s12.hdf dlp12.h5 hyps12.h5 osrc12.hdf --direction 0,0,1 --radius 1
[ "$(figure steps_most)" = 5 ] || fail "osrc, n = 12: $(figure steps_most) steps"
"$exact" s12.hdf mie12.hdf 1 5 0,0,1 || fail sample
within "$(difference osrc12.hdf mie12.hdf double)" .0355 .0395 "trace error, n = 12"
expect 0 "" penstock-verify osrc12.hdf

# ---- their far fields: 2.7e-2, 1.0e-2 of the guide's prototype at n = 8, 12; k = 1: 5.9e-3 at n = 12 ----
far() { # SOLUTION LOW HIGH: largest |F - exact| over the largest |exact|
    expect 0 "" penstock-hbem-field "$1.hdf" far.h5 --directions 72 --force
    penstock-sphere-exact exact.h5 -q --force --quantity hard-far --like far.h5 --emitter plane:dir=0,0,1:width=1 || fail exact
    within "$(paste <(trace_complex far.h5) <(trace_complex exact.h5) | awk '{ d = sqrt(($1 - $3)^2 + ($2 - $4)^2); m = sqrt($3^2 + $4^2)
        if (d > off) off = d; if (m > top) top = m } END { print off / top }')" "$2" "$3" "far field of $1"
}
for o in dlp hyps; do assemble c12.h5 $o 1 $o-1.h5; done
solve s12.hdf dlp-1.h5 hyps-1.h5 one.hdf --direction 0,0,1 --radius 1
far osrc8 .024 .030
far osrc12 .0090 .0125
far one .0053 .0065

# ---- two wavenumbers in two files are a spectrum; int |F|^2 = (4 pi/k) Im F(0) on the mesh ----
expect 0 "" penstock-hbem-field osrc12.hdf one.hdf all.h5 --sphere 24x12 --direction 0,0
trace_complex all.h5 | awk -v n=289 '
    { f = NR > n; i = (NR - 1) % n; k = f ? 5 : 1;
      if (i == 0) im[k] = $2
      else { t = (int((i - 1)/12) + .5) * 3.14159265358979/24
             sum[k] += ($1^2 + $2^2) * sin(t) * (3.14159265358979/24) * (2 * 3.14159265358979/12) } }
    END { for (k = 1; k < 6; k += 4) { r = sum[k] / (4 * 3.14159265358979 / k * im[k]); print k, sum[k], r
              if (r < .98 || r > 1.02) bad = 1 } exit bad }' > optical || fail "optical theorem: $(cat optical)"

# ---- dense matrices give the same; 100 waves in lockstep give the bits of one ----
for o in dlp hyps; do
    expect 0 "" penstock-hmatrix-assemble c8.h5 dense-$o.h5 --operator $o --wavenumber 5 --mode dense --force-coarse
done
solve s8.hdf dense-dlp.h5 dense-hyps.h5 dense8.hdf --direction 0,0,1 --radius 1
within "$(difference osrc8.hdf dense8.hdf double)" 0 2e-4 "H-matrix against dense"
awk 'BEGIN { print "0 0 1 # first"; for (i = 1; i < 100; ++i) print cos(i), sin(i), cos(3*i) }' > waves
solve s8.hdf dlp8.h5 hyps8.h5 many.hdf --directions waves --radius 1
[ "$(figure sides)" = 100 ] || fail "sides"
/usr/bin/python3 - <<'P' || fail "waves in lockstep"
import h5py
many, one = h5py.File("many.hdf")["/solutions/double"][0], h5py.File("osrc8.hdf")["/solutions/double"][0]
assert (many == one).all()
P
solve s8.hdf dlp8.h5 hyps8.h5 batches.hdf --directions waves --radius 1 --batch 37
within "$(difference batches.hdf many.hdf double)" 0 0 "batches"
head -12 waves > few
solve s8.hdf dlp8.h5 hyps8.h5 few.hdf --directions few --radius 1
solve s8.hdf dlp8.h5 hyps8.h5 block.hdf --directions few --radius 1 --solver block
[ "$(figure steps_most)" -le 5 ] || fail "block GMRES: $(figure steps_most) steps"
within "$(difference block.hdf few.hdf double)" 0 2e-5 "block GMRES"

# ---- the fictitious frequency; several wave numbers ----
for o in dlp hyps; do assemble c8.h5 $o 3.166 $o-f.h5; done
"$exact" s8.hdf mief.hdf 1 3.166 0,0,1 || fail sample
for c in plain:.18:.22 miller:.035:.041 osrc:.034:.040; do
    IFS=: read -r name low high <<< "$c"
    solve s8.hdf dlp-f.h5 hyps-f.h5 f-$name.hdf --direction 0,0,1 --coupling "$name"
    within "$(difference f-$name.hdf mief.hdf double)" "$low" "$high" "k = 3.166, $name"
done
solve s8.hdf hyps8.h5 dlp-f.h5 dlp8.h5 hyps-f.h5 both.hdf --azimuths 0,90,3
/usr/bin/python3 - <<'P' || fail "two wave numbers"
import h5py, numpy as np
f = h5py.File("both.hdf")
assert list(f["/solutions/wavenumber"]) == [3.166] * 3 + [5] * 3
assert np.allclose(f["/solutions/direction"][1], [.5 ** .5, .5 ** .5, 0])
assert f["/solutions/double"].shape == (6, 2, 258) and f["/VTKHDF/PointData/magnitude"].shape == (258,)
P
