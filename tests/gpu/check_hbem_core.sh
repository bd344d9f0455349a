#!/bin/bash
# penstock-hbem-solve with matrices assembled on a CUDA device, from the programs on PATH: the bits of those that
# go through files, in both precisions; what a device leaves to the cores; little memory; two ranks.
# RANKS=1 leaves the ranks out; DEVICE=cpu runs all of it by the cores. Leaves nothing.
. "$(dirname "$0")/near.sh"
solve="penstock-hbem-solve s.hdf"
run penstock-mesh-surface s.hdf --divisions 16
run penstock-cluster-build s.hdf c.h5
run penstock-cluster-build s.hdf large.h5 --leaf 100
# both FILES.. : OPTIONS..: matrices of these operators through files, and in memory
waves="--direction 1,0,0 --azimuths 10,200,4 --inner-tolerance 1e-12"
scatter() { # PRECISION OPTIONS..
    for o in dlp hyps; do
        run penstock-hmatrix-assemble c.h5 $o.h5 --operator $o --wavenumber 4 --chunk-size 1M --device "$device" --force "$@"
    done
    run $solve dlp.h5 hyps.h5 files.hdf $waves --device "$device" --force
    run $solve c.h5 core.hdf $waves --wavenumber 4 --chunk-size 1M --device "$device" --force "$@"
}
scatter --precision fp32 --skeleton
same core.hdf files.hdf "waves, fp32, skeletons"
if [ "${RANKS:-2}" -gt 1 ] && command -v mpirun > /dev/null; then
    run mpirun -n 2 $solve c.h5 core.hdf $waves --wavenumber 4 --chunk-size 1M --device "$device" --force --precision fp32 --skeleton
    near core.hdf files.hdf 1e-8 "two ranks"
fi
scatter --precision fp64
same core.hdf files.hdf "waves, fp64, entries"
run $solve c.h5 core.hdf $waves --wavenumber 4 --chunk-size 1M --device "$device" --force --device-memory 2G
same core.hdf files.hdf "little memory"
run $solve c.h5 core.hdf $waves --wavenumber 4 --wavenumber 2 --device "$device" --force
if [ "$device" = cuda ]; then
    timeout 60 $solve c.h5 no.hdf $waves --wavenumber 4 --device cuda --device-memory 20M > out 2> err
    [ $? = 4 ] && grep -q hmatrix-assemble err || fail "too little memory is not refused"
    run $solve large.h5 core.hdf $waves --wavenumber 4 --device auto --force
    grep -q "by the cores" err || fail "the cores did not take over"
    cp core.hdf files.hdf
    run $solve large.h5 core.hdf $waves --wavenumber 4 --device cpu --force
    near core.hdf files.hdf 1e-8 "leaves by the cores, products on the device"
fi
run penstock-hmatrix-assemble c.h5 slp.h5 --device "$device" --precision fp32
run $solve slp.h5 files.hdf --problem dirichlet --form indirect --data point:0,0,.2 --device "$device" --force
run $solve c.h5 core.hdf --problem dirichlet --form indirect --data point:0,0,.2 --device "$device" --force --precision fp32
same core.hdf files.hdf "Laplace, fp32"
echo "$passed passed, 0 failed, 0 skipped"
