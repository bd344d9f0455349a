# runtime/comm on 1 to 4 ranks: values, order of sums, agreement, exchange, abort; the adapters of MPI, and what is said where
# none fits.
. "$ROOT/tests/stages/lib.sh"
check=$BUILD/tests-programs/comm_check

# Nothing is linked to MPI, and no MPI is started where there is one rank.
for program in "$check" "$BUILD"/bin/penstock-* "$BUILD"/lib/libpenstock.so; do
    readelf -d "$program" | grep -qE 'NEEDED.*(mpi|pmix)' && fail "$program is linked to MPI"
done
alone=$("$check" 1) || fail "one rank"
[ "$(OMPI_COMM_WORLD_SIZE=1 PMI_SIZE=1 "$check" 1)" = "$alone" ] || fail "a launcher of one rank"
# Without an adapter several ranks are refused: what was looked for, and how one is built.
mkdir bare && cp "$check" bare
for launch in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 MV2_COMM_WORLD_SIZE=2 "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2"; do
    expect 1 "libpenstock-mpi-mpich.so was not built" env $launch bare/comm_check 2
    expect 1 "mpicc -O2 -fPIC -shared runtime/mpi_adapter.c" env $launch bare/comm_check 2
done
expect 1 "launched by a launcher with PMIx" env PMIX_RANK=0 bare/comm_check 1
expect 0 "$alone" env SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0 bare/comm_check 1
expect 1 "expected openmpi, mpich, other" env PENSTOCK_MPI=lam PMI_SIZE=2 bare/comm_check 2
expect 1 "nowhere.so" env PENSTOCK_MPI=./nowhere.so PMI_SIZE=2 bare/comm_check 2

command -v mpirun > /dev/null && [ -e "$BUILD/mpi/libpenstock-mpi-openmpi.so" ] || { echo "there is no Open MPI here"; exit 77; }
[ "$(mpirun --oversubscribe -np 1 "$check" 1)" = "$alone" ] || fail "mpirun with one rank"
for ranks in 2 3 4; do
    digest[ranks]=$(mpirun --oversubscribe -np $ranks "$check" $ranks) || fail "$ranks ranks"
    second=$(mpirun --oversubscribe -np $ranks "$check" $ranks)
    echo "$ranks ranks: ${digest[ranks]}"
    case ${digest[ranks]} in digest*) ;; *) fail "$ranks ranks print no digest" ;; esac
    [ "${digest[ranks]}" = "$second" ] || fail "$ranks ranks: sums differ between runs: $second"
done
rc=0
timeout 30 mpirun --oversubscribe -np 3 "$check" 3 abort > /dev/null 2>&1 || rc=$?
[ $rc -eq 4 ] || fail "an abort with code 4 ended with $rc"

# An adapter that a user builds, by the command of the message; one of another version.
cp "$ROOT"/runtime/mpi_adapter.[ch] .
mpicc.openmpi -O2 -fPIC -shared mpi_adapter.c -o libpenstock-mpi-mine.so || fail "an adapter by hand"
[ "$(PENSTOCK_MPI=./libpenstock-mpi-mine.so mpirun --oversubscribe -np 2 bare/comm_check 2)" = "${digest[2]}" ] || fail "the adapter by hand"
mkdir old && sed 's/PS_MPI_ADAPTER_VERSION = 1/PS_MPI_ADAPTER_VERSION = 99/' mpi_adapter.h > old/mpi_adapter.h && cp mpi_adapter.c old
mpicc.openmpi -O2 -fPIC -shared old/mpi_adapter.c -o old/libpenstock-mpi-openmpi.so || fail "an old adapter"
expect 1 "another version of Penstock" env PENSTOCK_MPI=./old/libpenstock-mpi-openmpi.so PMI_SIZE=2 bare/comm_check 2
# An adapter that names no library, as those of a wheel, finds the one of the loader.
if command -v patchelf > /dev/null; then
    mkdir free && cp "$check" free
    cp libpenstock-mpi-mine.so free/libpenstock-mpi-openmpi.so
    for name in $(readelf -d libpenstock-mpi-mine.so | sed -n 's/.*NEEDED.*\[\(libmpi.*\)\]/\1/p'); do
        patchelf --remove-needed "$name" free/libpenstock-mpi-openmpi.so
    done
    [ "$(mpirun --oversubscribe -np 2 free/comm_check 2)" = "${digest[2]}" ] || fail "an adapter without a library's name"
fi
# An MPI that another launcher started is not believed.
expect 1 "launched as 3 ranks by mpiexec of MPICH or its kin, but Open MPI" env PMI_SIZE=3 PENSTOCK_MPI=openmpi "$check" 1

if command -v mpiexec.mpich > /dev/null && [ -e "$BUILD/mpi/libpenstock-mpi-mpich.so" ]; then
    for ranks in 2 3 4; do
        [ "$(mpiexec.mpich -n $ranks "$check" $ranks)" = "${digest[ranks]}" ] || fail "$ranks ranks of MPICH: other bits than Open MPI's"
    done
    rc=0
    timeout 30 mpiexec.mpich -n 3 "$check" 3 abort > /dev/null 2>&1 || rc=$?
    [ $rc -eq 4 ] || fail "an abort with code 4 under MPICH ended with $rc"
    expect 1 "launched as 2 ranks by mpirun of Open MPI, but MPICH" env PENSTOCK_MPI=mpich mpirun --oversubscribe -np 2 "$check" 2
fi
exit 0
