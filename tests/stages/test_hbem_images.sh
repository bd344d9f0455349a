# penstock-hbem-solve --mirror: a sphere beside one and two planes is as many spheres without planes, of all conditions; a
# half and a quarter of a sphere that stand on planes against its series; matrices in files; what is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field cluster-build mesh-surface mesh-import hmatrix-assemble verify

cat > shape.py <<'P'
"""shape.py SPHERE OUT.msh SHIFT IMAGES [CUT]: a sphere shifted, with its images ("z", "xz", "tilted"), or what is left of it where the
axes CUT are positive; all of it OFFSET in the end; as text MSH of one group, or, where TAGGED is set, of one for each image."""
import os, sys, numpy as np
from hbem_trace import surface, write_msh
x, t = surface(sys.argv[1])
x = x + [float(v) for v in sys.argv[3].split(",")]
if len(sys.argv) > 5:
    t = t[np.all([x[t].mean(1)[:, "xyz".index(a)] > 0 for a in sys.argv[5]], axis=0)]
    used = np.unique(t)
    new = np.zeros(len(x), int)
    new[used] = np.arange(len(used))
    x, t = x[used], new[t]
n = np.array([.6, 0, .8])
images = {"-": [], "z": [[1, 1, -1]], "xz": [[1, 1, -1], [-1, 1, 1], [-1, 1, -1]], "tilted": [np.eye(3) - 2 * np.outer(n, n)]}[sys.argv[4]]
turns = [np.eye(3)] + [np.diag(m) if np.ndim(m) == 1 else m for m in images]
x, t = [np.concatenate(a) for a in zip(*[(x @ m.T, (t if np.linalg.det(m) > 0 else t[:, [0, 2, 1]]) + i * len(x))
                                         for i, m in enumerate(turns)])]
x = x + [float(v) for v in os.environ.get("OFFSET", "0,0,0").split(",")]
write_msh(sys.argv[2], x, t, 1 + np.arange(len(t)) * len(turns) // len(t) if "TAGGED" in os.environ else None)
P
shape() { # NAME SHIFT IMAGES [CUT]: NAME.hdf, NAME.h5
    local name=$1 open=
    shift
    /usr/bin/python3 shape.py "$sphere" "$name.msh" "$@" || fail "a mesh"
    [ $# -lt 3 ] || open=--open
    expect 0 "" penstock-mesh-import "$name.msh" "$name.hdf" $open
    expect 0 "" penstock-cluster-build "$name.hdf" "$name.h5" $open
}
rough="--force-coarse --radius 1 --rules 1e-3 --epsilon 1e-3 --tolerance 1e-6"
solve() { expect 0 "" penstock-hbem-solve "$1.hdf" "$1.h5" "$2.hdf" $rough "${@:3}"; } # MESH OUTPUT OPTIONS...
places="--at 0,0,3.1 --at 1.2,.3,.1 --at .1,.3,.5"
field() { # SOLUTION...: far.NAME, at.NAME
    local name
    for name; do
        expect 0 "" penstock-hbem-field "$name.hdf" "far.$name" --incidence all --direction 0,0 --direction 30,10 --direction 80,20
        expect 0 "" penstock-hbem-field "$name.hdf" "at.$name" --incidence all --quantity total $places
    done
}
# same LIMIT SUM..: the incidences of `one` against those of `all`, summed with these signs in groups.
same() {
    field one all
    /usr/bin/python3 - "$@" <<'P' || fail "images: $*"
import sys, numpy as np
from hbem_trace import close, values
signs = np.array([float(s) for s in sys.argv[2:]])
for kind in "far", "at":
    one, all = (values(kind + name).reshape(-1, 3) for name in (".one", ".all"))
    close(kind, one, np.array([signs @ group for group in all.reshape(len(one), len(signs), 3)]), float(sys.argv[1]))
P
}

# ---- a sphere above a plane is two spheres ----
expect 0 "" penstock-mesh-surface s3.hdf --divisions 3
sphere=s3.hdf
shape above 0,0,1.6 -
shape two 0,0,1.6 z
for plane in rigid:1 soft:-1; do
    solve above one --wavenumber 1.5 --mirror z=0:${plane%:*} --direction .6,0,-.8 --source point:.5,.3,4 --boundary others:impedance:2,-1
    solve two all --wavenumber 1.5 --direction .6,0,-.8 --direction .6,0,.8 --source point:.5,.3,4 --source point:.5,.3,-4 \
        --boundary others:impedance:2,-1
    same 1e-5 1 ${plane#*:}
done
# Soft, and a dipole, whose axis turns with it; a plane that is nearer than a tenth of an edge.
shape near 0,0,1.03 -
shape pair 0,0,1.03 z
solve near one --wavenumber 1 --mirror z=0:soft --boundary others:soft --source dipole:.5,.3,4,1,2,3
solve pair all --wavenumber 1 --boundary others:soft --source dipole:.5,.3,4,1,2,3 --source dipole:.5,.3,-4,1,2,-3
same 2e-3 1 -1
# A plane that is tilted, through a point of it.
shape tilted .96,0,1.28 -
shape both .96,0,1.28 tilted
solve tilted one --wavenumber 1 --mirror=-.8,5,.6:.6,0,.8:soft --source point:2,.5,3
solve both all --wavenumber 1 --source point:2,.5,3 --source point:-2.32,.5,-2.76
same 1e-5 1 -1
# Fluids end at their surface.
medium="--density 1 --speed 1"
solve above one --wavenumber 1 --mirror z=0:rigid $medium --boundary others:fluid:density=1.3,speed=.8 --direction 0,0,-1
solve two all --wavenumber 1 $medium --boundary others:fluid:density=1.3,speed=.8 --direction 0,0,-1 --direction 0,0,1
same 1e-5 1 1

# ---- two planes that are not at 0: four spheres, one of which is turned, not mirrored ----
export OFFSET=-.2,0,.4
shape corner 1.5,0,1.6 -
shape four 1.5,0,1.6 xz
TAGGED=1 shape groups 1.5,0,1.6 xz
unset OFFSET
places="--at .1,0,3.1 --at 3,.3,.5 --at .1,.3,.5"
solve corner one --wavenumber 1 --mirror z=.4:soft --mirror x=-.2:rigid --source point:2.8,.3,4.4
solve four all --wavenumber 1 --source point:2.8,.3,4.4 --source point:2.8,.3,-3.6 --source point:-3.2,.3,4.4 --source point:-3.2,.3,-3.6
same 1e-5 1 -1 1 -1
cp far.one far.first
penstock-inspect one.hdf | grep -q "mirror_1 .*:rigid" || fail "the planes are not in the file"
penstock-inspect far.one | grep -q "mirror_0 .*:soft" || fail "the planes are not in the trace"
expect 0 "up to date" penstock-hbem-solve corner.hdf corner.h5 one.hdf $rough --wavenumber 1 --mirror z=.4:soft --mirror x=-.2:rigid --source point:2.8,.3,4.4
# The other way round is the same problem.
solve corner one --wavenumber 1 --mirror x=-.2:rigid --mirror z=.4:soft --source point:2.8,.3,4.4
expect 0 "" penstock-hbem-field one.hdf far.one --incidence all --direction 0,0 --direction 30,10 --direction 80,20
h5diff -p 1e-8 far.first far.one /trace/real || fail "the order of planes"
# Velocities, whose S and K' have images as well.
solve corner one --wavenumber 1 --mirror z=.4:soft --mirror x=-.2:rigid $medium --boundary others:velocity:.3,0,1
expect 0 "" penstock-hbem-field one.hdf far.one --direction 30,10 --direction 80,20
solve groups all --wavenumber 1 $medium --boundary 1:velocity:.3,0,1 --boundary 2:velocity:-.3,0,1 \
    --boundary 3:velocity:-.3,0,1 --boundary 4:velocity:.3,0,1
expect 0 "" penstock-hbem-field all.hdf far.all --direction 30,10 --direction 80,20
/usr/bin/python3 - <<'P' || fail "velocities with images"
from hbem_trace import close, values
close("velocities", values("far.one"), values("far.all"), 5e-4)
P

# ---- a half and a quarter of a sphere on planes, rigid and soft: the series of the whole one ----
expect 0 "" penstock-mesh-surface s5.hdf --divisions 5 --radius 1.020099126
sphere=s5.hdf
for signs in z:1 xz:-1; do
    cut=${signs%:*}
    shape part 0,0,0 - $cut
    planes="--mirror z=0:rigid"
    [ ${signs#*:} = 1 ] || planes="--mirror z=0:soft"
    [ $cut = z ] || planes="$planes --mirror x=0:rigid"
    solve part soft --wavenumber 1 $planes --direction=-.6,0,-.8 --boundary others:soft
    [ "$(figure steps_most)" -le 8 ] || fail "$(figure steps_most) steps"
    expect 0 "" penstock-hbem-solve part.hdf part.h5 rigid.hdf --force-coarse --wavenumber 1 $planes --direction=-.6,0,-.8
    within "$(figure radius)" 1 1.04 "the radius of mean curvature"
    for kind in soft rigid; do
        expect 0 "" penstock-hbem-field $kind.hdf far.$kind --direction 0,0 --direction 30,10 --direction 80,20
    done
    /usr/bin/python3 - $cut ${signs#*:} <<'P' || fail "a part of a sphere"
import math, sys, numpy as np
from hbem_trace import close, values
from sphere_series import far, rigid
waves = [(sx * .6, 0, sz * .8) for sx in ((-1, 1) if "x" in sys.argv[1] else (-1,)) for sz in (-1, 1)]
places = [(math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)) for a, b in np.radians([(0, 0), (30, 10), (80, 20)])]
for kind, limit in ("soft", 2.5e-3), ("rigid", 6e-3):
    sign = lambda d: int(sys.argv[2]) if d[2] > 0 else 1
    want = np.array([sum(sign(d) * far(1, rigid if kind == "rigid" else None, np.dot(d, x)) for d in waves) for x in places])
    close(kind, values("far." + kind).ravel(), want, limit)
P
done

# ---- matrices in files have the bits of those in memory ----
assemble() { # CLUSTERS NAME OPERATOR OPTIONS..
    expect 0 "" penstock-hmatrix-assemble "$1.h5" "$2.h5" --operator "$3" --force-coarse --rules 1e-3 --epsilon 1e-3 "${@:4}"
}
# files BODY "IMAGES" OPTIONS..: K and W of the body and its images, with what the solver is given too
files() {
    local body=$1 images=$2 list= i
    shift 2
    for i in $images; do
        assemble "$body" "k$i" dlp "$@" --image "$i"
        assemble "$body" "w$i" hyps "$@" --image "$i"
        list="$list k$i.h5 w$i.h5"
    done
    set -- "${@:3}" --direction=-.6,0,-.8 # without the wave number
    expect 0 "" penstock-hbem-solve "$body.hdf" $list files.hdf --radius 1 --tolerance 1e-6 "$@"
    solve "$body" memory --wavenumber 1.5 "$@"
    h5diff files.hdf memory.hdf /solutions/double || fail "files of $body: other bits"
}
files above "0 1" --wavenumber 1.5 --mirror z=0:soft --absorption .2Np/m
sphere=s3.hdf
shape part 0,0,0 - xz
files part "0 1 2 3" --wavenumber 1.5 --mirror z=0:soft --mirror x=0:rigid
expect 0 "" penstock-verify k1.h5 --error 6
wave="--direction=-.6,0,-.8"
in_files() { expect "$1" "$2" penstock-hbem-solve part.hdf k0.h5 w0.h5 "${@:3}"; }
in_files 2 "is missing (penstock-hmatrix-assemble --mirror .. --image 1)" no.hdf $wave --mirror z=0:soft --mirror x=0:rigid
in_files 3 "of an image in the planes" k1.h5 w1.h5 no.hdf $wave --mirror z=0:rigid --mirror x=0:rigid
in_files 3 "0 Np/m are absorbed, 0.1 are needed" no.hdf $wave --mirror z=0:soft --mirror x=0:rigid --absorption .1Np/m
expect 2 "of 1 planes of --mirror there are images 1 to 1" penstock-hmatrix-assemble part.h5 no.h5 --wavenumber 1 --mirror z=0:soft --image 2
expect 2 "go with --wavenumber" penstock-hmatrix-assemble part.h5 no.h5 --mirror z=0:soft --image 1
expect 3 "crosses the mirror plane" penstock-hmatrix-assemble above.h5 no.h5 --wavenumber 1 --mirror z=1.2:soft --force-coarse
expect 2 "is no wave" penstock-hmatrix-assemble above.h5 no.h5 --wavenumber 1 --absorption 2Np/m

# ---- refused ----
refused() { expect "$1" "$2" penstock-hbem-solve above.hdf above.h5 no.hdf --wavenumber 1 --force-coarse "${@:3}"; } # CODE TEXT OPTIONS...
down="--direction 0,0,-1"
refused 2 "is not X,Y,Z:NX,NY,NZ:rigid or :soft" $down --mirror z=0:hard
refused 2 "are not perpendicular" $down --mirror z=0:soft --mirror z=9:rigid
refused 2 "may be given 2 times" $down --mirror z=0:soft --mirror x=9:rigid --mirror y=9:soft
refused 3 "crosses the mirror plane 0,0,1.2" $down --mirror z=1.2:soft
refused 3 "touches a mirror plane" $down --mirror z=.6:rigid
refused 2 "comes from behind the mirror plane 0,0,0" --direction 0,0,1 --mirror z=0:soft
refused 2 "comes from behind the mirror plane 0,0,0" --source point:0,0,-3 --mirror z=0:rigid
refused 2 "leaves nothing of it" --direction 1,0,0 --mirror z=0:soft
refused 2 "go with --problem hard" --problem dirichlet --data value:1 --mirror z=0:soft
shape part 0,0,0 - z
expect 3 "which is no rim on a mirror plane" penstock-hbem-solve part.hdf part.h5 no.hdf --wavenumber 1 $down --mirror z=-.1:rigid
expect 2 "stands on a mirror plane" penstock-hbem-solve part.hdf part.h5 no.hdf --wavenumber 1 $down --mirror z=0:rigid $medium \
    --boundary others:fluid:density=2,speed=1
expect 3 "inside of a body" penstock-hbem-solve part.hdf part.h5 no.hdf --wavenumber 1 --source point:0,0,.3 --mirror z=0:rigid
expect 2 "behind a mirror plane" penstock-hbem-field soft.hdf no.h5 --direction 100,0
expect 2 "1 of 2 points lie behind a mirror plane" penstock-hbem-field soft.hdf no.h5 --at 1.1,0,1.1 --at 1.1,0,-1.1
