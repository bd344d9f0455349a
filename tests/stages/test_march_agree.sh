# Slices, every blocking, 1, 2 and 4 ranks, in and out of core: the same densities, bit for bit
# where the ranks are as many, to rounding where not. 10,000 steps in single precision do not grow.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
run="--steps 240 $plane"
tiles="--tile-rows 256 --tile-slices 64"
for precision in fp64 fp32; do
    penstock-slice-assemble sphere2.h5 s-$precision.h5 --courant 4 --speed 1 --precision $precision $tiles -q > /dev/null
    march s-$precision.h5 sphere2.h5 one-$precision.h5 $run
    march s-$precision.h5 sphere2.h5 threads.h5 $run --threads 1
    identical threads.h5 one-$precision.h5
    rm threads.h5
    for layout in full contiguous warp; do
        penstock-slice-block s-$precision.h5 b.h5 --layout $layout --force -q > /dev/null
        march b.h5 sphere2.h5 out.h5 $run --force
        identical out.h5 one-$precision.h5
    done
done
# hardly more than the least memory that does
penstock-tdbem-march s-fp64.h5 sphere2.h5 out.h5 $run --plan --json > plan.json
little=$(($(figure plan.json least_memory) + 3000000))
march s-fp64.h5 sphere2.h5 out.h5 $run --force --host-memory $little
identical out.h5 one-fp64.h5

penstock-tdbem-march s-fp32.h5 sphere2.h5 long.h5 --steps 10000 $plane --json > long.json
mean=$(figure long.json mean_at_the_end) largest=$(figure long.json largest)
echo "10,000 single-precision steps: largest $largest, mean at the end $mean"
below "${mean#-}" 1e-3 # the slowest interior resonances still ring a little
below "$largest" 20

command -v mpirun > /dev/null || { echo "there is no mpirun here"; exit 77; }
for n in 2 4; do
    ranks $n penstock-tdbem-march s-fp64.h5 sphere2.h5 ranks$n.h5 $run --threads 1 -q > /dev/null
    close_to ranks$n.h5 one-fp64.h5 1e-13
    ranks $n penstock-tdbem-march s-fp32.h5 sphere2.h5 single$n.h5 $run --threads 1 -q > /dev/null
    close_to single$n.h5 one-fp32.h5 1e-5
done
ranks 2 penstock-tdbem-march s-fp64.h5 sphere2.h5 again.h5 $run --threads 2 --plan --json > plan.json
little=$(($(figure plan.json least_memory) + 3000000))
ranks 2 penstock-tdbem-march s-fp64.h5 sphere2.h5 again.h5 $run --threads 2 -q --host-memory $little > /dev/null
identical again.h5 ranks2.h5
