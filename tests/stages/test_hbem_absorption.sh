# penstock-hbem-solve --absorption: spheres of all conditions in media that absorb, against their series with a complex wave
# number, at points near and far; a plane beside them; what has no meaning there is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field cluster-build mesh-surface mesh-import

clustered s5.hdf s5.h5 --divisions 5 --radius 1.020099126
rough="--epsilon 1e-3 --rules 1e-3 --radius 1"
cat > series.py <<'P'
import sys, numpy as np
from hbem_trace import close, values
from sphere_series import fluid, rigid, scattered
k, kind = complex(sys.argv[3]), sys.argv[2]
# The fluid inside, g = 1.3, absorbs nothing; Z is 2 - i.
follow = {"rigid": rigid, "soft": None, "impedance": lambda n: -1j * k.real / k / (2 - 1j), "fluid": fluid(k, 1.3, k.real / .8)}[kind]
x = np.array([[float(v) for v in p.split(",")] for p in sys.argv[5:]])
r = np.linalg.norm(x, axis=1)
close(kind, values(sys.argv[1]).ravel(), np.array([scattered(k, follow, a, b[2] / a) for a, b in zip(r, x)]), float(sys.argv[4]))
P
sphere() { # KIND K LOSS LIMIT OPTIONS...
    local kind=$1 k=$2 loss=$3 limit=$4 at= places="0,0,2 0,0,-1.5 1.5,0,0 .75,0,.77 1.05,0,0"
    expect 0 "" penstock-hbem-solve s5.hdf s5.h5 out.hdf --force-coarse $rough --wavenumber $k --absorption ${loss}Np/m --direction 0,0,1 "${@:5}"
    [ "$(awk '$1 == "steps_most" { print $2 }' out)" -le 8 ] || fail "$kind: $(grep steps_most out)"
    for p in $places; do at="$at --at=$p"; done
    expect 0 "" penstock-hbem-field out.hdf out.h5 $at
    /usr/bin/python3 series.py out.h5 $kind $k+${loss}j $limit $places || fail "$kind, k = $k + $loss i"
}
sphere rigid 1 .3 .015
sphere soft 1 .3 .025 --boundary others:soft
sphere soft 1 .3 .025 --boundary others:soft --precision fp32 --skeleton
sphere impedance 1 .3 .015 --boundary others:impedance:2,-1
sphere fluid 1 .3 .008 --density 1 --speed 1 --boundary others:fluid:density=1.3,speed=.8
sphere rigid 3 .5 .1
cp out.hdf loud.hdf
# The medium of a fluid of the same speed absorbs, the fluid does not: their matrices are not the same.
expect 0 "" penstock-hbem-solve s5.hdf s5.h5 fluid.hdf --force-coarse $rough --wavenumber 1 --absorption .3Np/m --direction 0,0,1 \
    --density 1 --speed 1 --boundary others:fluid:density=1,speed=1
expect 0 "" penstock-hbem-field fluid.hdf fluid.h5 --at 0,0,-1.5
awk -v v="$(/usr/bin/python3 -c 'from hbem_trace import values; print(abs(values("fluid.h5")[0, 0]))')" \
    'BEGIN { exit !(v > .01) }' || fail "a body without absorption in a medium that absorbs scatters"

# ---- dB are 20 log10; the incident field falls off; a source beside a plane ----
same="--force-coarse $rough --wavenumber 1 --source point:0,.3,2.5"
expect 0 "" penstock-hbem-solve s5.hdf s5.h5 a.hdf $same --absorption 1.7371779276dB/m
expect 0 "" penstock-hbem-solve s5.hdf s5.h5 b.hdf $same --absorption .2Np/m
h5diff -p 1e-8 a.hdf b.hdf /solutions/double || fail "decibels"
expect 0 "" penstock-hbem-solve s5.hdf s5.h5 m.hdf $same --absorption .2Np/m --mirror z=-5:soft
for name in b m; do
    for quantity in scattered total; do
        expect 0 "" penstock-hbem-field $name.hdf $name.$quantity --at 0,2,-4.5 --quantity $quantity
    done
done
/usr/bin/python3 - <<'P' || fail "the incident field"
import numpy as np
from hbem_trace import values
def value(name): return values(name)[0, 0]
def g(x, y):
    r = np.linalg.norm(np.subtract(x, y))
    return np.exp((1j - .2) * r) / (4 * np.pi * r)
x = (0, 2, -4.5)
assert abs(value("b.total") - value("b.scattered") - g(x, (0, .3, 2.5))) < 1e-12
assert abs(value("m.total") - value("m.scattered") - g(x, (0, .3, 2.5)) + g(x, (0, .3, -12.5))) < 1e-12
P

# ---- refused ----
expect 2 "far fields and target strengths" penstock-hbem-field loud.hdf no.h5 --direction 0,0
expect 2 "far fields and target strengths" penstock-hbem-field loud.hdf no.h5 --direction 0,0 --distance 5 --quantity target-strength
expect 0 "" penstock-hbem-field loud.hdf distance.h5 --direction 0,0 --distance 5
solve="penstock-hbem-solve s5.hdf s5.h5 no.hdf --direction 0,0,1"
expect 2 "is no number with dB/m" $solve --wavenumber 1 --absorption .1
expect 2 "that is no wave" $solve --wavenumber 1 --absorption 2Np/m
expect 2 "go with --problem hard" penstock-hbem-solve s5.hdf s5.h5 no.hdf --problem dirichlet --data value:1 --absorption 1dB/m
expect 0 "" penstock-hbem-solve s5.hdf s5.h5 plain.hdf $same
expect 3 "absorb differently" penstock-hbem-field b.hdf plain.hdf no.h5 --at 0,0,3
