/*
 * The assembly: threads take units (a row tile x the slices of one square), compute them or have a
 * device compute them, and write the tiles they are made of. Where both squares of a symmetric pair
 * belong to this rank, one is computed and the other is its transpose: the same bits as computing
 * it.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "stage/tdbem_assembly/slice_assembly.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ---- buffers ---- */

/* Devices bring values in the file's precision. */
static bool has_singles(const ps_assembly_plan *plan)
{
    return plan->devices && plan->precision == PS_SINGLE;
}

/* Places the arrays of a tile in `block`, from *used on. */
static void tile_place(const ps_assembly_plan *plan, void *block, int64_t *used,
                       ps_interaction_tile *tile)
{
    int64_t entries = plan->tiling.tile_rows * plan->tiling.tile_rows;
    tile->value_capacity = plan->square_values;
    tile->starts = ps_host_part(block, used, 2 * entries);
    tile->lengths = ps_host_part(block, used, 2 * entries);
    tile->near_rows = ps_host_part(block, used, 4 * entries);
    tile->near_columns = ps_host_part(block, used, 4 * entries);
    tile->near_values = ps_host_part(block, used, 8 * entries);
    if (has_singles(plan))
        tile->singles = ps_host_part(block, used, 4 * tile->value_capacity);
    else
        tile->values = ps_host_part(block, used, 8 * tile->value_capacity);
}

/* Both tiles in one block, as pinning takes its time by the piece. Returns its bytes. */
static int64_t tiles_place(const ps_assembly_plan *plan, void *block, ps_assembly_buffers *out)
{
    int64_t used = 0;
    tile_place(plan, block, &used, &out->tile);
    tile_place(plan, block, &used, &out->mirror);
    return used;
}

int64_t ps_assembly_buffer_bytes(const ps_assembly_plan *plan)
{
    ps_assembly_buffers none;
    int64_t tiles = tiles_place(plan, NULL, &none);
    if (plan->devices) return tiles;
    return tiles + plan->workspace_bytes + plan->tiling.tile_rows * 8 +
           plan->tiling.value_capacity * 4;
}

ps_status ps_assembly_buffers_init(const ps_assembly_plan *plan, ps_assembly_buffers *out)
{
    out->pinned = plan->devices ? ps_assembly_devices_host(plan->devices) : NULL;
    int64_t bytes = tiles_place(plan, NULL, out);
    PS_TRY(out->pinned ? ps_device_alloc_pinned(out->pinned, bytes, &out->block)
                       : ps_alloc_untouched(&out->block, bytes, "a tile"));
    tiles_place(plan, out->block, out);
    if (plan->devices) return PS_OK;
    PS_TRY(PS_ALLOC(&out->offsets, plan->tiling.tile_rows, "offsets"));
    PS_TRY(ps_alloc_untouched(&out->workspace, plan->workspace_bytes, "assembly workspace"));
    return ps_alloc_untouched((void **)&out->single, plan->tiling.value_capacity * 4,
                              "values of a tile");
}

void ps_assembly_buffers_release(ps_assembly_buffers *buffers)
{
    if (buffers->pinned)
        ps_device_free_pinned(buffers->pinned, buffers->block);
    else
        free(buffers->block);
    PS_FREE(buffers->offsets, buffers->workspace, buffers->single, buffers->near);
}

/* ---- units ---- */

typedef struct assembly {
    const ps_retarded_problem *problem;
    const ps_assembly_plan *plan;
    const ps_assembly_sink *sink;
    ps_journal *journal; /* NULL: none                                                 */
    ps_assembly_certificate *certificate;
    void *record;  /* for the journal, by one thread at a time; NULL: not needed yet  */
    uint8_t *kept; /* [units] 1: the journal held it                             */
    ps_assembly_buffers *buffers; /* of the threads                                             */
} assembly;

/* Slices of square column `block`, clipped to this rank. */
static void square_slices(const ps_slice_tiling *tiling, int64_t block, int64_t *first,
                          int64_t *count)
{
    int64_t begin = block * tiling->tile_rows;
    int64_t end = ps_smaller(begin + tiling->tile_rows, tiling->unknowns);
    if (begin < tiling->first_slice) begin = tiling->first_slice;
    end = ps_smaller(end, tiling->end_slice);
    *first = begin;
    *count = end - begin;
}

/* Square `block` lies within this rank's slices. */
static bool is_whole(const ps_slice_tiling *tiling, int64_t block)
{
    int64_t first, count;
    square_slices(tiling, block, &first, &count);
    return count == ps_smaller(tiling->tile_rows, tiling->unknowns - block * tiling->tile_rows);
}

/* `count` values of the square from number `first` on, as they are stored. */
static void *stored_values(const assembly *a, ps_assembly_buffers *buffers,
                           const ps_interaction_tile *tile, int64_t first, int64_t count)
{
    if (tile->singles) return tile->singles + first;
    double *values = tile->values + first;
    if (a->plan->precision == PS_DOUBLE) return values;
    for (int64_t i = 0; i < count; ++i) buffers->single[i] = (float)values[i];
    return buffers->single;
}

/* Writes the stored tiles that make up the square `tile`. */
static ps_status write_square(const assembly *a, ps_assembly_buffers *buffers,
                              const ps_interaction_tile *tile)
{
    const ps_slice_tiling *tiling = &a->plan->tiling;
    int64_t row_tile = tile->first_row / tiling->tile_rows, written = 0;
    double start = ps_clock();
    for (int64_t s = 0; s < tile->slices;) {
        int64_t interval = (tile->first_slice + s - tiling->first_slice) / tiling->tile_slices;
        int64_t index = interval * a->plan->row_tiles + row_tile;
        ps_slice_tile out = {0};
        ps_slice_tiling_range(tiling, index, &out);
        out.starts = tile->starts + s * tile->rows;
        out.lengths = tile->lengths + s * tile->rows;
        for (int64_t v = 0; v < out.slices * out.rows; ++v) out.value_count += out.lengths[v];
        out.values = stored_values(a, buffers, tile, written, out.value_count);
        PS_TRY(a->sink->take(a->sink->context, index, &out));
        written += out.value_count;
        s += out.slices;
    }
    buffers->write_seconds += ps_clock() - start;
    return PS_OK;
}

/* Keeps the k = 0 entries of a square; row j of what is stored is slice j, a column of M^0. */
static ps_status keep_near(ps_assembly_buffers *buffers, const ps_interaction_tile *tile)
{
    PS_TRY(ps_grow((void **)&buffers->near, &buffers->near_capacity,
                   buffers->near_count + tile->near_count, sizeof *buffers->near, "M^0"));
    for (int64_t e = 0; e < tile->near_count; ++e)
        buffers->near[buffers->near_count++] =
            (ps_near_entry){tile->near_columns[e], tile->near_rows[e], tile->near_values[e]};
    return PS_OK;
}

/* The square and its mirror are made together. A record of the journal holds one square, of which
 * the mirror does not follow where the matrices are not symmetric. */
static bool has_mirror(const ps_assembly_plan *plan, int64_t rows, int64_t slices)
{
    return !(plan->unsymmetric && plan->journal) && is_whole(&plan->tiling, rows) &&
           is_whole(&plan->tiling, slices);
}

/* The tile whose ranges are set, and its transpose unless `mirror` is NULL. */
static ps_status compute_square(const assembly *a, ps_assembly_buffers *buffers,
                                ps_interaction_tile *tile, ps_interaction_tile *mirror)
{
    const ps_assembly_plan *plan = a->plan;
    double start = plan->devices ? ps_clock() : ps_thread_seconds();
    if (plan->devices) {
        PS_TRY(ps_assembly_devices_compute(plan->devices, tile, mirror));
    } else {
        PS_TRY(ps_interaction_compute_both(&a->problem->interaction, tile,
                                           plan->unsymmetric ? mirror : NULL, buffers->workspace,
                                           plan->workspace_bytes));
    }
    buffers->seconds += (plan->devices ? ps_clock() : ps_thread_seconds()) - start;
    buffers->pairs += tile->pairs;
    buffers->entries += tile->rows * tile->slices * (mirror ? 2 : 1);
    return mirror && !plan->devices && !plan->unsymmetric
               ? ps_interaction_transpose(tile, buffers->offsets, mirror)
               : PS_OK;
}

/* Sets the ranges of a unit's square and of its mirror; false if it has none. */
static bool set_ranges(const ps_assembly_plan *plan, int64_t unit, ps_interaction_tile *tile,
                       ps_interaction_tile *mirror)
{
    const ps_slice_tiling *tiling = &plan->tiling;
    int64_t rows = unit % plan->row_tiles;
    int64_t slices = tiling->first_slice / tiling->tile_rows + unit / plan->row_tiles;
    tile->first_row = rows * tiling->tile_rows;
    tile->rows = ps_smaller(tiling->tile_rows, tiling->unknowns - tile->first_row);
    square_slices(tiling, slices, &tile->first_slice, &tile->slices);
    mirror->first_row = tile->first_slice;
    mirror->rows = tile->slices;
    mirror->first_slice = tile->first_row;
    mirror->slices = tile->rows;
    return rows != slices && has_mirror(plan, rows, slices);
}

static int64_t mirror_of(const ps_assembly_plan *plan, int64_t unit)
{
    int64_t first = plan->tiling.first_slice / plan->tiling.tile_rows;
    int64_t rows = unit % plan->row_tiles, slices = first + unit / plan->row_tiles;
    return (rows - first) * plan->row_tiles + slices;
}

static ps_status write_unit(const assembly *a, int64_t unit, bool mirrored,
                            ps_assembly_buffers *buffers)
{
    double start = ps_thread_seconds();
    PS_TRY(ps_assembly_certificate_add(a->certificate, unit, &buffers->tile));
    if (mirrored && a->plan->unsymmetric)
        PS_TRY(ps_assembly_certificate_add(a->certificate, mirror_of(a->plan, unit),
                                           &buffers->mirror));
    buffers->passivity_seconds += ps_thread_seconds() - start;
    PS_TRY(keep_near(buffers, &buffers->tile));
    PS_TRY(write_square(a, buffers, &buffers->tile));
    if (!mirrored) return PS_OK;
    PS_TRY(keep_near(buffers, &buffers->mirror));
    return write_square(a, buffers, &buffers->mirror);
}

int64_t ps_assembly_record_bytes(const ps_assembly_plan *plan)
{
    int64_t entries = plan->tiling.tile_rows * plan->tiling.tile_rows;
    return plan->journal ? ps_assembly_journal_bytes(entries, plan->square_values, plan->precision)
                         : 0;
}

static ps_status note_unit(assembly *a, int64_t unit, const ps_interaction_tile *tile)
{
    ps_status status = PS_OK;
    if (!ps_journal_wants(a->journal,
                          ps_assembly_journal_bytes(tile->rows * tile->slices, tile->value_count,
                                                    a->plan->precision)))
        return PS_OK;
#pragma omp critical(ps_assembly_record)
    {
        if (!a->record)
            status = ps_alloc_untouched(&a->record, ps_assembly_record_bytes(a->plan),
                                        "a record of the journal");
        if (status == PS_OK)
            status =
                ps_journal_add(a->journal, a->record,
                               ps_assembly_journal_pack(unit, tile, a->plan->precision, a->record));
    }
    return status;
}

/* The certificate is of values as they are stored, so that it is the same where they come from a
 * journal. */
static void round_values(const ps_assembly_plan *plan, ps_interaction_tile *tile)
{
    if (plan->precision == PS_DOUBLE || tile->singles) return;
    for (int64_t i = 0; i < tile->value_count; ++i) tile->values[i] = (float)tile->values[i];
}

static ps_status compute_unit(assembly *a, int64_t unit, ps_assembly_buffers *buffers)
{
    bool mirrored = set_ranges(a->plan, unit, &buffers->tile, &buffers->mirror);
    PS_TRY(compute_square(a, buffers, &buffers->tile, mirrored ? &buffers->mirror : NULL));
    round_values(a->plan, &buffers->tile);
    if (mirrored && a->plan->unsymmetric) round_values(a->plan, &buffers->mirror);
    PS_TRY(note_unit(a, unit, &buffers->tile));
    return write_unit(a, unit, mirrored, buffers);
}

/* A square of the journal. */
static ps_status restore_unit(void *context, int64_t first, int64_t count, const void *record,
                              int64_t bytes)
{
    assembly *a = context;
    ps_assembly_buffers *buffers = &a->buffers[0];
    int64_t unit = ps_assembly_journal_unit(record, bytes);
    if (unit < 0 || unit >= a->plan->units || a->kept[unit])
        return ps_fail(PS_INVALID, "the journal has a square that is none of this assembly");
    bool mirrored = set_ranges(a->plan, unit, &buffers->tile, &buffers->mirror);
    PS_TRY(ps_assembly_journal_unpack(record, bytes, a->plan->precision,
                                      ps_interaction_k_bound(&a->problem->interaction),
                                      &buffers->tile));
    if (mirrored)
        PS_TRY(ps_interaction_transpose(&buffers->tile, buffers->offsets, &buffers->mirror));
    a->kept[unit] = 1;
    return write_unit(a, unit, mirrored, buffers);
}

/* Numbers of the units to compute: all but the mirrors of others and those that were kept. */
static ps_status list_units(const assembly *a, int64_t **out, int64_t *count)
{
    const ps_assembly_plan *plan = a->plan;
    int64_t first = plan->tiling.first_slice / plan->tiling.tile_rows;
    *count = 0;
    PS_TRY(PS_ALLOC(out, plan->units, "list of tiles"));
    for (int64_t unit = 0; unit < plan->units; ++unit) {
        int64_t slices = first + unit / plan->row_tiles, rows = unit % plan->row_tiles;
        if (a->kept[unit]) continue;
        if (rows <= slices || !has_mirror(plan, rows, slices)) (*out)[(*count)++] = unit;
    }
    return PS_OK;
}

/* The units of this rank, threads taking one after the other. The first failure is kept. */
static ps_status compute_units(assembly *a)
{
    PS_SCOPED_MEMORY int64_t *units = NULL;
    int64_t count, done = 0;
    ps_failure failure = {0};
    ps_progress progress;
    PS_TRY(list_units(a, &units, &count));
    ps_progress_start(&progress, "assembling", "tiles", 0, count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(a->plan->threads)
    for (int64_t u = 0; u < count; ++u) {
        if (ps_has_failed(&failure)) continue;
        ps_note_failure(&failure, compute_unit(a, units[u], &a->buffers[omp_get_thread_num()]));
#pragma omp critical(ps_assembly_progress)
        ps_progress_update(&progress, ++done);
    }
    ps_progress_end(&progress);
    return ps_first_failure(&failure);
}

/* ---- M^0 ---- */

static int compare_near(const void *a, const void *b)
{
    const ps_near_entry *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

/* Entries of all threads, in any order, to rows of this rank with ascending columns. */
static ps_status gather_near(const ps_assembly_plan *plan, const ps_assembly_buffers *buffers,
                             ps_near_entry **sorted, ps_csr *m0)
{
    int64_t first = plan->tiling.first_slice, nnz = 0;
    for (int t = 0; t < plan->threads; ++t) nnz += buffers[t].near_count;
    PS_TRY(ps_csr_init(m0, plan->tiling.end_slice - first, nnz));
    PS_TRY(PS_ALLOC(sorted, nnz, "M^0"));
    int64_t *start = m0->row_start;
    for (int t = 0; t < plan->threads; ++t)
        for (int64_t e = 0; e < buffers[t].near_count; ++e)
            ++start[buffers[t].near[e].row - first + 1];
    for (int64_t r = 0; r < m0->rows; ++r) start[r + 1] += start[r];
    for (int t = 0; t < plan->threads; ++t)
        for (int64_t e = 0; e < buffers[t].near_count; ++e)
            (*sorted)[start[buffers[t].near[e].row - first]++] = buffers[t].near[e];
    for (int64_t r = m0->rows; r > 0; --r) start[r] = start[r - 1];
    start[0] = 0;
    for (int64_t r = 0; r < m0->rows; ++r)
        qsort(*sorted + start[r], (size_t)(start[r + 1] - start[r]), sizeof **sorted, compare_near);
    for (int64_t e = 0; e < nnz; ++e) {
        m0->columns[e] = (*sorted)[e].column;
        m0->values[e] = (*sorted)[e].value;
    }
    return PS_OK;
}

/* Rim vertices of a screen: a diagonal entry alone, so large that the density there is zero
 * whatever the load (specs/tdbem_assembly.md). */
static ps_status hold_rim(const ps_retarded_problem *problem, const ps_assembly_plan *plan,
                          ps_assembly_buffers *buffers)
{
    if (!problem->fixed) return PS_OK;
    double largest = 0;
    for (int t = 0; t < plan->threads; ++t)
        for (int64_t e = 0; e < buffers[t].near_count; ++e)
            if (buffers[t].near[e].value > largest) largest = buffers[t].near[e].value;
    PS_TRY(ps_comm_max_f64(&largest, 1));
    for (int64_t j = plan->tiling.first_slice; j < plan->tiling.end_slice; ++j) {
        if (!problem->fixed[j]) continue;
        int32_t row = (int32_t)j;
        double held = 1e20 * largest;
        PS_TRY(keep_near(&buffers[0], &(ps_interaction_tile){.near_count = 1,
                                                             .near_rows = &row,
                                                             .near_columns = &row,
                                                             .near_values = &held}));
    }
    return PS_OK;
}

/* Collective. */
static ps_status certify(assembly *a, ps_assembly_result *out)
{
    double start = ps_clock();
    ps_status status = ps_assembly_certificate_finish(a->certificate, &out->passivity);
    out->passivity_seconds += ps_clock() - start;
    return ps_comm_agree(status);
}

/* What the journal holds, then the rest. */
static ps_status restore_and_compute(assembly *a)
{
    ps_status status = PS_ALLOC(&a->kept, a->plan->units, "list of tiles");
    if (status == PS_OK) status = ps_journal_replay(a->journal, false, restore_unit, a);
    if (status == PS_OK) status = compute_units(a);
    free(a->kept);
    free(a->record);
    return ps_comm_agree(status);
}

ps_status ps_assembly_units(const ps_retarded_problem *problem, const ps_assembly_plan *plan,
                            ps_journal *journal, const ps_assembly_sink *sink,
                            ps_assembly_result *out)
{
    memset(out, 0, sizeof *out);
    assembly a = {.problem = problem, .plan = plan, .sink = sink, .journal = journal};
    ps_near_entry *sorted = NULL;
    ps_assembly_buffers *buffers;
    ps_status status = PS_ALLOC(&buffers, plan->threads, "threads");
    for (int t = 0; status == PS_OK && t < plan->threads; ++t)
        status = ps_assembly_buffers_init(plan, &buffers[t]);
    a.buffers = buffers;
    if (status == PS_OK) status = ps_assembly_certificate_open(problem, plan, &a.certificate);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = restore_and_compute(&a);
    if (status == PS_OK) status = certify(&a, out);
    if (status == PS_OK) status = hold_rim(problem, plan, buffers);
    if (status == PS_OK) status = gather_near(plan, buffers, &sorted, &out->m0);
    for (int t = 0; buffers && t < plan->threads; ++t) {
        out->pairs += buffers[t].pairs;
        out->entries += buffers[t].entries;
        out->core_seconds += buffers[t].seconds;
        out->write_seconds += buffers[t].write_seconds;
        out->passivity_seconds += buffers[t].passivity_seconds;
        ps_assembly_buffers_release(&buffers[t]);
    }
    ps_assembly_certificate_close(&a.certificate);
    free(sorted);
    free(buffers);
    return status;
}
