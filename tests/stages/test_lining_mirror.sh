# Linings before planes that mirror: the body and its image as a mesh, both lined, with the images of the sources, at the
# surface, at points and in directions; a half that ends at the plane; two planes; a part of the body; a mesh alone.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
. "$ROOT/tests/support/mirror.bash"
set -e
how="--formulation sound-hard --dt .2 --speed 1 --precision fp64"
wall=--admittance\ all:b0=.4:pole=.3,.8

# lined HEIGHT KIND SIGN UNKNOWNS: on the body before the plane, and on both
lined() {
    bodies "$1"
    quietly penstock-tdbem-march -q body.h5 plane.run.h5 $run $given $how $wall --mirror $at:$normal:"$2"
    quietly penstock-tdbem-march -q both.h5 both.run.h5 $run $how $wall $given $(sed -n "2s/SIGN/$3/gp" emitters.txt)
    traces plane.run.h5 body.h5 plane "$4"
    traces both.run.h5 both.h5 both "$4"
    same_traces plane both 1e-9
}
lined 0 rigid 1 13
lined 1.4 rigid 1 18
lined 1.4 soft -1 18

# by files, which have to have the same planes, and by a device
assemble="penstock-slice-assemble $how --layout warp -q --force"
$assemble body.h5 m.h5 --mirror $at:$normal:soft > /dev/null
$assemble body.h5 g.h5 --mirror $at:$normal:soft --lining all > /dev/null
quietly penstock-tdbem-march -q m.h5 body.h5 files.run.h5 $run $given --lining g.h5 $wall
identical files.run.h5 plane.run.h5
PENSTOCK_TEAM=1 quietly penstock-tdbem-march -q m.h5 body.h5 team.run.h5 $run $given --lining g.h5 $wall
close_to team.run.h5 plane.run.h5 1e-11
$assemble body.h5 open.h5 --lining all > /dev/null
fails 3 "--mirror and --precision of its matrix" penstock-tdbem-march -q m.h5 body.h5 no.h5 $run $given --lining open.h5 $wall

# two planes: the body and its image before the second one
second=0,0,0:1.1,0,-.3:rigid
python3 "$ROOT/tests/support/mirror_bodies.py" body 1 1.4 4,0,1 $normal
penstock-mesh-import body.off corner.h5 --order none -q > /dev/null
penstock-mesh-import body.both.off pair.h5 --order none -q > /dev/null
wave="--emitter point:at=7,0,4:width=1:delay=5"
image=$(python3 -c "
p, n, x = (4, 0, 1), ($normal), (7, 0, 4)
h = sum((a - b) * c for a, b, c in zip(x, p, n)) / sum(c * c for c in n)
print(','.join('%.17g' % (a - 2 * h * c) for a, c in zip(x, n)))")
quietly penstock-tdbem-march -q corner.h5 corner.run.h5 $run $how $wall $wave --mirror 4,0,1:$normal:rigid --mirror $second
quietly penstock-tdbem-march -q pair.h5 pair.run.h5 $run $how $wall $wave --emitter point:at="$image":width=1:delay=5 --mirror $second
traces corner.run.h5 corner.h5 corner 18
traces pair.run.h5 pair.h5 pair 18
same_traces corner pair 1e-8

# a half that is held at a soft plane has no lining
bodies 0
fails 2 "is held there" penstock-tdbem-march -q body.h5 no.h5 $run $given $how $wall --mirror $at:$normal:soft
