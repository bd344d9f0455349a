#!/bin/bash
# penstock-hbem-solve on a CUDA device against processors: waves and
# Laplace problems by all solvers, resident and streamed to the same bits, two ranks. RANKS=1 leaves the
# ranks out. Leaves nothing.
set -u
. "$(dirname "$0")/lib.sh"
same() { run penstock-compare "$1" "$2" --no-attributes; }
near() { # FILE FILE BOUND: of densities
    penstock-compare "$1" "$2" --no-attributes > out 2> err
    awk -v bound="$3" 'NF == 1 { s = $1 } s ~ /^\/solutions\/(single|double)$/ && $1 == "relative_l2" { n++; if (!($2 <= bound)) bad = 1; printf "  differs by %s\n", $2 } END { exit bad || !n }' out ||
        fail "$1 and $2 differ"
}
solve="timeout 60 penstock-hbem-solve"

run penstock-mesh-surface s.hdf --divisions 16
run penstock-cluster-build s.hdf c.h5
for o in dlp hyps; do
    for p in fp32 fp64; do
        run penstock-hmatrix-assemble c.h5 $o-$p.h5 --operator $o --wavenumber 4 --precision $p \
            --chunk-size 256K --device cpu
    done
    run penstock-hmatrix-assemble c.h5 $o-0.h5 --operator $o --chunk-size 256K --device cpu
done
run penstock-hmatrix-assemble c.h5 slp-0.h5 --operator slp --chunk-size 256K --device cpu
agree() { # BOUND MATRICES OPTIONS...
    local bound=$1 matrices=$2 steps
    shift 2
    run $solve s.hdf $matrices cpu.hdf --device cpu --force "$@"
    steps=$(figure steps_most)
    run $solve s.hdf $matrices cuda.hdf --device cuda --force "$@"
    grep -q '^ *device *yes' out || fail "not on a device: $*"
    [ "$(figure steps_most)" = "$steps" ] || fail "$(figure steps_most) steps, $steps on processors: $*"
    echo "$*: $steps steps, products $(figure products_time) s, sparse $(figure sparse_time) s"
    near cuda.hdf cpu.hdf $bound
}
waves="--direction 1,0,0 --azimuths 10,200,8 --inner-tolerance 1e-12"
agree 1e-8 "dlp-fp32.h5 hyps-fp32.h5" $waves
agree 1e-8 "dlp-fp64.h5 hyps-fp64.h5" $waves
agree 1e-8 "dlp-fp64.h5 hyps-fp64.h5" $waves --solver block
agree 1e-8 "dlp-fp64.h5 hyps-fp64.h5" $waves --sparse direct --tolerance 1e-8
agree 1e-9 "slp-0.h5" --problem dirichlet --form indirect --data point:0,0,0.2 --inner-tolerance 1e-12
agree 1e-8 "slp-0.h5 dlp-0.h5" --problem dirichlet --side interior --data point:0,0,3 --inner-tolerance 1e-12

run $solve s.hdf dlp-fp64.h5 hyps-fp64.h5 resident.hdf $waves --device cuda
bytes=$(figure matrices)
run $solve s.hdf dlp-fp64.h5 hyps-fp64.h5 again.hdf $waves --device cuda
same again.hdf resident.hdf
for part in 2 3; do
    run $solve s.hdf dlp-fp64.h5 hyps-fp64.h5 streamed.hdf $waves --device cuda --force -v \
        --device-memory $((bytes / part + 20000000))
    grep -o "hyps-double.*streamed" err
    same streamed.hdf resident.hdf
done
if with_ranks; then
    run mpirun -n 2 $solve s.hdf dlp-fp64.h5 hyps-fp64.h5 two.hdf $waves --device cuda
    near two.hdf resident.hdf 1e-9
fi
echo "all checks passed"
