/*
 * batch_case: random matrices in odd sizes, cut into blocks, packed into images as a file's tiles
 * are unpacked, and multiplied on a device batch by batch. Run by tests/kernels/tdbem/
 * test_slice_batch.c on the CPU and by tests/gpu/check_slice_batch.c on CUDA devices.
 */
#ifndef PS_TESTS_BATCH_CASE_H
#define PS_TESTS_BATCH_CASE_H

#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_batch.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/synthetic_blocks.h"

typedef struct batch_case {
    ps_block_layout layout;
    ps_slice_kernel kernel;
    int64_t block_rows, block_columns; /* columns 0: d_max                               */
    int64_t unknowns, tile_rows, tile_slices, k_max, d_max;
    double empty;   /* share of empty row-vectors                                          */
    double wild;    /* share of row-vectors that begin anywhere; others near |i - j|       */
    int batches;    /* that the tiles are dealt into                                       */
    bool half;      /* values are stored as halves, which they are to the bit              */
    bool symmetric; /* (i,j) is (j,i)                                                     */
} batch_case;

/* (i,j) of the upper triangle where the case is symmetric. */
static inline void case_pair(const batch_case *c, int64_t *i, int64_t *j)
{
    int64_t row = *i;
    if (!c->symmetric || *i <= *j) return;
    *i = *j;
    *j = row;
}

/* Row-vector (i,j): deterministic in (seed of the case, i, j). */
static inline void case_vector(const batch_case *c, int64_t i, int64_t j, int64_t *start,
                               int64_t *length)
{
    case_pair(c, &i, &j);
    double u = synthetic_unit(synthetic_hash(1, (uint64_t)i, (uint64_t)j, 0));
    double x = synthetic_unit(synthetic_hash(2, (uint64_t)i, (uint64_t)j, 0));
    double y = synthetic_unit(synthetic_hash(3, (uint64_t)i, (uint64_t)j, 0));
    double z = synthetic_unit(synthetic_hash(4, (uint64_t)i, (uint64_t)j, 0));
    *length = u < c->empty ? 0 : 1 + (int64_t)(x * (double)c->d_max);
    double near = (double)(i > j ? i - j : j - i) / (double)c->unknowns + 0.02 * y;
    double place = z < c->wild ? y : near;
    *start = 1 + (int64_t)(fmin(place, 1) * (double)(c->k_max - *length));
}

/* In -1 .. 1; of halves a multiple of 2^-10, with a factor for every row-vector. */
static inline double case_value(const batch_case *c, int64_t i, int64_t j, int64_t q)
{
    case_pair(c, &i, &j);
    double x = 2 * synthetic_unit(synthetic_hash(5, (uint64_t)i, (uint64_t)j, (uint64_t)q)) - 1;
    return c->half ? ldexp(rint(1024 * x), (int)((i + 3 * j) % 21) - 15) : (float)x;
}

/* Fills a tile whose ranges are set. */
static inline void case_tile(const batch_case *c, ps_precision precision, ps_slice_tile *tile)
{
    int64_t vectors = tile->rows * tile->slices, start, length, at = 0;
    tile->starts = calloc((size_t)vectors + 1, 2);
    tile->lengths = calloc((size_t)vectors + 1, 2);
    tile->values = calloc((size_t)(vectors * c->d_max) + 1, 8);
    for (int64_t v = 0; v < vectors; ++v) {
        int64_t i = tile->first_row + v % tile->rows, j = tile->first_slice + v / tile->rows;
        case_vector(c, i, j, &start, &length);
        tile->starts[v] = (uint16_t)start;
        tile->lengths[v] = (uint16_t)length;
        for (int64_t q = 0; q < length; ++q, ++at)
            ps_real_put(precision, tile->values, at, case_value(c, i, j, q));
    }
    tile->value_count = at;
    ps_slice_tile_fill_starts(tile);
    uint32_t *offsets = calloc((size_t)(ps_slice_tile_row_blocks(tile) * tile->slices) + 1, 4);
    if (ps_slice_tile_index(tile, c->k_max, c->d_max, offsets) != PS_OK) abort();
    tile->offsets = offsets;
}

/* The image of a tile: its arrays one after another, 64-byte aligned, with the slack that the
 * product wants. The tile's pointers are moved into it. */
static inline void *case_image(const ps_block_header *h, ps_block_tile *tile, int64_t *bytes)
{
    int64_t warps = ps_block_tile_warps(tile) * tile->slices;
    bool full = h->layout == PS_BLOCK_FULL, warp = h->layout == PS_BLOCK_WARP;
    struct {
        void **array;
        int64_t bytes;
    } parts[] = {{(void **)&tile->block_start, full ? 4 * (tile->slices + 1) : 0},
                 {(void **)&tile->corner_rows, full ? 4 * tile->block_count : 0},
                 {(void **)&tile->corner_columns, full ? 2 * tile->block_count : 0},
                 {(void **)&tile->starts, full   ? 0
                                          : warp ? 64 * warps
                                                 : 2 * tile->slices * tile->rows},
                 {(void **)&tile->widths, warp ? 2 * warps : 0},
                 {(void **)&tile->scales, h->half ? 32 * warps : 0},
                 {&tile->values, tile->value_count * (h->half                            ? 2
                                                      : h->slices.precision == PS_SINGLE ? 4
                                                                                         : 8)}};
    enum { PARTS = sizeof parts / sizeof *parts };
    *bytes = PS_PRODUCT_OVERREAD;
    for (int p = 0; p < PARTS; ++p) *bytes += (parts[p].bytes + 63) / 64 * 64;
    char *image = synthetic_array(*bytes, 1), *at = image;
    for (int p = 0; p < PARTS; ++p) {
        if (!*parts[p].array) continue;
        memcpy(at, *parts[p].array, (size_t)parts[p].bytes);
        free(*parts[p].array);
        *parts[p].array = at;
        at += (parts[p].bytes + 63) / 64 * 64;
    }
    *bytes = (*bytes + 255) / 256 * 256;
    return image;
}

/* All tiles of a case. */
typedef struct case_tiles {
    int64_t count;
    ps_block_header header;
    ps_block_tile *tiles;
    void **images;
    int64_t *bytes; /* of the images, rounded up to 256 */
    double *exact;  /* [N][PS_GROUP_MAX][2]: sums, and sums of magnitudes, by the definition */
} case_tiles;

static inline double case_past(int64_t j, int64_t t)
{
    uint64_t hash = synthetic_hash(9, (uint64_t)j, (uint64_t)-t, 1);
    return t >= 0 ? 0 : (float)(2 * synthetic_unit(hash) - 1);
}

/* Adds row-vector (i,j) to exact[PS_GROUP_MAX][2]; past: of slice j at t = 0. */
static inline void case_exact(const batch_case *c, int64_t i, int64_t j, const double *past,
                              double *exact)
{
    int64_t start, length;
    case_vector(c, i, j, &start, &length);
    for (int64_t q = 0; q < length; ++q) {
        double value = case_value(c, i, j, q);
        for (int64_t g = 0; g < PS_GROUP_MAX; ++g) {
            double x = value * past[g - start - q];
            exact[2 * g] += x;
            exact[2 * g + 1] += fabs(x);
        }
    }
}

/* exact[N][PS_GROUP_MAX][2] */
static inline void case_exact_sums(const batch_case *c, double *exact)
{
    int64_t before = c->k_max + c->d_max;
    PS_SCOPED_MEMORY double *past = calloc((size_t)(before + PS_GROUP_MAX), sizeof *past);
    for (int64_t j = 0; j < c->unknowns; ++j) {
        for (int64_t t = -before; t < 0; ++t) past[before + t] = case_past(j, t);
        for (int64_t i = 0; i < c->unknowns; ++i)
            case_exact(c, i, j, past + before, &exact[2 * PS_GROUP_MAX * i]);
    }
}

static inline ps_status case_tiles_init(const batch_case *c, ps_precision precision,
                                        case_tiles *out)
{
    ps_slice_tiling tiling = {.unknowns = c->unknowns,
                              .tile_rows = c->tile_rows,
                              .tile_slices = c->tile_slices,
                              .end_slice = c->unknowns};
    int64_t across = (c->unknowns + c->tile_rows - 1) / c->tile_rows;
    int64_t along = (c->unknowns + c->tile_slices - 1) / c->tile_slices;
    *out = (case_tiles){.count = across * along};
    out->header =
        (ps_block_header){.layout = c->layout,
                          .block_rows = c->block_rows,
                          .block_columns = c->block_columns ? c->block_columns : c->d_max};
    out->header.half = c->half;
    out->header.slices.precision = precision;
    out->header.slices.d_max = c->d_max;
    out->header.slices.k_max = c->k_max;
    PS_TRY(ps_blocking_check(&out->header));
    PS_TRY(PS_ALLOC(&out->tiles, out->count, "tiles"));
    PS_TRY(PS_ALLOC(&out->images, out->count, "tiles"));
    PS_TRY(PS_ALLOC(&out->bytes, out->count, "tiles"));
    PS_TRY(PS_ALLOC(&out->exact, 2 * c->unknowns * PS_GROUP_MAX, "exact sums"));
    case_exact_sums(c, out->exact);
    for (int64_t t = 0; t < out->count; ++t) {
        PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = {0};
        int64_t histogram[PS_LENGTH_BINS] = {0};
        tile.first_row = t % across * tiling.tile_rows;
        tile.first_slice = t / across * tiling.tile_slices;
        tile.rows = c->unknowns - tile.first_row < c->tile_rows ? c->unknowns - tile.first_row
                                                                : c->tile_rows;
        tile.slices = c->unknowns - tile.first_slice < c->tile_slices
                          ? c->unknowns - tile.first_slice
                          : c->tile_slices;
        case_tile(c, precision, &tile);
        PS_TRY(ps_slice_tile_measure(&tile, c->k_max, histogram));
        synthetic_cut(&out->header, &tile, &out->tiles[t]);
        PS_TRY(ps_block_tile_check(&out->header, &out->tiles[t]));
        out->images[t] = case_image(&out->header, &out->tiles[t], &out->bytes[t]);
    }
    return PS_OK;
}

static inline void case_tiles_release(case_tiles *tiles)
{
    for (int64_t t = 0; t < tiles->count; ++t) free(tiles->images[t]);
    PS_FREE(tiles->tiles, tiles->images, tiles->bytes, tiles->exact);
}

/* Past and sums on the host and on the device. */
typedef struct case_vectors {
    ps_device *device;
    int64_t group, unknowns, origin, stride, sums_stride;
    ps_precision precision;
    size_t size;
    void *past, *sums, *again;
    void *device_past, *device_sums;
} case_vectors;

static inline ps_status case_vectors_init(case_vectors *v, const batch_case *c, ps_stream *stream,
                                          ps_precision precision, int64_t group)
{
    int64_t columns = c->block_columns > c->d_max ? c->block_columns : c->d_max;
    ps_device *device = ps_stream_device(stream);
    *v = (case_vectors){.device = device,
                        .group = group,
                        .unknowns = c->unknowns,
                        .precision = precision,
                        .origin = ps_product_past_before(c->k_max, columns),
                        .sums_stride = group + 3,
                        .size = (size_t)ps_real_bytes(precision)};
    v->stride = v->origin + ps_product_past_after(group);
    int64_t past_bytes = v->unknowns * v->stride * (int64_t)v->size;
    PS_TRY(ps_alloc(&v->past, v->unknowns * v->stride, v->size, "past"));
    PS_TRY(ps_alloc(&v->sums, v->unknowns * v->sums_stride, v->size, "sums"));
    PS_TRY(ps_alloc(&v->again, v->unknowns * v->sums_stride, v->size, "sums"));
    for (int64_t i = 0; i < v->unknowns * v->stride; ++i)
        ps_real_put(precision, v->past, i, case_past(i / v->stride, i % v->stride - v->origin));
    PS_TRY(ps_device_alloc(device, past_bytes, &v->device_past));
    PS_TRY(
        ps_device_alloc(device, v->unknowns * v->sums_stride * (int64_t)v->size, &v->device_sums));
    PS_TRY(ps_copy_to_device(stream, v->device_past, v->past, past_bytes));
    return ps_stream_wait(stream);
}

static inline void case_vectors_release(case_vectors *v)
{
    ps_device_free(v->device, v->device_past);
    ps_device_free(v->device, v->device_sums);
    PS_FREE(v->past, v->sums, v->again);
}

/* A product twice by `apply`: PS_FAILED if the bits differ. */
typedef ps_status case_product(const void *of, const case_vectors *v, ps_stream *stream, void *out);

static inline ps_status case_twice(case_product *apply, const void *of, const case_vectors *v,
                                   ps_stream *stream)
{
    PS_TRY(apply(of, v, stream, v->sums));
    PS_TRY(apply(of, v, stream, v->again));
    if (memcmp(v->sums, v->again, (size_t)(v->unknowns * v->sums_stride) * v->size) == 0)
        return PS_OK;
    return ps_fail(PS_FAILED, "two runs of one plan differ in their bits");
}

/* A batch on a device: tiles [first, end). */
typedef struct case_batch {
    ps_device *device;
    ps_slice_batch_plan plan;
    void *base, *table, *scratch, *host_table;
} case_batch;

static inline ps_status case_batch_init(const case_tiles *all, int64_t first, int64_t end,
                                        ps_slice_kernel kernel, int64_t group, ps_stream *stream,
                                        case_batch *out)
{
    PS_SCOPED_MEMORY int64_t *offsets = NULL;
    int64_t bytes = 0;
    ps_device *device = ps_stream_device(stream);
    *out = (case_batch){.device = device};
    PS_TRY(PS_ALLOC(&offsets, end - first + 1, "offsets"));
    for (int64_t t = first; t < end; bytes += all->bytes[t++]) offsets[t - first] = bytes;
    ps_slice_batch_tiles tiles = {.count = end - first,
                                  .tiles = all->tiles + first,
                                  .images = (const void *const *)all->images + first,
                                  .offsets = offsets,
                                  .kernel = kernel};
    int multiprocessors = ps_device_describe(device).multiprocessors;
    PS_TRY(ps_slice_batch_plan_make(&all->header, group, multiprocessors, &tiles, &out->plan));
    PS_TRY(ps_alloc(&out->host_table, out->plan.table_bytes, 1, "table"));
    PS_TRY(ps_slice_batch_table(&out->plan, &tiles, out->host_table));
    PS_TRY(ps_device_alloc(device, bytes, &out->base));
    PS_TRY(ps_device_alloc(device, out->plan.table_bytes, &out->table));
    PS_TRY(ps_device_alloc(device, out->plan.scratch_bytes, &out->scratch));
    PS_TRY(ps_copy_to_device(stream, out->table, out->host_table, out->plan.table_bytes));
    for (int64_t t = first; t < end; ++t)
        PS_TRY(ps_copy_to_device(stream, (char *)out->base + offsets[t - first], all->images[t],
                                 all->bytes[t]));
    return ps_stream_wait(stream);
}

static inline void case_batch_release(case_batch *batch)
{
    ps_device_free(batch->device, batch->base);
    ps_device_free(batch->device, batch->table);
    ps_device_free(batch->device, batch->scratch);
    free(batch->host_table);
}

enum { CASE_BATCHES_MAX = 8 };
typedef struct case_batches {
    int count;
    case_batch batch[CASE_BATCHES_MAX];
} case_batches;

static inline void case_batches_release(case_batches *b)
{
    for (int i = 0; i < b->count; ++i) case_batch_release(&b->batch[i]);
}

/* sums = all batches applied, on the host in `out`. */
static inline ps_status case_apply(const void *of, const case_vectors *v, ps_stream *stream,
                                   void *out)
{
    const case_batches *batches = of;
    int64_t bytes = v->unknowns * v->sums_stride * (int64_t)v->size;
    PS_TRY(ps_fill_zero(stream, v->device_sums, bytes));
    for (int b = 0; b < batches->count; ++b) {
        const case_batch *batch = &batches->batch[b];
        ps_slice_batch_memory memory = {.table = batch->table,
                                        .scratch = batch->scratch,
                                        .base = batch->base,
                                        .past = v->device_past,
                                        .past_stride = v->stride,
                                        .past_origin = v->origin,
                                        .sums = v->device_sums,
                                        .sums_stride = v->sums_stride};
        PS_TRY(ps_slice_batch_run(&batch->plan, &memory, stream));
    }
    PS_TRY(ps_copy_to_host(stream, out, v->device_sums, bytes));
    return ps_stream_wait(stream);
}

/* Largest error of a sum relative to sum |v| |past|; infinite if what lies behind the group was
 * written to. */
static inline double case_error(const case_tiles *tiles, const case_vectors *v)
{
    double worst = 0;
    for (int64_t i = 0; i < v->unknowns; ++i)
        for (int64_t g = 0; g < v->sums_stride; ++g) {
            double sum = ps_real_at(v->precision, v->sums, i * v->sums_stride + g);
            const double *due = &tiles->exact[2 * (i * PS_GROUP_MAX + g)];
            if (g >= v->group)
                worst = sum == 0 ? worst : INFINITY;
            else
                worst = worse_of(worst, fabs(sum - due[0]) / fmax(due[1], 1e-30));
        }
    return worst;
}

/* One case, precision and group: error in *worst; PS_FAILED if a second run has other bits. */
static inline ps_status case_run(const batch_case *c, const case_tiles *tiles, ps_device *device,
                                 int64_t group, double *worst)
{
    PS_SCOPED(ps_stream_close) ps_stream *stream = NULL;
    PS_SCOPED(case_vectors_release) case_vectors v = {0};
    PS_SCOPED(case_batches_release) case_batches batches = {0};
    PS_TRY(ps_stream_open(device, &stream));
    PS_TRY(case_vectors_init(&v, c, stream, tiles->header.slices.precision, group));
    for (int b = 0; b < c->batches; ++b)
        PS_TRY(case_batch_init(tiles, tiles->count * b / c->batches,
                               tiles->count * (b + 1) / c->batches, c->kernel, group, stream,
                               &batches.batch[batches.count++]));
    ps_status status = case_twice(case_apply, &batches, &v, stream);
    *worst = case_error(tiles, &v);
    return status;
}

/* Odd sizes: rows that are no multiple of 32, tiles of few slices, row-vectors of 1 to 40, starts
 * from 1 to K, near each other and not, blocks that no kernel likes best. */
static const batch_case batch_cases[] = {
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 149, 149, 13, 60, 9, 0.1, 0, 1, false, false},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false, false},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 97, 97, 41, 700, 17, 0.9, 0.1, 2, false, false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_ROWS, 32, 0, 149, 149, 13, 60, 9, 0.1, 0, 1, false,
     false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_ROWS, 20, 47, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false,
     false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_ROWS, 128, 16, 131, 131, 7, 90, 16, 0, 0.02, 1, false,
     false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_TEAMS, 51, 60, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false,
     false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_BEST, 16, 0, 299, 299, 50, 60, 12, 0.1, 0, 1, false,
     false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_BEST, 37, 0, 149, 149, 13, 60, 9, 0.1, 0, 2, false,
     false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_TEAMS, 16, 30, 149, 149, 13, 60, 9, 0.1, 0, 1, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_TEAMS, 37, 0, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_TEAMS, 300, 64, 401, 401, 350, 80, 16, 0.1, 0, 1, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_TEAMS, 3, 128, 97, 97, 41, 300, 20, 0.9, 0.1, 2, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_ROWS, 16, 30, 149, 149, 13, 60, 9, 0.1, 0, 1, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_ROWS, 37, 0, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_ROWS, 100, 64, 161, 161, 150, 80, 16, 0.1, 0, 1, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_ROWS, 3, 128, 97, 97, 41, 300, 20, 0.9, 0.1, 2, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_BEST, 1, 500, 70, 33, 41, 700, 17, 0.2, 0.9, 2, false, false},
    {PS_BLOCK_FULL, PS_SLICE_KERNEL_BEST, 64, 32, 299, 299, 50, 60, 12, 0.02, 0, 1, false, false},
    {PS_BLOCK_CONTIGUOUS, PS_SLICE_KERNEL_ROWS, 8, 0, 203, 64, 5, 400, 40, 0.3, 0.5, 3, false,
     false},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 149, 149, 13, 60, 9, 0.1, 0, 1, true, false},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 203, 64, 5, 400, 40, 0.3, 0.5, 3, true, false},
    {PS_BLOCK_WARP, PS_SLICE_KERNEL_BEST, 0, 0, 97, 97, 41, 700, 17, 0.9, 0.1, 2, true, false},
};
enum { BATCH_CASES = sizeof batch_cases / sizeof *batch_cases };

#endif
