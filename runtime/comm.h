/*
 * comm: the ranks of a run. MPI is loaded by comm.c when a launcher made several ranks
 * (specs/ranks.md); else there is one, and calls are local.
 *
 * All functions but rank and size are collective over all ranks, called by one thread.
 */
#ifndef PS_RUNTIME_COMM_H
#define PS_RUNTIME_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

/* Loads and starts MPI only if the process was launched as one of several ranks (mpirun, srun), so
 * that a plain start needs no MPI. PS_FAILED if there is no MPI for the launcher (mpi_load.h), or
 * it sees another number of ranks than were launched. */
ps_status ps_comm_start(int *argc, char ***argv);
void ps_comm_end(void);
/* Ends all ranks with this exit code; does not return under MPI with several ranks. */
void ps_comm_abort(int code);

int ps_comm_rank(void);
int ps_comm_size(void);
/* Among the ranks that share this machine's memory: who drives which GPU. */
int ps_comm_local_rank(void);
int ps_comm_local_size(void);

/* In place, element by element; counts may differ from nothing to beyond 2^31, equal on all
 * ranks. Each element is summed in the order of the ranks (f32 in double, rounded once), so the
 * bits depend on the number of ranks alone: not on counts, the nodes or the MPI library. The
 * maximum of numbers of which one is NaN is NaN. Memory: 4 MiB a rank. */
ps_status ps_comm_sum_f32(float *data, int64_t count);
ps_status ps_comm_sum_f64(double *data, int64_t count);
ps_status ps_comm_sum_i64(int64_t *data, int64_t count);
ps_status ps_comm_max_f64(double *data, int64_t count);
ps_status ps_comm_max_i64(int64_t *data, int64_t count);
ps_status ps_comm_min_i64(int64_t *data, int64_t count);
ps_status ps_comm_broadcast(void *data, int64_t bytes, int root);
/* Gathers `bytes` from each rank to all: out has size * bytes. */
ps_status ps_comm_gather(const void *data, int64_t bytes, void *out);

/* What this rank has sent through this file so far, where there are several: messages of exchanges
 * and their bytes; sums, and the bytes that it brought to them; calls that find the largest or the
 * least of a few numbers, agreements too; broadcasts and gatherings, their bytes. Local. */
typedef struct ps_comm_traffic {
    int64_t messages, sent, sums, summed, agreements, shares, shared;
} ps_comm_traffic;
ps_comm_traffic ps_comm_traffic_so_far(void);

/* True on all ranks if it is true on any. */
bool ps_comm_any(bool condition);
/* Agreement on failure: if any rank failed, all return the highest code; ranks that were
 * fine get the message of the lowest failing rank, with its number. Call it after each local
 * phase that can fail, so that no rank waits for one that has left. */
ps_status ps_comm_agree(ps_status local);

/* Point to point for halos (families with partitions): posts all, waits for all.
 * Each exchange is one neighbour; send and receive sizes may differ. What one rank sends to
 * another must be what that one expects; several exchanges between the same two ranks match in
 * the order of both lists. The buffers belong to the exchange until the wait returns.
 * Sums, broadcasts and gathers may be called in between. */
typedef struct ps_comm_exchange {
    int neighbour;
    const void *send;
    void *receive;
    int64_t send_bytes, receive_bytes;
} ps_comm_exchange;
typedef struct ps_comm_pending ps_comm_pending;
ps_status ps_comm_exchange_start(const ps_comm_exchange *exchanges, int count,
                                 ps_comm_pending **out);
ps_status ps_comm_exchange_wait(ps_comm_pending **pending); /* frees; NULL is fine */

#endif
