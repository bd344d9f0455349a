# Ranks that were given other options or other inputs than rank 0: refused at once, with nothing written, where the output was a mixture.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble
command -v mpirun > /dev/null && [ -e "$BUILD/mpi/libpenstock-mpi-openmpi.so" ] || { echo "there is no Open MPI here"; exit 77; }
export OMP_NUM_THREADS=1
expect 0 "" penstock-mesh-surface a.hdf --divisions 2
expect 0 "" penstock-mesh-surface b.hdf --divisions 3
one() { echo -np 1 penstock-slice-assemble "$1" out.h5 --courant 2 --speed "$2" -q; }
expect 2 "rank 1 was given other options than rank 0" timeout 60 mpirun $(one a.hdf 1) : $(one a.hdf 1.1)
expect 2 "rank 1 reads other inputs than rank 0" timeout 60 mpirun $(one a.hdf 1) : $(one b.hdf 1)
[ -z "$(ls out.* 2> /dev/null)" ] || fail "something was written: $(ls out.*)"
expect 0 "" timeout 60 mpirun $(one a.hdf 1) : $(one "$PWD/a.hdf" 1.0)
