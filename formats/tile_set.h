/*
 * tile_set: ragged datasets that share one tiling: chunk t of each holds its part of tile t.
 * What slice_matrix and block_matrix are made of; not for others.
 *
 * Raw form of a tile: the stored bytes of its chunks, one behind the other, each from a
 * multiple of 64 bytes. Unpacked form: their valid items, likewise, each followed by
 * PS_TILE_SLACK zero bytes so that vector loads may run over the end; capacity costs no memory.
 */
#ifndef PS_FORMATS_TILE_SET_H
#define PS_FORMATS_TILE_SET_H

#include <stdint.h>

#include "formats/store.h"

enum { PS_TILE_SETS_MAX = 4, PS_TILE_SLACK = 128 };

typedef struct ps_tile_set {
    ps_store *store; /* borrowed */
    int count;       /* datasets */
    int64_t tiles;
    int ids[PS_TILE_SETS_MAX];
    int64_t capacity[PS_TILE_SETS_MAX];    /* items a tile                              */
    int64_t chunk_bytes[PS_TILE_SETS_MAX]; /* decoded                                   */
    char names[PS_TILE_SETS_MAX][32];
} ps_tile_set;

/* Defines one more dataset of the set: dims = {tiles, capacity}. `spec` gives name, type,
 * units, description, keep_bits and extras; the rest is set here. */
ps_status ps_tile_set_define(ps_tile_set *set, const ps_dataset_spec *spec, int64_t capacity);
/* Finds one more dataset; PS_INVALID, with the file's name, if it is absent, of another type, not
 * cut into tiles, or has another number of tiles than those before it. */
ps_status ps_tile_set_find(ps_tile_set *set, const char *name, ps_type type);

/* PS_INVALID unless the chunk table of dataset d has exactly these columns. */
ps_status ps_tile_set_check_extras(const ps_tile_set *set, int dataset, const char *const *names,
                                   int count);
ps_status ps_tile_set_check_index(const ps_tile_set *set, int64_t tile); /* PS_USAGE */
/* A whole number in [low, high], as chunk tables hold them? NaN is none. */
bool ps_whole_number(double value, double low, double high);

/* Number of valid items of dataset d in a tile, from the chunk table. */
int64_t ps_tile_set_items(const ps_tile_set *set, int dataset, int64_t tile);

void ps_tile_set_bytes(const ps_tile_set *set, int64_t tile, int64_t *raw, int64_t *unpacked);
ps_status ps_tile_set_read(const ps_tile_set *set, int64_t tile, void *raw);
ps_status ps_tile_set_decode(const ps_tile_set *set, int64_t tile, const void *raw, void *unpacked);
/* Where dataset d of an unpacked tile begins; d = count: where the set ends. */
void *ps_tile_set_data(const ps_tile_set *set, int64_t tile, int dataset, const void *unpacked);

/* Puts "FILE: tile T: " before the message of a failure. */
ps_status ps_tile_set_fault(const ps_tile_set *set, int64_t tile, ps_status status);

#endif
