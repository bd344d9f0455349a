/*
 * symmetric_case: the tiles of a symmetric batch_case on and above the diagonal, multiplied on a
 * device as slice_symmetric does it. Run by tests/kernels/tdbem/test_slice_symmetric.c on the CPU
 * device and by tests/gpu/check_slice_symmetric.c on CUDA devices.
 */
#ifndef PS_TESTS_SYMMETRIC_CASE_H
#define PS_TESTS_SYMMETRIC_CASE_H

#include "kernels/tdbem/slice_symmetric.h"
#include "tests/support/batch_case.h"

/* Is tile t of the case on or above the diagonal? *both: above it. */
static inline bool symmetric_keeps(const batch_case *c, const ps_block_tile *tile, bool *both)
{
    int64_t row = tile->first_row / c->tile_rows, column = tile->first_slice / c->tile_rows;
    *both = row < column;
    return row <= column;
}

typedef struct symmetric_batch {
    ps_device *device;
    ps_symmetric_plan plan;
    void *host_table, *table, *scratch, *base;
} symmetric_batch;

static inline void symmetric_release(symmetric_batch *b)
{
    ps_device_free(b->device, b->table);
    ps_device_free(b->device, b->scratch);
    ps_device_free(b->device, b->base);
    free(b->host_table);
}

/* The kept tiles on the device, in rounds of `room` bytes of scratch memory. */
static inline ps_status symmetric_open(const batch_case *c, const case_tiles *all, int64_t group,
                                       int64_t room, ps_stream *stream, symmetric_batch *out)
{
    PS_SCOPED_MEMORY ps_symmetric_tile *tiles = NULL;
    PS_SCOPED_MEMORY int32_t *work = NULL;
    int64_t count = 0, bytes = 0;
    bool both;
    ps_device *device = ps_stream_device(stream);
    *out = (symmetric_batch){.device = device};
    PS_TRY(PS_ALLOC(&tiles, all->count, "tiles"));
    PS_TRY(PS_ALLOC(&work, c->unknowns + 1, "units"));
    for (int64_t t = 0; t < all->count; ++t) {
        if (!symmetric_keeps(c, &all->tiles[t], &both)) continue;
        tiles[count++] = ps_symmetric_tile_at(&all->tiles[t], all->images[t], bytes, both);
        bytes += all->bytes[t];
    }
    PS_TRY(ps_device_alloc(device, bytes, &out->base));
    for (int64_t t = 0, at = 0; t < all->count; ++t) {
        if (!symmetric_keeps(c, &all->tiles[t], &both)) continue;
        PS_TRY(ps_copy_to_device(stream, (char *)out->base + at, all->images[t], all->bytes[t]));
        at += all->bytes[t];
    }
    PS_TRY(ps_symmetric_plan_make(&all->header, c->unknowns, group, room, tiles, count, work,
                                  &out->plan));
    PS_TRY(ps_alloc(&out->host_table, out->plan.table_bytes, 1, "table"));
    ps_symmetric_table(&out->plan, tiles, work, out->host_table);
    PS_TRY(ps_device_alloc(device, out->plan.table_bytes, &out->table));
    PS_TRY(ps_device_alloc(device, out->plan.scratch_bytes, &out->scratch));
    PS_TRY(ps_copy_to_device(stream, out->table, out->host_table, out->plan.table_bytes));
    return ps_stream_wait(stream);
}

static inline ps_status symmetric_apply(const void *of, const case_vectors *v, ps_stream *stream,
                                        void *out)
{
    const symmetric_batch *b = of;
    int64_t bytes = v->unknowns * v->sums_stride * (int64_t)v->size;
    ps_symmetric_memory memory = {.table = b->table,
                                  .host_table = b->host_table,
                                  .scratch = b->scratch,
                                  .base = b->base,
                                  .past = v->device_past,
                                  .past_stride = v->stride,
                                  .past_origin = v->origin,
                                  .sums = v->device_sums,
                                  .sums_stride = v->sums_stride};
    PS_TRY(ps_fill_zero(stream, v->device_sums, bytes));
    PS_TRY(ps_symmetric_run(&b->plan, &memory, stream));
    PS_TRY(ps_copy_to_host(stream, out, v->device_sums, bytes));
    return ps_stream_wait(stream);
}

/* Error in *worst; PS_FAILED if a second run has other bits. */
static inline ps_status symmetric_run(const batch_case *c, const case_tiles *tiles,
                                      ps_device *device, int64_t group, int64_t room, double *worst,
                                      int64_t *rounds)
{
    PS_SCOPED(ps_stream_close) ps_stream *stream = NULL;
    PS_SCOPED(case_vectors_release) case_vectors v = {0};
    PS_SCOPED(symmetric_release) symmetric_batch batch = {0};
    PS_TRY(ps_stream_open(device, &stream));
    PS_TRY(case_vectors_init(&v, c, stream, tiles->header.slices.precision, group));
    PS_TRY(symmetric_open(c, tiles, group, room, stream, &batch));
    ps_status status = case_twice(symmetric_apply, &batch, &v, stream);
    *worst = case_error(tiles, &v);
    *rounds = batch.plan.rounds;
    return status;
}

/* Ragged last tiles, slices of a tile that are no multiple of 32, more of them than a part takes,
 * row-vectors longer than a segment, starts near each other and not, empty ones. */
static const batch_case symmetric_cases[] = {
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 149, 64, 32, 60, 9, 0.1, 0, 1, false, true},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 203, 64, 8, 400, 40, 0.3, 0.5, 1, false, true},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 263, 192, 192, 700, 17, 0.9, 0.1, 1, false, true},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 230, 96, 24, 120, 12, 0, 0.02, 1, true, true},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 203, 64, 64, 400, 40, 0.3, 0.5, 1, true, true},
};
enum { SYMMETRIC_CASES = sizeof symmetric_cases / sizeof *symmetric_cases };

#endif
