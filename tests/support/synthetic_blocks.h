/*
 * synthetic_blocks: tiles of synthetic slices cut into blocks, in memory of their own.
 */
#ifndef PS_TESTS_SYNTHETIC_BLOCKS_H
#define PS_TESTS_SYNTHETIC_BLOCKS_H

#include "kernels/common/reals.h"
#include "kernels/tdbem/blocking.h"
#include "kernels/tdbem/half_values.h"
#include "runtime/memory.h"
#include "tests/support/synthetic_slices.h"

static inline void *synthetic_array(int64_t count, size_t size)
{
    void *out = aligned_alloc(64, ((size_t)count * size + PS_PRODUCT_OVERREAD + 63) / 64 * 64);
    memset(out, 0, ((size_t)count * size + PS_PRODUCT_OVERREAD + 63) / 64 * 64);
    return out;
}

/* Cuts a tile; the arrays are allocated. */
static inline void synthetic_cut(const ps_block_header *header, const ps_slice_tile *tile,
                                 ps_block_tile *out)
{
    ps_blocking_count(header, tile, out);
    int64_t warps = ps_block_tile_warps(out) * out->slices;
    out->block_start = synthetic_array(out->slices + 1, 4);
    out->corner_rows = synthetic_array(out->block_count, 4);
    out->corner_columns = synthetic_array(out->block_count, 2);
    out->starts = synthetic_array(warps * PS_WARP_ROWS, 2);
    out->widths = synthetic_array(warps, 2);
    out->scales = header->half ? synthetic_array(warps * PS_WARP_ROWS, 1) : NULL;
    out->values = synthetic_array(out->value_count, header->half                            ? 2
                                                    : header->slices.precision == PS_SINGLE ? 4
                                                                                            : 8);
    ps_blocking_fill(header, tile, out);
}

static inline void synthetic_cut_free(ps_block_tile *tile)
{
    PS_FREE(tile->block_start, tile->corner_rows, tile->corner_columns, tile->starts, tile->widths,
            tile->scales, tile->values);
}

/* Halves become the numbers, of this precision, that they stand for. */
static inline void synthetic_decode(ps_precision precision, ps_block_tile *tile)
{
    const uint16_t *halves = tile->values;
    void *values = synthetic_array(tile->value_count, (size_t)ps_real_bytes(precision));
    int64_t at = 0;
    for (int64_t unit = 0; unit < ps_block_tile_warps(tile) * tile->slices; ++unit)
        for (int64_t v = 0; v < tile->widths[unit] * PS_WARP_ROWS; ++v, ++at)
            ps_real_put(precision, values, at,
                        ldexp((double)ps_half_decode(halves[at]),
                              tile->scales[unit * PS_WARP_ROWS + v % PS_WARP_ROWS] - 127));
    PS_FREE(tile->values, tile->scales);
    tile->values = values;
    tile->scales = NULL;
}

/* A tile's statistics as a file would have them. */
static inline void synthetic_measure(const synthetic_slices *m, ps_slice_tile *tile)
{
    int64_t histogram[PS_LENGTH_BINS] = {0};
    if (ps_slice_tile_measure(tile, synthetic_k_bound(m), histogram) != PS_OK) abort();
}

#endif
