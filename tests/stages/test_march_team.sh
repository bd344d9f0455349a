# The march as GPUs make it, played by the CPU device (PENSTOCK_TEAM=N): the densities of the plain
# march whatever the layout, the number of devices, a CPU worker, ranks, memory that is too small for
# the blocks, and the far schedule; the same bits again after stops. What it refuses.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
run="--steps 240 $plane"
tiles="--tile-rows 256 --tile-slices 64"

for precision in fp64 fp32; do
    tolerance=1e-10
    [ $precision = fp64 ] || tolerance=2e-5
    penstock-slice-assemble sphere2.h5 s-$precision.h5 --courant 4 --speed 1 --precision $precision $tiles -q > /dev/null
    for layout in full contiguous warp; do
        penstock-slice-block s-$precision.h5 $layout-$precision.h5 --layout $layout -q > /dev/null
    done
    march warp-$precision.h5 sphere2.h5 cpu.h5 $run --force
    for layout in full contiguous warp; do
        team 1 $layout-$precision.h5 sphere2.h5 out.h5 $run --force
        close_to out.h5 cpu.h5 $tolerance
    done
    mv out.h5 one-$precision.h5
    team 3 warp-$precision.h5 sphere2.h5 out.h5 $run --force --balance 0
    close_to out.h5 cpu.h5 $tolerance
    team 2 warp-$precision.h5 sphere2.h5 out.h5 $run --force --cpu-worker on
    close_to out.h5 cpu.h5 $tolerance
done
mv cpu.h5 cpu-fp32.h5

# halves: the same values on devices as on cores
penstock-slice-block s-fp64.h5 half.h5 --values f16 -q > /dev/null
march half.h5 sphere2.h5 half-cpu.h5 $run
team 1 half.h5 sphere2.h5 out.h5 $run --force
close_to out.h5 half-cpu.h5 1e-10

# groups of other lengths, the last one not full
team 1 warp-fp32.h5 sphere2.h5 out.h5 --steps 101 $plane --group 32 --force
march warp-fp32.h5 sphere2.h5 other.h5 --steps 101 $plane --group 5 --force
close_to out.h5 other.h5 2e-5

# out of core: the blocks of both precisions do not fit
PENSTOCK_TEAM=1 penstock-tdbem-march warp-fp64.h5 sphere2.h5 small.h5 $run --device-memory 8M --json > small.json
identical small.h5 one-fp64.h5
[ "$(figure small.json gpus_of_a_rank)" = 1 ]
[ "$(figure small.json tiles_in_host_memory)" -gt 0 ] || { echo "nothing was streamed"; exit 1; }
penstock-tdbem-march warp-fp64.h5 sphere2.h5 small.h5 $run --plan --json > plan.json
little=$(figure plan.json least_memory)
PENSTOCK_TEAM=1 penstock-tdbem-march warp-fp64.h5 sphere2.h5 small.h5 $run --device-memory 8M --host-memory $little --json --force > disk.json
identical small.h5 one-fp64.h5
[ "$(figure disk.json tiles_on_disk)" -gt 0 ] || { echo "nothing was read again"; exit 1; }

# stopped and continued: the same bits
team 1 warp-fp64.h5 sphere2.h5 stopped.h5 $run --checkpoint-every 16steps --stop-after 0.05 || true
for i in 1 2 3 4 5 6 7 8 9; do
    [ ! -e stopped.h5 ] || break
    partly env PENSTOCK_TEAM=1 penstock-tdbem-march warp-fp64.h5 sphere2.h5 stopped.h5 $run --checkpoint-every 16steps -q --stop-after 0.2 > /dev/null
done
[ -e stopped.h5 ] || PENSTOCK_TEAM=1 penstock-tdbem-march warp-fp64.h5 sphere2.h5 stopped.h5 $run --restart -q > /dev/null
identical stopped.h5 one-fp64.h5

# near and far
penstock-slice-block s-fp64.h5 near.h5 --layout warp --k-below 16 -q > /dev/null
penstock-slice-block s-fp64.h5 far.h5 --layout warp --k-from 16 -q > /dev/null
team 2 near.h5 sphere2.h5 out.h5 $run --far far.h5 --force
close_to out.h5 one-fp64.h5 1e-10

command -v mpirun > /dev/null || { echo "there is no mpirun here"; exit 77; }
PENSTOCK_TEAM=1 ranks 2 penstock-tdbem-march warp-fp64.h5 sphere2.h5 ranks.h5 $run --threads 1 -q > /dev/null
close_to ranks.h5 one-fp64.h5 1e-10
# ranks whose intervals settle at different times; with CPU workers
PENSTOCK_TEAM=2 ranks 2 penstock-tdbem-march warp-fp64.h5 sphere2.h5 ranks.h5 $run --threads 1 -q --force > /dev/null
close_to ranks.h5 one-fp64.h5 1e-10
PENSTOCK_TEAM=1 ranks 2 penstock-tdbem-march warp-fp64.h5 sphere2.h5 ranks.h5 $run --threads 1 -q --force --cpu-worker on > /dev/null
close_to ranks.h5 one-fp64.h5 1e-10
