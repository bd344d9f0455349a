/*
 * chunk_stream: read -> unpack -> compute over an ordered list of chunks, again and again,
 * within a memory budget. One engine for all families; it moves bytes and takes callbacks,
 * and knows neither HDF5 nor physics.
 *
 * As many chunks as fit the budget beside the buffers are resident: unpacked in the first
 * sweep, never evicted. They are spread evenly over the order (runtime/chunk_plan.h), so that
 * computing them hides the reading of the others, which pass through `buffers` slots (three by
 * default) in every sweep: a reader thread fills raw bytes, unpacking workers turn them into
 * the form that compute takes, and compute is called by the sweeping thread in the order of
 * the chunks. Reading begins at open, and runs ahead across the end of a sweep into the next
 * one. The result does not depend on the budget: compute sees the same bytes in the same order.
 *
 * Memory held, resident + buffers (stored and unpacked), never exceeds the budget; where that
 * is too small for the buffers wanted, fewer are taken, down to one of each kind. The sizes
 * themselves and the bookkeeping, about 100 bytes a chunk, are not counted.
 *
 * A stream is swept, asked and closed by one thread at a time. Its own threads block signals.
 */
#ifndef PS_RUNTIME_CHUNK_STREAM_H
#define PS_RUNTIME_CHUNK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_chunk_stream ps_chunk_stream;

typedef struct ps_chunk_stream_config {
    int64_t chunk_count;
    const int64_t *raw_bytes;      /* [chunk_count] as stored; borrowed during open          */
    const int64_t *unpacked_bytes; /* [chunk_count] as compute sees it; borrowed during open */
    int64_t host_memory;           /* budget for resident chunks and buffers, bytes          */
    int buffers;                   /* slots for streamed chunks; 0: three                    */
    int unpackers;                 /* worker threads; 0: two. One stored buffer each, + one  */
    bool one_pass;                 /* a single sweep: nothing is kept resident               */
    void *context;                 /* handed to the callbacks                                */
    /* Reads the stored bytes of a chunk into raw (raw_bytes[chunk] long). Called by the
     * reader thread only. */
    ps_status (*read)(void *context, int64_t chunk, void *raw);
    /* Turns raw into unpacked. Called by workers, several at a time, for distinct chunks. */
    ps_status (*unpack)(void *context, int64_t chunk, const void *raw, void *unpacked);
    /* Where unpacked chunks lie already, all of them; NULL: they are read. Then nothing is read,
     * unpacked or held, and no threads are started. */
    const void *(*in_place)(void *context, int64_t chunk);
    /* Allocates and frees unpacked memory, so that a device may take pinned memory; NULL:
     * 64-byte aligned host memory. Called by the threads that open and close, for two pieces:
     * all slots, all resident chunks. */
    ps_status (*allocate)(void *context, int64_t bytes, void **out);
    void (*release)(void *context, void *memory);
} ps_chunk_stream_config;

/* `unpacked` belongs to the stream and is valid until compute returns: work that goes on in the
 * background must have taken its copy by then. */
typedef ps_status (*ps_chunk_compute)(void *context, int64_t chunk, const void *unpacked);

/* Chunks first .. first + count - 1 at once; unpacked[i] is that of chunk first + i. */
typedef ps_status (*ps_chunk_compute_run)(void *context, int64_t first, int64_t count,
                                          const void *const *unpacked);

typedef struct ps_chunk_stream_stats {
    int64_t chunks, resident_chunks;
    int64_t resident_bytes, buffer_bytes; /* memory held                                     */
    int64_t raw_bytes_read, bytes_unpacked;
    double read_seconds, unpack_seconds;  /* summed over threads                             */
    double compute_seconds, wait_seconds; /* of the sweeping thread; their sum is sweep_seconds */
    double sweep_seconds;                 /* wall time inside sweeps                         */
    int64_t sweeps;
    double processor_seconds; /* of the whole process during sweeps, all threads  */
    double fraction; /* max(compute, read, processor / cores) / sweep, at most 1: the share of the
                        time in which what limits (disk, compute or the cores) was at work    */
} ps_chunk_stream_stats;

/* What a stream so configured will hold: its own plan, and nothing is opened. Errors as below. */
ps_status ps_chunk_stream_memory(const ps_chunk_stream_config *config, int64_t *bytes);

/* Plans residency and starts the threads. PS_EXHAUSTED if not even one buffer of each kind for
 * the largest chunk fits the budget; the message says how much is needed. */
ps_status ps_chunk_stream_open(const ps_chunk_stream_config *config, ps_chunk_stream **out);

/* One sweep in chunk order. `context` is handed to compute. A failure of any callback, in
 * whichever thread, ends the sweep and is returned with its message; the stream can then only
 * be closed (further sweeps return the same failure). */
ps_status ps_chunk_stream_sweep(ps_chunk_stream *stream, ps_chunk_compute compute, void *context);

/* The same, but what lies ready one behind the other, at most `most` chunks, is handed over at
 * once: all resident ones of a sweep after the first, but few of those that are read. */
ps_status ps_chunk_stream_sweep_runs(ps_chunk_stream *stream, int64_t most,
                                     ps_chunk_compute_run compute, void *context);

void ps_chunk_stream_get_stats(const ps_chunk_stream *stream, ps_chunk_stream_stats *out);
/* At any moment between sweeps, also after a failed one: waits for the callbacks that are
 * running, no longer. NULL is fine. */
void ps_chunk_stream_close(ps_chunk_stream **stream);

#endif
