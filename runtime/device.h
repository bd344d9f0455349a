/*
 * device: where buffers live and kernels run. One interface, a CPU side and (where CUDA was
 * found at build time) a CUDA side chosen at run time.
 *
 * A device has buffers, streams (work on a stream runs in order) and events. On the CPU a
 * stream runs at once and copies are memcpy, so that code written for streams is right there
 * too. Every CUDA call is checked; a failure names the call, its place and CUDA's message.
 */
#ifndef PS_RUNTIME_DEVICE_H
#define PS_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_device_kind { PS_DEVICE_CPU, PS_DEVICE_CUDA } ps_device_kind;
typedef struct ps_device ps_device;
typedef struct ps_stream ps_stream;
typedef struct ps_event ps_event;

typedef struct ps_device_info {
    ps_device_kind kind;
    int ordinal;
    char name[128];
    int64_t memory_total, memory_free; /* bytes */
    int multiprocessors;               /* CPU: cores */
} ps_device_info;

/* "auto" (a CUDA device if there is one, by rank, else the CPU), "cpu", "cuda", "cuda:N".
 * PS_USAGE: not such a name; PS_FAILED: asked for CUDA and there is none, and why. */
ps_status ps_device_open(const char *name, int rank, ps_device **out);
/* The CUDA device of a number; below 0 the CPU. */
ps_status ps_device_open_ordinal(int ordinal, ps_device **out);
void ps_device_close(ps_device **device);
ps_device_info ps_device_describe(const ps_device *device);
int ps_device_count(void); /* CUDA devices here; 0 without CUDA */
/* Before any other call here, by a program that will run many short kernels side by side: kernels
 * are loaded when a device is opened, not each at its first launch, and up to 32 streams get
 * queues of their own. What the environment says already holds. */
void ps_device_expect_tasks(void);

/* The CUDA devices that one of `local_size` processes on this machine should drive under this
 * name, as ordinals in out[capacity]; *count is 0 for the CPU. "cuda:N": that one; "cuda", "auto":
 * every local_size-th from local_rank on, at least one where there is any. Errors as for opening.
 */
ps_status ps_device_list(const char *name, int local_rank, int local_size, int *out, int capacity,
                         int *count);

ps_status ps_device_alloc(ps_device *device, int64_t bytes, void **out); /* device memory */
void ps_device_free(ps_device *device, void *memory);
ps_status ps_device_alloc_pinned(ps_device *device, int64_t bytes, void **out); /* host memory */
void ps_device_free_pinned(ps_device *device, void *memory);

/* Addresses for `bytes` of device memory of which those *ring apart are the same memory: arrays of
 * which only a window exists at a time keep one address for each row. *ring bytes are taken,
 * rounded up to what the device maps at once. PS_FAILED where a device cannot do so. */
ps_status ps_device_alloc_ring(ps_device *device, int64_t bytes, int64_t *ring, void **out);
void ps_device_free_ring(ps_device *device, void *memory, int64_t bytes, int64_t ring);

ps_status ps_stream_open(ps_device *device, ps_stream **out);
/* A stream whose kernels the device starts first where others are ready, too. */
ps_status ps_stream_open_ahead(ps_device *device, ps_stream **out);
void ps_stream_close(ps_stream **stream);
ps_status ps_stream_wait(ps_stream *stream);    /* the host waits for all its work */
void *ps_stream_handle(ps_stream *stream);      /* cudaStream_t for kernels; NULL on the CPU */
ps_device *ps_stream_device(ps_stream *stream); /* where it was opened; borrowed */
/* Makes the stream's device the current one of the calling thread: before launching a kernel. */
ps_status ps_stream_enter(ps_stream *stream);

ps_status ps_copy_to_device(ps_stream *stream, void *device, const void *host, int64_t bytes);
/* Takes memory of the stream's device, to be freed even on failure, and waits for the copy. */
ps_status ps_copy_to_new(ps_stream *stream, const void *host, int64_t bytes, void **device);
ps_status ps_copy_to_host(ps_stream *stream, void *host, const void *device, int64_t bytes);
ps_status ps_fill_zero(ps_stream *stream, void *device, int64_t bytes);
/* Within the memory of the stream's device; the pieces do not overlap. */
ps_status ps_copy_on_device(ps_stream *stream, void *to, const void *from, int64_t bytes);
/* From memory of `source` to memory of the stream's device, both of one kind. Directly where the
 * two devices can reach each other, otherwise through the host by the driver. */
ps_status ps_copy_peer(ps_stream *stream, void *to, ps_device *source, const void *from,
                       int64_t bytes);

ps_status ps_event_open(ps_device *device, ps_event **out);
void ps_event_close(ps_event **event);
ps_status ps_event_record(ps_event *event, ps_stream *stream);
ps_status ps_event_wait(ps_event *event, ps_stream *stream); /* the stream waits for the event */
/* An event that was never recorded is done, and nobody waits for it. A host thread that waits by
 * ps_event_sync sleeps (and takes some 30 us to wake); by ps_stream_wait it spins. */
ps_status ps_event_sync(ps_event *event); /* the host waits */
ps_status ps_event_is_done(ps_event *event, bool *out);
ps_status ps_event_seconds(ps_event *start, ps_event *end, double *out);

#endif
