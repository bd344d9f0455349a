# penstock-hbem-solve --boundary, --source: spheres against their series (numerics guide hbem-real, 4), at resonances
# of the inside too; reciprocity of a body of two kinds; matrices in files; what is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field hmatrix-assemble cluster-build mesh-surface mesh-import
pi=3.141592653589793

# far NAME LIMIT WANTED..: largest error of F at 0, 90, 180 degrees, over the largest value.
far() {
    local name=$1 limit=$2 error
    shift 2
    expect 0 "" penstock-hbem-field "$name.hdf" "$name.h5" --direction 0,0 --direction 90,0 --direction 180,0
    error=$(/usr/bin/python3 - "$name.h5" "$@" <<'P'
import sys, numpy as np
from hbem_trace import off_by, values
w = np.array([float(x) for x in sys.argv[2:]])
print(off_by(values(sys.argv[1]).ravel(), w[0::2] + 1j * w[1::2]))
P
)
    within "$error" 0 "$limit" "$name"
}
# units_are FILE UNITS
units_are() { penstock-inspect "$1" | grep -q "value_units  *$2\$" || { penstock-inspect "$1"; fail "$1 is not in $2"; }; }
rough="--epsilon 1e-3 --rules 1e-3"
solve() { # NAME MESH CLUSTERS STEPS OPTIONS...: --radius 1
    expect 0 "" penstock-hbem-solve "$2" $3 "$1.hdf" --radius 1 --force-coarse $rough "${@:5}"
    [ "$(figure steps_most)" -le "$4" ] || fail "$1: $(figure steps_most) steps"
}
# reciprocal NAME A B: what the second source, at B, sends to A is what the first, at A, sends to B.
reciprocal() {
    local at
    for at in "$2" "$3"; do expect 0 "" penstock-hbem-field "$1.hdf" "$1$at.h5" --incidence all --at="$at"; done
    /usr/bin/python3 - "$1$2.h5" "$1$3.h5" <<'P' || fail "reciprocity of $1"
import sys
from hbem_trace import values
a, b = values(sys.argv[1])[0, 1], values(sys.argv[2])[0, 0]
assert abs(a - b) < .02 * abs(a), (a, b)
P
}
# 102 corners about a sphere of the same volume, so that what the corners cut off does not show.
clustered s5.hdf c5.h5 --divisions 5 --radius 1.020099126
wave="--direction 0,0,1"
medium="--density 1 --speed 1"

# ---- soft and impedance spheres; order 2 ----
soft1="-1.16875307 .845609462 -.411671732 .707333352 .0872656215 .573497643"
solve soft5 s5.hdf c5.h5 7 --wavenumber 1 $wave --boundary others:soft
far soft5 .003 $soft1
solve softp s5.hdf c5.h5 7 --wavenumber $pi $wave --boundary others:soft
# Waves so long that the sphere is in a static field: F = -R, which errors of K' over k took away.
solve softlong s5.hdf c5.h5 6 --wavenumber 1e-6 $wave --boundary others:soft
far softlong .01 -1 0 -1 0 -1 0
solve imp5 s5.hdf c5.h5 8 --wavenumber 1 $wave --boundary others:impedance:1
far imp5 .02 -.0917112818 .792962526 -.194853072 .335316755 -.173624632 .0244023246

# ---- pulsating, oscillating, and driven impedance of order 2: q = i k rho c v ----
# turned K RE IM: i K (RE + i IM)
turned() { awk -v k="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%.9g %.9g ", -k * b, k * a }'; }
"$BUILD/tests-programs/field_sample" s5.hdf p2.hdf legendre || fail field_sample
for k in 1 $pi; do
    case $k in
    1) pulse="-.690886645 .150584339" two=".0913011006 .0357700105" ;;
    *) pulse=".0919996683 .289025482" swing=".194649302 .243795612" two=".141144933 .0571122855" ;;
    esac
    solve pulse s5.hdf c5.h5 6 --wavenumber $k $medium --boundary others:velocity:1
    far pulse .03 $(turned $k $pulse) $(turned $k $pulse) $(turned $k $pulse)
    units_are pulse.h5 "Pa m"
    [ $k = 1 ] || solve swing s5.hdf c5.h5 6 --wavenumber $k $medium --boundary others:velocity:0,0,1
    [ $k = 1 ] || far swing .06 $(turned $k $swing) 0 0 $(turned $k $swing | awk '{ print -$1, -$2 }')
    solve two s5.hdf c5.h5 9 --wavenumber $k $medium --boundary others:impedance:1 \
        --boundary others:velocity:file:p2.hdf:legendre
    far two .13 $(turned $k $two) $(turned $k $two | awk '{ print -$1 / 2, -$2 / 2 }') $(turned $k $two)
done

# ---- fluids: weakly scattering, gas, of the same speed ----
fluid() { # NAME STEPS DENSITY SPEED LIMIT WANTED..
    solve $1 s5.hdf c5.h5 "$2" --wavenumber 1 $wave $medium --boundary others:fluid:density=$3,speed=$4
    far $1 "${@:5}"
}
fluid weak 4 1.043 1.052 .002 -.029740091 .00120566599 -.0352478631 .00120088364 -.0370741806 .00119700395
fluid gas 14 .0012 .22 .009 -1.16726673 .850280668 -.409431907 .712005231 .0898323342 .584178915
fluid dense 5 1.2 1 .004 $(/usr/bin/python3 - <<'P'
from sphere_series import far, fluid
for c in 1, 0, -1:
    f = far(1, fluid(1, 1.2, 1), c, 8)
    print(f.real, f.imag)
P
)

# ---- sources far away are plane waves; a dipole is the difference of two ----
solve far s5.hdf c5.h5 8 --wavenumber 1 $wave --source point:0,0,-5000 --source dipole:0,0,-5000,0,0,1 \
    --source point:0,.3,2 --source point:0,.3,2.001 --source dipole:0,.3,2.0005,0,0,1
expect 0 "other units each" penstock-hbem-field far.hdf far.h5 --incidence all --at 0,1,2.5
units_are far.h5 mixed
expect 0 "" penstock-hbem-field far.hdf source.h5 --incidence 1 --at 0,1,2.5; units_are source.h5 1/m
expect 0 "" penstock-hbem-field far.hdf source.h5 --incidence 2 --direction 0,0; units_are source.h5 1/m
expect 0 "" penstock-hbem-field far.hdf source.h5 --incidence 0 --direction 0,0; units_are source.h5 m
expect 0 "" penstock-hbem-field far.hdf total.h5 --incidence all --at 0,1,2.5 --quantity total
/usr/bin/python3 - <<'P' || fail "sources"
import numpy as np
from hbem_trace import values
v, all = values("far.h5").ravel(), values("total.h5").ravel()
unit = 4 * np.pi * 5000 / np.exp(5000j)
assert abs(v[1] * unit / v[0] - 1) < 1e-3, v[1] * unit / v[0]
assert abs(v[2] * unit / v[0] + 1j) < 1e-3, v[2] * unit / v[0]   # -ik e^{ikr}: with respect to the source
assert abs((v[4] - v[3]) / .001 / v[5] - 1) < 1e-3
r = np.hypot(.7, .5)
assert abs(all[3] - v[3] - np.exp(1j * r) / (4 * np.pi * r)) < 1e-12
P

# ---- a soft cube has edges where q jumps, a rigid one nothing that could ----
clustered cube.hdf cube.h5 --shape cube --divisions 3
expect 0 "jumps at 36 edges" penstock-hbem-solve cube.hdf cube.h5 cube-q.hdf --wavenumber 1 $wave --boundary others:soft
expect 0 "" penstock-hbem-solve cube.hdf cube.h5 cube-p.hdf --wavenumber 1 $wave
! grep -q "jumps at" out err || fail "a rigid body has no unknown normal derivative"

# ---- a sphere half soft, a quarter lined, the rest rigid: sources and receivers may change places ----
/usr/bin/python3 - <<'P' || fail "a mesh of groups"
from hbem_trace import surface, write_msh
x, t = surface("s5.hdf")
write_msh("hand.msh", x, t, [1 if c[2] > 0 else 2 if c[0] > 0 else 3 for c in x[t].mean(1)])
P
clustered hand.hdf ch.h5 hand.msh --orient
kinds="--boundary 1:soft --boundary 2:impedance:2,-1 --boundary others:rigid"
solve half hand.hdf ch.h5 14 --wavenumber 2 $kinds --source point:.5,.3,1.6 --source point:-.9,.8,-1.2
reciprocal half .5,.3,1.6 -.9,.8,-1.2

# ---- a deep pit: reciprocity of a source in it and one outside ----
if [ -x "$SHARED/tools/ugly-meshes" ]; then
    "$SHARED/tools/ugly-meshes" pit .75 8 > pit.off
    clustered pit.hdf pit.h5 pit.off
    expect 0 "" penstock-hbem-solve pit.hdf pit.h5 deep.hdf --force-coarse --wavenumber 4 $rough --source point:.5,.5,.5 --source point:1.5,.3,1.4
    [ "$(figure steps_most)" -le 13 ] || fail "a pit: $(figure steps_most) steps"
    reciprocal deep .5,.5,.5 1.5,.3,1.4
fi

# ---- two fluid bodies and a rigid one: likewise ----
three() { # SHIFT OF THE THIRD, ITS SIZE
    /usr/bin/python3 - "$@" <<'P' || fail "a mesh of three bodies"
import sys, numpy as np
from hbem_trace import surface, write_msh
x, t = surface("s3.hdf")
shift, size = float(sys.argv[1]), float(sys.argv[2])
write_msh("hand.msh", np.concatenate([x, x + (2.6, 0, 0), x * size + (0, shift, 0)]),
          np.concatenate([t, t + len(x), t + 2 * len(x)]), np.repeat((1, 2, 3), len(t)))
P
    clustered hand.hdf cb.h5 hand.msh --orient
}
expect 0 "" penstock-mesh-surface s3.hdf --divisions 3
mv hand.hdf half-mesh.hdf
three 2.6 1
bodies="$medium --boundary 1:fluid:density=1.5,speed=.8 --boundary 2:fluid:density=1.5,speed=.8 --boundary 3:rigid"
solve bodies hand.hdf cb.h5 12 --wavenumber 1 $bodies --source point:1.3,1.3,.4 --source point:-1.5,-.2,1
reciprocal bodies 1.3,1.3,.4 -1.5,-.2,1
expect 3 "bodies that touch others" penstock-hbem-solve half-mesh.hdf ch.h5 no.hdf --wavenumber 1 $wave $medium \
    --boundary 1:fluid:density=2,speed=1 --boundary others:rigid
expect 2 "two fluids" penstock-hbem-solve hand.hdf cb.h5 no.hdf --wavenumber 1 $wave $medium \
    --boundary 1:fluid:density=2,speed=1 --boundary others:fluid:density=3,speed=1
expect 2 "density (kg/m^3) and speed" penstock-hbem-solve hand.hdf cb.h5 no.hdf --wavenumber 1 $wave $medium --boundary others:fluid:speed=1
expect 2 "a fluid body needs" penstock-hbem-solve hand.hdf cb.h5 no.hdf --wavenumber 1 $wave --boundary others:fluid:density=1,speed=1
expect 3 "inside of the fluid, k = 20" penstock-hbem-solve hand.hdf cb.h5 no.hdf --wavenumber 1 $wave $medium --boundary others:fluid:density=2,speed=.05
three 0 .4
expect 3 "lies inside of another one" penstock-hbem-solve hand.hdf cb.h5 no.hdf --wavenumber 1 --force-coarse $wave $bodies --plan
mv half-mesh.hdf hand.hdf

# ---- matrices in files, streamed: the same bits ----
files=
for o in slp dlp adlp hyps; do
    expect 0 "" penstock-hmatrix-assemble ch.h5 $o.h5 --operator $o --wavenumber 2 --force-coarse --chunk-size 64k $rough
    files="$files $o.h5"
done
expect 0 "" penstock-hbem-solve hand.hdf $files files.hdf --radius 1 $kinds --source point:.5,.3,1.6 --source point:-.9,.8,-1.2
solve core hand.hdf ch.h5 14 --wavenumber 2 $kinds --source point:.5,.3,1.6 --source point:-.9,.8,-1.2 --chunk-size 64k
h5diff files.hdf core.hdf /solutions/double && h5diff files.hdf core.hdf /solutions/single || fail "files"

# ---- refused ----
refused() { expect "$1" "$2" penstock-hbem-solve hand.hdf ch.h5 no.hdf --wavenumber 1 --force-coarse "${@:3}"; } # CODE TEXT OPTIONS...
refused 2 "the physical group 3 has no condition" $wave --boundary 1:soft --boundary 2:rigid
refused 2 "no triangle of the mesh is in this group" $wave --boundary 9:soft
refused 2 "neither the number nor the name" $wave --boundary hull:soft
refused 2 "has a condition already" $wave --boundary 1:soft --boundary 1:rigid
refused 2 "the real part is negative" $wave --boundary others:impedance:-1
refused 2 "say soft" $wave --boundary others:impedance:0
refused 2 "is none of rigid" $wave --boundary others:hard
refused 2 "--density and --speed" --boundary 1:velocity:1
refused 2 "whose velocity is not given" $medium --boundary 1:velocity:1 --boundary others:soft --boundary 1:soft
refused 2 "no incident wave" --boundary others:soft
refused 3 "inside of a body" --source point:0,0,.2
refused 3 "less than half an edge" --source point:0,0,1.05
refused 3 "on the surface" --source point:0,0,1.020099126
refused 2 "neither point:X,Y,Z" --source ring:0,0,1
expect 2 "needs no matrix of the operator slp" penstock-hbem-solve hand.hdf $files no.hdf $wave
expect 2 "adlp at k = 2 is missing" penstock-hbem-solve hand.hdf slp.h5 dlp.h5 hyps.h5 no.hdf $wave $kinds
expect 2 "are of plane waves" penstock-hbem-field half.hdf no.h5 --monostatic
