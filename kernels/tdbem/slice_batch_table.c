/* The table of a batch of slices: where the pieces of each strand are. */
#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_batch_internal.h"

#include "runtime/search.h"
#include "runtime/sizes.h"

enum { THREADED_PIECES = 1 << 12 };

/* Pieces of all tiles with the rows of tile t. */
static int64_t pieces_with(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                           int64_t t)
{
    int64_t sum = 0;
    for (int64_t u = t; u < tiles->count; ++u)
        if (ps_batch_same_rows(&tiles->tiles[u], &tiles->tiles[t]))
            sum += ps_batch_pieces_of(plan, &tiles->tiles[u]);
    return sum;
}

/* One tile being written: where its arrays are in the batch, and the pieces of its strands. */
typedef struct tile_place {
    const ps_slice_batch_plan *plan;
    const ps_block_tile *tile;
    int64_t values, starts, columns; /* bytes; columns: corner_columns of full blocks */
    int64_t scales;                  /* bytes; of halves                               */
    ps_slice_piece *pieces;          /* of the first strand                           */
    int64_t stride;                  /* pieces from strand to strand                  */
} tile_place;

static ps_status place_array(const ps_slice_batch_tiles *tiles, int64_t t, const void *array,
                             int64_t *offset)
{
    *offset = tiles->offsets[t] + ((const char *)array - (const char *)tiles->images[t]);
    if (array && (const char *)array >= (const char *)tiles->images[t] && *offset % 16 == 0)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "tile %lld of a batch: an array is not in its image, or not at a "
                   "multiple of 16 bytes",
                   (long long)t);
}

static ps_status place_tile(const ps_slice_batch_tiles *tiles, int64_t t, tile_place *out)
{
    const ps_block_tile *tile = &tiles->tiles[t];
    bool full = out->plan->layout == PS_BLOCK_FULL;
    out->tile = tile;
    out->columns = out->scales = 0;
    PS_TRY(place_array(tiles, t, tile->values, &out->values));
    if (full) PS_TRY(place_array(tiles, t, tile->corner_columns, &out->columns));
    if (out->plan->half) PS_TRY(place_array(tiles, t, tile->scales, &out->scales));
    return place_array(tiles, t, full ? (void *)tile->corner_rows : (void *)tile->starts,
                       &out->starts);
}

/* The piece of strand w that begins at slice s of the tile, its ranges set. */
static ps_slice_piece *open_piece(const tile_place *place, int64_t w, int64_t s)
{
    const ps_slice_batch_plan *plan = place->plan;
    ps_slice_piece *piece = &place->pieces[w * place->stride + s / plan->piece_slices];
    int64_t row = w * plan->strand_rows;
    *piece =
        (ps_slice_piece){.slice = (int32_t)(place->tile->first_slice + s),
                         .row = (int32_t)row,
                         .count = (int32_t)ps_smaller(plan->piece_slices, place->tile->slices - s),
                         .rows = (int32_t)ps_smaller(plan->strand_rows, place->tile->rows - row)};
    return piece;
}

/* Appends the segments of slice `slice` of the piece: `width` columns, rows that start at
 * starts[0 .. rows). */
static void add_segments(ps_slice_piece *piece, int64_t slice, int64_t width,
                         const uint16_t *starts, int64_t rows)
{
    uint16_t low = starts[0], high = starts[0];
    for (int64_t i = 1; i < rows; ++i) {
        low = starts[i] < low ? starts[i] : low;
        high = starts[i] > high ? starts[i] : high;
    }
    for (int64_t q = 0; q < width; q += PS_SEGMENT_COLUMNS)
        piece->records[piece->segments++] =
            (ps_slice_record){.columns = (uint8_t)ps_smaller(PS_SEGMENT_COLUMNS, width - q),
                              .slice = (uint8_t)slice,
                              .column = (uint16_t)q,
                              .low = low,
                              .high = high};
}

static void write_warps(const tile_place *place)
{
    const ps_block_tile *tile = place->tile;
    int64_t column = PS_WARP_ROWS * ps_batch_stored_size(place->plan), values = place->values;
    const uint16_t *widths = tile->widths, *starts = tile->starts;
    for (int64_t w = 0; w < ps_batch_strands_of(place->plan, tile); ++w)
        for (int64_t s = 0; s < tile->slices; s += place->plan->piece_slices) {
            ps_slice_piece *piece = open_piece(place, w, s);
            piece->values = values;
            piece->starts = place->starts + (starts - tile->starts) * 2;
            piece->scales = place->scales + (starts - tile->starts);
            piece->starts_step = PS_WARP_ROWS;
            for (int64_t i = 0; i < piece->count; ++i, ++widths, starts += PS_WARP_ROWS) {
                add_segments(piece, i, *widths, starts, PS_WARP_ROWS);
                values += *widths * column;
            }
        }
}

static void write_contiguous(const tile_place *place)
{
    const ps_slice_batch_plan *plan = place->plan;
    const ps_block_tile *tile = place->tile;
    int64_t blocks = (tile->rows + plan->block_rows - 1) / plan->block_rows;
    int64_t step = blocks * plan->block_rows * plan->block_columns;
    for (int64_t w = 0; w < ps_batch_strands_of(plan, tile); ++w)
        for (int64_t s = 0; s < tile->slices; s += plan->piece_slices) {
            ps_slice_piece *piece = open_piece(place, w, s);
            const uint16_t *starts = tile->starts + s * tile->rows + piece->row;
            piece->values = place->values + s * step * ps_real_bytes(plan->precision);
            piece->starts = place->starts + s * tile->rows * 2;
            piece->step = step;
            piece->starts_step = (int32_t)tile->rows;
            piece->limit = (int32_t)(blocks * plan->block_rows);
            for (int64_t i = 0; i < piece->count && plan->kernel == PS_SLICE_KERNEL_ROWS; ++i)
                add_segments(piece, i, plan->block_columns, starts + i * tile->rows, piece->rows);
        }
}

/* The first block from `from` on whose row is at least `row`. */
static int64_t block_at(const ps_block_tile *tile, int64_t from, int64_t end, int64_t row)
{
    int64_t first;
    PS_LOWER_BOUND(first, from, end, at, tile->corner_rows[at] < row);
    return first;
}

static void write_full(const tile_place *place)
{
    const ps_slice_batch_plan *plan = place->plan;
    const ps_block_tile *tile = place->tile;
    int64_t size = plan->block_rows * plan->block_columns * ps_real_bytes(plan->precision);
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t w = 0; w < ps_batch_strands_of(plan, tile); ++w) {
            ps_slice_piece *piece = open_piece(place, w, s);
            int64_t end = tile->block_start[s + 1], row = piece->row;
            int64_t first = block_at(tile, tile->block_start[s], end, row - plan->block_rows + 1);
            piece->values = place->values + first * size;
            piece->starts = place->starts + 4 * first;
            piece->step = place->columns + 2 * first;
            piece->limit = (int32_t)(block_at(tile, first, end, row + plan->strand_rows) - first);
        }
}

static void write_tile(const tile_place *place)
{
    switch (place->plan->layout) {
    case PS_BLOCK_WARP:
        write_warps(place);
        break;
    case PS_BLOCK_CONTIGUOUS:
        write_contiguous(place);
        break;
    default:
        write_full(place);
    }
}

/* Sets first_segment of the pieces of `strands` strands. */
static void number_segments(ps_slice_piece *pieces, int64_t strands, int64_t stride)
{
    for (int64_t w = 0; w < strands; ++w, pieces += stride)
        for (int64_t p = 1; p < stride; ++p)
            pieces[p].first_segment = pieces[p - 1].first_segment + pieces[p - 1].segments;
}

/* The pieces of all tiles with the rows of tile t, of which place->pieces begin; place_tile() takes
 * them all. */
static void write_rows(const ps_slice_batch_tiles *tiles, int64_t t, tile_place *place)
{
    const ps_block_tile *tile = &tiles->tiles[t];
    ps_slice_piece *first = place->pieces;
    for (int64_t u = t; u < tiles->count; ++u) {
        if (!ps_batch_same_rows(&tiles->tiles[u], tile)) continue;
        (void)place_tile(tiles, u, place);
        write_tile(place);
        place->pieces += ps_batch_pieces_of(place->plan, &tiles->tiles[u]);
    }
    number_segments(first, ps_batch_strands_of(place->plan, tile), place->stride);
}

/* ---- panels ---- */

/* Sets block `b` of a panel, 0 or 1: block `block` of the tile. Rows of the strand, of which the
 * tile has `rows` from `row` on, up to the next block of the slice, whose end is `end`. */
static void set_block(const tile_place *place, ps_slice_panel *panel, int b, int64_t block,
                      int64_t end, int64_t row, int64_t rows)
{
    const ps_slice_batch_plan *plan = place->plan;
    const ps_block_tile *tile = place->tile;
    int64_t corner = (int64_t)tile->corner_rows[block] - row, stop = corner + plan->block_rows;
    int64_t at = block * plan->block_rows * plan->block_columns - corner;
    int64_t size = ps_real_bytes(plan->precision);
    if (block + 1 < end) stop = ps_smaller(stop, (int64_t)tile->corner_rows[block + 1] - row);
    panel->begin[b] = (uint8_t)ps_larger(corner, 0);
    panel->end[b] = (uint8_t)ps_smaller(stop, rows);
    panel->column[b] = tile->corner_columns[block];
    if (b == 0)
        panel->values = place->values + at * size;
    else
        panel->other = (int32_t)(at - (panel->values - place->values) / size);
}

/* Appends the panels of slice s for the strand that begins at `row` of the tile. */
static ps_slice_panel *add_panels(const tile_place *place, int64_t s, int64_t row,
                                  ps_slice_panel *to)
{
    const ps_block_tile *tile = place->tile;
    int64_t begin = tile->block_start[s], end = tile->block_start[s + 1];
    int64_t rows = ps_smaller(place->plan->strand_rows, tile->rows - row);
    int64_t block = block_at(tile, begin, end, row + 1);
    if (block > begin && tile->corner_rows[block - 1] + place->plan->block_rows > row) --block;
    while (block < end && tile->corner_rows[block] < row + rows) {
        *to = (ps_slice_panel){.slice = (int32_t)(tile->first_slice + s),
                               .begin = {0, PS_WARP_ROWS},
                               .end = {0, PS_WARP_ROWS}};
        for (int b = 0; b < 2 && block < end && tile->corner_rows[block] < row + rows; ++b, ++block)
            set_block(place, to, b, block, end, row, rows);
        ++to;
    }
    return to;
}

/* As write_strands; returns the entry behind those written in *panels. */
static ps_status write_panel_strands(const ps_slice_batch_tiles *tiles, int64_t t,
                                     const ps_slice_batch_plan *plan, ps_slice_strand *strands,
                                     ps_slice_panel *first, ps_slice_panel **panels)
{
    const ps_block_tile *tile = &tiles->tiles[t];
    tile_place place = {.plan = plan};
    for (int64_t w = 0; w < ps_batch_strands_of(plan, tile); ++w) {
        int64_t row = w * plan->strand_rows;
        strands[w] =
            (ps_slice_strand){.row = (int32_t)(tile->first_row + row),
                              .rows = (int32_t)ps_smaller(plan->strand_rows, tile->rows - row),
                              .first_piece = (int32_t)(*panels - first)};
        for (int64_t u = t; u < tiles->count; ++u) {
            if (!ps_batch_same_rows(&tiles->tiles[u], tile)) continue;
            PS_TRY(place_tile(tiles, u, &place));
            for (int64_t s = 0; s < place.tile->slices; ++s)
                *panels = add_panels(&place, s, row, *panels);
        }
        strands[w].pieces = (int32_t)(*panels - first) - strands[w].first_piece;
    }
    return PS_OK;
}

/* The pointer of `array` as its offset in the batch; NULL where there is none. */
static void *as_offset(const ps_slice_batch_tiles *tiles, int64_t t, const void *array)
{
    if (!array) return NULL;
    return (void *)(uintptr_t)(tiles->offsets[t] +
                               ((const char *)array - (const char *)tiles->images[t]));
}

static void write_views(const ps_slice_batch_tiles *tiles, ps_block_tile *out)
{
    for (int64_t t = 0; t < tiles->count; ++t) {
        out[t] = tiles->tiles[t];
        out[t].block_start = as_offset(tiles, t, out[t].block_start);
        out[t].corner_rows = as_offset(tiles, t, out[t].corner_rows);
        out[t].corner_columns = as_offset(tiles, t, out[t].corner_columns);
        out[t].starts = as_offset(tiles, t, out[t].starts);
        out[t].widths = as_offset(tiles, t, out[t].widths);
        out[t].scales = as_offset(tiles, t, out[t].scales);
        out[t].values = as_offset(tiles, t, out[t].values);
    }
}

/* The strands of all tiles, whose pieces follow one another. */
static void write_strands(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                          ps_slice_strand *strands)
{
    int64_t piece = 0;
    for (int64_t t = 0; t < tiles->count; ++t) {
        const ps_block_tile *tile = &tiles->tiles[t];
        if (!ps_batch_opens_rows(tiles, t)) continue;
        int64_t stride = pieces_with(plan, tiles, t), count = ps_batch_strands_of(plan, tile);
        for (int64_t w = 0; w < count; ++w, piece += stride)
            *strands++ = (ps_slice_strand){
                .row = (int32_t)(tile->first_row + w * plan->strand_rows),
                .rows = (int32_t)ps_smaller(plan->strand_rows, tile->rows - w * plan->strand_rows),
                .first_piece = (int32_t)piece,
                .pieces = (int32_t)stride};
    }
}

/* Pieces of the tiles, by threads: what could fail is tried before. */
static ps_status write_pieces(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                              ps_slice_strand *strands, ps_slice_piece *pieces)
{
    tile_place any = {.plan = plan};
    for (int64_t t = 0; t < tiles->count; ++t) PS_TRY(place_tile(tiles, t, &any));
    write_strands(plan, tiles, strands);
#pragma omp parallel for schedule(dynamic, 1) if (plan->pieces > THREADED_PIECES)
    for (int64_t t = 0; t < tiles->count; ++t) {
        if (!ps_batch_opens_rows(tiles, t)) continue;
        const ps_slice_strand *first = strands;
        while (first->row != tiles->tiles[t].first_row) ++first;
        tile_place place = {
            .plan = plan, .pieces = pieces + first->first_piece, .stride = first->pieces};
        write_rows(tiles, t, &place);
    }
    return PS_OK;
}

/* One after the other, as panels follow one another. */
static ps_status write_panels(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                              ps_slice_strand *strands, ps_slice_panel *panels)
{
    ps_slice_panel *panel = panels;
    for (int64_t t = 0; t < tiles->count; ++t) {
        if (!ps_batch_opens_rows(tiles, t)) continue;
        PS_TRY(write_panel_strands(tiles, t, plan, strands, panels, &panel));
        strands += ps_batch_strands_of(plan, &tiles->tiles[t]);
    }
    return PS_OK;
}

ps_status ps_slice_batch_table(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                               void *table)
{
    void *entries = (char *)table + ps_slice_batch_pieces_at(plan);
    if (plan->pieces > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "a batch of %lld pieces: make batches smaller",
                       (long long)plan->pieces);
    PS_TRY((ps_batch_has_panels(plan) ? write_panels(plan, tiles, table, entries)
                                      : write_pieces(plan, tiles, table, entries)));
    write_views(tiles, (void *)((char *)table + ps_slice_batch_tiles_at(plan)));
    return PS_OK;
}
