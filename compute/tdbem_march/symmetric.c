#include "compute/tdbem_march/symmetric.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

const char *symmetric_obstacle(const tiles *all)
{
    if (all->header.combined > 0)
        return "the matrices of the combined field equation are not symmetric";
    if (all->header.lining[0]) return "the matrices of linings are not symmetric";
    if (!tiles_are_blocks(all) ||
        (all->blocks && ps_block_matrix_header(all->blocks)->layout != PS_BLOCK_WARP))
        return "only warps can stand for their mirror image: make blocks with "
               "penstock-slice-block --layout warp";
    if (ps_comm_size() > 1) return "ranks have all rows of their slices";
    return NULL;
}

/* ---- where tiles lie ---- */

/* A kept tile, and the blocks of its rows and slices. */
typedef struct upper_tile {
    int64_t index; /* chunk of `all` */
    int64_t row_block, slice_block;
    int64_t first_row, first_slice;
} upper_tile;

static int compare(const void *a, const void *b)
{
    const upper_tile *x = a, *y = b;
    if (x->slice_block != y->slice_block) return x->slice_block < y->slice_block ? -1 : 1;
    if (x->row_block != y->row_block) return x->row_block < y->row_block ? -1 : 1;
    if (x->first_slice != y->first_slice) return x->first_slice < y->first_slice ? -1 : 1;
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

/* block[N + 1]: number of the block of each unknown: blocks begin where rows and slices of tiles
 * do, both. */
static ps_status number_blocks(const tiles *all, int64_t *block)
{
    enum { ROWS = 1, SLICES = 2, BOTH = 3 };
    int64_t n = all->header.unknowns, number = -1;
    for (int64_t k = 0; k < all->count; ++k) {
        tile_range tile;
        PS_TRY(tiles_range(all, k, &tile));
        block[tile.first_row] |= ROWS;
        block[tile.first_slice] |= SLICES;
    }
    for (int64_t i = 0; i < n; ++i) block[i] = number += block[i] == BOTH;
    return PS_OK;
}

static ps_status find_upper(const tiles *all, const int64_t *block, upper_tile *out, int64_t *count)
{
    *count = 0;
    for (int64_t k = 0; k < all->count; ++k) {
        tile_range tile;
        PS_TRY(tiles_range(all, k, &tile));
        upper_tile own = {k, block[tile.first_row], block[tile.first_slice], tile.first_row,
                          tile.first_slice};
        if (own.row_block <= own.slice_block) out[(*count)++] = own;
    }
    qsort(out, (size_t)*count, sizeof *out, compare);
    return PS_OK;
}

/* ---- as tiles ---- */

static ps_status take_arrays(tiles *out, int64_t count)
{
    out->raw_bytes = out->unpacked_bytes = out->interval_first = NULL;
    out->order = NULL;
    out->both = NULL;
    PS_TRY(PS_ALLOC(&out->raw_bytes, count, "the upper tiles"));
    PS_TRY(PS_ALLOC(&out->unpacked_bytes, count, "the upper tiles"));
    return PS_ALLOC(&out->interval_first, count + 1, "the upper tiles");
}

/* Columns of blocks are the intervals that workers share out. */
static ps_status list_tiles(const tiles *all, const upper_tile *upper, tiles *out)
{
    int64_t *order;
    bool *both;
    PS_TRY(PS_ALLOC(&order, out->count, "the upper tiles"));
    out->order = order;
    PS_TRY(PS_ALLOC(&both, out->count, "the upper tiles"));
    out->both = both;
    out->intervals = out->values_owned = 0;
    for (int64_t k = 0; k < out->count; ++k) {
        tile_range tile;
        order[k] = tiles_index(all, upper[k].index);
        both[k] = upper[k].row_block < upper[k].slice_block;
        out->raw_bytes[k] = all->raw_bytes[upper[k].index];
        out->unpacked_bytes[k] = all->unpacked_bytes[upper[k].index];
        PS_TRY(tiles_range(all, upper[k].index, &tile));
        out->values_owned += tile.values;
        if (k == 0 || upper[k].slice_block != upper[k - 1].slice_block)
            out->interval_first[out->intervals++] = k;
    }
    out->interval_first[out->intervals] = out->count;
    return PS_OK;
}

static ps_status open_listed(const tiles *all, tiles *out)
{
    PS_SCOPED_MEMORY int64_t *block = NULL;
    PS_SCOPED_MEMORY upper_tile *upper = NULL;
    PS_TRY(PS_ALLOC(&block, all->header.unknowns + 1, "the upper tiles"));
    PS_TRY(PS_ALLOC(&upper, all->count + 1, "the upper tiles"));
    PS_TRY(number_blocks(all, block));
    PS_TRY(find_upper(all, block, upper, &out->count));
    PS_TRY(take_arrays(out, out->count));
    return list_tiles(all, upper, out);
}

/* Before they are assembled: as many tiles, of half the bytes, and half of the diagonal more. */
static ps_status open_expected(const tiles *all, int64_t tile_rows, tiles *out)
{
    double share = 0.5 + 0.5 * (double)tile_rows / (double)all->header.unknowns;
    if (share > 1) share = 1;
    PS_TRY(take_arrays(out, all->count));
    for (int64_t k = 0; k < all->count; ++k)
        out->unpacked_bytes[k] = (int64_t)(share * (double)all->unpacked_bytes[k]);
    out->values_owned = (int64_t)(share * (double)all->values_owned);
    out->intervals = 1;
    out->interval_first[1] = all->count;
    return PS_OK;
}

ps_status symmetric_open(const tiles *all, int64_t tile_rows, tiles *out)
{
    *out = *all;
    ps_status status = all->blocks ? open_listed(all, out) : open_expected(all, tile_rows, out);
    if (status != PS_OK) symmetric_close(out);
    return status;
}

void symmetric_close(tiles *upper)
{
    PS_FREE(upper->raw_bytes, upper->unpacked_bytes, upper->interval_first, (void *)upper->order,
            (void *)upper->both);
    memset(upper, 0, sizeof *upper);
}
