# penstock-hbem-solve on bodies that scatter little of what comes in: waves 1e5 times as long as a rigid or a fluid sphere, fluids that
# are nearly the medium, against Rayleigh's formulas; a body whose entries hide what it scatters is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field cluster-build mesh-surface mesh-import
export OMP_NUM_THREADS=2

# far NAME FORMULA: the largest error of F at 0, 90 and 180 degrees over the largest value; FORMULA is of c, the cosine.
far() {
    expect 0 "" penstock-hbem-field "$1.hdf" "$1.h5" --force --direction 0,0 --direction 90,0 --direction 180,0
    python3 - "$1.h5" "$2" <<'P2'
import sys
from hbem_trace import off_by, values
print(off_by(values(sys.argv[1]).ravel(), [eval(sys.argv[2], {"c": c}) for c in (1, 0, -1)]))
P2
}
solve() { # NAME MESH OPTIONS...
    expect 0 "" penstock-hbem-solve "$2.hdf" "$2.c.h5" "$1.hdf" --device cpu --force --force-coarse --direction 0,0,1 "${@:3}"
}
# 102 corners, the volume of the unit ball.
clustered s.hdf s.c.h5 --divisions 5 --radius 1.020099126

# F = k^2 (c/2 - 1/3): at the tolerance that is asked alone p was u_inc, and F 20 % off.
for k in 1e-4 1e-5; do
    solve rigid s --wavenumber $k
    within "$(far rigid "$k**2 * (c / 2 - 1 / 3)")" 0 .01 "rigid sphere, kR $k"
done
# F = k^2 ((kappa - 1)/3 + c (g - 1)/(2 g + 1)), kappa = 1/(g c1^2).
medium="--density 1 --speed 1"
for k in 1e-5; do
    solve fluid s --wavenumber $k $medium --boundary others:fluid:density=2,speed=1.5
    within "$(far fluid "$k**2 * ((1 / 4.5 - 1) / 3 + c / 5)")" 0 .01 "fluid sphere, kR $k"
done
# Nearly the medium: proportional to the contrast, as Born has it. A residual of 1e-5 let it be anything.
for d in 1e-3 1e-7; do
    solve weak$d s --wavenumber 1 $medium --boundary "others:fluid:density=1,speed=$(awk -v d=$d 'BEGIN { printf "%.9f", 1 + d }')"
    far weak$d c > /dev/null
done
python3 - <<'P2' || fail "scattering is not proportional to a small contrast"
from hbem_trace import values
a, b = values("weak1e-3.h5")[0, 0] / 1e-3, values("weak1e-7.h5")[0, 0] / 1e-7
assert abs(a - b) < .01 * abs(b) and abs(b) > .1, (a, b)
P2
# The medium itself scatters nothing.
solve alike s --wavenumber 1 $medium --boundary others:fluid:density=1,speed=1
within "$(far alike "1")" .999999 1.000001 "a fluid that is the medium"

# A wedge of 10 degrees: entries to 1e-4 change a constant pressure by 1e-6, which is heard as much as the wedge is at kR 1e-6.
tool="${SHARED:-}/tools/ugly-meshes"
[ -x "$tool" ] || { echo "no ugly-meshes: the wedge was left out"; exit 0; }
"$tool" wedge 10 3 > w.off || fail "ugly-meshes"
clustered w.hdf w.c.h5 w.off
expect 3 "finer --epsilon" penstock-hbem-solve w.hdf w.c.h5 x.hdf --device cpu --direction 0,.6,.8 --wavenumber 1e-6
[ ! -e x.hdf ] || fail "x.hdf was left"
expect 0 "what it scatters" penstock-hbem-solve w.hdf w.c.h5 x.hdf --device cpu --direction 0,.6,.8 --wavenumber 1e-6 --allow long-waves
expect 0 "" penstock-hbem-solve w.hdf w.c.h5 y.hdf --device cpu --direction 0,.6,.8 --wavenumber 1e-3
