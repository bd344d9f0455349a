/*
 * slice_bench: batches of random values with the structure of a real matrix, in the memory of a
 * device, for tests/gpu/bench_tdbem_slice_kernel.c.
 *
 * Only a pool of random values is made; it fills the values of all tiles, time and again. Row-
 * vectors begin anywhere in 1..K; those of a warp lie within 12 of each other in the mean (one
 * in a hundred warps: 41), as on the airplane of the numerics guide.
 */
#ifndef PS_TESTS_SLICE_BENCH_H
#define PS_TESTS_SLICE_BENCH_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tdbem/half_values.h"
#include "kernels/tdbem/slice_batch.h"
#include "kernels/tdbem/slice_product.h"
#include "runtime/compare.h"
#include "runtime/memory.h"
#include "tests/support/device_clock.h"
#include "tests/support/random.h"

enum { BENCH_K = 341, BENCH_D_MAX = 13, BENCH_SPREAD = 12 };

/* What to multiply; tiles are `copies` of one tile, with slices that follow each other. */
typedef struct slice_bench {
    ps_block_header header;
    int64_t rows, slices, copies; /* of a tile; number of tiles */
    ps_slice_kernel kernel;
    int64_t group;
} slice_bench;

/* The device's part of it. */
typedef struct bench_batch {
    ps_device *device;
    ps_stream *stream;
    ps_slice_batch_plan plan;
    ps_slice_batch_memory memory;
    ps_block_tile *tiles;
    const void **images;
    int64_t *offsets, image_bytes, value_bytes, stored_bytes; /* stored: with indices */
    void *image, *table, *device_table, *base, *scratch, *past, *sums;
    const void *pool, *past_pool; /* of values, and of the past: pinned, by the caller */
} bench_batch;

enum { POOL_BYTES = 64 << 20 };

static inline int64_t bench_item(const slice_bench *s) /* bytes of a past value or sum */
{
    return s->header.slices.precision == PS_SINGLE ? 4 : 8;
}
static inline int64_t bench_stored(const slice_bench *s)
{
    return s->header.half ? 2 : bench_item(s);
}

static inline uint64_t bench_next(uint64_t *state) { return congruence_next(state) >> 33; }
static inline double bench_unit(uint64_t *state) { return (double)bench_next(state) * 0x1p-31; }

/* Starts of 32 neighbouring rows. */
static inline void bench_starts(uint64_t *state, int64_t columns, uint16_t *starts, int64_t count)
{
    double spread = fmin(-log(1 - 0.98 * bench_unit(state)) * BENCH_SPREAD * 1.02, 60);
    double base = 1 + bench_unit(state) * ((double)(BENCH_K - columns) - spread);
    for (int64_t i = 0; i < count; ++i) starts[i] = (uint16_t)(base + spread * bench_unit(state));
}

/* Places the arrays of a tile in an image of untouched memory and fills all but the values. */
static inline ps_status bench_image(const slice_bench *s, ps_block_tile *tile, void **image,
                                    int64_t *bytes)
{
    const ps_block_header *h = &s->header;
    uint64_t state = 77;
    int64_t warps = (s->rows + 31) / 32, size = bench_stored(s);
    int64_t blocks = (s->rows + h->block_rows - 1) / h->block_rows * s->slices;
    bool warp = h->layout == PS_BLOCK_WARP, full = h->layout == PS_BLOCK_FULL;
    int64_t index = warp ? warps * s->slices * 64 : full ? blocks * 4 : s->slices * s->rows * 2;
    int64_t scales = h->half ? warps * s->slices * 32 : 0;
    int64_t more = warp   ? warps * s->slices * 2 + 64 + scales
                   : full ? blocks * 2 + (s->slices + 1) * 4 + 64
                          : 0;
    int64_t most =
        warp ? warps * 32 * s->slices * BENCH_D_MAX : blocks * h->block_rows * h->block_columns;
    index = (index + 127) / 128 * 128;
    more = (more + 127) / 128 * 128;
    *tile = (ps_block_tile){.rows = s->rows,
                            .slices = s->slices,
                            .d_max = BENCH_D_MAX,
                            .block_count = warp ? warps * s->slices : blocks,
                            .value_count = most};
    PS_TRY(ps_alloc_untouched(image, index + more + most * size + 128, "an image"));
    char *at = *image;
    if (full) {
        tile->corner_rows = (void *)at;
        tile->corner_columns = (void *)(at + index);
        tile->block_start = (void *)(at + index + (blocks * 2 + 63) / 64 * 64);
        int64_t a_slice = blocks / s->slices;
        for (int64_t i = 0; i <= s->slices; ++i) tile->block_start[i] = (uint32_t)(i * a_slice);
        for (int64_t b = 0; b < blocks; ++b) {
            tile->corner_rows[b] = (uint32_t)(b % a_slice * h->block_rows);
            bench_starts(&state, h->block_columns, &tile->corner_columns[b], 1);
        }
    } else {
        tile->starts = (void *)at;
        for (int64_t v = 0; v < (warp ? warps * 32 : s->rows) * s->slices; v += 32)
            bench_starts(&state, h->block_columns, tile->starts + v,
                         warp || v + 32 <= s->rows * s->slices ? 32 : s->rows * s->slices - v);
    }
    if (warp) {
        tile->widths = (void *)(at + index);
        if (scales) tile->scales = (void *)(at + index + (warps * s->slices * 2 + 63) / 64 * 64);
        if (scales) memset(tile->scales, 100, (size_t)scales);
        tile->value_count = 0;
        for (int64_t b = 0; b < warps * s->slices; ++b) { /* longest of 32: 7 .. 13, mean 10.2 */
            tile->widths[b] =
                (uint16_t)(8 + (bench_next(&state) & 3) + bench_next(&state) % 2 +
                           (bench_next(&state) % 8 == 0) - (bench_next(&state) % 8 == 0));
            tile->value_count += tile->widths[b] * 32;
        }
    }
    tile->values = at + index + more;
    *bytes = (index + more + tile->value_count * size + 255) / 256 * 256;
    return PS_OK;
}

/* size: 2 (halves), 4 or 8 bytes a value. */
static inline void bench_pool(int64_t size, void *pool)
{
    uint64_t state = 5;
    for (int64_t i = 0; i < POOL_BYTES / size; ++i) {
        double x = bench_unit(&state) - 0.5;
        if (size == 2)
            ((uint16_t *)pool)[i] = ps_half_encode(x * 0x1p15);
        else if (size == 4)
            ((float *)pool)[i] = (float)x;
        else
            ((double *)pool)[i] = x;
    }
}

/* Fills device memory from a pool. */
static inline ps_status bench_fill(const bench_batch *b, const void *pool, void *to, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += POOL_BYTES)
        PS_TRY(ps_copy_to_device(b->stream, (char *)to + at, pool,
                                 bytes - at < POOL_BYTES ? bytes - at : POOL_BYTES));
    return PS_OK;
}

static inline ps_status bench_upload(const slice_bench *s, bench_batch *b)
{
    const ps_block_tile *tile = b->tiles;
    int64_t index = (const char *)tile->values - (const char *)b->image;
    for (int64_t t = 0; t < s->copies; ++t) {
        char *to = (char *)b->base + b->offsets[t];
        PS_TRY(ps_copy_to_device(b->stream, to, b->image, index));
        PS_TRY(bench_fill(b, b->pool, to + index, b->image_bytes - index));
    }
    return PS_OK;
}

/* Values, starts, past and sums on the device; not the plan. Pools and device are given. */
static inline ps_status bench_init(const slice_bench *s, bench_batch *b)
{
    int64_t size = bench_item(s), n = s->slices * s->copies;
    int64_t origin = ps_product_past_before(BENCH_K, s->header.block_columns);
    int64_t stride = (origin + ps_product_past_after(PS_GROUP_MAX) + 31) / 32 * 32;
    int64_t past_bytes = n * stride * size, sum_bytes = s->rows * PS_GROUP_MAX * size;
    PS_TRY(ps_stream_open(b->device, &b->stream));
    PS_TRY(PS_ALLOC(&b->tiles, s->copies, "tiles"));
    PS_TRY(PS_ALLOC(&b->images, s->copies, "tiles"));
    PS_TRY(PS_ALLOC(&b->offsets, s->copies, "tiles"));
    PS_TRY(bench_image(s, b->tiles, &b->image, &b->image_bytes));
    for (int64_t t = 0; t < s->copies; ++t) {
        b->tiles[t] = b->tiles[0];
        b->tiles[t].first_slice = t * s->slices;
        b->images[t] = b->image;
        b->offsets[t] = t * b->image_bytes;
    }
    b->value_bytes = b->tiles[0].value_count * bench_stored(s) * s->copies;
    b->stored_bytes = b->image_bytes * s->copies;
    PS_TRY(ps_device_alloc(b->device, b->image_bytes * s->copies, &b->base));
    PS_TRY(ps_device_alloc(b->device, past_bytes, &b->past));
    PS_TRY(ps_device_alloc(b->device, sum_bytes, &b->sums));
    PS_TRY(bench_upload(s, b));
    PS_TRY(bench_fill(b, b->past_pool, b->past, past_bytes));
    PS_TRY(ps_fill_zero(b->stream, b->sums, sum_bytes));
    b->memory = (ps_slice_batch_memory){.base = b->base,
                                        .past = b->past,
                                        .past_stride = stride,
                                        .past_origin = origin,
                                        .sums = b->sums,
                                        .sums_stride = PS_GROUP_MAX};
    return ps_stream_wait(b->stream);
}

static inline void bench_unplan(bench_batch *b)
{
    free(b->table);
    ps_device_free(b->device, b->device_table);
    ps_device_free(b->device, b->scratch);
    b->table = b->device_table = b->scratch = NULL;
}

static inline ps_status bench_plan(const slice_bench *s, bench_batch *b)
{
    ps_slice_batch_tiles tiles = {.count = s->copies,
                                  .tiles = b->tiles,
                                  .images = b->images,
                                  .offsets = b->offsets,
                                  .kernel = s->kernel};
    PS_TRY(ps_slice_batch_plan_make(
        &s->header, s->group, ps_device_describe(b->device).multiprocessors, &tiles, &b->plan));
    PS_TRY(ps_alloc(&b->table, b->plan.table_bytes, 1, "a table"));
    PS_TRY(ps_slice_batch_table(&b->plan, &tiles, b->table));
    PS_TRY(ps_device_alloc(b->device, b->plan.table_bytes, &b->device_table));
    PS_TRY(ps_device_alloc(b->device, b->plan.scratch_bytes, &b->scratch));
    b->memory.table = b->device_table;
    b->memory.scratch = b->scratch;
    PS_TRY(ps_copy_to_device(b->stream, b->device_table, b->table, b->plan.table_bytes));
    return ps_stream_wait(b->stream);
}

static inline void bench_release(bench_batch *b)
{
    bench_unplan(b);
    ps_device_free(b->device, b->base);
    ps_device_free(b->device, b->past);
    ps_device_free(b->device, b->sums);
    free(b->tiles);
    free(b->images);
    free(b->offsets);
    free(b->image);
    ps_stream_close(&b->stream);
}

/* Seconds of one run: the median of several measurements, each of `rounds` runs. */
static inline ps_status bench_time(bench_batch *b, int rounds, double *seconds)
{
    enum { SAMPLES = 5 };
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    double sample[SAMPLES];
    PS_TRY(device_clock_open(&clock, b->stream));
    PS_TRY(ps_slice_batch_run(&b->plan, &b->memory, b->stream));
    for (int i = 0; i < SAMPLES; ++i) {
        PS_TRY(device_clock_start(&clock));
        for (int r = 0; r < rounds; ++r)
            PS_TRY(ps_slice_batch_run(&b->plan, &b->memory, b->stream));
        PS_TRY(device_clock_stop(&clock, &sample[i]));
    }
    qsort(sample, SAMPLES, sizeof *sample, ps_compare_reals);
    *seconds = sample[SAMPLES / 2] / rounds;
    return PS_OK;
}

#endif
