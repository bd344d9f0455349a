/*
 * bench_tdbem_symmetric: the symmetric product on one device, of random tiles as a sphere's are:
 *
 *     bench_tdbem_symmetric [UNKNOWNS] [GROUP] [single|half]
 *
 * One JSON line: seconds of a sweep, against reading the tiles once and against its multiply-adds.
 */
#include <stdio.h>

#include "kernels/tdbem/slice_product.h"
#include "runtime/program.h"
#include "tests/support/symmetric_case.h"

enum { TILE = 512, SLICES = 128, SWEEPS = 5, KINDS = 8 };

/* A few tiles, repeated all over the upper triangle: what is measured does not depend on values. */
static ps_status make_tiles(bool half, case_tiles *kinds, int64_t n, ps_symmetric_tile **out,
                            int64_t *count, int64_t *bytes)
{
    int64_t blocks = n / TILE;
    *count = *bytes = 0;
    PS_TRY(PS_ALLOC(out, blocks * (blocks + 1) / 2 * (TILE / SLICES), "tiles"));
    for (int64_t b = 0; b < blocks; ++b)
        for (int64_t a = 0; a <= b; ++a)
            for (int64_t s = 0; s < TILE / SLICES; ++s) {
                int64_t kind = (a + 3 * b + s) % kinds->count;
                ps_symmetric_tile *t = &(*out)[*count];
                *t = ps_symmetric_tile_at(&kinds->tiles[kind], kinds->images[kind], *bytes, a < b);
                t->first_row = a * TILE;
                t->first_slice = b * TILE + s * SLICES;
                *bytes += kinds->bytes[kind];
                ++*count;
            }
    return PS_OK;
}

static ps_status bench(ps_device *device, int64_t n, int64_t group, bool half)
{
    const batch_case c = {.layout = PS_BLOCK_WARP,
                          .unknowns = TILE,
                          .tile_rows = TILE,
                          .tile_slices = SLICES,
                          .k_max = 200,
                          .d_max = 11,
                          .half = half,
                          .batches = 1,
                          .wild = 0};
    batch_case whole = c;
    case_tiles kinds;
    case_vectors v;
    ps_stream *stream;
    ps_symmetric_tile *tiles;
    ps_symmetric_plan plan;
    int64_t count, bytes;
    int32_t *work;
    char *base;
    void *host_table, *table, *scratch;
    PS_TRY(ps_stream_open(device, &stream));
    PS_TRY(case_tiles_init(&c, PS_SINGLE, &kinds));
    PS_TRY(make_tiles(half, &kinds, n, &tiles, &count, &bytes));
    whole.unknowns = n / TILE * TILE;
    PS_TRY(case_vectors_init(&v, &whole, device, stream, PS_SINGLE, group));
    PS_TRY(PS_ALLOC(&work, whole.unknowns + 1, "units"));
    PS_TRY(ps_symmetric_plan_make(&kinds.header, whole.unknowns, group, (int64_t)1 << 29, tiles,
                                  count, work, &plan));
    PS_TRY(ps_alloc(&host_table, plan.table_bytes, 1, "table"));
    ps_symmetric_table(&plan, tiles, work, host_table);
    PS_TRY(ps_device_alloc(device, bytes, (void **)&base));
    PS_TRY(ps_device_alloc(device, plan.table_bytes, &table));
    PS_TRY(ps_device_alloc(device, plan.scratch_bytes, &scratch));
    PS_TRY(ps_copy_to_device(stream, table, host_table, plan.table_bytes));
    int64_t at = 0, values = 0;
    for (int64_t b = 0, i = 0; b < n / TILE; ++b)
        for (int64_t a = 0; a <= b; ++a)
            for (int64_t s = 0; s < TILE / SLICES; ++s, ++i) {
                int64_t kind = (a + 3 * b + s) % kinds.count;
                PS_TRY(ps_copy_to_device(stream, base + at, kinds.images[kind], kinds.bytes[kind]));
                at += kinds.bytes[kind];
                values += tiles[i].value_count;
            }
    PS_TRY(ps_stream_wait(stream));
    ps_symmetric_memory memory = {.table = table,
                                  .host_table = host_table,
                                  .scratch = scratch,
                                  .base = base,
                                  .past = v.device_past,
                                  .past_stride = v.stride,
                                  .past_origin = v.origin,
                                  .sums = v.device_sums,
                                  .sums_stride = v.sums_stride};
    double best = 1e30;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        double start = ps_clock();
        PS_TRY(ps_symmetric_run(&plan, &memory, stream));
        PS_TRY(ps_stream_wait(stream));
        best = fmin(best, ps_clock() - start);
    }
    printf("{\"case\": \"tdbem-symmetric/%s-%lld\", \"quantity\": \"sweep\", \"value\": %.6f, "
           "\"unit\": \"s\", \"size\": %lld, \"bytes\": %lld, \"rounds\": %lld, "
           "\"of_reading\": %.3f, \"of_multiply_adds\": %.3f}\n",
           half ? "half" : "single", (long long)group, best, (long long)whole.unknowns,
           (long long)bytes, (long long)plan.rounds, (double)bytes / 4.58e12 / best,
           4.0 * (double)values * (double)group / 55.9e12 / best);
    return PS_OK;
}

int main(int argc, char **argv)
{
    ps_device *device;
    int64_t n = argc > 1 ? atoll(argv[1]) : 20480, group = argc > 2 ? atoll(argv[2]) : 16;
    bool half = argc > 3 && strcmp(argv[3], "half") == 0;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    if (status == PS_OK) status = bench(device, n, group, half);
    if (status != PS_OK) printf("%s\n", ps_message());
    return status != PS_OK;
}
