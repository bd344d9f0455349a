#include "cut.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tdbem/blocking.h"
#include "runtime/memory.h"
#include "runtime/progress.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t padded(int64_t bytes) { return (bytes + 127) / 64 * 64; }

/* ---- all tiles, by several threads ---- */

typedef struct workspace {
    void *raw, *unpacked, *blocks;
} workspace;

/* What is done with every tile. sizes: bytes of a thread's workspace. */
typedef struct job {
    ps_slice_matrix *matrix;
    const char *what;
    int64_t raw_bytes, unpacked_bytes, block_bytes;
    ps_status (*tile)(const struct job *job, int64_t index, const workspace *own);
    void *context;
} job;

/* The first failure of any thread, with its message. */
typedef struct outcome {
    ps_status status;
    char message[1024];
} outcome;

static void note(outcome *all, ps_status status)
{
    if (status == PS_OK) return;
#pragma omp critical(slice_block_outcome)
    if (all->status == PS_OK) {
        all->status = status;
        snprintf(all->message, sizeof all->message, "%s", ps_message());
    }
}

static bool failed(const outcome *all)
{
    ps_status status;
#pragma omp atomic read
    status = all->status;
    return status != PS_OK;
}

static ps_status workspace_init(const job *j, workspace *out)
{
    *out = (workspace){NULL, NULL, NULL};
    PS_TRY(ps_alloc(&out->raw, j->raw_bytes, 1, "stored tiles"));
    PS_TRY(ps_alloc(&out->unpacked, j->unpacked_bytes, 1, "unpacked tiles"));
    return ps_alloc(&out->blocks, j->block_bytes, 1, "blocks of a tile");
}

static void workspace_release(workspace *own)
{
    free(own->raw);
    free(own->unpacked);
    free(own->blocks);
}

static ps_status for_tiles(const job *j, int threads)
{
    outcome all = {PS_OK, ""};
    ps_progress progress;
    int64_t count = ps_slice_matrix_tile_count(j->matrix), done = 0;
    ps_progress_start(&progress, j->what, "tiles", count);
#pragma omp parallel num_threads(threads)
    {
        workspace own;
        note(&all, workspace_init(j, &own));
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < count; ++t) {
            if (failed(&all)) continue;
            note(&all, j->tile(j, t, &own));
            int64_t so_far;
#pragma omp atomic capture
            so_far = ++done;
            if (omp_get_thread_num() == 0) ps_progress_update(&progress, so_far);
        }
        workspace_release(&own);
    }
    ps_progress_end(&progress);
    return all.status == PS_OK ? PS_OK : ps_fail(all.status, "%s", all.message);
}

/* Largest stored and unpacked tile. */
static void tile_sizes(ps_slice_matrix *matrix, int64_t *raw, int64_t *unpacked)
{
    *raw = *unpacked = 0;
    for (int64_t t = 0; t < ps_slice_matrix_tile_count(matrix); ++t) {
        int64_t r, u;
        ps_slice_matrix_tile_bytes(matrix, t, &r, &u);
        *raw = larger(*raw, r);
        *unpacked = larger(*unpacked, u);
    }
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
    int64_t raw;
    counting c = {shapes, shape_count, counts};
    job j = {.matrix = matrix, .what = "counting blocks", .tile = count_tile, .context = &c};
    tile_sizes(matrix, &raw, &j.unpacked_bytes);
    for (int s = 0; s < shape_count; ++s) shapes[s].blocks = shapes[s].values = 0;
    return for_tiles(&j, threads);
}

/* ---- the arrays of a tile within a thread's memory ---- */

static int64_t real_bytes(const ps_block_header *header)
{
    return header->slices.precision == PS_SINGLE ? 4 : 8;
}

/* Places the arrays that the layout has one behind the other from `memory`; returns the bytes. */
static int64_t place_arrays(const ps_block_header *header, ps_block_tile *tile, void *memory)
{
    bool full = header->layout == PS_BLOCK_FULL, warp = header->layout == PS_BLOCK_WARP;
    int64_t warps = ps_block_tile_warps(tile) * tile->slices, at = 0;
    const struct {
        void **pointer;
        int64_t bytes;
    } arrays[] = {
        {(void **)&tile->block_start, full ? 4 * (tile->slices + 1) : 0},
        {(void **)&tile->corner_rows, full ? 4 * tile->block_count : 0},
        {(void **)&tile->corner_columns, full ? 2 * tile->block_count : 0},
        {(void **)&tile->starts, full ? 0 : 2 * (warp ? warps * PS_WARP_ROWS
                                                       : tile->slices * tile->rows)},
        {(void **)&tile->widths, warp ? 2 * warps : 0},
        {&tile->values, tile->value_count * real_bytes(header)},
    };
    for (int a = 0; a < 6; ++a) {
        if (memory) *arrays[a].pointer = (char *)memory + at;
        at += padded(arrays[a].bytes);
    }
    return at;
}

/* ---- the plan ---- */

enum { CHUNK_LIMIT = 1 << 30 }; /* HDF5 cannot go beyond 4 GiB; a tile should stay far below */

static ps_status set_tiling(cut_plan *plan)
{
    int64_t raw, unpacked, blocks = 0;
    ps_block_tiling *t = &plan->tiling;
    *t = (ps_block_tiling){.unknowns = plan->header.slices.unknowns,
                           .tile_count = ps_slice_matrix_tile_count(plan->matrix)};
    for (int64_t i = 0; i < t->tile_count; ++i) {
        ps_block_tile *tile = &plan->tiles[i];
        t->tile_rows = larger(t->tile_rows, tile->rows);
        t->tile_slices = larger(t->tile_slices, tile->slices);
        t->block_capacity = larger(t->block_capacity, tile->block_count);
        t->value_capacity = larger(t->value_capacity, tile->value_count);
        int64_t bytes = place_arrays(&plan->header, tile, NULL);
        blocks = larger(blocks, bytes);
        plan->stored_bytes += bytes;
    }
    tile_sizes(plan->matrix, &raw, &unpacked);
    plan->thread_bytes = raw + unpacked + 2 * blocks; /* blocks, and their encoding */
    if (t->value_capacity * real_bytes(&plan->header) <= CHUNK_LIMIT) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "a tile would take %.1f GB as blocks of %lld x %lld, more than a chunk may hold: "
                   "choose smaller blocks, or another layout, or order the mesh along a curve",
                   (double)(t->value_capacity * real_bytes(&plan->header)) / 1e9,
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
    double nnz = (double)header->slices.nnz, values = (double)shape.values;
    out->header.fill = values > 0 ? 100 * nnz / values : 100;
    int64_t fit = memory / larger(out->thread_bytes, 1);
    if (fit < 1)
        return ps_fail(PS_EXHAUSTED,
                       "--host-memory %.1f MB: one tile and its blocks need %.1f MB",
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

typedef struct filling {
    const cut_plan *plan;
    ps_block_matrix *out;
} filling;

static ps_status fill_tile(const job *j, int64_t index, const workspace *own)
{
    const filling *f = j->context;
    ps_slice_tile slices;
    ps_block_tile tile = f->plan->tiles[index];
    PS_TRY(ps_slice_matrix_read_raw(j->matrix, index, own->raw));
    PS_TRY(ps_slice_matrix_unpack(j->matrix, index, own->raw, own->unpacked, &slices));
    place_arrays(&f->plan->header, &tile, own->blocks);
    ps_blocking_fill(&f->plan->header, &slices, &tile);
    return ps_block_matrix_write_tile(f->out, index, &tile);
}

ps_status cut_write(const cut_plan *plan, ps_block_matrix *out)
{
    filling f = {plan, out};
    job j = {.matrix = plan->matrix, .what = "cutting blocks", .tile = fill_tile, .context = &f};
    tile_sizes(plan->matrix, &j.raw_bytes, &j.unpacked_bytes);
    for (int64_t i = 0; i < plan->tiling.tile_count; ++i)
        j.block_bytes =
            larger(j.block_bytes, place_arrays(&plan->header, &plan->tiles[i], NULL));
    return for_tiles(&j, plan->threads);
}
