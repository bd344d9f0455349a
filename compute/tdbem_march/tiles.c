#include "compute/tdbem_march/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/balance.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ROW_UNIT: rows that one thread owns at least: PS_TILE_ROW_BLOCK, two warps. */
enum { ROW_UNIT = 64, UPPER_RUN = 512 };

/* Of tile `index` of the matrix. */
static ps_status range_of(const tiles *t, int64_t index, tile_range *out)
{
    if (t->slices) {
        ps_slice_tile tile;
        PS_TRY(ps_slice_matrix_tile_info(t->slices, index, &tile));
        *out = (tile_range){tile.first_row, tile.rows,        tile.first_slice,
                            tile.slices,    tile.value_count, tile.k_min};
    } else {
        ps_block_tile tile;
        PS_TRY(ps_block_matrix_tile_info(t->blocks, index, &tile));
        *out = (tile_range){tile.first_row, tile.rows,        tile.first_slice,
                            tile.slices,    tile.value_count, tile.k_min};
    }
    return PS_OK;
}

int64_t tiles_largest(const int64_t *bytes, int64_t count)
{
    int64_t most = 0;
    for (int64_t k = 0; k < count; ++k) most = bytes[k] > most ? bytes[k] : most;
    return most;
}

int64_t tiles_index(const tiles *t, int64_t chunk)
{
    return t->order ? t->order[chunk] : t->first + chunk;
}

ps_status tiles_range(const tiles *t, int64_t chunk, tile_range *out)
{
    return range_of(t, tiles_index(t, chunk), out);
}

static void tile_bytes(const tiles *t, int64_t index, int64_t *raw, int64_t *unpacked)
{
    if (t->slices)
        ps_slice_matrix_tile_bytes(t->slices, index, raw, unpacked);
    else
        ps_block_matrix_tile_bytes(t->blocks, index, raw, unpacked);
}

/* ---- opening ---- */

static void describe_blocks(tiles *t)
{
    const ps_block_header *header = ps_block_matrix_header(t->blocks);
    t->header = header->slices;
    t->k_from = header->k_from;
    t->k_below = header->k_below;
    t->k_end = header->k_end;
    t->columns = header->layout == PS_BLOCK_WARP ? t->header.d_max : header->block_columns;
    snprintf(t->layout, sizeof t->layout, "%s",
             t->in_memory ? "in memory" : ps_block_layout_name(header->layout));
}

static ps_status open_matrix(const char *path, tiles *t)
{
    ps_store *store;
    PS_TRY(ps_store_open(path, NULL, INT32_MAX, &store));
    bool blocks = strcmp(ps_store_format(store), "penstock-block-matrix") == 0;
    bool slices = strcmp(ps_store_format(store), "penstock-slice-matrix") == 0;
    ps_status status = PS_OK;
    if (!blocks && !slices)
        status = ps_fail(PS_INVALID,
                         "%s: is a %s, not a matrix; penstock-slice-assemble and "
                         "penstock-slice-block write one",
                         path, ps_store_format(store));
    ps_store_close(&store);
    PS_TRY(status);
    if (slices) {
        PS_TRY(ps_slice_matrix_open(path, &t->slices));
        t->header = *ps_slice_matrix_header(t->slices);
        t->columns = t->header.d_max;
        t->k_below = t->k_end = t->header.k_max + 1;
        snprintf(t->layout, sizeof t->layout, "slices");
        return PS_OK;
    }
    PS_TRY(ps_block_matrix_open(path, &t->blocks));
    describe_blocks(t);
    return PS_OK;
}

/* Cuts the tiles 0..count-1 between ranks where a slice interval ends. starts[intervals + 1] are
 * the first tiles of the intervals. */
static void cut_share(tiles *t, const int64_t *starts, int64_t *weights, int64_t intervals,
                      int rank, int ranks, int64_t *first)
{
    for (int64_t i = 0; i < intervals; ++i) {
        weights[i] = 0;
        for (int64_t k = starts[i]; k < starts[i + 1]; ++k) {
            int64_t raw, unpacked;
            tile_bytes(t, k, &raw, &unpacked);
            weights[i] += unpacked;
        }
    }
    ps_split_equal(weights, intervals, ranks, first);
    t->first = starts[first[rank]];
    t->count = starts[first[rank + 1]] - t->first;
}

static ps_status find_share(tiles *t, int rank, int ranks)
{
    int64_t all =
        t->slices ? ps_slice_matrix_tile_count(t->slices) : ps_block_matrix_tile_count(t->blocks);
    int64_t intervals = 0, slice = -1;
    PS_SCOPED_MEMORY int64_t *starts = NULL, *weights = NULL, *first = NULL;
    PS_TRY(PS_ALLOC(&starts, all + 1, "the slice intervals"));
    PS_TRY(PS_ALLOC(&weights, all + 1, "the slice intervals"));
    PS_TRY(PS_ALLOC(&first, ranks + 1, "the slice intervals"));
    for (int64_t k = 0; k < all; ++k) {
        tile_range tile;
        PS_TRY(range_of(t, k, &tile));
        if (tile.first_slice != slice) starts[intervals++] = k;
        slice = tile.first_slice;
    }
    starts[intervals] = all;
    cut_share(t, starts, weights, intervals, rank, ranks, first);
    return PS_OK;
}

static ps_status measure_share(tiles *t)
{
    int64_t slice = -1;
    PS_TRY(PS_ALLOC(&t->raw_bytes, t->count, "the sizes of the tiles"));
    PS_TRY(PS_ALLOC(&t->unpacked_bytes, t->count, "the sizes of the tiles"));
    PS_TRY(PS_ALLOC(&t->interval_first, t->count + 1, "the slice intervals"));
    for (int64_t k = 0; k < t->count; ++k) {
        tile_range tile;
        PS_TRY(tiles_range(t, k, &tile));
        tile_bytes(t, t->first + k, &t->raw_bytes[k], &t->unpacked_bytes[k]);
        t->values_owned += tile.values;
        if (tile.first_slice != slice) {
            t->slices_owned += tile.slices;
            t->interval_first[t->intervals++] = k;
        }
        slice = tile.first_slice;
    }
    t->interval_first[t->intervals] = t->count;
    return PS_OK;
}

tiles tiles_part(const tiles *all, int64_t begin, int64_t end)
{
    tiles part = *all;
    int64_t skipped = all->interval_first[begin];
    part.first += skipped;
    part.count = all->interval_first[end] - skipped;
    part.raw_bytes += skipped;
    part.unpacked_bytes += skipped;
    if (all->order) part.order += skipped, part.both += skipped;
    part.intervals = end - begin;
    part.interval_first = NULL; /* theirs count from the share's beginning */
    part.slices_owned = part.values_owned = 0;
    int64_t slice = -1;
    for (int64_t k = 0; k < part.count; ++k) {
        tile_range tile;
        if (tiles_range(&part, k, &tile) != PS_OK) continue; /* was read at opening */
        part.values_owned += tile.values;
        if (tile.first_slice != slice) part.slices_owned += tile.slices;
        slice = tile.first_slice;
    }
    return part;
}

ps_status tiles_shares(const tiles *t, int ranks, int64_t *out)
{
    PS_SCOPED_MEMORY int64_t *weights = NULL, *first = NULL;
    PS_TRY(PS_ALLOC(&weights, t->intervals + 1, "the slice intervals"));
    PS_TRY(PS_ALLOC(&first, ranks + 1, "the slice intervals"));
    for (int64_t i = 0; i < t->intervals; ++i)
        for (int64_t k = t->interval_first[i]; k < t->interval_first[i + 1]; ++k)
            weights[i] += t->unpacked_bytes[k];
    ps_split_equal(weights, t->intervals, ranks, first);
    for (int r = 0; r < ranks; ++r) {
        out[r] = 0;
        for (int64_t i = first[r]; i < first[r + 1]; ++i) out[r] += weights[i];
    }
    return PS_OK;
}

ps_status tiles_open_whole(const char *path, tiles *out) { return tiles_open(path, 0, 1, out); }

ps_status tiles_open(const char *path, int rank, int ranks, tiles *out)
{
    memset(out, 0, sizeof *out);
    ps_status status = open_matrix(path, out);
    if (status == PS_OK) status = find_share(out, rank, ranks);
    if (status == PS_OK) status = measure_share(out);
    if (status != PS_OK) tiles_close(out);
    return status;
}

ps_status tiles_of_blocks(ps_block_matrix **blocks, placed **values, tiles *out)
{
    tiles_close(out);
    out->blocks = *blocks;
    out->placed = *values;
    *blocks = NULL;
    *values = NULL;
    out->in_memory = true;
    describe_blocks(out);
    PS_TRY(find_share(out, 0, 1));
    return measure_share(out);
}

int64_t tiles_unpacked(const tiles *t)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < t->count; ++k) sum += t->unpacked_bytes[k];
    return sum;
}

bool tiles_are_blocks(const tiles *t) { return t->blocks || t->in_memory; }

void tiles_close(tiles *t)
{
    ps_slice_matrix_close(&t->slices);
    ps_block_matrix_close(&t->blocks);
    placed_close(&t->placed);
    PS_FREE(t->raw_bytes, t->unpacked_bytes, t->interval_first);
    memset(t, 0, sizeof *t);
}

ps_store *tiles_store(const tiles *t)
{
    return t->slices ? ps_slice_matrix_store(t->slices) : ps_block_matrix_store(t->blocks);
}

/* ---- reading ---- */

static int64_t file_tile(const tile_list *list, int64_t chunk)
{
    return tiles_index(list->tiles, list->chosen ? list->chosen[chunk] : chunk);
}

ps_status tiles_read(void *context, int64_t chunk, void *raw)
{
    const tile_list *list = context;
    int64_t index = file_tile(list, chunk);
    return list->tiles->slices ? ps_slice_matrix_read_raw(list->tiles->slices, index, raw)
                               : ps_block_matrix_read_raw(list->tiles->blocks, index, raw);
}

ps_status tiles_unpack(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    const tile_list *list = context;
    int64_t index = file_tile(list, chunk);
    tile_view view;
    if (list->tiles->placed)
        return placed_fetch(list->tiles->placed, index, unpacked,
                            list->tiles->unpacked_bytes[index - list->tiles->first]);
    return list->tiles->slices
               ? ps_slice_matrix_unpack(list->tiles->slices, index, raw, unpacked, &view.slices)
               : ps_block_matrix_unpack(list->tiles->blocks, index, raw, unpacked, &view.blocks);
}

static const void *in_place(void *context, int64_t chunk)
{
    const tile_list *list = context;
    return ps_block_matrix_image(list->tiles->blocks, file_tile(list, chunk));
}

const void *(*tiles_in_place(const tiles *t))(void *list, int64_t chunk)
{
    return t->in_memory && !t->placed ? in_place : NULL;
}

ps_status tiles_view(const tile_list *list, int64_t chunk, const void *unpacked, tile_view *view,
                     ps_slice_product *product)
{
    const tiles *t = list->tiles;
    int64_t index = file_tile(list, chunk);
    if (t->slices) {
        PS_TRY(ps_slice_matrix_view(t->slices, index, unpacked, &view->slices));
        ps_slice_product_set_slices(product, &view->slices);
        return PS_OK;
    }
    PS_TRY(ps_block_matrix_view(t->blocks, index, unpacked, &view->blocks));
    ps_slice_product_set_blocks(product, ps_block_matrix_header(t->blocks), &view->blocks);
    product->both = t->both && t->both[list->chosen ? list->chosen[chunk] : chunk];
    return PS_OK;
}

ps_status tiles_view_near(const tile_list *list, int64_t chunk, tile_view *view,
                          ps_slice_product *product)
{
    const tiles *t = list->tiles;
    PS_TRY(tiles_view(list, chunk, in_place((void *)list, chunk), view, product));
    placed_near(t->placed, file_tile(list, chunk), &view->blocks);
    return PS_OK;
}

const void *tiles_placed(const tile_list *list, int64_t chunk, const void **host)
{
    *host = in_place((void *)list, chunk);
    return placed_image(list->tiles->placed, file_tile(list, chunk));
}

ps_status tiles_first_row(const tiles *t, int64_t chunk, int64_t *out)
{
    tile_range tile;
    PS_TRY(tiles_range(t, chunk, &tile));
    *out = tile.first_row;
    return PS_OK;
}

/* ---- rows for threads ---- */

/* Adds `values` to the units of 64 rows that `count` rows from `row` on belong to. */
static void weigh_rows(int64_t row, int64_t count, int64_t values, int64_t *weights)
{
    int64_t first = row / ROW_UNIT, units = (row + count - 1) / ROW_UNIT - first + 1;
    for (int64_t u = 0; u < units; ++u) weights[first + u] += 1 + values / units;
}

ps_status tiles_split_rows(const tiles *t, int parts, int64_t *bounds, int64_t *row_tiles)
{
    int64_t units = (t->header.unknowns + ROW_UNIT - 1) / ROW_UNIT, first_slice = -1;
    PS_SCOPED_MEMORY int64_t *weights = NULL;
    PS_TRY(PS_ALLOC(&weights, units, "the rows of threads"));
    *row_tiles = 0;
    for (int64_t k = 0; k < t->count; ++k) {
        tile_range tile;
        PS_TRY(tiles_range(t, k, &tile));
        weigh_rows(tile.first_row, tile.rows, tile.values, weights);
        if (t->both && t->both[k]) weigh_rows(tile.first_slice, tile.slices, tile.values, weights);
        if (tile.first_slice == first_slice) ++*row_tiles;
        if (k == 0) first_slice = tile.first_slice, *row_tiles = 1;
    }
    ps_split_equal(weights, units, parts, bounds);
    for (int p = 0; p <= parts; ++p) bounds[p] *= ROW_UNIT;
    bounds[parts] = t->header.unknowns;
    /* Of an upper triangle only many tiles together concern all rows. */
    if (t->both) *row_tiles = ps_smaller(t->count / 2 + 1, UPPER_RUN);
    return PS_OK;
}

bool tiles_may_be_near(const tiles *t, int64_t chunk, int64_t group)
{
    tile_range tile;
    if (tiles_range(t, chunk, &tile) != PS_OK) return true;
    return tile.values > 0 && tile.k_min < (double)group;
}

ps_status tiles_load_m0(const tiles *t, ps_csr *out)
{
    PS_TRY(t->slices ? ps_slice_matrix_load_m0(t->slices, out)
                     : ps_block_matrix_load_m0(t->blocks, out));
    if (!ps_slice_header_is_unsymmetric(&t->header)) return PS_OK;
    PS_SCOPED(ps_csr_release) ps_csr columns = *out;
    return ps_csr_transpose(&columns, out);
}
