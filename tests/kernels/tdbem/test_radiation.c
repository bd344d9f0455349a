/* The near matrices, taken out of tiles of every layout, and the radiation stage against the
 * definition (kernels/tdbem/radiation.h). */
#include "kernels/common/reals.h"
#include "kernels/tdbem/radiation.h"

#include "tests/support/near_tiles.h"
#include "tests/support/radiation_sum.h"

static const near_tiling tiling = {64, 40};

static void count(void *near, const ps_slice_product *tile) { ps_near_count(near, tile); }
static void fill(void *near, const ps_slice_product *tile) { ps_near_fill(near, tile); }

static ps_near collect(int layout, ps_precision precision, int64_t group)
{
    ps_near near = {.unknowns = UNKNOWNS, .group = group, .precision = precision};
    near.row_start = calloc((size_t)((group - 1) * (UNKNOWNS + 1)) + 1, sizeof *near.row_start);
    over_tiles(tiling, layout, precision, &near, count);
    int64_t entries = ps_near_starts(&near);
    near.columns = calloc((size_t)entries + 1, sizeof *near.columns);
    near.values = calloc((size_t)entries + 1, 8);
    over_tiles(tiling, layout, precision, &near, fill);
    ps_near_finish(&near);
    assert_int_equal(ps_near_entries(&near), entries);
    return near;
}

static void release(ps_near *near) { PS_FREE(near->row_start, near->columns, near->values); }

static void every_entry_is_there_once(void **state)
{
    for (int layout = -1; layout < 3; ++layout)
        for (int64_t group = 1; group <= 32; group *= 2) {
            PS_SCOPED(release) ps_near near = collect(layout, PS_DOUBLE, group);
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
        }
}

static void layouts_give_the_same_matrices(void **state)
{
    PS_SCOPED(release) ps_near first = collect(-1, PS_SINGLE, 8);
    int64_t entries = ps_near_entries(&first);
    for (int layout = 0; layout < 3; ++layout) {
        PS_SCOPED(release) ps_near near = collect(layout, PS_SINGLE, 8);
        assert_int_equal(ps_near_entries(&near), entries);
        assert_memory_equal(near.row_start, first.row_start, 7 * (UNKNOWNS + 1) * sizeof(int64_t));
        assert_memory_equal(near.columns, first.columns, (size_t)entries * sizeof(int32_t));
        assert_memory_equal(near.values, first.values, (size_t)entries * sizeof(float));
    }
}

/* Halves: the same places (no entry here is so small that it becomes 0), values to rounding. */
static void halves_are_near_the_entries(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(release)
        ps_near first = collect(-1, (ps_precision)precision, 8),
                near = collect(HALVES, (ps_precision)precision, 8);
        int64_t entries = ps_near_entries(&first);
        assert_int_equal(ps_near_entries(&near), entries);
        assert_memory_equal(near.columns, first.columns, (size_t)entries * sizeof(int32_t));
        for (int64_t e = 0; e < entries; ++e) {
            double due = ps_real_at(first.precision, first.values, e);
            check_near(ps_real_at(near.precision, near.values, e), due, 0, 0x1p-11);
        }
    }
}

static void radiation_is_the_definition(void **state)
{
    enum { GROUP = 8 };
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(release) ps_near near = collect(-1, (ps_precision)precision, GROUP);
        static double recent[GROUP * UNKNOWNS];
        uint64_t seed = 3;
        for (int i = 0; i < GROUP * UNKNOWNS; ++i)
            ps_real_put(near.precision, recent, i, (float)(check_random(&seed) - 0.5));
        for (int64_t g = 0; g < GROUP; ++g) {
            double sums[UNKNOWNS];
            for (int i = 0; i < UNKNOWNS; ++i) sums[i] = i;
            radiation_add(&near, recent, g, sums);
            for (int64_t i = 0; i < UNKNOWNS; ++i) {
                double expected = (double)i;
                for (int64_t m = 1; m <= g; ++m)
                    for (int64_t j = 0; j < UNKNOWNS; ++j)
                        expected += entry(i, j, m) *
                                    ps_real_at(near.precision, recent, (g - m) * UNKNOWNS + j);
                check_near(sums[i], expected, 1e-15, 1e-14);
            }
        }
    }
}
