# --mirror of slice-assemble, tdbem-march, incident and probe: a body before a plane is the body and its mirror image with two
# sources, at the surface, at points and in directions; a half that ends at the plane is the whole; two planes; a mesh alone,
# blocks, a file of loads and a team as ever; what is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -e
. "$ROOT/tests/support/mirror.bash"
assemble="penstock-slice-assemble --dt .2 --speed 1 --precision fp64 --force -q"

# case HEIGHT EQUATION KIND SIGN UNKNOWNS
case_of() {
    bodies "$1"
    $assemble body.h5 plane.h5 --formulation "$2" --mirror $at:$normal:"$3" > /dev/null
    $assemble both.h5 both.slices.h5 --formulation "$2" > /dev/null
    quietly penstock-tdbem-march -q plane.h5 body.h5 plane.run.h5 $run $given
    quietly penstock-tdbem-march -q both.slices.h5 both.h5 both.run.h5 $run $given $(sed -n "2s/SIGN/$4/gp" emitters.txt)
    traces plane.run.h5 body.h5 plane "$5"
    traces both.run.h5 both.h5 both "$5"
    same_traces plane both 1e-9
}
case_of 0 sound-hard soft -1 13
case_of 0 sound-hard rigid 1 13
case_of 1.4 sound-soft-m rigid 1 32
case_of 1.4 sound-soft-s soft -1 32
case_of 1.4 sound-hard rigid 1 18

# the same by blocks, of a mesh alone, from a file, by a team
penstock-slice-block plane.h5 plane.blocks.h5 -q > /dev/null
quietly penstock-tdbem-march -q plane.blocks.h5 body.h5 blocks.run.h5 $run $given
quietly penstock-tdbem-march -q body.h5 alone.run.h5 $run $given --dt .2 --speed 1 --precision fp64 --formulation sound-hard \
    --mirror $at:$normal:rigid
identical blocks.run.h5 alone.run.h5
penstock-incident body.h5 loads.h5 --like plane.h5 --steps 70 -q --source plane:dir=.2,.5,-1:width=1.2:delay=9 \
    --source point:at=1.5,0,4:width=1:delay=5 --allow short-pulse > /dev/null 2>&1
quietly penstock-tdbem-march -q plane.blocks.h5 body.h5 loads.run.h5 --steps 70 --tolerance 1e-14 --incident loads.h5
close_to blocks.run.h5 loads.run.h5 1e-9
PENSTOCK_TEAM=2 quietly penstock-tdbem-march -q plane.blocks.h5 body.h5 team.run.h5 $run $given
close_to blocks.run.h5 team.run.h5 1e-10
fails 3 "images" penstock-spectrum plane.far.h5 strength.h5 --target-strength

# two planes: the body and its image before the second one
second=0,0,0:1.1,0,-.3:soft
python3 "$ROOT/tests/support/mirror_bodies.py" body 1 1.4 4,0,1 $normal
penstock-mesh-import body.off corner.h5 --order none -q > /dev/null
penstock-mesh-import body.both.off pair.h5 --order none -q > /dev/null
$assemble corner.h5 corner.slices.h5 --formulation sound-hard --mirror 4,0,1:$normal:rigid --mirror 0,0,0:1.1,0,-.3:soft > /dev/null
$assemble pair.h5 pair.slices.h5 --formulation sound-hard --mirror $second > /dev/null
penstock-incident corner.h5 corner.loads.h5 --like corner.slices.h5 --steps 70 -q --source point:at=7,0,4:width=1:delay=5 \
    --allow short-pulse > /dev/null 2>&1
python3 - 4,0,1 $normal > image.txt << 'P'
import sys
p, n = ([float(x) for x in a.split(",")] for a in sys.argv[1:3])
h = sum((x - y) * z for x, y, z in zip((7, 0, 4), p, n)) / sum(x * x for x in n)
print(",".join("%.17g" % (x - 2 * h * z) for x, z in zip((7, 0, 4), n)))
P
quietly penstock-tdbem-march -q corner.slices.h5 corner.h5 corner.run.h5 --steps 70 --tolerance 1e-14 --incident corner.loads.h5
quietly penstock-tdbem-march -q pair.slices.h5 pair.h5 pair.run.h5 --steps 70 --tolerance 1e-14 --emitter point:at=7,0,4:width=1:delay=5 \
    --emitter point:at="$(cat image.txt)":width=1:delay=5
for q in corner pair; do
    penstock-probe $q.run.h5 $q.h5 $q.surface.h5 --surface 0-17 -q > /dev/null
    penstock-probe $q.run.h5 $q.h5 $q.near.h5 --at 7,0,3 -q > /dev/null
    penstock-probe $q.run.h5 $q.h5 $q.far.h5 --direction 30,0 -q > /dev/null
done
same_traces corner pair 1e-8

# refused
emit="--steps 70 --emitter"
fails 3 "the plane cuts the body" $assemble body.h5 no.h5 --formulation sound-hard --mirror 4,0,2.4:0,0,1:rigid
fails 2 "not perpendicular" $assemble body.h5 no.h5 --mirror 0,0,0:0,0,1:rigid --mirror 0,0,0:0,1,1:rigid
fails 2 "do not go together" $assemble body.h5 no.h5 --formulation sound-hard --combined .25 --mirror 0,0,-9:0,0,1:rigid
fails 2 "--device cpu" $assemble body.h5 no.h5 --mirror 0,0,-9:0,0,1:rigid --device cuda
fails 2 "from beyond the plane" penstock-tdbem-march plane.h5 body.h5 no.h5 $emit plane:dir=0,0,1:width=2
fails 2 "beyond the plane that mirrors" penstock-tdbem-march plane.h5 body.h5 no.h5 $emit point:at=0,0,-3:width=2
fails 2 "uniform" penstock-tdbem-march plane.h5 body.h5 no.h5 $emit uniform:width=2
fails 2 "--mirror tell how to assemble" penstock-tdbem-march plane.h5 body.h5 no.h5 $emit plane:dir=0,0,-1:width=2 --mirror $second
bodies 1.4
fails 3 "beyond the plane that mirrors" penstock-probe plane.run.h5 body.h5 below.h5 --at 0,0,-4
fails 0 "beyond the plane that mirrors" penstock-probe plane.run.h5 body.h5 below.h5 --at 0,0,-4 --allow no-field
$assemble body.h5 open.h5 --formulation sound-hard > /dev/null
fails 3 "loads with the images of" penstock-tdbem-march open.h5 body.h5 no.h5 --steps 70 --incident loads.h5
make="penstock-incident body.h5 no.h5 --like plane.h5 --steps 70 -q"
fails 3 "beyond the plane" $make --source monopole:at=0,0,-3:width=2
fails 3 "beyond the plane" $make --source monopole:at=3,0,5:velocity=0,0,-.6:frequency=0:ramp=30
fails 3 "beyond the plane" $make --source plane:dir=0,0,1:width=2
fails 2 "leave them out" $make --source monopole:at=0,0,5:width=2 --mirror 0,0,-9:0,0,1:rigid
fails 2 "do not go with planes" $make --velocity all:width=2 --density 1
printf 'OFF\n5 6 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n.5 .5 1\n3 0 2 1\n3 0 3 2\n3 0 1 4\n3 1 2 4\n3 2 3 4\n3 3 0 4\n' > tent.off
penstock-mesh-import tent.off tent.h5 -q > /dev/null
fails 3 "leave out the faces" penstock-slice-assemble tent.h5 no.h5 --courant 2 --mirror 0,0,0:0,0,1:rigid
# inside of the half that the plane closes
bodies 0
$assemble body.h5 plane.h5 --formulation sound-hard --mirror $at:$normal:rigid > /dev/null
fails 3 "inside the closed body" penstock-tdbem-march plane.h5 body.h5 no.h5 $emit point:at=.2,-.3,.6:width=2
