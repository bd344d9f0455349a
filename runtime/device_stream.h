/*
 * device_stream: sweeps of a device over an ordered list of chunks that need not fit its memory,
 * nor the host's. The device side of chunk_stream: it moves bytes and takes callbacks, and knows
 * neither HDF5 nor physics.
 *
 * Consecutive chunks form batches (runtime/device_plan.h). A batch is kept on the device; or kept
 * in pinned host memory and copied in every sweep, by one copy on a stream of its own, to one of
 * a few slots on the device; or read and unpacked in every sweep, straight into pinned slots, and
 * copied from there. Copies run ahead of computing as slots get free, also across the end of a
 * sweep into the next one. All chunks are read once in the first sweep after open or reset.
 *
 * Batches are computed in the order of their chunks. What a batch is depends on batch_bytes and on
 * the interval alone as long as batch_bytes is given and resident_batch_bytes is 0; then a compute
 * that is deterministic for given batches gives the same bits whatever the budgets.
 *
 * A device stream is swept, reset, asked and closed by one thread at a time. On the CPU device
 * all of this holds too, with copies by memcpy: it is there for tests.
 */
#ifndef PS_RUNTIME_DEVICE_STREAM_H
#define PS_RUNTIME_DEVICE_STREAM_H

#include "runtime/device.h"
#include "runtime/device_plan.h"

typedef struct ps_device_stream ps_device_stream;

/* The host images of a batch when all its chunks are unpacked for the first time. */
typedef struct ps_batch_images {
    int64_t first, count;      /* chunks */
    int64_t bytes;             /* of the batch on the device */
    const void *const *images; /* [count] borrowed: gone when prepare returns, on the device too  */
    const int64_t *offsets;    /* [count] image c lies on the device at base + offsets[c], verbatim,
                                  on a multiple of 256 */
} ps_batch_images;

/* A batch that is on the device, or will be when the stream gets there. */
typedef struct ps_batch_work {
    int64_t first, count; /* chunks */
    int64_t bytes;
    void *own;        /* what prepare left */
    const void *base; /* device memory; valid for what compute enqueues */
    ps_event *copied; /* when it is there: for what compute enqueues on streams of its own, which
                         the stream it is given has to wait for */
} ps_batch_work;

/* Enqueues the work of one batch on `stream`; need not wait for it. */
typedef ps_status (*ps_batch_compute)(void *context, const ps_batch_work *work, ps_stream *stream);

typedef struct ps_device_stream_config {
    ps_device *device; /* borrowed */
    int64_t chunk_count;
    const int64_t *raw_bytes;      /* [chunk_count] as stored; borrowed during open           */
    const int64_t *unpacked_bytes; /* [chunk_count] as the device sees it; likewise           */
    int64_t first, count;          /* the interval swept; count < 0: to the end               */
    int64_t host_memory, device_memory; /* budgets of this stream, bytes                      */
    int64_t batch_bytes, resident_batch_bytes; /* as in ps_device_plan_request                */
    int slots, host_slots; /* on the device, pinned; 0: three                         */
    int unpackers;         /* worker threads; 0: by the cores, 2 to 14                */
    int readers;           /* threads that call read, for distinct chunks; 0: one     */
    void *context;         /* handed to the callbacks below                           */
    /* As in ps_chunk_stream_config. */
    ps_status (*read)(void *context, int64_t chunk, void *raw);
    ps_status (*unpack)(void *context, int64_t chunk, const void *raw, void *unpacked);
    /* Where the chunks lie on the device already, if they do; *host is set to what images[c] is to
     * be for prepare, which may hold less than the image. Batches that are to stay on the device
     * are then gathered there, and nothing is read for them. NULL: they are read. */
    const void *(*placed)(void *context, int64_t chunk, const void **host);
    /* Called by the sweeping thread, once a batch, before its first compute. May leave a pointer
     * of the user's own in *own, which compute gets. NULL: nothing to prepare. */
    ps_status (*prepare)(void *context, const ps_batch_images *images, void **own);
    /* Called for what prepare left when the batch goes (reset, close), by the thread that asks for
     * that; the device has done its work by then. NULL: nothing to do. */
    void (*forget)(void *context, void *own);
} ps_device_stream_config;

/* Sums over the sweeps of one kind. Seconds of copy and compute are the device's, by events on a
 * sample of batches; of read and unpack the threads', added up; elapsed is the device's time from
 * the start of each sweep to its end, and wait what of it is not compute. */
typedef struct ps_device_stream_times {
    int64_t sweeps, raw_bytes_read, bytes_unpacked, bytes_copied;
    double read_seconds, unpack_seconds, copy_seconds, compute_seconds;
    double wait_seconds, elapsed_seconds;
    double fraction; /* max(read, copy, compute) / elapsed, at most 1 */
} ps_device_stream_times;

typedef struct ps_device_stream_stats {
    int64_t batches[PS_TIERS], bytes[PS_TIERS];
    int64_t device_bytes, host_bytes; /* memory held, as planned                          */
    ps_device_stream_times loading;   /* first sweeps after open or reset                 */
    ps_device_stream_times streaming; /* the others                                       */
} ps_device_stream_stats;

/* Plans, allocates the slots and starts reading. PS_EXHAUSTED as ps_device_plan_make. */
ps_status ps_device_stream_open(const ps_device_stream_config *config, ps_device_stream **out);

/* Enqueues one sweep on `on`, a stream of the same device: what is enqueued on it later comes after
 * the sweep. Returns when the last batch is enqueued: at once where nothing is read from disk, for
 * the rest when its last batch has been handed over for copying. The first sweep waits for all
 * reading. A failure of any callback, in whichever thread, is returned with its message; the
 * stream can then only be closed. What was enqueued before a failure has been waited for. */
ps_status ps_device_stream_sweep(ps_device_stream *stream, ps_batch_compute compute, void *context,
                                 ps_stream *on);

/* Goes over to another interval. Batches that are the same (chunks and tier) stay as they are, on
 * the device and in host memory, and keep what prepare left; the others are dropped, and new ones
 * are read in the next sweep. Waits for the device. */
ps_status ps_device_stream_reset(ps_device_stream *stream, int64_t first, int64_t count);

/* Wait for the stream swept on before: work that is not done is not counted. */
void ps_device_stream_get_stats(ps_device_stream *stream, ps_device_stream_stats *out);
/* At any moment between sweeps, also after a failed one; waits for the device. NULL is fine. */
void ps_device_stream_close(ps_device_stream **stream);

#endif
