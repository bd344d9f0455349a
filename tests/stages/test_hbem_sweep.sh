# penstock-hbem-solve --wavenumbers, --frequencies: the resonance of an air bubble in water against its series, as a spectrum
# that is drawn; a sweep that is stopped goes on to the same bits and assembles nothing twice; frequencies have a speed.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field cluster-build mesh-surface

# ---- a bubble of the radius 1 (its volume) about k = sqrt(3 g) c1/c = .0132 ----
clustered ball.hdf ball.h5 --divisions 3 --radius 1.055
solve="penstock-hbem-solve ball.hdf ball.h5"
gas="--speed 1500 --density 1000 --boundary others:fluid:density=1.2,speed=330"
expect 0 "" $solve bubble.hdf --frequencies 2.75Hz:3.75Hz:6 --wavenumber .0134 $gas --direction 0,0,1 --radius 1
expect 0 "" penstock-hbem-field bubble.hdf bubble.h5 --monostatic --quantity target-strength
/usr/bin/python3 - <<'P' || fail "the resonance of a bubble"
import h5py, numpy as np
from sphere_series import far, fluid
f = h5py.File("bubble.h5")
k = 2 * np.pi * f["/trace/axis"][...] / 1500
got, want = f["/trace/real"][...].ravel(), 20 * np.log10([abs(far(x, fluid(x, .0012, x / .22), -1, 3)) for x in k])
print(k, got, want)
assert len(k) == 7 and abs(k[0] - .011519) < 1e-5 and abs(k[3] - .0134) < 1e-9 and want.argmax() == got.argmax() == 2 and want.max() > 37
assert abs(got - want).max() < .5 and np.median(abs(got - want)) < .12
P
if command -v penstock-plot > /dev/null && command -v gnuplot > /dev/null; then
    expect 0 "" penstock-plot spectrum bubble.h5 --output spectrum.svg
    grep -q "target strength" spectrum.svg || fail "no picture of the spectrum"
fi

# ---- stopped and continued ----
long="$solve long.hdf --wavenumbers .4:1.2:5 --direction 0,0,1 --source point:0,.3,2 --force-coarse --epsilon 1e-3"
expect 0 "" ${long/long.hdf/whole.hdf}
ls | grep -q batch && fail "checkpoints are left"
expect 75 "stopped" at rename:3 TERM $long
[ ! -e long.hdf ] || fail "stopped, but complete"
expect 0 "goes on" $long -v
[ "$(grep -c "GB by cores; ready" err)" -le 6 ] || fail "$(grep -c "GB by cores; ready" err) matrices were assembled for what was left"
for layer in double wavenumber residual iterations; do h5diff long.hdf whole.hdf /solutions/$layer || fail "other bits: $layer"; done

# ---- the axis of frequencies ----
expect 0 "" $solve told.hdf --frequencies 0.15kHz,100 --speed 1500 --direction 0,0,1 --force-coarse
expect 0 "" penstock-hbem-field told.hdf told.h5 --monostatic
penstock-inspect told.h5 | grep -q "150" || fail "frequencies"
expect 2 "leave it out" penstock-hbem-field told.hdf no.h5 --monostatic --speed 343
expect 0 "" $solve other.hdf --frequencies 200 --speed 343 --direction 0,0,1 --force-coarse
expect 3 "they make no spectrum" penstock-hbem-field told.hdf other.hdf no.h5 --monostatic
fluid() { # FILE HZ SPEED
    expect 0 "" $solve $1 --frequencies $2 --speed 1500 --density 1000 --boundary others:fluid:density=500,speed=$3 --direction 0,0,1 --force-coarse
}
fluid soft.hdf 100 1000
fluid hard.hdf 200 1200
expect 3 "a fluid_speed of 1000 and 1200: they make no spectrum" penstock-hbem-field soft.hdf hard.hdf no.h5 --monostatic

# ---- a wave number that misses: its own residual is told, not the finer one that a long wave is held to ----
expect 1 "1 of 3 right-hand sides miss" $solve miss.hdf --wavenumbers .0001,.1,3 --direction 0,0,1 --limit 3 --force-coarse
grep -q "wave number 3: .*, 1e-05 is wanted" err || { cat err; fail "which wave number misses what"; }

# ---- refused ----
expect 2 "--speed of the medium is needed" $solve no.hdf --frequencies 1:2:3 --direction 0,0,1
expect 2 "asked for twice" $solve no.hdf --wavenumbers 1:2:3 --wavenumber 1.5 --direction 0,0,1
expect 2 "nor FROM:TO:N" $solve no.hdf --wavenumbers 1:2 --direction 0,0,1
expect 2 "nor FROM:TO:N" $solve no.hdf --wavenumbers 1:2:1 --direction 0,0,1
expect 2 "is not above 0" $solve no.hdf --wavenumbers 0:2:3 --direction 0,0,1
expect 2 "more than 4096" $solve no.hdf --wavenumbers 1:2:4097 --direction 0,0,1
