# Tiles above the diagonal that stand for those below: on cores the bits of the whole matrix, of a file and of a mesh alone, in
# both precisions and of halves, also after a stop; the team that GPUs make, from batches and from tiles that a device holds since
# they were assembled, to rounding. Where it is chosen by itself, and what cannot be swept so.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
run="--steps 120 $plane"
for precision in fp64 fp32; do
    tolerance=1e-10
    [ $precision = fp64 ] || tolerance=2e-5
    how="--courant 4 --speed 1 --precision $precision"
    penstock-slice-assemble sphere2.h5 slices.h5 $how --tile-rows 256 --tile-slices 64 --force -q > /dev/null
    penstock-slice-block slices.h5 warp.h5 --force -q > /dev/null
    march warp.h5 sphere2.h5 whole.h5 $run --symmetric off --force
    march warp.h5 sphere2.h5 upper.h5 $run --symmetric on --force
    close_to upper.h5 whole.h5 0
    march sphere2.h5 alone.h5 $run $how --symmetric on --force
    close_to alone.h5 whole.h5 0
    team 1 sphere2.h5 held.h5 $run $how --symmetric on --force
    close_to held.h5 whole.h5 $tolerance
    team 2 warp.h5 sphere2.h5 batches.h5 $run --symmetric on --force
    close_to batches.h5 whole.h5 $tolerance
done

# a stop and the same command: the same bits
partly penstock-tdbem-march warp.h5 sphere2.h5 stopped.h5 $run --symmetric on -q --checkpoint-every 8steps --stop-after 0.01
march warp.h5 sphere2.h5 stopped.h5 $run --symmetric on --checkpoint-every 8steps
close_to stopped.h5 whole.h5 0

# halves, of a file and of a mesh alone
penstock-slice-block slices.h5 half.h5 --values f16 -q > /dev/null
march half.h5 sphere2.h5 whole.h5 $run --symmetric off --force
march sphere2.h5 alone.h5 $run $how --values f16 --symmetric on --force
close_to alone.h5 whole.h5 0
team 1 sphere2.h5 held.h5 $run $how --values f16 --symmetric on --force
close_to held.h5 whole.h5 2e-5

# by itself where the whole would not stay on the device
chosen() { PENSTOCK_TEAM=1 penstock-tdbem-march warp.h5 sphere2.h5 --plan --json -q $run --device-memory "$1" > plan.json && grep -o "\"symmetric\": *[a-z]*" plan.json; }
[[ $(chosen 1G) = *false ]]
[[ $(chosen 3M) = *true ]]

fails 2 "only warps can stand" penstock-tdbem-march slices.h5 sphere2.h5 no.h5 $run --symmetric on
fails 2 "not symmetric" penstock-tdbem-march sphere2.h5 no.h5 $run --formulation sound-hard --combined .25 --courant 2 --speed 1 --symmetric on
fails 2 "give them with MESH" penstock-tdbem-march warp.h5 sphere2.h5 no.h5 $run --values f16
PENSTOCK_TEAM=1 fails 4 "give --values f16" penstock-tdbem-march sphere2.h5 no.h5 $run $how --symmetric on --device-memory 1M
