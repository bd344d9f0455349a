#include "kernels/tdbem/slice_batch_internal.h"

#include <string.h>

#include "kernels/tdbem/slice_product.h"

#ifndef TUNE_WAVES
#define TUNE_WAVES 12
#endif
enum {
    TABLE_ALIGN = 128,
    TEAM_ROWS = 256,           /* of a strand of teams, at most                              */
    TEAMS = 16,                /* of a strand of full blocks, at most                        */
    WAVES = TUNE_WAVES,                 /* rounds of parts at most                                     */
    BLOCK_TEAMS = 6,           /* thread blocks of teams kernels that a multiprocessor holds  */
    PART_BYTES = 96 << 10,     /* a part of a strand of 32 rows has at least these, if that   */
    SMALL_PART_SLICES = 4      /* does not leave multiprocessors idle, or so many slices      */
};

#ifndef PS_WITH_CUDA
ps_status ps_slice_batch_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                              void *stream)
{
    return ps_fail(PS_FAILED, "slice products on a CUDA device: built without CUDA");
}
#endif

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }
static int64_t value_size(const ps_slice_batch_plan *plan)
{
    return plan->precision == PS_SINGLE ? 4 : 8;
}

/* ---- rows that tiles share ---- */

static bool same_rows(const ps_block_tile *a, const ps_block_tile *b)
{
    return a->first_row == b->first_row && a->rows == b->rows;
}

/* Whether tile t is the first one with its rows. */
static bool opens_rows(const ps_slice_batch_tiles *tiles, int64_t t)
{
    int64_t u = 0;
    while (!same_rows(&tiles->tiles[u], &tiles->tiles[t])) ++u;
    return u == t;
}

static int64_t strands_of(const ps_slice_batch_plan *plan, const ps_block_tile *tile)
{
    return (tile->rows + plan->strand_rows - 1) / plan->strand_rows;
}

static int64_t pieces_of(const ps_slice_batch_plan *plan, const ps_block_tile *tile)
{
    return (tile->slices + plan->piece_slices - 1) / plan->piece_slices;
}

/* Slices, or pieces, of all tiles with the rows of tile t. */
static int64_t slices_with(const ps_slice_batch_tiles *tiles, int64_t t)
{
    int64_t sum = 0;
    for (int64_t u = t; u < tiles->count; ++u)
        if (same_rows(&tiles->tiles[u], &tiles->tiles[t])) sum += tiles->tiles[u].slices;
    return sum;
}

static int64_t pieces_with(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                           int64_t t)
{
    int64_t sum = 0;
    for (int64_t u = t; u < tiles->count; ++u)
        if (same_rows(&tiles->tiles[u], &tiles->tiles[t]))
            sum += pieces_of(plan, &tiles->tiles[u]);
    return sum;
}

/* Tile t against all that open rows before it; slices must ascend among the same rows. */
static ps_status check_rows(const ps_slice_batch_tiles *tiles, int64_t t)
{
    const ps_block_tile *own = &tiles->tiles[t], *before = NULL;
    for (int64_t u = 0; u < t; ++u) {
        const ps_block_tile *other = &tiles->tiles[u];
        if (same_rows(own, other)) {
            before = other;
            if (before->first_slice + before->slices <= own->first_slice) break;
            return ps_fail(PS_INVALID, "tile %lld of a batch: slices must ascend", (long long)t);
        }
        if (own->first_row < other->first_row + other->rows &&
            other->first_row < own->first_row + own->rows)
            return ps_fail(PS_INVALID, "tile %lld of a batch has rows %lld.. that tile %lld has in part",
                           (long long)t, (long long)own->first_row, (long long)u);
    }
    return PS_OK;
}

/* ---- the plan ---- */

static bool rows_take(const ps_block_header *header)
{
    int64_t size = header->slices.precision == PS_SINGLE ? 4 : 8;
    if (header->block_columns > PS_SEGMENT_COLUMNS * PS_PIECE_SEGMENTS) return false;
    return header->layout == PS_BLOCK_WARP ||
           (header->layout == PS_BLOCK_CONTIGUOUS && header->block_rows * size % 16 == 0);
}

static ps_status choose_kernel(const ps_block_header *header, ps_slice_kernel wanted,
                               ps_slice_kernel *out)
{
    bool rows = rows_take(header), teams = header->layout != PS_BLOCK_WARP;
    *out = wanted != PS_SLICE_KERNEL_BEST ? wanted
           : rows                         ? PS_SLICE_KERNEL_ROWS
                                          : PS_SLICE_KERNEL_TEAMS;
    if (*out == PS_SLICE_KERNEL_ROWS ? rows : teams) return PS_OK;
    return ps_fail(PS_USAGE, "%s blocks of %lld x %lld: not supported by the %s kernel",
                   ps_block_layout_name(header->layout), (long long)header->block_rows,
                   (long long)header->block_columns, *out == PS_SLICE_KERNEL_ROWS ? "rows" : "teams");
}

static int64_t round_group(int64_t group)
{
    int64_t lanes = 1;
    while (lanes < group) lanes *= 2;
    return lanes;
}

static int64_t strand_height(const ps_slice_batch_plan *plan)
{
    if (plan->kernel == PS_SLICE_KERNEL_ROWS) return PS_WARP_ROWS;
    if (plan->layout == PS_BLOCK_CONTIGUOUS || plan->block_rows >= TEAM_ROWS) return TEAM_ROWS;
    return smaller(TEAMS, TEAM_ROWS / plan->block_rows) * plan->block_rows;
}

/* Teams that the device works on at once. */
static int64_t teams_at_once(const ps_slice_batch_plan *plan, int multiprocessors)
{
    if (plan->kernel != PS_SLICE_KERNEL_ROWS) return (int64_t)multiprocessors * BLOCK_TEAMS;
    return (int64_t)multiprocessors * PS_ROWS_WARPS * PS_ROWS_BLOCKS(value_size(plan), plan->lanes);
}

/* Share of the time that `teams` are busy with `parts` of equal length, in rounds. */
static double busy_share(int64_t parts, int64_t teams)
{
    int64_t rounds = (parts + teams - 1) / teams;
    return (double)parts / (double)(rounds * teams);
}

/* As many splits as keep all teams busy to the end, at most `most`; not many more than needed, as
 * each costs a start and a sum. */
static int64_t choose_splits(const ps_slice_batch_plan *plan, int multiprocessors, int64_t slices)
{
    int64_t teams = teams_at_once(plan, multiprocessors), strands = plan->strands, best = 1;
    int64_t part = PART_BYTES * (plan->strand_rows / PS_WARP_ROWS);
    int64_t most = plan->value_count * value_size(plan) / (strands * part);
    int64_t fill = (teams + strands - 1) / strands;
    most = smaller(most, (WAVES * teams + strands - 1) / strands);
    most = smaller(larger(most, smaller(fill, slices / SMALL_PART_SLICES)), slices);
    for (int64_t splits = 1; splits <= most; ++splits)
        if (busy_share(splits * strands, teams) >= busy_share(best * strands, teams) - 0.005)
            best = splits;
    return best;
}

/* Slices whose segments fit one piece. */
static int64_t slices_of_piece(const ps_slice_batch_plan *plan)
{
    if (plan->layout == PS_BLOCK_FULL) return 1;
    int64_t each = (plan->block_columns + PS_SEGMENT_COLUMNS - 1) / PS_SEGMENT_COLUMNS;
    return PS_PIECE_SEGMENTS / (plan->kernel == PS_SLICE_KERNEL_ROWS ? each : 1);
}

static ps_status count_tiles(const ps_slice_batch_tiles *tiles, ps_slice_batch_plan *plan,
                             int64_t *slices)
{
    for (int64_t t = 0; t < tiles->count; ++t) {
        const ps_block_tile *tile = &tiles->tiles[t];
        PS_TRY(check_rows(tiles, t));
        plan->value_count += tile->value_count;
        plan->nnz += tile->nnz;
        if (!opens_rows(tiles, t)) continue;
        plan->strands += strands_of(plan, tile);
        *slices = larger(*slices, slices_with(tiles, t));
    }
    return PS_OK;
}

int64_t ps_slice_batch_pieces_at(const ps_slice_batch_plan *plan)
{
    return round_up(plan->strands * (int64_t)sizeof(ps_slice_strand), TABLE_ALIGN);
}

int64_t ps_slice_batch_tiles_at(const ps_slice_batch_plan *plan)
{
    return ps_slice_batch_pieces_at(plan) + plan->pieces * (int64_t)sizeof(ps_slice_piece);
}

static void set_sizes(const ps_slice_batch_tiles *tiles, ps_slice_batch_plan *plan)
{
    for (int64_t t = 0; t < tiles->count; ++t)
        plan->pieces += strands_of(plan, &tiles->tiles[t]) * pieces_of(plan, &tiles->tiles[t]);
    plan->table_bytes =
        ps_slice_batch_tiles_at(plan) + plan->tile_count * (int64_t)sizeof(ps_block_tile);
    plan->scratch_bytes =
        plan->splits * plan->strands * plan->strand_rows * plan->group * value_size(plan);
}

ps_status ps_slice_batch_plan_make(const ps_block_header *header, int64_t group,
                                   int multiprocessors, const ps_slice_batch_tiles *tiles,
                                   ps_slice_batch_plan *out)
{
    int64_t slices = 0;
    if (group < 1 || group > PS_GROUP_MAX)
        return ps_fail(PS_USAGE, "groups of %lld steps: 1 to %d are supported", (long long)group,
                       PS_GROUP_MAX);
    *out = (ps_slice_batch_plan){.layout = header->layout, .precision = header->slices.precision,
                                 .group = group, .lanes = round_group(group),
                                 .block_rows = header->block_rows,
                                 .block_columns = header->block_columns,
                                 .k_max = header->slices.k_max, .tile_count = tiles->count};
    PS_TRY(choose_kernel(header, tiles->kernel, &out->kernel));
    out->strand_rows = strand_height(out);
    PS_TRY(count_tiles(tiles, out, &slices));
    if (!out->strands) return PS_OK;
    out->splits = choose_splits(out, multiprocessors, slices);
    out->piece_slices = larger(1, smaller(slices_of_piece(out), slices / (2 * out->splits)));
    set_sizes(tiles, out);
    return PS_OK;
}

/* ---- the table ---- */

/* One tile being written: where its arrays are in the batch, and the pieces of its strands. */
typedef struct tile_place {
    const ps_slice_batch_plan *plan;
    const ps_block_tile *tile;
    int64_t values, starts, columns; /* bytes; columns: corner_columns of full blocks */
    ps_slice_piece *pieces;          /* of the first strand                           */
    int64_t stride;                  /* pieces from strand to strand                  */
} tile_place;

static ps_status place_array(const ps_slice_batch_tiles *tiles, int64_t t, const void *array,
                             int64_t *offset)
{
    *offset = tiles->offsets[t] + ((const char *)array - (const char *)tiles->images[t]);
    if (array && (const char *)array >= (const char *)tiles->images[t] && *offset % 16 == 0)
        return PS_OK;
    return ps_fail(PS_INVALID, "tile %lld of a batch: an array is not in its image, or not at a "
                   "multiple of 16 bytes", (long long)t);
}

static ps_status place_tile(const ps_slice_batch_tiles *tiles, int64_t t, tile_place *out)
{
    const ps_block_tile *tile = &tiles->tiles[t];
    bool full = out->plan->layout == PS_BLOCK_FULL;
    out->tile = tile;
    out->columns = 0;
    PS_TRY(place_array(tiles, t, tile->values, &out->values));
    if (full) PS_TRY(place_array(tiles, t, tile->corner_columns, &out->columns));
    return place_array(tiles, t, full ? (void *)tile->corner_rows : (void *)tile->starts,
                       &out->starts);
}

/* The piece of strand w that begins at slice s of the tile, its ranges set. */
static ps_slice_piece *open_piece(const tile_place *place, int64_t w, int64_t s)
{
    const ps_slice_batch_plan *plan = place->plan;
    ps_slice_piece *piece = &place->pieces[w * place->stride + s / plan->piece_slices];
    int64_t row = w * plan->strand_rows;
    *piece = (ps_slice_piece){
        .slice = (int32_t)(place->tile->first_slice + s), .row = (int32_t)row,
        .count = (int32_t)smaller(plan->piece_slices, place->tile->slices - s),
        .rows = (int32_t)smaller(plan->strand_rows, place->tile->rows - row)};
    return piece;
}

/* Appends the segments of slice `slice` of the piece: `width` columns, rows that start at
 * starts[0 .. rows). */
static void add_segments(ps_slice_piece *piece, int64_t slice, int64_t width, const uint16_t *starts,
                         int64_t rows)
{
    uint16_t low = starts[0], high = starts[0];
    for (int64_t i = 1; i < rows; ++i) {
        low = starts[i] < low ? starts[i] : low;
        high = starts[i] > high ? starts[i] : high;
    }
    for (int64_t q = 0; q < width; q += PS_SEGMENT_COLUMNS)
        piece->records[piece->segments++] = (ps_slice_record){
            .columns = (uint8_t)smaller(PS_SEGMENT_COLUMNS, width - q), .slice = (uint8_t)slice,
            .column = (uint16_t)q, .low = low, .high = high};
}

static void write_warps(const tile_place *place)
{
    const ps_block_tile *tile = place->tile;
    int64_t column = PS_WARP_ROWS * value_size(place->plan), values = place->values;
    const uint16_t *widths = tile->widths, *starts = tile->starts;
    for (int64_t w = 0; w < strands_of(place->plan, tile); ++w)
        for (int64_t s = 0; s < tile->slices; s += place->plan->piece_slices) {
            ps_slice_piece *piece = open_piece(place, w, s);
            piece->values = values;
            piece->starts = place->starts + (starts - tile->starts) * 2;
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
    for (int64_t w = 0; w < strands_of(plan, tile); ++w)
        for (int64_t s = 0; s < tile->slices; s += plan->piece_slices) {
            ps_slice_piece *piece = open_piece(place, w, s);
            const uint16_t *starts = tile->starts + s * tile->rows + piece->row;
            piece->values = place->values + s * step * value_size(plan);
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
    while (from < end) {
        int64_t middle = (from + end) / 2;
        if (tile->corner_rows[middle] < row) from = middle + 1;
        else end = middle;
    }
    return from;
}

static void write_full(const tile_place *place)
{
    const ps_slice_batch_plan *plan = place->plan;
    const ps_block_tile *tile = place->tile;
    int64_t size = plan->block_rows * plan->block_columns * value_size(plan);
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t w = 0; w < strands_of(plan, tile); ++w) {
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
    case PS_BLOCK_WARP: write_warps(place); break;
    case PS_BLOCK_CONTIGUOUS: write_contiguous(place); break;
    default: write_full(place);
    }
}

/* Sets first_segment of the pieces of `strands` strands. */
static void number_segments(ps_slice_piece *pieces, int64_t strands, int64_t stride)
{
    for (int64_t w = 0; w < strands; ++w, pieces += stride)
        for (int64_t p = 1; p < stride; ++p)
            pieces[p].first_segment = pieces[p - 1].first_segment + pieces[p - 1].segments;
}

/* All tiles with the rows of tile t, whose strands are `strands` and whose pieces begin at
 * place->pieces. */
static ps_status write_strands(const ps_slice_batch_tiles *tiles, int64_t t, tile_place *place,
                               ps_slice_strand *strands, int64_t first_piece)
{
    const ps_slice_batch_plan *plan = place->plan;
    const ps_block_tile *tile = &tiles->tiles[t];
    place->stride = pieces_with(plan, tiles, t);
    for (int64_t w = 0; w < strands_of(plan, tile); ++w)
        strands[w] = (ps_slice_strand){
            .row = (int32_t)(tile->first_row + w * plan->strand_rows),
            .rows = (int32_t)smaller(plan->strand_rows, tile->rows - w * plan->strand_rows),
            .first_piece = (int32_t)(first_piece + w * place->stride),
            .pieces = (int32_t)place->stride};
    for (int64_t u = t; u < tiles->count; ++u) {
        if (!same_rows(&tiles->tiles[u], tile)) continue;
        PS_TRY(place_tile(tiles, u, place));
        write_tile(place);
        place->pieces += pieces_of(plan, &tiles->tiles[u]);
    }
    number_segments(place->pieces - place->stride, strands_of(plan, tile), place->stride);
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
        out[t].values = as_offset(tiles, t, out[t].values);
    }
}

ps_status ps_slice_batch_table(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                               void *table)
{
    ps_slice_strand *strands = table;
    ps_slice_piece *pieces = (void *)((char *)table + ps_slice_batch_pieces_at(plan));
    int64_t piece = 0, strand = 0;
    if (plan->pieces > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "a batch of %lld pieces: make batches smaller",
                       (long long)plan->pieces);
    for (int64_t t = 0; t < tiles->count; ++t) {
        if (!opens_rows(tiles, t)) continue;
        tile_place place = {.plan = plan, .pieces = pieces + piece};
        PS_TRY(write_strands(tiles, t, &place, strands + strand, piece));
        strand += strands_of(plan, &tiles->tiles[t]);
        piece += strands_of(plan, &tiles->tiles[t]) * place.stride;
    }
    write_views(tiles, (void *)((char *)table + ps_slice_batch_tiles_at(plan)));
    return PS_OK;
}

/* ---- running ---- */

/* `offset` as the pointer that it was made from, in the batch at base. */
static void *as_pointer(const void *base, const void *offset)
{
    return (char *)base + (uintptr_t)offset;
}

static ps_block_tile view_at(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             int64_t t)
{
    const char *table = memory->table;
    const void *base = memory->base;
    ps_block_tile tile = ((const ps_block_tile *)(table + ps_slice_batch_tiles_at(plan)))[t];
    tile.block_start = as_pointer(base, tile.block_start);
    tile.corner_rows = as_pointer(base, tile.corner_rows);
    tile.corner_columns = as_pointer(base, tile.corner_columns);
    tile.starts = as_pointer(base, tile.starts);
    tile.widths = as_pointer(base, tile.widths);
    tile.values = as_pointer(base, tile.values);
    return tile;
}

static ps_status run_here(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory)
{
    ps_block_header header = {.layout = plan->layout, .block_rows = plan->block_rows,
                              .block_columns = plan->block_columns};
    ps_slice_product product = {.past = memory->past, .past_stride = memory->past_stride,
                                .past_origin = memory->past_origin, .group = plan->group,
                                .sums = memory->sums, .sums_stride = memory->sums_stride};
    for (int64_t t = 0; t < plan->tile_count; ++t) {
        ps_block_tile tile = view_at(plan, memory, t);
        ps_slice_product_set_blocks(&product, &header, &tile);
        PS_TRY(ps_slice_product_tile(&product, plan->precision, 0));
    }
    return PS_OK;
}

static ps_slice_launch make_launch(const ps_slice_batch_plan *plan,
                                   const ps_slice_batch_memory *memory)
{
    const char *table = memory->table;
    return (ps_slice_launch){
        .base = memory->base, .strands = memory->table,
        .pieces = (const void *)(table + ps_slice_batch_pieces_at(plan)),
        .past = memory->past, .scratch = memory->scratch, .sums = memory->sums,
        .past_stride = memory->past_stride, .past_origin = memory->past_origin, .sums_stride = memory->sums_stride, .strand_count = (int32_t)plan->strands,
        .splits = (int32_t)plan->splits, .group = (int32_t)plan->group,
        .strand_rows = (int32_t)plan->strand_rows, .block_rows = (int32_t)plan->block_rows,
        .block_columns = (int32_t)plan->block_columns, .k_max = (int32_t)plan->k_max};
}

ps_status ps_slice_batch_run(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             ps_stream *stream)
{
    if (!plan->strands) return PS_OK;
    if (!memory->table || !memory->base || !memory->past || !memory->sums)
        return ps_fail(PS_USAGE, "a batch without table, values, past or sums");
    if (memory->sums_stride < plan->group ||
        memory->past_stride < memory->past_origin + plan->group)
        return ps_fail(PS_USAGE, "sums or past are too narrow for groups of %lld steps",
                       (long long)plan->group);
    if (!ps_stream_handle(stream)) return run_here(plan, memory);
    if (!memory->scratch || (uintptr_t)memory->past % 16)
        return ps_fail(PS_USAGE, "a batch without scratch memory, or a past not aligned to 16 bytes");
    ps_slice_launch launch = make_launch(plan, memory);
    PS_TRY(ps_stream_enter(stream));
    return ps_slice_batch_cuda(plan, &launch, ps_stream_handle(stream));
}
