# Linings where GPUs march and where a mesh is given alone: the CPU device plays the GPUs. A sphere of two parts that give
# way, 16 poles and states among them: devices against cores, several of them, ranks, stops and kills, symmetric
# sweeps of the matrix beside whole ones of linings, and the bits of files from the mesh alone.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -eu
halves 1
hard="--formulation sound-hard --speed 1 --courant 2 --points 3 --precision fp64 --combined .25"
walls="--admittance 2:b0=.1:pair=.6,-.242711950090,.75,1.854049621773557 --admittance 1:b0=.5:pole=1,3"
run="--steps 90 --emitter plane:dir=0,0,1:width=1 $walls"
for part in m "one 1" "two 2"; do
    set -- $part
    penstock-slice-assemble s.h5 "$1.h5" $hard ${2:+--lining "$2"} --tile-slices 16 --layout warp -q > /dev/null
done
files="--lining two.h5 --lining one.h5"
march m.h5 s.h5 cores.h5 $run $files
march s.h5 mesh.h5 $run $hard
close_to mesh.h5 cores.h5 0

# ---- devices ----
PENSTOCK_TEAM=1 march m.h5 s.h5 gpu.h5 $run $files
close_to gpu.h5 cores.h5 1e-12
PENSTOCK_TEAM=1 march s.h5 gpumesh.h5 $run $hard
close_to gpumesh.h5 gpu.h5 0
PENSTOCK_TEAM=3 march m.h5 s.h5 three.h5 $run $files
close_to three.h5 cores.h5 1e-12
export PENSTOCK_TEAM=1
partly penstock-tdbem-march m.h5 s.h5 parts.h5 -q $run $files --checkpoint-every 16steps --stop-after 0.01 > /dev/null
march m.h5 s.h5 parts.h5 $run $files --checkpoint-every 16steps
close_to parts.h5 gpu.h5 0
killed_at rename:2 penstock-tdbem-march -q m.h5 s.h5 killed.h5 $run $files --checkpoint-every 24steps
penstock-tdbem-march -q m.h5 s.h5 killed.h5 $run $files --checkpoint-every 24steps --json > last.json
close_to killed.h5 gpu.h5 0
below "$(figure last.json steps_in_this_start)" 80
! command -v mpirun > /dev/null || { ranks 2 penstock-tdbem-march -q m.h5 s.h5 ranks.h5 $run $files > /dev/null; close_to ranks.h5 cores.h5 1e-12; }
penstock-tdbem-march -q m.h5 s.h5 $run $files --plan --json > plan.json
[ "$(figure plan.json tiles_on_device)" -gt "$(stat -c %s one.h5)" ] || fail "the plan leaves linings out"
fails 2 "by devices or by" penstock-tdbem-march -q m.h5 s.h5 no.h5 $run $files --cpu-worker on
unset PENSTOCK_TEAM

# ---- symmetric sweeps of the matrix, halves ----
plain="${hard% --combined*}"
march s.h5 whole.h5 $run $plain --symmetric off
march s.h5 upper.h5 $run $plain --symmetric on
close_to upper.h5 whole.h5 0
PENSTOCK_TEAM=1 march s.h5 held.h5 $run $plain --symmetric on
close_to held.h5 whole.h5 1e-12
march s.h5 halves.h5 $run $hard --values f16
close_to halves.h5 cores.h5 1.5e-2 # rounding moves the mean, as of a rigid body

# ---- refused ----
fails 2 "leave --lining out" penstock-tdbem-march -q s.h5 no.h5 $run $hard --lining one.h5
fails 2 "neither the number nor the name" penstock-tdbem-march -q s.h5 no.h5 --steps 9 --emitter plane:dir=0,0,1:width=1 $hard --admittance wing:b0=1
fails 3 "linings of the same triangles" penstock-tdbem-march -q s.h5 no.h5 $run $hard --admittance all:b0=1
