#include "cut.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tdbem/blocking.h"
#include "kernels/tdbem/slice_clip.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/sizes.h"

/* ---- all tiles, by several threads ---- */

typedef struct workspace {
    void *raw, *unpacked, *blocks;
    uint32_t *offsets; /* of a tile that was clipped */
} workspace;

/* What is done with every tile. sizes: bytes of a thread's workspace. */
typedef struct job {
    ps_slice_matrix *matrix;
    const char *what;
    int64_t raw_bytes, unpacked_bytes, block_bytes, row_blocks;
    ps_status (*tile)(const struct job *job, int64_t index, const workspace *own);
    void *context;
} job;

static ps_status workspace_init(const job *j, workspace *out)
{
    *out = (workspace){NULL, NULL, NULL, NULL};
    PS_TRY(ps_alloc(&out->raw, j->raw_bytes, 1, "stored tiles"));
    PS_TRY(ps_alloc(&out->unpacked, j->unpacked_bytes, 1, "unpacked tiles"));
    PS_TRY(PS_ALLOC(&out->offsets, j->row_blocks, "offsets of a tile"));
    return ps_alloc(&out->blocks, j->block_bytes, 1, "blocks of a tile");
}

static void workspace_release(workspace *own)
{
    PS_FREE(own->raw, own->unpacked, own->blocks, own->offsets);
}

static ps_status for_tiles(const job *j, int threads)
{
    ps_failure failure = {PS_OK, ""};
    ps_progress progress;
    int64_t count = ps_slice_matrix_tile_count(j->matrix), done = 0;
    ps_progress_start(&progress, j->what, "tiles", 0, count);
#pragma omp parallel num_threads(threads)
    {
        workspace own;
        ps_note_failure(&failure, workspace_init(j, &own));
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < count; ++t) {
            if (ps_has_failed(&failure)) continue;
            ps_note_failure(&failure, j->tile(j, t, &own));
            int64_t so_far;
#pragma omp atomic capture
            so_far = ++done;
            if (omp_get_thread_num() == 0) ps_progress_update(&progress, so_far);
        }
        workspace_release(&own);
    }
    ps_progress_end(&progress);
    return ps_first_failure(&failure);
}

/* Largest stored and unpacked tile, and most row blocks of one. */
static ps_status tile_sizes(job *j)
{
    for (int64_t t = 0; t < ps_slice_matrix_tile_count(j->matrix); ++t) {
        int64_t raw, unpacked;
        ps_slice_tile tile;
        ps_slice_matrix_tile_bytes(j->matrix, t, &raw, &unpacked);
        PS_TRY(ps_slice_matrix_tile_info(j->matrix, t, &tile));
        j->raw_bytes = ps_larger(j->raw_bytes, raw);
        j->unpacked_bytes = ps_larger(j->unpacked_bytes, unpacked);
        j->row_blocks = ps_larger(j->row_blocks, tile.slices * ps_slice_tile_row_blocks(&tile));
    }
    return PS_OK;
}

/* The lags of the header, if they are not all. */
static ps_status clip(const ps_block_header *header, ps_slice_tile *tile, const workspace *own)
{
    if (header->k_from <= 1 && header->k_below == header->k_end) return PS_OK;
    return ps_slice_clip(tile, header->slices.precision, header->k_from, header->k_below,
                         own->offsets);
}

/* ---- counting ---- */

typedef struct counting {
    cut_shape *shapes;
    int shape_count;
    ps_block_tile *counts;
} counting;

static ps_status count_tile(const job *j, int64_t index, const workspace *own)
{
    const counting *c = j->context;
    ps_slice_tile tile;
    PS_TRY(ps_slice_matrix_read_structure(j->matrix, index, own->unpacked, &tile));
    PS_TRY(clip(&c->shapes[0].header, &tile, own));
    for (int s = 0; s < c->shape_count; ++s) {
        ps_block_tile counts;
        ps_blocking_count(&c->shapes[s].header, &tile, &counts);
#pragma omp atomic
        c->shapes[s].blocks += counts.block_count;
#pragma omp atomic
        c->shapes[s].values += counts.value_count;
        if (s == 0 && c->counts) c->counts[index] = counts;
    }
    return PS_OK;
}

ps_status cut_count(ps_slice_matrix *matrix, cut_shape *shapes, int shape_count, int threads,
                    ps_block_tile *counts)
{
    counting c = {shapes, shape_count, counts};
    job j = {.matrix = matrix, .what = "counting blocks", .tile = count_tile, .context = &c};
    PS_TRY(tile_sizes(&j));
    j.raw_bytes = 0; /* structure is read without it */
    for (int s = 0; s < shape_count; ++s) shapes[s].blocks = shapes[s].values = 0;
    return for_tiles(&j, threads);
}

/* ---- the plan ---- */

static const double rounding_limit = 0x1p-11; /* what halves with a scale keep to */
enum { CHUNK_LIMIT = 1 << 30 }; /* HDF5 cannot go beyond 4 GiB; a tile should stay far below */

static ps_status set_tiling(cut_plan *plan)
{
    int64_t blocks = 0;
    job sizes = {.matrix = plan->matrix};
    ps_block_tiling *t = &plan->tiling;
    PS_TRY(tile_sizes(&sizes));
    *t = (ps_block_tiling){.unknowns = plan->header.slices.unknowns,
                           .tile_count = ps_slice_matrix_tile_count(plan->matrix)};
    for (int64_t i = 0; i < t->tile_count; ++i) {
        ps_block_tile *tile = &plan->tiles[i];
        t->tile_rows = ps_larger(t->tile_rows, tile->rows);
        t->tile_slices = ps_larger(t->tile_slices, tile->slices);
        t->block_capacity = ps_larger(t->block_capacity, tile->block_count);
        t->value_capacity = ps_larger(t->value_capacity, tile->value_count);
        int64_t bytes = ps_block_tile_place(&plan->header, tile, NULL);
        blocks = ps_larger(blocks, bytes);
        plan->stored_bytes += bytes;
        plan->nnz += tile->nnz;
    }
    plan->thread_bytes = sizes.raw_bytes + sizes.unpacked_bytes + 4 * sizes.row_blocks +
                         2 * blocks; /* blocks, and their encoding */
    if (t->value_capacity * ps_block_tile_value_bytes(&plan->header) <= CHUNK_LIMIT) return PS_OK;
    return ps_fail(
        PS_EXHAUSTED,
        "a tile would take %.1f GB as blocks of %lld x %lld, more than a chunk may hold: "
        "choose smaller blocks, or another layout, or order the mesh along a curve",
        (double)(t->value_capacity * ps_block_tile_value_bytes(&plan->header)) / 1e9,
        (long long)plan->header.block_rows, (long long)plan->header.block_columns);
}

ps_status cut_plan_init(ps_slice_matrix *matrix, const ps_block_header *header, int threads,
                        int64_t memory, cut_plan *out)
{
    *out = (cut_plan){.matrix = matrix, .header = *header};
    cut_shape shape = {.header = *header};
    PS_TRY(PS_ALLOC(&out->tiles, ps_slice_matrix_tile_count(matrix), "counts of tiles"));
    PS_TRY(cut_count(matrix, &shape, 1, threads, out->tiles));
    PS_TRY(set_tiling(out));
    out->header.block_count = shape.blocks;
    double values = (double)shape.values;
    out->header.fill = values > 0 ? 100 * (double)out->nnz / values : 100;
    int64_t fit = memory / ps_larger(out->thread_bytes, 1);
    if (fit < 1)
        return ps_fail(PS_EXHAUSTED, "--host-memory %.1f MB: one tile and its blocks need %.1f MB",
                       (double)memory / 1e6, (double)out->thread_bytes / 1e6);
    out->threads = fit < threads ? (int)fit : threads;
    return PS_OK;
}

void cut_plan_release(cut_plan *plan)
{
    free(plan->tiles);
    *plan = (cut_plan){0};
}

/* ---- filling ---- */

/* A record of the journal: this head, then the arrays of the tile as ps_block_tile_place has them.
 */
typedef struct kept_tile {
    int64_t index;
    ps_block_tile tile; /* without its arrays */
} kept_tile;
enum { HEAD = 256 };
_Static_assert(sizeof(kept_tile) <= HEAD, "a head has room for a tile");

typedef struct filling {
    const cut_plan *plan;
    ps_block_matrix *out;
    ps_journal *journal;
    uint8_t *kept; /* [tiles] 1: the journal held it        */
    char *record;  /* room for the largest, while it is read */
} filling;

static ps_status keep_tile(const filling *f, int64_t index, const ps_block_tile *tile, char *record)
{
    int64_t bytes = HEAD + ps_block_tile_place(&f->plan->header, &f->plan->tiles[index], NULL);
    if (!ps_journal_wants(f->journal, bytes)) return PS_OK;
    kept_tile head = {index, *tile};
    head.tile.block_start = head.tile.corner_rows = NULL;
    head.tile.corner_columns = head.tile.starts = head.tile.widths = NULL;
    head.tile.scales = head.tile.values = NULL;
    memset(record, 0, HEAD);
    memcpy(record, &head, sizeof head);
    return ps_journal_add(f->journal, record, bytes);
}

static ps_status fill_tile(const job *j, int64_t index, const workspace *own)
{
    const filling *f = j->context;
    ps_slice_tile slices;
    ps_block_tile tile = f->plan->tiles[index];
    if (f->kept[index]) return PS_OK;
    PS_TRY(ps_slice_matrix_read_raw(j->matrix, index, own->raw));
    PS_TRY(ps_slice_matrix_unpack(j->matrix, index, own->raw, own->unpacked, &slices));
    PS_TRY(clip(&f->plan->header, &slices, own));
    ps_block_tile_place(&f->plan->header, &tile, (char *)own->blocks + HEAD);
    ps_blocking_fill(&f->plan->header, &slices, &tile);
    if (tile.error_max > rounding_limit)
        return ps_fail(PS_INVALID,
                       "tile %lld: values beyond 2^-112 .. 2^142 do not go into halves (--values "
                       "f16)",
                       (long long)index);
    PS_TRY(ps_block_matrix_write_tile(f->out, index, &tile));
    return keep_tile(f, index, &tile, own->blocks);
}

static bool is_sound(const ps_block_header *header, const ps_block_tile *tile)
{
    const uint16_t infinite = 0x7c00, *halves = tile->values;
    if (!header->half)
        return ps_append_log_is_finite(tile->values, tile->value_count,
                                       ps_block_tile_value_bytes(header));
    bool sound = tile->error_max >= 0 && tile->error_max <= rounding_limit &&
                 tile->error_rms >= 0 && tile->error_rms <= rounding_limit &&
                 tile->square_sum >= 0 && tile->square_sum < INFINITY;
    for (int64_t v = 0; v < tile->value_count; ++v) sound &= (halves[v] & infinite) != infinite;
    return sound;
}

/* A tile of the journal goes into the file once it is found to be one. */
static ps_status take_tile(void *context, int64_t first, int64_t count, const void *payload,
                           int64_t bytes)
{
    filling *f = context;
    kept_tile head;
    memcpy(&head, payload, bytes < HEAD ? 0 : sizeof head);
    if (bytes < HEAD || head.index < 0 || head.index >= f->plan->tiling.tile_count)
        return ps_fail(PS_INVALID, "the journal holds what is no tile");
    const ps_block_tile *counts = &f->plan->tiles[head.index];
    if (bytes != HEAD + ps_block_tile_place(&f->plan->header, (ps_block_tile *)counts, NULL) ||
        head.tile.block_count != counts->block_count || head.tile.first_row != counts->first_row ||
        head.tile.value_count != counts->value_count || head.tile.rows != counts->rows ||
        head.tile.first_slice != counts->first_slice || head.tile.slices != counts->slices)
        return ps_fail(PS_INVALID, "the journal's tile %lld has another size",
                       (long long)head.index);
    if (f->kept[head.index]) return PS_OK;
    f->kept[head.index] = 1;
    memcpy(f->record, payload, (size_t)bytes);
    ps_block_tile tile = *counts; /* of the record, only what is not counted anew */
    tile.error_max = head.tile.error_max;
    tile.error_rms = head.tile.error_rms;
    tile.square_sum = head.tile.square_sum;
    ps_block_tile_place(&f->plan->header, &tile, f->record + HEAD);
    if (!is_sound(&f->plan->header, &tile))
        return ps_fail(PS_INVALID,
                       "the journal's tile %lld has numbers that are not finite: no run has "
                       "written it; --fresh begins anew",
                       (long long)head.index);
    return ps_block_matrix_write_tile(f->out, head.index, &tile);
}

static ps_status write_all(filling *f, job *j)
{
    const ps_block_tiling *t = &f->plan->tiling;
    for (int64_t i = 0; i < t->tile_count; ++i)
        j->block_bytes = ps_larger(
            j->block_bytes, HEAD + ps_block_tile_place(&f->plan->header, &f->plan->tiles[i], NULL));
    PS_TRY(PS_ALLOC(&f->kept, t->tile_count, "which tiles were kept"));
    if (f->journal) PS_TRY(ps_alloc((void **)&f->record, j->block_bytes, 1, "a kept tile"));
    PS_TRY(ps_journal_replay(f->journal, false, take_tile, f));
    free(f->record); /* threads have their own */
    f->record = NULL;
    int64_t kept = 0;
    for (int64_t i = 0; i < t->tile_count; ++i) kept += f->kept[i];
    if (kept) ps_info("%lld of %lld tiles were kept", (long long)kept, (long long)t->tile_count);
    return for_tiles(j, f->plan->threads);
}

ps_status cut_write(const cut_plan *plan, ps_journal *journal, ps_block_matrix *out)
{
    filling f = {plan, out, journal, NULL, NULL};
    job j = {.matrix = plan->matrix, .what = "cutting blocks", .tile = fill_tile, .context = &f};
    PS_TRY(tile_sizes(&j));
    ps_status status = write_all(&f, &j);
    free(f.kept);
    free(f.record);
    return status;
}
