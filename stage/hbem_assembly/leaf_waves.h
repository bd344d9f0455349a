/*
 * The CUDA backend's own: chunks go to the device in *waves*, as many consecutive ones as suit it,
 * so that it is full. A wave is computed into an arena, and packed in the order of the file; while
 * the next wave is computed, a thread copies the chunks of this one to pinned memory, one after the
 * other, and hands them over. Where the taker takes waves, it gets them as they lie in the arena.
 * What is in a wave changes no bits.
 */
#ifndef PS_HBEM_ASSEMBLY_LEAF_WAVES_H
#define PS_HBEM_ASSEMBLY_LEAF_WAVES_H

#include "stage/hbem_assembly/leaf_backend.h"
#include "stage/hbem_assembly/leaf_tables.h"
#include "kernels/common/copy_ranges.h"
#include "kernels/hbem/device_assembly.h"
#include "runtime/background.h"

/* Memory that grows as it is needed. */
typedef struct room {
    void *base;
    int64_t bytes;
} room;

/* A wave: its leaves in the order of the device, and their values in the order of the file. */
typedef struct wave {
    int64_t chunk, end; /* chunks [chunk, end)     */
    int64_t first;      /* leaf of the matrix      */
    ps_hbem_device_batch batch;
    int32_t *element; /* [batch.count] where a leaf is in the batch           */
    ps_range *ranges; /* [batch.count] of a leaf, from the arena to `packed`  */
    int64_t capacity; /* leaves that arrays have room for                     */
    room packed;      /* on the device                                        */
} wave;

enum {
    PLACE_AT,
    PLACE_BLOCKS,
    PLACE_LIST,
    PLACE_COUNTS,
    PLACE_FIRST,
    PLACE_REPORT,
    PLACE_CLOSE,
    PLACE_WORK,
    PLACE_RANGES,
    PLACE_ARENA,
    PLACES
};

typedef struct cuda_backend {
    ps_leaf_backend base;
    char label[32];
    int64_t memory, chunk_bytes, planned; /* as in ps_leaf_device; chunks */
    int64_t item_bytes, expected;         /* bytes of a number; of all, 0: not known */
    ps_device *device;
    ps_stream *stream, *copies; /* of this thread; of the one that hands over */
    ps_stream *near;            /* of near leaves, which the device starts first */
    ps_event *turn;             /* where one of the two streams waits for the other */
    ps_hbem_device_operator op;
    ps_leaf_tables *tables;               /* of its own, or NULL      */
    room there[PLACES];                   /* on the device            */
    room pinned[PS_LEAF_CHUNKS_KEPT + 1]; /* chunks on their way      */
    int64_t handed;                       /* chunks so far            */
    wave waves[2];
    int32_t *counts; /* [counted] close pairs of near leaves, and where they begin */
    int64_t *close_first, counted;
    const ps_hmatrix_chunks *chunks; /* of the present run */
    const ps_leaf_taker *taker;
    wave *handing;
    ps_background hand;
    double allocating, copying, waiting; /* seconds: the last for the thread that hands over */
    int64_t wave_count, left;            /* leaves that the cores did */
} cuda_backend;

/* Makes room for so many bytes; what was there is lost. */
ps_status ps_leaf_waves_grow(cuda_backend *b, room *r, int64_t bytes);
ps_status ps_leaf_waves_grow_pinned(cuda_backend *b, room *r, int64_t bytes);

int ps_leaf_waves_rank_limit(const cuda_backend *b);

/* ---- leaf_wave.c ---- */

/* Computes the leaves of a wave, whose chunk and end are set, within an arena that is there, and
 * packs them unless they stay on the device. Returns when the device is done. */
ps_status ps_leaf_wave_compute(cuda_backend *b, wave *w);
void ps_leaf_wave_release(cuda_backend *b, wave *w);

/* ---- leaf_hand.c ---- */

/* Copies and hands over the chunks of b->handing; for a thread. */
ps_status ps_leaf_waves_hand_over(void *backend);
/* Hands over a wave that is computed, as it lies in the arena. */
ps_status ps_leaf_waves_hand_on_device(cuda_backend *b, wave *w);
void ps_leaf_waves_release_chunk(ps_leaf_chunk *chunk);

#endif
