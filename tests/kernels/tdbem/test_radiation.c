/* The near matrices, taken out of tiles of every layout, and the radiation stage against the
 * definition (kernels/tdbem/radiation.h). */
#include "kernels/tdbem/radiation.h"

#include <omp.h>

#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

enum { UNKNOWNS = 150, TILE_ROWS = 64, TILE_SLICES = 40, HALVES = 3 };
static const synthetic_slices matrix = {UNKNOWNS, 40, 4, 0.1, 11};

typedef void (*tile_use)(ps_near *near, const ps_slice_product *tile);

/* Hands a tile, cut as wanted (-1: slices, HALVES: warps of halves), to `use`. */
static void with_tile(int64_t first_row, int64_t first_slice, int layout, ps_precision precision,
                      ps_near *near, tile_use use)
{
    ps_slice_tile tile = {.first_row = first_row, .first_slice = first_slice};
    tile.rows = UNKNOWNS - first_row < TILE_ROWS ? UNKNOWNS - first_row : TILE_ROWS;
    tile.slices = UNKNOWNS - first_slice < TILE_SLICES ? UNKNOWNS - first_slice : TILE_SLICES;
    synthetic_tile(&matrix, precision, true, &tile);
    ps_slice_product product = {0};
    if (layout < 0) {
        ps_slice_product_set_slices(&product, &tile);
        use(near, &product);
    } else {
        ps_block_header header = {
            .layout = (ps_block_layout)layout,
            .block_rows = 16,
            .half = layout == HALVES,
            .slices = {.d_max = synthetic_d_bound(&matrix), .precision = precision}};
        if (header.half) header.layout = PS_BLOCK_WARP;
        header.block_columns = header.slices.d_max + 1;
        check_ok(ps_blocking_check(&header));
        ps_block_tile cut = {0};
        synthetic_cut(&header, &tile, &cut);
        ps_slice_product_set_blocks(&product, &header, &cut);
        use(near, &product);
        synthetic_cut_free(&cut);
    }
    synthetic_tile_free(&tile);
}

static void over_tiles(int layout, ps_precision precision, ps_near *near, tile_use use)
{
    for (int64_t slice = 0; slice < UNKNOWNS; slice += TILE_SLICES)
        for (int64_t row = 0; row < UNKNOWNS; row += TILE_ROWS)
            with_tile(row, slice, layout, precision, near, use);
}

static ps_near collect(int layout, ps_precision precision, int64_t group)
{
    ps_near near = {.unknowns = UNKNOWNS, .group = group, .precision = precision};
    near.row_start = calloc((size_t)((group - 1) * (UNKNOWNS + 1)) + 1, sizeof *near.row_start);
    over_tiles(layout, precision, &near, ps_near_count);
    int64_t entries = ps_near_starts(&near);
    near.columns = calloc((size_t)entries + 1, sizeof *near.columns);
    near.values = calloc((size_t)entries + 1, 8);
    over_tiles(layout, precision, &near, ps_near_fill);
    ps_near_finish(&near);
    assert_int_equal(ps_near_entries(&near), entries);
    return near;
}

static void release(ps_near *near)
{
    free(near->row_start);
    free(near->columns);
    free(near->values);
}

/* M^m(i,j) */
static double entry(int64_t i, int64_t j, int64_t m)
{
    int64_t start, length;
    synthetic_vector(&matrix, i, j, &start, &length);
    return m >= start && m < start + length ? synthetic_value(&matrix, i, j, m - start) : 0;
}

static void every_entry_is_there_once(void **state)
{
    for (int layout = -1; layout < 3; ++layout)
        for (int64_t group = 1; group <= 32; group *= 2) {
            ps_near near = collect(layout, PS_DOUBLE, group);
            int64_t at = 0;
            for (int64_t m = 1; m < group; ++m)
                for (int64_t i = 0; i < UNKNOWNS; ++i) {
                    assert_int_equal(near.row_start[(m - 1) * (UNKNOWNS + 1) + i], at);
                    for (int64_t j = 0; j < UNKNOWNS; ++j) {
                        double value = entry(i, j, m);
                        if (value == 0) continue;
                        assert_int_equal(near.columns[at], j);
                        check_near(((double *)near.values)[at++], value, 0, 0);
                    }
                    assert_int_equal(near.row_start[(m - 1) * (UNKNOWNS + 1) + i + 1], at);
                }
            assert_int_equal(ps_near_entries(&near), at);
            if (group > 4) assert_true(at > UNKNOWNS);
            release(&near);
        }
}

static void layouts_give_the_same_matrices(void **state)
{
    ps_near first = collect(-1, PS_SINGLE, 8);
    int64_t entries = ps_near_entries(&first);
    for (int layout = 0; layout < 3; ++layout) {
        ps_near near = collect(layout, PS_SINGLE, 8);
        assert_int_equal(ps_near_entries(&near), entries);
        assert_memory_equal(near.row_start, first.row_start, 7 * (UNKNOWNS + 1) * sizeof(int64_t));
        assert_memory_equal(near.columns, first.columns, (size_t)entries * sizeof(int32_t));
        assert_memory_equal(near.values, first.values, (size_t)entries * sizeof(float));
        release(&near);
    }
    release(&first);
}

/* Halves: the same places (no entry here is so small that it becomes 0), values to rounding. */
static void halves_are_near_the_entries(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        ps_near first = collect(-1, (ps_precision)precision, 8);
        ps_near near = collect(HALVES, (ps_precision)precision, 8);
        int64_t entries = ps_near_entries(&first);
        assert_int_equal(ps_near_entries(&near), entries);
        assert_memory_equal(near.columns, first.columns, (size_t)entries * sizeof(int32_t));
        for (int64_t e = 0; e < entries; ++e) {
            double due = precision == PS_SINGLE ? (double)((float *)first.values)[e]
                                                : ((double *)first.values)[e];
            double value = precision == PS_SINGLE ? (double)((float *)near.values)[e]
                                                  : ((double *)near.values)[e];
            check_near(value, due, 0, 0x1p-11);
        }
        release(&first);
        release(&near);
    }
}

static void radiation_is_the_definition(void **state)
{
    enum { GROUP = 8 };
    for (int precision = 0; precision < 2; ++precision) {
        ps_near near = collect(-1, (ps_precision)precision, GROUP);
        static float recent32[GROUP * UNKNOWNS];
        static double recent64[GROUP * UNKNOWNS];
        uint64_t seed = 3;
        for (int i = 0; i < GROUP * UNKNOWNS; ++i)
            recent64[i] = recent32[i] = (float)(check_random(&seed) - 0.5);
        const void *recent = precision == PS_SINGLE ? (void *)recent32 : (void *)recent64;
        for (int64_t g = 0; g < GROUP; ++g) {
            double sums[UNKNOWNS];
            for (int i = 0; i < UNKNOWNS; ++i) sums[i] = i;
            ps_radiation_add(&near, recent, g, sums);
            for (int64_t i = 0; i < UNKNOWNS; ++i) {
                double expected = (double)i;
                for (int64_t m = 1; m <= g; ++m)
                    for (int64_t j = 0; j < UNKNOWNS; ++j)
                        expected += entry(i, j, m) * recent64[(g - m) * UNKNOWNS + j];
                check_near(sums[i], expected, 1e-15, 1e-14);
            }
        }
        release(&near);
    }
}

/* Many more rows and entries, so that threads share them. */
static void threads_do_not_matter(void **state)
{
    enum { ROWS = 20000, EACH = 30 };
    ps_near near = {.unknowns = ROWS, .group = 2, .precision = PS_DOUBLE};
    near.row_start = calloc(ROWS + 1, sizeof *near.row_start);
    near.columns = calloc(ROWS * EACH, sizeof *near.columns);
    double *values = calloc(ROWS * EACH, sizeof *values), *recent = calloc(ROWS, sizeof *recent);
    double *sums[2] = {calloc(ROWS, sizeof **sums), calloc(ROWS, sizeof **sums)};
    uint64_t seed = 5;
    near.values = values;
    for (int64_t e = 0; e < ROWS * EACH; ++e) {
        near.columns[e] = (int32_t)(check_random(&seed) * ROWS);
        values[e] = check_random(&seed);
    }
    for (int64_t i = 0; i < ROWS; ++i) {
        near.row_start[i + 1] = (i + 1) * EACH;
        recent[i] = check_random(&seed);
    }
    for (int run = 0; run < 2; ++run) {
        omp_set_num_threads(run ? 3 : 1);
        ps_radiation_add(&near, recent, 1, sums[run]);
    }
    assert_memory_equal(sums[0], sums[1], ROWS * sizeof(double));
    check_at_most(1, sums[0][0]);
    free(recent);
    free(sums[0]);
    free(sums[1]);
    release(&near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_is_there_once),
        cmocka_unit_test(layouts_give_the_same_matrices),
        cmocka_unit_test(halves_are_near_the_entries),
        cmocka_unit_test(radiation_is_the_definition),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
