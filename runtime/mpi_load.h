/*
 * mpi_load: how many ranks a launcher made, and the adapter (mpi_adapter.h) of the MPI that they
 * share (specs/ranks.md).
 */
#ifndef PS_RUNTIME_MPI_LOAD_H
#define PS_RUNTIME_MPI_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/mpi_adapter.h"
#include "runtime/status.h"

typedef enum ps_mpi_kind { PS_MPI_OPENMPI, PS_MPI_MPICH, PS_MPI_OTHER, PS_MPI_KINDS } ps_mpi_kind;

typedef struct ps_mpi_launch {
    const char *by;   /* "mpirun of Open MPI" */
    int64_t ranks;    /* 0: the launcher does not tell */
    ps_mpi_kind kind; /* which adapter is tried first */
} ps_mpi_launch;

/* Whether a launcher started this process as one of several ranks, by what mpirun (Open MPI, MPICH
 * and its kin) and srun leave in the environment. */
bool ps_mpi_launched(ps_mpi_launch *out);

/* Loads the adapter that PENSTOCK_MPI names (openmpi, mpich, other, or a file), or the first that
 * can be loaded of those that lie beside the program, in ../mpi or ../lib/penstock/mpi from there.
 * It stays loaded. PS_FAILED says what was tried and how an adapter is built. */
ps_status ps_mpi_load(const ps_mpi_launch *launch, const ps_mpi_adapter **out);

#endif
