/* near_tiles: a synthetic matrix, cut into tiles of every layout, for what walks over near entries.
 */
#ifndef PS_TESTS_NEAR_TILES_H
#define PS_TESTS_NEAR_TILES_H

#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

enum { UNKNOWNS = 150, HALVES = 3 };
static const synthetic_slices matrix = {UNKNOWNS, 40, 4, 0.1, 11};

typedef struct near_tiling {
    int64_t rows, slices;
} near_tiling;

typedef void (*tile_use)(void *target, const ps_slice_product *tile);

/* Hands a tile, cut as wanted (-1: slices, HALVES: warps of halves), to `use`. */
static inline void with_tile(ps_slice_tile tile, int layout, ps_precision precision, void *target,
                             tile_use use)
{
    synthetic_tile(&matrix, precision, true, &tile);
    ps_slice_product product = {0};
    if (layout < 0) {
        ps_slice_product_set_slices(&product, &tile);
        use(target, &product);
    } else {
        ps_block_header header = {
            .layout = (ps_block_layout)layout,
            .block_rows = 16,
            .half = layout == HALVES,
            .slices = {.d_max = synthetic_d_bound(&matrix), .precision = precision}};
        if (header.half) header.layout = PS_BLOCK_WARP;
        header.block_columns = header.slices.d_max + 1;
        check_ok(ps_blocking_check(&header));
        PS_SCOPED(synthetic_cut_free) ps_block_tile cut = {0};
        synthetic_cut(&header, &tile, &cut);
        ps_slice_product_set_blocks(&product, &header, &cut);
        use(target, &product);
    }
    synthetic_tile_free(&tile);
}

static inline void over_tiles(near_tiling tiling, int layout, ps_precision precision, void *target,
                              tile_use use)
{
    for (int64_t slice = 0; slice < UNKNOWNS; slice += tiling.slices)
        for (int64_t row = 0; row < UNKNOWNS; row += tiling.rows) {
            ps_slice_tile tile = {.first_row = row, .first_slice = slice};
            tile.rows = UNKNOWNS - row < tiling.rows ? UNKNOWNS - row : tiling.rows;
            tile.slices = UNKNOWNS - slice < tiling.slices ? UNKNOWNS - slice : tiling.slices;
            with_tile(tile, layout, precision, target, use);
        }
}

/* M^m(i,j) */
static inline double entry(int64_t i, int64_t j, int64_t m)
{
    int64_t start, length;
    synthetic_vector(&matrix, i, j, &start, &length);
    return m >= start && m < start + length ? synthetic_value(&matrix, i, j, m - start) : 0;
}

#endif
