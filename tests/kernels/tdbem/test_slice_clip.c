/* slice_clip: row-vectors of a range of lags, against the definition. */
#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_clip.h"

#include "tests/check.h"
#include "tests/support/synthetic_slices.h"

static const synthetic_slices matrix = {
    .unknowns = 130, .shells = 25, .spread = 7, .empty = 0.1, .seed = 21};

/* M^k(i,j) for lags of the range alone. */
static double due(int64_t i, int64_t j, int64_t k, int64_t k_from, int64_t k_below)
{
    int64_t start, length;
    synthetic_vector(&matrix, i, j, &start, &length);
    bool inside = k >= start && k < start + length && k >= k_from && k < k_below;
    return inside ? synthetic_value(&matrix, i, j, k - start) : 0;
}

static void check_values(const ps_slice_tile *tile, ps_precision precision, int64_t k_from,
                         int64_t k_below)
{
    int64_t at = 0;
    for (int64_t v = 0; v < tile->rows * tile->slices; ++v) {
        int64_t row = v % tile->rows, slice = v / tile->rows, end = at + tile->lengths[v];
        if (row % PS_TILE_ROW_BLOCK == 0)
            assert_int_equal(
                tile->offsets[slice * ps_slice_tile_row_blocks(tile) + row / PS_TILE_ROW_BLOCK],
                at);
        assert_true(tile->starts[v] >= 1);
        for (int64_t k = 1; k <= synthetic_k_bound(&matrix); ++k) {
            bool stored = k >= tile->starts[v] && k < tile->starts[v] + tile->lengths[v];
            double value =
                stored ? ps_real_at(precision, tile->values, at + k - tile->starts[v]) : 0;
            check_near(value,
                       due(tile->first_row + row, tile->first_slice + slice, k, k_from, k_below), 0,
                       0);
        }
        at = end;
    }
    assert_int_equal(at, tile->value_count);
}

static int64_t check_range(ps_precision precision, int64_t k_from, int64_t k_below)
{
    PS_SCOPED(synthetic_tile_free)
    ps_slice_tile tile = {.first_row = 20, .rows = 101, .first_slice = 3, .slices = 11};
    synthetic_tile(&matrix, precision, true, &tile);
    uint32_t offsets[64];
    const uint32_t *before = tile.offsets;
    check_ok(ps_slice_clip(&tile, precision, k_from, k_below, offsets));
    assert_ptr_equal(tile.offsets, offsets);
    check_values(&tile, precision, k_from, k_below);
    if (tile.value_count > 0) {
        check_at_most((double)k_from, tile.k_min);
        check_at_most(tile.k_max, (double)k_below - 1);
        for (int64_t s = 0; s < tile.slices; ++s) /* none strays from the range, empty or not */
            for (int64_t r = 0; tile.lengths[s * tile.rows] && r < tile.rows; ++r)
                assert_in_range(tile.starts[s * tile.rows + r], k_from, k_below - 1);
    }
    tile.offsets = before;
    return tile.value_count;
}

static void ranges_hold_what_they_should(void **state)
{
    int64_t end = synthetic_k_bound(&matrix) + 1;
    for (int precision = 0; precision < 2; ++precision) {
        int64_t all = check_range((ps_precision)precision, 1, end);
        for (int64_t k = 2; k < end; k += 3)
            assert_int_equal(check_range((ps_precision)precision, 1, k) +
                                 check_range((ps_precision)precision, k, end),
                             all);
        check_range((ps_precision)precision, 9, 12);
        assert_int_equal(check_range((ps_precision)precision, 0, 1), 0);
    }
}

/* Without values the structure alone is clipped, alike. */
static void structure_alone(void **state)
{
    ps_slice_tile tile[2];
    uint32_t offsets[2][64];
    void *values = NULL;
    const uint32_t *before[2];
    for (int i = 0; i < 2; ++i) {
        tile[i] = (ps_slice_tile){.rows = 130, .slices = 9};
        synthetic_tile(&matrix, PS_SINGLE, true, &tile[i]);
        before[i] = tile[i].offsets;
        if (i == 1) {
            values = tile[1].values;
            tile[1].values = NULL;
        }
        check_ok(ps_slice_clip(&tile[i], PS_SINGLE, 5, 14, offsets[i]));
    }
    assert_int_equal(tile[0].value_count, tile[1].value_count);
    assert_memory_equal(tile[0].starts, tile[1].starts, 130 * 9 * 2);
    assert_memory_equal(tile[0].lengths, tile[1].lengths, 130 * 9 * 2);
    assert_memory_equal(offsets[0], offsets[1], 27 * sizeof(uint32_t));
    check_near(tile[0].score, tile[1].score, 0, 0);
    tile[1].values = values;
    for (int i = 0; i < 2; ++i) {
        tile[i].offsets = before[i];
        synthetic_tile_free(&tile[i]);
    }
}
