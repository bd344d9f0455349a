#include "kernels/tdbem/near_walk.h"

#include <omp.h>

#include "kernels/common/reals.h"
#include "kernels/tdbem/half_values.h"

enum { THREADED_ENTRIES = 1 << 19 };

typedef struct walk {
    const ps_near_walk *by;
    const void *values;
    const uint8_t *scale; /* of the row-vector at hand; NULL unless values are halves */
} walk;

static double value_at(const walk *w, int64_t index)
{
    if (w->scale)
        return (double)ps_half_decode(((const uint16_t *)w->values)[index]) *
               (double)ps_half_scale(*w->scale);
    return ps_real_at(w->by->precision, w->values, index);
}

/* One row-vector: `count` values from k on, `step` apart from `index`. */
static void take(const walk *w, int64_t row, int64_t column, int64_t k, int64_t count,
                 int64_t index, int64_t step)
{
    if (count > w->by->group - k) count = w->by->group - k;
    for (int64_t c = 0; c < count; ++c) {
        double value = value_at(w, index + c * step);
        if (value != 0) w->by->visit(w->by->context, k + c, row, column, value);
    }
}

static void walk_slices(const walk *w, const ps_slice_tile *tile)
{
    int64_t index = 0;
    for (int64_t v = 0; v < tile->slices * tile->rows; ++v) {
        take(w, tile->first_row + v % tile->rows, tile->first_slice + v / tile->rows,
             tile->starts[v], tile->lengths[v], index, 1);
        index += tile->lengths[v];
    }
}

static void walk_full(const walk *w, const ps_block_tile *tile, int64_t block_rows, int64_t columns)
{
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t b = tile->block_start[s]; b < tile->block_start[s + 1]; ++b)
            for (int64_t r = 0; r < block_rows && tile->corner_rows[b] + r < tile->rows; ++r)
                take(w, tile->first_row + tile->corner_rows[b] + r, tile->first_slice + s,
                     tile->corner_columns[b], columns, b * columns * block_rows + r, block_rows);
}

static void walk_contiguous(const walk *w, const ps_block_tile *tile, int64_t block_rows,
                            int64_t columns)
{
    int64_t blocks = (tile->rows + block_rows - 1) / block_rows;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r)
            take(w, tile->first_row + r, tile->first_slice + s, tile->starts[s * tile->rows + r],
                 columns, (s * blocks + r / block_rows) * columns * block_rows + r % block_rows,
                 block_rows);
}

/* Warps [begin, end) of the tile, slices inside a warp. */
static void walk_some_warps(const walk *w, const ps_block_tile *tile, int64_t begin, int64_t end)
{
    walk own = *w;
    int64_t index = 0;
    for (int64_t p = 0; p < begin * tile->slices; ++p)
        index += (int64_t)tile->widths[p] * PS_WARP_ROWS;
    for (int64_t p = begin * tile->slices; p < end * tile->slices; ++p) {
        int64_t row = p / tile->slices * PS_WARP_ROWS;
        for (int64_t lane = 0; lane < PS_WARP_ROWS && row + lane < tile->rows; ++lane) {
            if (tile->scales) own.scale = tile->scales + p * PS_WARP_ROWS + lane;
            take(&own, tile->first_row + row + lane, tile->first_slice + p % tile->slices,
                 tile->starts[p * PS_WARP_ROWS + lane], tile->widths[p], index + lane,
                 PS_WARP_ROWS);
        }
        index += (int64_t)tile->widths[p] * PS_WARP_ROWS;
    }
}

/* Threads own warps, and with them rows of the near matrices. */
static void walk_warps(const walk *w, const ps_block_tile *tile)
{
    int64_t warps = (tile->rows + PS_WARP_ROWS - 1) / PS_WARP_ROWS;
#pragma omp parallel if (tile->value_count > THREADED_ENTRIES)
    {
        int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();
        walk_some_warps(w, tile, warps * part / parts, warps * (part + 1) / parts);
    }
}

void ps_near_walk_tile(const ps_near_walk *by, const ps_slice_product *tile)
{
    walk own = {.by = by}, *w = &own;
    w->values = tile->layout == PS_TILE_SLICES ? tile->slices->values : tile->blocks->values;
    switch (tile->layout) {
    case PS_TILE_SLICES:
        walk_slices(w, tile->slices);
        break;
    case PS_TILE_FULL:
        walk_full(w, tile->blocks, tile->block_rows, tile->block_columns);
        break;
    case PS_TILE_CONTIGUOUS:
        walk_contiguous(w, tile->blocks, tile->block_rows, tile->block_columns);
        break;
    case PS_TILE_WARP:
        walk_warps(w, tile->blocks);
        break;
    }
}
