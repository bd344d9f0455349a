/*
 * interaction_device: tiles of interaction.h on a CUDA device. The same sums in the same order: the
 * values have the bits that ps_interaction_compute gives on a processor which fuses
 * multiplications and additions, and on no device do they depend on the tile.
 *
 * No allocation: the caller brings device memory, pinned host memory and a stream. One tile at a
 * time in a piece of memory; with several pieces and streams tiles overlap.
 */
#ifndef PS_KERNELS_TDBEM_INTERACTION_DEVICE_H
#define PS_KERNELS_TDBEM_INTERACTION_DEVICE_H

#include <stdbool.h>

#include "kernels/tdbem/interaction.h"
#include "runtime/device.h"

/* What a range of unknowns takes part with; of tiles of any ranges the maxima can be taken. */
typedef struct ps_interaction_side {
    int64_t unknowns;
    int64_t widths; /* sum of the k that each unknown's support spans, rounded up          */
    /* Sound-hard: */
    int64_t slots;     /* corners of triangles at the unknowns                                */
    int64_t most;      /* of them at one unknown                                              */
    int64_t triangles; /* triangles at the unknowns                                           */
    int64_t shells;    /* sum of the shells that each of these spans                          */
} ps_interaction_side;
ps_interaction_side ps_interaction_side_of(const ps_interaction *interaction, int64_t first,
                                           int64_t count);

/* Bytes for a tile. With less device memory than `whole` (but no less than `least`) its slices
 * are treated in several bands, which is slower: the host waits between them. */
typedef struct ps_interaction_room {
    int64_t tables; /* host memory                                                           */
    int64_t least, whole;
} ps_interaction_room;
ps_interaction_room ps_interaction_room_of(const ps_interaction *interaction,
                                           const ps_interaction_side *rows,
                                           const ps_interaction_side *slices, bool mirrored);

/* Where a tile is computed; all borrowed. */
typedef struct ps_interaction_device {
    const ps_interaction *interaction;
    const ps_triangle *triangles; /* device memory: a copy of interaction->triangles         */
    const uint8_t *lined;         /* likewise of interaction->lined, where there is one      */
    ps_precision precision;       /* of the values that come back                            */
    void *tables, *memory;        /* host memory, pinned if it is to be fast; device memory  */
    int64_t table_bytes, memory_bytes;
    ps_event *done; /* for the host to wait by                                 */
} ps_interaction_device;

/* Starts computing the tile whose ranges are set, and with `mirrored` its transpose. Returns before
 * it is done; `device` and its memory are busy until ps_interaction_device_fetch. PS_EXHAUSTED if
 * there is less memory than ps_interaction_room_of says, PS_FAILED without CUDA. */
ps_status ps_interaction_device_start(const ps_interaction_device *device,
                                      const ps_interaction_tile *tile, bool mirrored,
                                      ps_stream *stream);

/* Waits, and fills the tile (and its transpose unless mirror is NULL; it must have been asked for).
 * In single precision values go to tile->singles instead of tile->values. Failures as of
 * ps_interaction_compute. */
ps_status ps_interaction_device_fetch(const ps_interaction_device *device,
                                      ps_interaction_tile *tile, ps_interaction_tile *mirror,
                                      ps_stream *stream);

#endif
