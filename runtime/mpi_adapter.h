/*
 * mpi_adapter: the calls of MPI that comm.c makes, as a table that a shared object of its own
 * brings, `libpenstock-mpi-KIND.so`. Programs load it when several ranks were launched, so that
 * they need no MPI to start, and one set of programs runs under any MPI for which there is an
 * adapter (specs/ranks.md). This header and mpi_adapter.c need nothing else of Penstock, so that a
 * user with a compiler wrapper can build an adapter for his MPI:
 *
 *     mpicc -O2 -fPIC -shared mpi_adapter.c -o libpenstock-mpi-mine.so
 */
#ifndef PS_RUNTIME_MPI_ADAPTER_H
#define PS_RUNTIME_MPI_ADAPTER_H

/* Raised with every change of the table: an adapter of another version is refused. */
enum { PS_MPI_ADAPTER_VERSION = 1 };

/* All calls but error_text and local_place return 0 or an error of MPI. Bytes and counts are ints
 * as in MPI. Collective over all ranks, but for send, receive and wait; called by one thread. */
typedef struct ps_mpi_adapter {
    int version;         /* PS_MPI_ADAPTER_VERSION */
    const char *library; /* "Open MPI 4.1.4", as its header says */
    int request_bytes;   /* of one request in the array that send, receive and wait are given */
    int error_bytes;     /* of the longest text of an error */

    /* Starts MPI; threads is 0 where this MPI does not allow a program to have threads. */
    int (*start)(int *argc, char ***argv, int *rank, int *size, int *threads);
    /* Among the ranks that share this machine's memory. */
    int (*local_place)(int *rank, int *size);
    void (*end)(void);
    void (*abort)(int code);
    void (*error_text)(int error, char *text); /* text[error_bytes] */

    /* out[size][bytes] */
    int (*all_gather)(const void *data, int bytes, void *out);
    /* In place: counts[r] bytes at data + at[r] are rank r's. */
    int (*all_gather_parts)(void *data, const int *counts, const int *at);
    int (*all_to_all)(const void *data, const int *sent, const int *sent_at, void *out,
                      const int *received, const int *received_at);
    int (*broadcast)(void *data, int bytes, int root);

    /* Posts a message to or from a rank as request `number` of the array. */
    int (*send)(const void *data, int bytes, int rank, void *requests, int number);
    int (*receive)(void *data, int bytes, int rank, void *requests, int number);
    int (*wait)(void *requests, int count);
} ps_mpi_adapter;

/* What the shared object defines. */
extern const ps_mpi_adapter ps_mpi_adapter_table;

#endif
