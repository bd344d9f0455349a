#include "kernels/tdbem/slice_product.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"
#include "tests/support/symmetric_case.h"

/* Plan, table and rounds as a device has them. */
static void upper_tiles_make_up_the_whole_on_the_cpu_device(void **state)
{
    static const int64_t groups[] = {1, 7, 32};
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    for (int i = 0; i < 2 * SYMMETRIC_CASES; ++i) {
        const batch_case *c = &symmetric_cases[i / 2];
        ps_precision precision = (ps_precision)(i % 2);
        PS_SCOPED(case_tiles_release) case_tiles tiles = {0};
        check_ok(case_tiles_init(c, precision, &tiles));
        for (int g = 0; g < 3; ++g) {
            double worst = INFINITY;
            int64_t rounds = 0, room = g == 1 ? 8000 : 1 << 26;
            check_ok(symmetric_run(c, &tiles, device, groups[g], room, &worst, &rounds));
            check_at_most(worst, precision == PS_SINGLE ? 1e-6 : 1e-13);
            assert_true(g == 1 ? rounds > 1 : rounds == 1);
        }
    }
}

/* ---- cores: the bits of the whole matrix ---- */

/* Products of a case, in the order of upper columns or of all tiles. */
static int64_t list_products(const batch_case *c, const case_tiles *tiles, const case_vectors *v,
                             bool upper, ps_slice_product *out)
{
    int64_t count = 0, blocks = (c->unknowns + c->tile_rows - 1) / c->tile_rows;
    for (int64_t b = 0; b < blocks * blocks; ++b)
        for (int64_t t = 0; t < tiles->count; ++t) {
            const ps_block_tile *tile = &tiles->tiles[t];
            bool both, kept = symmetric_keeps(c, tile, &both);
            if (tile->first_slice / c->tile_rows != b / blocks ||
                tile->first_row / c->tile_rows != b % blocks || (upper && !kept))
                continue;
            out[count] = (ps_slice_product){.past = v->past,
                                            .past_stride = v->stride,
                                            .past_origin = v->origin,
                                            .group = v->group,
                                            .sums = v->sums,
                                            .sums_stride = v->sums_stride,
                                            .both = upper && both};
            ps_slice_product_set_blocks(&out[count++], &tiles->header, tile);
        }
    return count;
}

/* `parts`: 0: tile by tile. */
static void multiply(const batch_case *c, const case_tiles *tiles, case_vectors *v, bool upper,
                     int parts)
{
    PS_SCOPED_MEMORY ps_slice_product *products = calloc((size_t)tiles->count, sizeof *products);
    int64_t count = list_products(c, tiles, v, upper, products);
    int64_t bounds[4] = {0, 64, 128, c->unknowns};
    memset(v->sums, 0, (size_t)(v->unknowns * v->sums_stride) * v->size);
    if (parts > 0) check_ok(ps_slice_product_tiles(products, count, v->precision, bounds, parts));
    for (int64_t t = 0; parts == 0 && t < count; ++t)
        check_ok(ps_slice_product_tile(&products[t], v->precision, 2));
}

static void cores_give_the_bits_of_the_whole_matrix(void **state)
{
    static const int64_t groups[] = {1, 5, 16, 29};
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    for (int i = 0; i < 2 * SYMMETRIC_CASES; ++i) {
        const batch_case *c = &symmetric_cases[i / 2];
        PS_SCOPED(case_tiles_release) case_tiles tiles = {0};
        check_ok(case_tiles_init(c, (ps_precision)(i % 2), &tiles));
        for (int g = 0; g < 4; ++g) {
            PS_SCOPED(case_vectors_release) case_vectors v = {0};
            check_ok(case_vectors_init(&v, c, stream, (ps_precision)(i % 2), groups[g]));
            size_t bytes = (size_t)(v.unknowns * v.sums_stride) * v.size;
            multiply(c, &tiles, &v, false, 3);
            memcpy(v.again, v.sums, bytes);
            check_at_most(case_error(&tiles, &v), i % 2 == PS_SINGLE ? 1e-6 : 1e-13);
            multiply(c, &tiles, &v, true, 3);
            assert_memory_equal(v.sums, v.again, bytes);
            multiply(c, &tiles, &v, true, 0);
            assert_memory_equal(v.sums, v.again, bytes);
        }
    }
}

static void what_cannot_stand_for_two_is_refused(void **state)
{
    ps_symmetric_plan plan;
    uint16_t widths[64] = {0};
    int32_t work[129];
    ps_symmetric_tile tile = {.rows = 64, .slices = 32, .host_widths = widths, .both = true};
    ps_block_header header = {.layout = PS_BLOCK_WARP, .block_rows = 32, .block_columns = 9};
    check_fails(ps_symmetric_plan_make(&header, 128, 33, 1 << 20, &tile, 1, work, &plan), PS_USAGE,
                "1 to 32");
    check_fails(ps_symmetric_plan_make(&header, 128, 8, 1 << 20, &tile, 1, work, &plan), PS_USAGE,
                "diagonal");
    tile.first_row = 80, tile.both = false;
    check_fails(ps_symmetric_plan_make(&header, 128, 8, 1 << 20, &tile, 1, work, &plan), PS_USAGE,
                "multiple of 32");
    header.layout = PS_BLOCK_FULL;
    check_fails(ps_symmetric_plan_make(&header, 128, 8, 1 << 20, &tile, 1, work, &plan), PS_USAGE,
                "only warps");
}
