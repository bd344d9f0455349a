#!/bin/bash
# penstock-schwarz-solve on CUDA devices against processors: the box as one by all methods, slabs by fixed
# point and GMRES with and without a coarse space, sweeps, two ranks, a restart. RANKS=1 leaves the ranks
# out; WHAT: some of its parts. Leaves nothing. With RESULTS set, times at 19,933,056 unknowns go to a file there.
set -u
. "$(dirname "$0")/lib.sh"
wanted() { [[ " ${WHAT:-methods sweeps ranks restart} " == *" $1 "* ]]; }
solve="timeout 60 penstock-schwarz-solve"

run penstock-gravity-model model.hdf --preset chx-1 --nodes 83,77,31
run penstock-gravity-assemble model.hdf load.hdf --boundary point-mass
agree() { # TOLERANCE SLACK OPTIONS...: fields within the tolerance, iterations within the slack
    local tolerance=$1 slack=$2 iterations
    shift 2
    run $solve load.hdf cpu.hdf --device cpu --force "$@"
    iterations=$(figure iterations)
    run $solve load.hdf cuda.hdf --device cuda --force "$@"
    grep -q '^device *cpu' out && fail "not on a device: $*"
    awk -v a="$(figure iterations)" -v b="$iterations" -v s=$slack 'BEGIN { d = a - b; exit !(d <= s && -d <= s) }' ||
        fail "$(figure iterations) iterations on the device, $iterations on processors: $*"
    echo "$*: $(figure iterations) iterations, residual $(figure residual), solving $(figure solving) s"
    run penstock-compare cuda.hdf cpu.hdf --tolerance $tolerance --dataset '*potential' --no-attributes
}
if wanted methods; then
    agree 1e-10 0 --method direct
    agree 1e-7 1 --method cg --tolerance 1e-9
    agree 1e-10 0 --slabs 7 --method sweeps --tolerance 1e-12
    agree 1e-7 1 --method bicgcr --tolerance 1e-9
    agree 1e-5 100 --method bicgstab --tolerance 1e-9
    agree 1e-8 0 --slabs 7 --method gmres --tolerance 1e-10
    agree 1e-8 0 --slabs 7 --method fixed-point --tolerance 1e-10
    agree 1e-8 0 --slabs 16 --method gmres --coarse 0.1 --kind oo2 --tolerance 1e-10
    agree 1e-7 8 --method cg --tolerance 1e-9 --precision mixed
fi
# double sweeps: the same bits wherever the loads are
if wanted sweeps; then
    run $solve load.hdf all.hdf --device cuda --slabs 20 --method sweeps --tolerance 1e-10
    sweeps="penstock-schwarz-solve load.hdf some.hdf --device cuda --slabs 20 --method sweeps --device-memory 4M"
    least=$($sweeps --plan --json -q | sed -n 's/.*"least_memory": \([0-9]*\).*/\1/p')
    for memory in "--device-memory 6M" "--device-memory 4M" "--device-memory 4M --host-memory ${least:-8M}"; do
        OMP_NUM_THREADS=2 run $solve load.hdf some.hdf --device cuda --slabs 20 --method sweeps --tolerance 1e-10 -v --force $memory
        echo "sweeps, $memory: $(figure iterations) double sweeps; $(grep -o 'on the device.*read again [0-9]*' err)"
        run penstock-compare some.hdf all.hdf --tolerance 0 --dataset '*potential' --no-attributes
    done
fi
if wanted ranks && with_ranks; then
    run $solve load.hdf cpu.hdf --device cpu --force
    run $solve load.hdf one.hdf --device cuda --slabs 7 --tolerance 1e-10
    run mpirun -n 2 $solve load.hdf two.hdf --device cuda --slabs 7 --tolerance 1e-10
    run penstock-compare two.hdf one.hdf --tolerance 0 --dataset '*potential' --no-attributes
    run mpirun -n 2 $solve load.hdf two.hdf --device cuda --force
    run penstock-compare two.hdf cpu.hdf --tolerance 1e-6 --dataset '*potential' --no-attributes
fi
# stopped in the middle and continued: the same bits
if wanted restart; then
    run $solve load.hdf full.hdf --device cuda --slabs 7 --tolerance 1e-10
    $solve load.hdf again.hdf --device cuda --slabs 7 --tolerance 1e-10 --limit 5 --checkpoint-every 1steps > out 2> err && fail "5 iterations did"
    grep -q "The best iterate" err || fail "the best iterate is not kept"
    run $solve load.hdf again.hdf --device cuda --slabs 7 --tolerance 1e-10 --restart
    run penstock-compare again.hdf full.hdf --tolerance 0 --dataset '*potential' --no-attributes
fi
echo "schwarz-solve on the device: good"
[ -n "${RESULTS:-}" ] || exit 0

run penstock-gravity-model box.hdf --body ball:0,0,7e3,3e3,100 --nodes 264,264,286
run penstock-gravity-assemble box.hdf one.hdf --source one --boundary zero
{
    for options in "--method direct" "--method cg" "--slabs 8 --method gmres" "--slabs 8 --method fixed-point" \
        "--slabs 64 --method gmres --coarse 0.5" "--method cg --precision mixed" \
        "--slabs 64 --method sweeps" "--slabs 64 --method sweeps --device-memory 400M"; do
        run $solve one.hdf --device cuda $options
        echo "== $options"
        grep -E '^(device|iterations|interface_residual|reading|solving|copy_rate|time) ' out
    done
    if with_ranks; then
        run mpirun -n 2 $solve one.hdf --device cuda --slabs 8 --method gmres
        echo "== 2 ranks, --slabs 8 --method gmres"
        grep -E '^(device|ranks|iterations|interface_residual|reading|solving|time) ' out
    fi
} > "$RESULTS/schwarz_solve.txt"
cat "$RESULTS/schwarz_solve.txt"
