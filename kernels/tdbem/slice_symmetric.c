#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_symmetric_internal.h"

#include <string.h>

#include "kernels/tdbem/slice_product.h"
#include "runtime/sizes.h"

enum { TABLE_ALIGN = 128 };

ps_symmetric_tile ps_symmetric_tile_at(const ps_block_tile *view, const void *image, int64_t offset,
                                       bool both)
{
    const char *from = image;
    return (ps_symmetric_tile){.first_row = view->first_row,
                               .rows = view->rows,
                               .first_slice = view->first_slice,
                               .slices = view->slices,
                               .value_count = view->value_count,
                               .starts = offset + ((const char *)view->starts - from),
                               .widths = offset + ((const char *)view->widths - from),
                               .scales =
                                   view->scales ? offset + ((const char *)view->scales - from) : 0,
                               .values = offset + ((const char *)view->values - from),
                               .host_widths = view->widths,
                               .both = both};
}

/* ---- parts ---- */

static int64_t warps_of(const ps_symmetric_tile *t)
{
    return (t->rows + PS_WARP_ROWS - 1) / PS_WARP_ROWS;
}

static int64_t chunks_of(const ps_symmetric_tile *t)
{
    return (t->slices + PS_SYMMETRIC_SLICES - 1) / PS_SYMMETRIC_SLICES;
}

/* Rows of sums that the part of warp w and chunk c takes in scratch memory. */
static int64_t slices_of(const ps_symmetric_tile *t, int64_t c)
{
    return ps_smaller(PS_SYMMETRIC_SLICES, t->slices - c * PS_SYMMETRIC_SLICES);
}

static int64_t places_of(const ps_symmetric_tile *t, int64_t c)
{
    return PS_WARP_ROWS + (t->both ? slices_of(t, c) : 0);
}

/* What runs over all parts in their order: `visit` gets the tile, warp and chunk. */
typedef struct part_walk {
    const ps_symmetric_plan *plan;
    const ps_symmetric_tile *tiles;
    void *context;
    void (*visit)(struct part_walk *walk, const ps_symmetric_tile *tile, int64_t w, int64_t c);
    int64_t most;  /* places of a round at most       */
    int64_t used;  /* places of the round so far      */
    int64_t round; /* number of the part's round      */
    int64_t part;  /* number of the part              */
} part_walk;

static void walk_parts(part_walk *walk)
{
    for (int64_t t = 0; t < walk->plan->tiles; ++t) {
        const ps_symmetric_tile *tile = &walk->tiles[t];
        for (int64_t w = 0; w < warps_of(tile); ++w)
            for (int64_t c = 0; c < chunks_of(tile); ++c, ++walk->part) {
                if (walk->used + places_of(tile, c) > walk->most && walk->used > 0)
                    ++walk->round, walk->used = 0;
                walk->visit(walk, tile, w, c);
                walk->used += places_of(tile, c);
            }
    }
}

/* ---- units ---- */

/* units[N + 1]: 1 where a partial sum begins or ends, and so a unit; else 0. */
static void mark_rows(const ps_symmetric_tile *tiles, int64_t count, int64_t unknowns,
                      int32_t *units)
{
    memset(units, 0, (size_t)(unknowns + 1) * sizeof *units);
    units[0] = 1;
    for (int64_t t = 0; t < count; ++t) {
        const ps_symmetric_tile *tile = &tiles[t];
        for (int64_t r = 0; r < tile->rows; r += PS_WARP_ROWS) units[tile->first_row + r] = 1;
        units[tile->first_row + tile->rows] = 1;
        for (int64_t s = 0; tile->both && s < tile->slices; s += PS_SYMMETRIC_SLICES)
            units[tile->first_slice + s] = 1;
        if (tile->both) units[tile->first_slice + tile->slices] = 1;
    }
    for (int64_t i = 1, since = 0; i < unknowns; ++i) {
        if (i - since == PS_WARP_ROWS) units[i] = 1;
        if (units[i]) since = i;
    }
}

/* units[N + 1]: the unit of every row, and the number of units. */
static void find_units(const ps_symmetric_tile *tiles, int64_t count, int64_t unknowns,
                       int32_t *units)
{
    int32_t unit = -1;
    mark_rows(tiles, count, unknowns, units);
    for (int64_t i = 0; i < unknowns; ++i) units[i] = unit += units[i];
    units[unknowns] = unit + 1;
}

/* ---- the plan ---- */

static ps_status check_tile(const ps_symmetric_tile *t, int64_t index)
{
    bool apart =
        t->first_row + t->rows <= t->first_slice || t->first_slice + t->slices <= t->first_row;
    if (t->both && !apart)
        return ps_fail(PS_USAGE, "tile %lld lies on the diagonal and cannot stand for two",
                       (long long)index);
    if (t->first_row % PS_WARP_ROWS == 0) return PS_OK;
    return ps_fail(PS_USAGE, "tile %lld begins with row %lld, no multiple of %d", (long long)index,
                   (long long)t->first_row, PS_WARP_ROWS);
}

typedef struct counting {
    int64_t most_used, entries;
    const int32_t *units;
} counting;

static void count_part(part_walk *walk, const ps_symmetric_tile *t, int64_t w, int64_t c)
{
    counting *count = walk->context;
    int64_t row = t->first_row + w * PS_WARP_ROWS;
    int64_t end = ps_smaller(row + PS_WARP_ROWS, t->first_row + t->rows);
    int64_t slice = t->first_slice + c * PS_SYMMETRIC_SLICES;
    count->entries += count->units[end] - count->units[row];
    if (t->both) count->entries += count->units[slice + slices_of(t, c)] - count->units[slice];
    count->most_used = ps_larger(count->most_used, walk->used + places_of(t, c));
}

static int64_t aligned(int64_t bytes) { return ps_round_up(bytes, TABLE_ALIGN); }

static ps_status set_sizes(const counting *count, ps_symmetric_plan *p)
{
    p->entries = count->entries;
    p->units = count->units[p->unknowns];
    p->units_at = aligned(p->parts * (int64_t)sizeof(ps_symmetric_part));
    p->rounds_at = p->units_at + aligned((p->units + 1) * 4);
    p->begins_at = p->rounds_at + aligned(p->rounds * (int64_t)sizeof(ps_symmetric_round));
    p->entries_at = p->begins_at + aligned(p->rounds * (p->units + 1) * 4);
    p->table_bytes = p->entries_at + aligned(p->entries * 4);
    p->scratch_bytes = count->most_used * p->group * ps_real_bytes(p->precision);
    if (p->parts <= INT32_MAX && p->entries <= INT32_MAX && count->most_used <= INT32_MAX)
        return PS_OK;
    return ps_fail(PS_EXHAUSTED, "%lld parts with %lld partial sums: more than a table holds",
                   (long long)p->parts, (long long)p->entries);
}

ps_status ps_symmetric_plan_make(const ps_block_header *header, int64_t unknowns, int64_t group,
                                 int64_t room, const ps_symmetric_tile *tiles, int64_t count,
                                 int32_t *work, ps_symmetric_plan *out)
{
    if (group < 1 || group > PS_GROUP_MAX)
        return ps_fail(PS_USAGE, "groups of %lld steps: 1 to %d are supported", (long long)group,
                       PS_GROUP_MAX);
    if (header->layout != PS_BLOCK_WARP)
        return ps_fail(PS_USAGE, "%s blocks: only warps can stand for their mirror image",
                       ps_block_layout_name(header->layout));
    for (int64_t t = 0; t < count; ++t) PS_TRY(check_tile(&tiles[t], t));
    *out = (ps_symmetric_plan){.precision = header->slices.precision,
                               .half = header->half,
                               .unknowns = unknowns,
                               .group = group,
                               .lanes = group == 1    ? 1
                                        : group <= 8  ? 8
                                        : group <= 16 ? 16
                                                      : 32,
                               .tiles = count};
    out->round_places = room / (group * ps_real_bytes(out->precision));
    find_units(tiles, count, unknowns, work);
    counting counted = {.units = work};
    part_walk walk = {.plan = out,
                      .tiles = tiles,
                      .context = &counted,
                      .visit = count_part,
                      .most = out->round_places};
    walk_parts(&walk);
    out->parts = walk.part;
    out->rounds = walk.part > 0 ? walk.round + 1 : 0;
    return set_sizes(&counted, out);
}

/* ---- the table ---- */

typedef struct filling {
    ps_symmetric_part *parts;
    ps_symmetric_round *rounds;
    int32_t *begins, *entries; /* begins[rounds][units + 1] */
    const int32_t *units;      /* of rows */
    int64_t columns;           /* of the tile's parts so far */
    bool placing;              /* the second pass: begins are where the next entry goes */
} filling;

/* The partial sums of rows [row, end) lie at `place`. */
static void note_entries(const part_walk *walk, int64_t row, int64_t end, int64_t place)
{
    filling *f = walk->context;
    int32_t *begins = f->begins + walk->round * (walk->plan->units + 1);
    const int32_t *firsts = (const void *)((const char *)f->parts + walk->plan->units_at);
    for (int32_t u = f->units[row]; u < f->units[end]; ++u) {
        if (f->placing)
            f->entries[begins[u]++] = (int32_t)(place + firsts[u] - row);
        else
            ++begins[u];
    }
}

static void fill_part(part_walk *walk, const ps_symmetric_tile *t, int64_t w, int64_t c)
{
    filling *f = walk->context;
    ps_symmetric_part *p = &f->parts[walk->part];
    int64_t first = c * PS_SYMMETRIC_SLICES, slices = slices_of(t, c);
    int64_t at = w * t->slices + first,
            size = walk->plan->half ? 2 : ps_real_bytes(walk->plan->precision);
    int64_t row = t->first_row + w * PS_WARP_ROWS;
    int64_t rows = ps_smaller(PS_WARP_ROWS, t->first_row + t->rows - row), columns = 0;
    if (!f->placing) {
        if (w == 0 && c == 0) f->columns = 0; /* parts come in the order of values */
        for (int64_t s = 0; s < slices; ++s) columns += t->host_widths[at + s];
        *p = (ps_symmetric_part){.values = t->values + f->columns * PS_WARP_ROWS * size,
                                 .starts = t->starts + at * PS_WARP_ROWS * 2,
                                 .widths = t->widths + at * 2,
                                 .scales = t->scales + at * PS_WARP_ROWS,
                                 .row = (int32_t)row,
                                 .rows = (int32_t)rows,
                                 .slice = (int32_t)(t->first_slice + first),
                                 .slices = (int32_t)slices,
                                 .columns = (int32_t)columns,
                                 .forward = (int32_t)walk->used,
                                 .transposed = t->both ? (int32_t)walk->used + PS_WARP_ROWS : -1};
        f->columns += columns;
        ps_symmetric_round *round = &f->rounds[walk->round];
        if (round->parts++ == 0) round->first = (int32_t)walk->part;
    }
    note_entries(walk, row, row + rows, p->forward);
    if (t->both) note_entries(walk, p->slice, p->slice + slices, p->transposed);
}

/* Counts to places: where the entries of each unit begin. */
static void sum_begins(const ps_symmetric_plan *plan, int32_t *begins)
{
    int32_t sum = 0;
    for (int64_t b = 0; b < plan->rounds * (plan->units + 1); ++b) {
        int32_t own = begins[b];
        begins[b] = sum;
        sum += own;
    }
}

/* Once entries are placed each begin is where the next unit's entries begin. */
static void shift_begins(const ps_symmetric_plan *plan, int32_t *begins)
{
    for (int64_t b = plan->rounds * (plan->units + 1) - 1; b > 0; --b) begins[b] = begins[b - 1];
    if (plan->rounds > 0) begins[0] = 0;
}

void ps_symmetric_table(const ps_symmetric_plan *plan, const ps_symmetric_tile *tiles,
                        int32_t *units, void *table)
{
    find_units(tiles, plan->tiles, plan->unknowns, units);
    char *bytes = table;
    int32_t *firsts = (int32_t *)(bytes + plan->units_at);
    for (int64_t i = 0, u = 0; i < plan->unknowns; ++i)
        if (units[i] == u) firsts[u++] = (int32_t)i;
    firsts[plan->units] = (int32_t)plan->unknowns;
    filling f = {.parts = table,
                 .rounds = (ps_symmetric_round *)(bytes + plan->rounds_at),
                 .begins = (int32_t *)(bytes + plan->begins_at),
                 .entries = (int32_t *)(bytes + plan->entries_at),
                 .units = units};
    const part_walk all = {.plan = plan,
                           .tiles = tiles,
                           .context = &f,
                           .visit = fill_part,
                           .most = plan->round_places};
    for (int pass = 0; pass < 2; ++pass) {
        part_walk walk = all;
        f.placing = pass == 1;
        walk_parts(&walk);
        if (pass == 0) sum_begins(plan, f.begins);
    }
    shift_begins(plan, f.begins);
}

/* ---- running ---- */

static ps_symmetric_launch make_launch(const ps_symmetric_plan *plan,
                                       const ps_symmetric_memory *memory, int64_t round)
{
    const char *table = memory->table;
    const ps_symmetric_round *own =
        (const ps_symmetric_round *)((const char *)memory->host_table + plan->rounds_at) + round;
    return (ps_symmetric_launch){.base = memory->base,
                                 .parts = (const ps_symmetric_part *)table + own->first,
                                 .units = (const int32_t *)(table + plan->units_at),
                                 .begins = (const int32_t *)(table + plan->begins_at) +
                                           round * (plan->units + 1),
                                 .entries = (const int32_t *)(table + plan->entries_at),
                                 .past = memory->past,
                                 .scratch = memory->scratch,
                                 .sums = memory->sums,
                                 .past_stride = memory->past_stride,
                                 .past_origin = memory->past_origin,
                                 .past_end = plan->unknowns * memory->past_stride,
                                 .sums_stride = memory->sums_stride,
                                 .part_count = own->parts,
                                 .unit_count = (int32_t)plan->units,
                                 .group = (int32_t)plan->group,
                                 .unknowns = (int32_t)plan->unknowns};
}

ps_status ps_symmetric_run(const ps_symmetric_plan *plan, const ps_symmetric_memory *memory,
                           ps_stream *stream)
{
    if (plan->parts == 0) return PS_OK;
    if (!memory->table || !memory->host_table || !memory->base || !memory->past || !memory->sums ||
        !memory->scratch)
        return ps_fail(PS_USAGE,
                       "a symmetric product without table, values, past, sums or scratch");
    if (memory->sums_stride < plan->group ||
        memory->past_stride < memory->past_origin + plan->group)
        return ps_fail(PS_USAGE, "sums or past are too narrow for groups of %lld steps",
                       (long long)plan->group);
    void *handle = ps_stream_handle(stream);
    if (handle) PS_TRY(ps_stream_enter(stream));
    for (int64_t round = 0; round < plan->rounds; ++round) {
        ps_symmetric_launch launch = make_launch(plan, memory, round);
        if (handle)
            PS_TRY(ps_symmetric_cuda(plan, &launch, handle));
        else
            ps_symmetric_here(plan, &launch);
    }
    return PS_OK;
}
