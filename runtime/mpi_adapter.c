/*
 * Compiled once for each MPI, by its compiler wrapper, into a shared object of its own: the handles
 * and constants of mpi.h differ between MPI libraries.
 */
#include "mpi_adapter.h"

#include <mpi.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined OPEN_MPI
#define LIBRARY                                                                                    \
    "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined I_MPI_VERSION
#define LIBRARY "Intel MPI " I_MPI_VERSION
#elif defined MVAPICH2_VERSION
#define LIBRARY "MVAPICH " MVAPICH2_VERSION
#elif defined MPICH_VERSION
#define LIBRARY "MPICH " MPICH_VERSION
#else
#define LIBRARY "MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION)
#endif

enum { TAG = 4711 };

static int start(int *argc, char ***argv, int *rank, int *size, int *threads)
{
    int provided = MPI_THREAD_SINGLE;
    int error = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
    if (!error) error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!error) error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (!error) error = MPI_Comm_size(MPI_COMM_WORLD, size);
    *threads = provided >= MPI_THREAD_FUNNELED;
    return error;
}

static int local_place(int *rank, int *size)
{
    MPI_Comm local;
    int mine = 0, error = MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    if (!error)
        error =
            MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mine, MPI_INFO_NULL, &local);
    if (error) return error;
    error = MPI_Comm_rank(local, rank);
    if (!error) error = MPI_Comm_size(local, size);
    int freed = MPI_Comm_free(&local);
    return error ? error : freed;
}

static void end(void)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) MPI_Finalize();
}

static void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static void error_text(int error, char *text)
{
    int length = 0;
    MPI_Error_string(error, text, &length);
    text[length] = 0;
}

static int all_gather(const void *data, int bytes, void *out)
{
    return MPI_Allgather(data, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int all_gather_parts(void *data, const int *counts, const int *at)
{
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, counts, at, MPI_BYTE, MPI_COMM_WORLD);
}

static int all_to_all(const void *data, const int *sent, const int *sent_at, void *out,
                      const int *received, const int *received_at)
{
    return MPI_Alltoallv(data, sent, sent_at, MPI_BYTE, out, received, received_at, MPI_BYTE,
                         MPI_COMM_WORLD);
}

static int broadcast(void *data, int bytes, int root)
{
    return MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static int send(const void *data, int bytes, int rank, void *requests, int number)
{
    MPI_Request *request = (MPI_Request *)requests + number;
    *request = MPI_REQUEST_NULL;
    return MPI_Isend(data, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, request);
}

static int receive(void *data, int bytes, int rank, void *requests, int number)
{
    MPI_Request *request = (MPI_Request *)requests + number;
    *request = MPI_REQUEST_NULL;
    return MPI_Irecv(data, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, request);
}

/* MPICH declares the third argument as an array, and its MPI_STATUSES_IGNORE is no address of one.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
static int wait_all(void *requests, int count)
{
    return MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}
#pragma GCC diagnostic pop

const ps_mpi_adapter ps_mpi_adapter_table = {
    .version = PS_MPI_ADAPTER_VERSION,
    .library = LIBRARY,
    .request_bytes = (int)sizeof(MPI_Request),
    .error_bytes = MPI_MAX_ERROR_STRING + 1,
    .start = start,
    .local_place = local_place,
    .end = end,
    .abort = abort_all,
    .error_text = error_text,
    .all_gather = all_gather,
    .all_gather_parts = all_gather_parts,
    .all_to_all = all_to_all,
    .broadcast = broadcast,
    .send = send,
    .receive = receive,
    .wait = wait_all,
};
