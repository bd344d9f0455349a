#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_batch_internal.h"

#include <string.h>

#include "kernels/tdbem/slice_product.h"
#include "runtime/sizes.h"

enum {
    TABLE_ALIGN = 128,
    TEAM_ROWS = 256,       /* of a strand of teams, at most                              */
    TEAMS = 16,            /* of a strand of full blocks, at most                        */
    WAVES = 12,            /* rounds of parts at most                                     */
    BLOCK_TEAMS = 6,       /* thread blocks of teams kernels that a multiprocessor holds  */
    PART_BYTES = 96 << 10, /* a part of a strand of 32 rows has at least these, if that   */
    SMALL_PART_SLICES = 4  /* does not leave multiprocessors idle, or so many slices      */
};

/* ---- rows that tiles share ---- */

/* Slices of all tiles with the rows of tile t. */
static int64_t slices_with(const ps_slice_batch_tiles *tiles, int64_t t)
{
    int64_t sum = 0;
    for (int64_t u = t; u < tiles->count; ++u)
        if (ps_batch_same_rows(&tiles->tiles[u], &tiles->tiles[t])) sum += tiles->tiles[u].slices;
    return sum;
}

/* Tile t against all that open rows before it; slices must ascend among the same rows. */
static ps_status check_rows(const ps_slice_batch_tiles *tiles, int64_t t)
{
    const ps_block_tile *own = &tiles->tiles[t], *before = NULL;
    for (int64_t u = 0; u < t; ++u) {
        const ps_block_tile *other = &tiles->tiles[u];
        if (ps_batch_same_rows(own, other)) {
            before = other;
            if (before->first_slice + before->slices <= own->first_slice) break;
            return ps_fail(PS_INVALID, "tile %lld of a batch: slices must ascend", (long long)t);
        }
        if (own->first_row < other->first_row + other->rows &&
            other->first_row < own->first_row + own->rows)
            return ps_fail(PS_INVALID,
                           "tile %lld of a batch has rows %lld.. that tile %lld has in part",
                           (long long)t, (long long)own->first_row, (long long)u);
    }
    return PS_OK;
}

/* ---- the plan ---- */

static bool rows_take(const ps_block_header *header)
{
    int64_t size = ps_real_bytes(header->slices.precision);
    if (header->block_columns > PS_SEGMENT_COLUMNS * PS_PIECE_SEGMENTS) return false;
    return header->layout != PS_BLOCK_CONTIGUOUS || header->block_rows * size % 16 == 0;
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
                   (long long)header->block_columns,
                   *out == PS_SLICE_KERNEL_ROWS ? "rows" : "teams");
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
    return ps_smaller(TEAMS, TEAM_ROWS / plan->block_rows) * plan->block_rows;
}

/* Teams that the device works on at once. */
static int64_t teams_at_once(const ps_slice_batch_plan *plan, int multiprocessors)
{
    int64_t size = ps_real_bytes(plan->precision), lanes = plan->lanes;
    if (plan->kernel != PS_SLICE_KERNEL_ROWS) return (int64_t)multiprocessors * BLOCK_TEAMS;
    return (int64_t)multiprocessors * PS_ROWS_WARPS *
           (ps_batch_has_panels(plan) ? PS_FULL_BLOCKS(size, lanes) : PS_ROWS_BLOCKS(size, lanes));
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
    int64_t most = plan->value_count * ps_batch_stored_size(plan) / (strands * part);
    int64_t fill = (teams + strands - 1) / strands;
    most = ps_smaller(most, (WAVES * teams + strands - 1) / strands);
    most = ps_smaller(ps_larger(most, ps_smaller(fill, slices / SMALL_PART_SLICES)), slices);
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
        if (!ps_batch_opens_rows(tiles, t)) continue;
        plan->strands += ps_batch_strands_of(plan, tile);
        *slices = ps_larger(*slices, slices_with(tiles, t));
    }
    return PS_OK;
}

int64_t ps_slice_batch_pieces_at(const ps_slice_batch_plan *plan)
{
    return ps_round_up(plan->strands * (int64_t)sizeof(ps_slice_strand), TABLE_ALIGN);
}

int64_t ps_slice_batch_tiles_at(const ps_slice_batch_plan *plan)
{
    return ps_slice_batch_pieces_at(plan) +
           ps_round_up(plan->pieces * ps_batch_piece_size(plan), TABLE_ALIGN);
}

static void set_sizes(const ps_slice_batch_tiles *tiles, ps_slice_batch_plan *plan)
{
    for (int64_t t = 0; t < tiles->count; ++t)
        plan->pieces += ps_batch_has_panels(plan) ? ps_batch_panels_of(plan, &tiles->tiles[t])
                                                  : ps_batch_strands_of(plan, &tiles->tiles[t]) *
                                                        ps_batch_pieces_of(plan, &tiles->tiles[t]);
    plan->table_bytes =
        ps_slice_batch_tiles_at(plan) + plan->tile_count * (int64_t)sizeof(ps_block_tile);
    plan->scratch_bytes = plan->splits * plan->strands * plan->strand_rows * plan->group *
                          ps_real_bytes(plan->precision);
}

ps_status ps_slice_batch_plan_make(const ps_block_header *header, int64_t group,
                                   int multiprocessors, const ps_slice_batch_tiles *tiles,
                                   ps_slice_batch_plan *out)
{
    int64_t slices = 0;
    if (group < 1 || group > PS_GROUP_MAX)
        return ps_fail(PS_USAGE, "groups of %lld steps: 1 to %d are supported", (long long)group,
                       PS_GROUP_MAX);
    *out = (ps_slice_batch_plan){.layout = header->layout,
                                 .precision = header->slices.precision,
                                 .half = header->half,
                                 .group = group,
                                 .lanes = round_group(group),
                                 .block_rows = header->block_rows,
                                 .block_columns = header->block_columns,
                                 .k_max = header->slices.k_max,
                                 .tile_count = tiles->count};
    PS_TRY(choose_kernel(header, tiles->kernel, &out->kernel));
    out->strand_rows = strand_height(out);
    PS_TRY(count_tiles(tiles, out, &slices));
    if (!out->strands) return PS_OK;
    out->splits = choose_splits(out, multiprocessors, slices);
    out->piece_slices = ps_larger(1, ps_smaller(slices_of_piece(out), slices / (2 * out->splits)));
    set_sizes(tiles, out);
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
    tile.scales = plan->half ? as_pointer(base, tile.scales) : NULL;
    tile.values = as_pointer(base, tile.values);
    return tile;
}

static ps_status run_here(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory)
{
    ps_block_header header = {.layout = plan->layout,
                              .block_rows = plan->block_rows,
                              .block_columns = plan->block_columns};
    ps_slice_product product = {.past = memory->past,
                                .past_stride = memory->past_stride,
                                .past_origin = memory->past_origin,
                                .group = plan->group,
                                .sums = memory->sums,
                                .sums_stride = memory->sums_stride};
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
    return (ps_slice_launch){.base = memory->base,
                             .strands = memory->table,
                             .pieces = (const void *)(table + ps_slice_batch_pieces_at(plan)),
                             .panels = (const void *)(table + ps_slice_batch_pieces_at(plan)),
                             .past = memory->past,
                             .scratch = memory->scratch,
                             .sums = memory->sums,
                             .past_stride = memory->past_stride,
                             .past_origin = memory->past_origin,
                             .sums_stride = memory->sums_stride,
                             .strand_count = (int32_t)plan->strands,
                             .splits = (int32_t)plan->splits,
                             .group = (int32_t)plan->group,
                             .strand_rows = (int32_t)plan->strand_rows,
                             .block_rows = (int32_t)plan->block_rows,
                             .block_columns = (int32_t)plan->block_columns,
                             .k_max = (int32_t)plan->k_max};
}

static ps_status check_memory(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                              ps_stream *stream)
{
    if (!memory->table || !memory->base || !memory->past || !memory->sums)
        return ps_fail(PS_USAGE, "a batch without table, values, past or sums");
    if (memory->sums_stride < plan->group ||
        memory->past_stride < memory->past_origin + plan->group)
        return ps_fail(PS_USAGE, "sums or past are too narrow for groups of %lld steps",
                       (long long)plan->group);
    return ps_stream_handle(stream) && !memory->scratch
               ? ps_fail(PS_USAGE, "a batch without scratch memory")
               : PS_OK;
}

/* A step on a device. */
static ps_status launch(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                        ps_stream *stream,
                        ps_status (*step)(const ps_slice_batch_plan *plan,
                                          const ps_slice_launch *launch, void *stream))
{
    ps_slice_launch launch = make_launch(plan, memory);
    PS_TRY(ps_stream_enter(stream));
    return step(plan, &launch, ps_stream_handle(stream));
}

ps_status ps_slice_batch_multiply(const ps_slice_batch_plan *plan,
                                  const ps_slice_batch_memory *memory, ps_stream *stream)
{
    if (!plan->strands) return PS_OK;
    PS_TRY(check_memory(plan, memory, stream));
    return ps_stream_handle(stream) ? launch(plan, memory, stream, ps_slice_parts_cuda) : PS_OK;
}

ps_status ps_slice_batch_add(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             ps_stream *stream)
{
    if (!plan->strands) return PS_OK;
    PS_TRY(check_memory(plan, memory, stream));
    return ps_stream_handle(stream) ? launch(plan, memory, stream, ps_slice_reduce_cuda)
                                    : run_here(plan, memory);
}

ps_status ps_slice_batch_run(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             ps_stream *stream)
{
    PS_TRY(ps_slice_batch_multiply(plan, memory, stream));
    return ps_slice_batch_add(plan, memory, stream);
}
