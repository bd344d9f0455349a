# penstock-schwarz-solve judges the whole system before its output gets a name: slabs and subdomains that are solved to less
# than their interfaces end with code 5, and at no moment is there a field, on one rank and on several, in memory and streamed;
# an older output stays as it was, no state is left, and the residual of the whole has the same digits however ranks and
# chunks divide the planes.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve
export OMPI_MCA_orte_abort_print_stack=0
penstock-gravity-model model.hdf --preset chx-1 --nodes 25,21,9 > /dev/null || fail "model"
assembled model.hdf load.hdf --subdomains sub.h5 --parts 4
solve="penstock-schwarz-solve load.hdf"
mpi=
command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1 && mpi="mpirun -n 2"
working() { "$ROOT/tests/support/still-there" penstock-schwarz-solve; }

# never WHAT STEP RANK OPTIONS...: refused, and killed before the first, the (1 + STEP)th ... change of a file.
never() {
    local what=$1 step=$2 rank=$3 run=$solve n rc
    shift 3
    [ "$rank" = - ] && rank= || run="$mpi $solve"
    rm -f no.*
    expect 5 "nothing is kept" $run no.hdf "$@" --threads 1
    [ -z "$(ls no.* 2> /dev/null)" ] || fail "$what: left behind: $(ls no.*)"
    for ((n = 1;; n += step)); do
        { RANK=$rank at rename+unlink+fsync:$n KILL $run no.hdf "$@" --threads 1 > killed.out 2>&1; rc=$?; } 2> /dev/null
        [ $rc -ne 5 ] || break
        while working; do sleep .02; done
        [ ! -e no.hdf ] || fail "$what, killed before change $n: a field that is no solution was kept"
        [ $n -lt 200 ] || fail "$what: does not end with 5 but with $rc"
    done
    [ $n -gt 3 ] || fail "$what: killed at $n changes only"
    [ ! -e no.hdf ] || fail "$what: a field that is no solution was kept"
}
loose="--inner cg --inner-tolerance .1 --checkpoint-every 2steps"
never slabs 1 - --slabs 5 $loose
never "sweeps, streamed" 3 - --slabs 4 --method sweeps --streamed $loose
never subdomains 3 - --subdomains sub.h5 $loose
[ -z "$mpi" ] || never "slabs, rank 1 of 2" 4 1 --slabs 5 $loose

expect 0 "" $solve two.hdf --slabs 2
cp two.hdf old.hdf
expect 5 "nothing is kept" $solve two.hdf --slabs 5 $loose
cmp -s two.hdf old.hdf || fail "the output of other options is not as it was"

# ---- two chunks of a file, parts of ranks, ranks of one plane: the digits of one ----
penstock-gravity-model model.hdf --preset chx-1 --nodes 121,41,33 --force > /dev/null && assembled model.hdf load.hdf --force
first=
for n in 1 ${mpi:+2 3}; do
    run="$solve o.hdf --slabs 4 --inner cg --inner-tolerance 1e-4 --threads 1 --force"
    [ $n = 1 ] || run="mpirun -n $n $run"
    expect 0 "" $run
    [ "${first:=$(figure residual)}" = "$(figure residual)" ] || fail "the residual is $first on one rank, $(figure residual) on $n"
done
within "$first" 1e-7 1e-3 "residual of the whole"
[ -n "$mpi" ] || exit 0
penstock-gravity-model model.hdf --preset chx-1 --nodes 7,21,9 --force > /dev/null && assembled model.hdf load.hdf --force
first=
for n in 1 3 6; do
    expect 0 "" mpirun -n $n $solve o.hdf --slabs 6 --inner cg --inner-tolerance 1e-4 --threads 1 --force
    [ "${first:=$(figure residual)}" = "$(figure residual)" ] || fail "ranks of few planes: the residual is $first on one rank, $(figure residual) on $n"
done
exit 0
