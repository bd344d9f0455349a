# A mesh without a matrix: the march assembles in memory, with the densities of the staged way to the
# bit, by cores and by the team that GPUs make, after a stop and a kill, too; what does not fit is refused with
# the least that does. Blocks that the assembly writes at once are those that are cut of its slices.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
run="--steps 160 $plane"
for precision in fp64 fp32; do
    how="--courant 4 --speed 1 --precision $precision"
    penstock-slice-assemble sphere2.h5 slices.h5 $how --force -q > /dev/null
    penstock-slice-assemble sphere2.h5 warp.h5 $how --layout warp --force -q --json > made.json
    penstock-slice-block slices.h5 cut.h5 --force -q > /dev/null
    close_to warp.h5 cut.h5 0
    penstock-verify warp.h5 > /dev/null
    march slices.h5 sphere2.h5 staged.h5 $run --force
    march warp.h5 sphere2.h5 blocks.h5 $run --force
    close_to blocks.h5 staged.h5 0
    penstock-tdbem-march sphere2.h5 whole.h5 $run $how --force -q --json > whole.json
    close_to whole.h5 staged.h5 0
    PENSTOCK_TEAM=1 march warp.h5 sphere2.h5 blocks.h5 $run --force
    PENSTOCK_TEAM=1 penstock-tdbem-march sphere2.h5 team.h5 $run $how --force -q --json > team.json
    grep -q '"blocks_on_gpu": *true' team.json # they went there as they were made
    close_to team.h5 blocks.h5 0
done
[ "$(figure whole.json assembled_in)" != "" ]

# two GPUs, and one with too little memory to gather them: blocks stay with the host
PENSTOCK_TEAM=2 penstock-tdbem-march sphere2.h5 two.h5 $run $how --balance 0 -q --json > two.json
grep -q '"blocks_on_gpu": *false' two.json
PENSTOCK_TEAM=2 march warp.h5 sphere2.h5 blocks.h5 $run --balance 0 --force
close_to two.h5 blocks.h5 0

# blocks of other layouts; a column too few
columns=$(figure made.json d_max)
for layout in full contiguous; do
    penstock-slice-assemble sphere2.h5 at-once.h5 $how --layout $layout --block-columns "$columns" --force -q > /dev/null
    penstock-slice-block slices.h5 cut.h5 --layout $layout --block-columns "$columns" --force -q > /dev/null
    close_to at-once.h5 cut.h5 0
    fails 2 "give --block-columns" penstock-slice-assemble sphere2.h5 no.h5 $how --layout $layout
    fails 2 "never split one" penstock-slice-assemble sphere2.h5 no.h5 $how --layout $layout --block-columns $((columns - 1))
done

# steps so long that neighbours have no lag but 0: row-vectors that are empty
for layout in warp contiguous; do
    long="--courant 0.5 --speed 1 --precision fp64"
    penstock-slice-assemble sphere2.h5 slices.h5 $long --force -q > /dev/null 2>&1
    penstock-slice-assemble sphere2.h5 at-once.h5 $long --layout $layout --block-columns 16 --force -q > /dev/null 2>&1
    penstock-slice-block slices.h5 cut.h5 --layout $layout --block-columns 16 --force -q > /dev/null
    close_to at-once.h5 cut.h5 0
done

# sound-hard; a stop in the march, and the same command
hard="--courant 3 --speed 1 --formulation sound-hard --precision fp64 --group 4"
penstock-slice-assemble sphere2.h5 hard.h5 --courant 3 --speed 1 --formulation sound-hard --precision fp64 -q > /dev/null
march hard.h5 sphere2.h5 staged.h5 $run --group 4 --force
partly penstock-tdbem-march sphere2.h5 stopped.h5 $run $hard -q --checkpoint-every 8steps --stop-after 0.01
[ ! -e stopped.h5 ]
march sphere2.h5 stopped.h5 $run $hard --checkpoint-every 8steps
close_to stopped.h5 staged.h5 0
fails 0 "up to date" penstock-tdbem-march sphere2.h5 stopped.h5 $run $hard --checkpoint-every 8steps
killed_at rename:2 penstock-tdbem-march sphere2.h5 killed.h5 $run $hard -q --checkpoint-every 40steps
[ ! -e killed.h5 ]
penstock-tdbem-march sphere2.h5 killed.h5 $run $hard -q --checkpoint-every 40steps --json > last.json
close_to killed.h5 staged.h5 0
below "$(figure last.json steps_in_this_start)" 120

# memory: what the plan tells is held, and less is refused with the least and another way
penstock-tdbem-march sphere2.h5 $run $how --plan --json > plan.json
least=$(figure plan.json least_memory)
fails 4 "slice-assemble --layout warp" penstock-tdbem-march sphere2.h5 no.h5 $run $how --host-memory $((least - 3000000))
march sphere2.h5 little.h5 $run $how --host-memory $((least + 3000000)) --threads 1
close_to little.h5 whole.h5 0

# what does not go together
fails 2 "without a matrix" penstock-tdbem-march slices.h5 sphere2.h5 no.h5 $run --courant 4
fails 2 "give MESH OUTPUT" penstock-tdbem-march sphere2.h5 sphere2.h5 no.h5 $run $how
fails 2 "is read" penstock-tdbem-march sphere2.h5 sphere2.h5 $run $how
fails 2 "--far is for matrices in files" penstock-tdbem-march sphere2.h5 no.h5 $run $how --far far.h5
fails 2 "either --dt" penstock-tdbem-march sphere2.h5 no.h5 $run
