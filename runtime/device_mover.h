/*
 * device_mover: the threads of a device stream and the places of its batches. Private to
 * device_mover.c and device_stream.c.
 *
 * A batch goes: feed (runtime/chunk_feed.h) unpacks its chunks into its host image -> the sweeping
 * thread has the user prepare it, once -> the mover enqueues the copy to the device -> the sweep
 * enqueues computing after it. Host images in slots or stagings are free again when their copy is
 * done; a slot on the device may be copied to again when computing on it is enqueued, by events.
 *
 * The feed's lock guards what is marked "locked"; the rest belongs to the thread named, or does
 * not change while threads run.
 */
#ifndef PS_RUNTIME_DEVICE_MOVER_H
#define PS_RUNTIME_DEVICE_MOVER_H

#include <pthread.h>

#include "runtime/chunk_feed.h"
#include "runtime/device_meter.h"
#include "runtime/device_stream.h"

enum { PS_STAGINGS = 2 };

typedef struct ps_moved_batch {
    ps_device_batch plan;
    void *own;                /* of the user, from prepare */
    char *home;               /* locked: device memory (device tier) or pinned (host tier), owned */
    char *image;              /* locked: where the chunks are unpacked in host memory, or NULL */
    int64_t placed, unpacked; /* locked: chunks of the image that have begun, that are complete */
    bool prepared;            /* locked */
    char *base;               /* locked: device memory with the copy enqueued, or NULL */
    int slot;                 /* locked: of base, or -1 */
    bool loaded;              /* kept since an earlier interval: the first sweep reads nothing */
    ps_event *copied;         /* recorded by the mover before base is set */
    ps_probe copying, computing; /* under the meters' lock */
} ps_moved_batch;

/* A stack of free pieces of one arena. */
typedef struct ps_pieces {
    char *memory;
    int64_t size, arena; /* of a piece, of all */
    int count, free_count;
    int *free; /* [count] indices */
} ps_pieces;

struct ps_device_stream {
    ps_device_stream_config config; /* the arrays of sizes are copies, owned */
    int64_t *sizes;                 /* [2][chunk_count], behind config's arrays */
    ps_device_plan plan;
    ps_moved_batch *batches;     /* [plan.batch_count] */
    int64_t *offsets, *batch_of; /* [config.count] of the interval's chunks */
    ps_chunk_feed *feed;         /* NULL before the first start and between intervals */
    pthread_t mover, allocator;
    bool mover_runs, allocator_runs;
    ps_stream *copies;
    ps_event *last; /* end of the last sweep */

    char *slots; /* device memory, plan.slots pieces */
    int64_t slots_bytes;
    int slot_count, next_slot; /* next_slot: the mover's */
    bool *busy;                /* locked: [slot_count] copied to, computing not enqueued yet */
    ps_event **computed;       /* [slot_count] recorded by the sweep before busy is cleared */

    ps_pieces host_slots, stagings; /* locked; pinned */
    int64_t reading;                /* locked: next chunk of the reader's pass */
    bool reread;                    /* locked: that pass is not the first */
    int64_t *flying;                /* locked: ring of batches whose image is being copied */
    int flying_size, flying_first, flying_count;

    ps_status broken; /* a reset that failed on its way */
    bool loading;     /* the next sweep is the first of this interval */
    pthread_mutex_t meter_lock;
    ps_meter copy[2], compute[2], sweep[2]; /* [1]: in loading sweeps */
    bool move_loading;                      /* the mover is in its first pass */
    ps_chunk_feed_stats feeds[2];           /* of feeds that have ended, [1]: in loading sweeps */
    ps_chunk_feed_stats counted;            /* of the present feed, already in feeds */
    int64_t sweeps[2];
    ps_probe sweep_probes[8];
};

/* All chunks lie on the device, and all batches stay there: no thread, no feed and no image is
 * needed, and the sweeping thread gathers a batch where it would await its image. */
bool ps_mover_gathers(const ps_device_stream *stream);
/* What prepare sees of a chunk of an awaited batch. */
const void *ps_mover_image(const ps_device_stream *stream, const ps_moved_batch *batch,
                           int64_t chunk);
/* Starts reading, allocating and copying for the batches as they are. */
ps_status ps_mover_start(ps_device_stream *stream);
/* Stops it all at any moment and waits for the copies; the feed is gone afterwards. */
ps_status ps_mover_stop(ps_device_stream *stream);
/* Waits until the batch is unpacked; until its copy to the device is enqueued. */
ps_status ps_mover_await_image(ps_device_stream *stream, ps_moved_batch *batch);
ps_status ps_mover_await_base(ps_device_stream *stream, ps_moved_batch *batch);
void ps_mover_set_prepared(ps_device_stream *stream, ps_moved_batch *batch);
/* Computing on the batch is enqueued, and the event of its slot recorded. */
void ps_mover_done_with(ps_device_stream *stream, ps_moved_batch *batch);
/* After the first sweep: waits until no staging is in use, frees them, and retires the feed if
 * nothing is read from disk any more. */
ps_status ps_mover_end_loading(ps_device_stream *stream);

#endif
