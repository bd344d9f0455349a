#include <stdlib.h>

#include "kernels/common/radix_sort.h"
#include "kernels/common/space_curve.h"
#include "runtime/scope.h"
#include "tests/check.h"

/* Cells that follow each other along the Hilbert curve share a face, and none is missed. */
static void hilbert_steps_to_face_neighbours(void **state)
{
    for (int bits = 1; bits <= 5; ++bits) {
        int64_t side = 1 << bits, cells = side * side * side;
        PS_SCOPED_MEMORY int32_t *cell_at = malloc((size_t)cells * sizeof *cell_at);
        for (int64_t i = 0; i < cells; ++i) cell_at[i] = -1;
        for (int32_t cell = 0; cell < cells; ++cell) {
            uint64_t key =
                ps_hilbert_key((uint32_t)(cell / (side * side)), (uint32_t)(cell / side % side),
                               (uint32_t)(cell % side), bits);
            assert_true(key < (uint64_t)cells);
            assert_int_equal(cell_at[key], -1);
            cell_at[key] = cell;
        }
        assert_int_equal(cell_at[0], 0);
        for (int64_t i = 1; i < cells; ++i) {
            int64_t a = cell_at[i - 1], b = cell_at[i];
            int64_t steps = llabs(a / (side * side) - b / (side * side)) +
                            llabs(a / side % side - b / side % side) + llabs(a % side - b % side);
            assert_int_equal(steps, 1);
        }
    }
}

static void morton_interleaves_bits(void **state)
{
    uint64_t random = 1;
    for (int round = 0; round < 1000; ++round) {
        uint32_t axis[3];
        for (int c = 0; c < 3; ++c) axis[c] = (uint32_t)(check_random(&random) * (1 << 21));
        uint64_t expected = 0;
        for (int bit = 0; bit < 21; ++bit)
            for (int c = 0; c < 3; ++c)
                expected |= (uint64_t)(axis[c] >> bit & 1) << (3 * bit + 2 - c);
        assert_true(ps_morton_key(axis[0], axis[1], axis[2]) == expected);
    }
    assert_true(ps_morton_key(0x1fffff, 0x1fffff, 0x1fffff) == 0x7fffffffffffffff);
}

/* Against qsort with the place as the tie-break, on keys with many ties, above and below the
 * size where threads take part, for several widths. */
static int by_key_then_item(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void radix_sort_is_stable_and_right(void **state)
{
    const int64_t counts[] = {0, 1, 2, 257, 100003};
    const int widths[] = {1, 5, 13, 40, 64};
    uint64_t random = 7;
    for (int c = 0; c < 5; ++c)
        for (int w = 0; w < 5; ++w) {
            int64_t n = counts[c];
            size_t room = (size_t)n + 1;
            PS_SCOPED_MEMORY uint64_t *keys = calloc(room, 8), *scratch = calloc(room, 8),
                                      *pairs = calloc(room, 16);
            PS_SCOPED_MEMORY int32_t *items = calloc(room, 4), *items_scratch = calloc(room, 4);
            for (int64_t i = 0; i < n; ++i) {
                keys[i] = (uint64_t)(check_random(&random) * 0x1p53) << 11 >> (64 - widths[w]);
                items[i] = (int32_t)i;
                pairs[2 * i] = keys[i];
                pairs[2 * i + 1] = (uint64_t)i;
            }
            ps_radix_sort(keys, items, n, widths[w], scratch, items_scratch);
            qsort(pairs, (size_t)n, 16, by_key_then_item);
            for (int64_t i = 0; i < n; ++i) {
                assert_true(keys[i] == pairs[2 * i]);
                assert_true((uint64_t)items[i] == pairs[2 * i + 1]);
            }
        }
}

/* Points of a grid, shuffled: the order along either curve visits cells once and, for Hilbert,
 * steps to face neighbours; equal points keep their order; one axis of another scale is
 * quantised on the same cube. */
static void order_follows_the_curve(void **state)
{
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    double positions[2 * COUNT][3];
    int32_t order[2 * COUNT];
    PS_SCOPED_MEMORY void *workspace = malloc(ps_space_curve_workspace(2 * COUNT));
    for (int i = 0; i < 2 * COUNT; ++i) {
        int cell = i * 37 % COUNT; /* each cell twice, COUNT apart */
        /* the last layer sits on the upper face, where the quantisation is held back */
        positions[i][0] = 5 + cell / (SIDE * SIDE) * 2.0 + (cell / (SIDE * SIDE) == 7 ? 2 : 0);
        positions[i][1] = -3 + cell / SIDE % SIDE * 2.0;
        positions[i][2] = cell % SIDE * 2.0;
    }
    ps_space_curve_order(PS_CURVE_HILBERT, *positions, 2 * COUNT, workspace, order);
    for (int i = 0; i < 2 * COUNT; i += 2) {
        assert_int_equal(order[i] + COUNT, order[i + 1]); /* stable */
        double steps = 0;
        for (int c = 0; i > 0 && c < 3; ++c)
            steps += fabs(floor((positions[order[i]][c] - positions[0][c]) / 2) -
                          floor((positions[order[i - 1]][c] - positions[0][c]) / 2));
        assert_true(i == 0 || steps == 1 || steps == 2); /* 2: across the widened last layer */
    }
    /* Scattered: a permutation that keeps cells together and leaves hardly a pair of neighbours. */
    ps_space_curve_order(PS_CURVE_RANDOM, *positions, 2 * COUNT, workspace, order);
    int seen[COUNT] = {0}, neighbours = 0;
    for (int i = 0; i < 2 * COUNT; i += 2) {
        assert_int_equal(order[i] + COUNT, order[i + 1]);
        ++seen[order[i]];
        neighbours += i > 0 && abs(order[i] - order[i - 2]) == 1;
    }
    for (int i = 0; i < COUNT; ++i) assert_int_equal(seen[i], 1);
    assert_in_range(neighbours, 0, 12); /* 2 expected, of 511 */
    ps_space_curve_order(PS_CURVE_NONE, *positions, 2 * COUNT, workspace, order);
    for (int i = 0; i < 2 * COUNT; ++i) assert_int_equal(order[i], i);
}

static void cube_of_flat_and_empty_sets(void **state)
{
    double flat[2][3] = {{1, 2, 3}, {5, 2, 3}}, lower[3], extent;
    uint64_t keys[2];
    ps_space_curve_cube(*flat, 2, lower, &extent);
    check_near(extent, 4, 0, 0);
    ps_space_curve_keys(PS_CURVE_MORTON, *flat, 2, lower, extent, keys);
    assert_true(keys[0] == 0 && keys[1] == ps_morton_key(0x1fffff, 0, 0));
    ps_space_curve_cube(*flat, 1, lower, &extent);
    check_near(extent, 0, 0, 0);
    ps_space_curve_keys(PS_CURVE_HILBERT, *flat, 1, lower, extent, keys);
    assert_true(keys[0] == 0);
    ps_space_curve_cube(*flat, 0, lower, &extent);
    check_near(extent, 0, 0, 0);
}
