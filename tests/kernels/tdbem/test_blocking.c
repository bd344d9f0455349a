/* blocking: the greedy cut against a restatement of its rule, and every value in its place. */
#include "kernels/common/reals.h"
#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

static const synthetic_slices odd = {
    .unknowns = 131, .shells = 29, .spread = 5.7, .empty = 0.1, .seed = 2};

static ps_slice_tile tile_of(const synthetic_slices *m, ps_precision precision, int64_t first_row,
                             int64_t rows, int64_t first_slice, int64_t slices)
{
    ps_slice_tile tile = {
        .first_row = first_row, .rows = rows, .first_slice = first_slice, .slices = slices};
    synthetic_tile(m, precision, true, &tile);
    synthetic_measure(m, &tile);
    return tile;
}

static ps_block_header header_of(ps_block_layout layout, ps_precision precision, int64_t rows,
                                 int64_t columns, int64_t d_max)
{
    ps_block_header header = {.layout = layout, .block_rows = rows, .block_columns = columns};
    header.slices.precision = precision;
    header.slices.d_max = d_max;
    check_ok(ps_blocking_check(&header));
    return header;
}

/* ---- the rule of the greedy cut, restated: row i joins the block opened at r0 ---- */

static bool joins(const ps_slice_tile *tile, int64_t s, int64_t r0, int64_t i, int64_t rows,
                  int64_t columns)
{
    int64_t low = INT64_MAX, high = -1;
    for (int64_t r = r0; r <= i; ++r) {
        int64_t v = s * tile->rows + r;
        for (int64_t k = tile->starts[v]; k < tile->starts[v] + tile->lengths[v]; ++k) {
            low = k < low ? k : low;
            high = k > high ? k : high;
        }
    }
    return i - r0 < rows && high - low + 1 <= columns;
}

/* Row of the tile at which the block after the one at r0 may open. */
static int64_t restated_end(const ps_slice_tile *tile, int64_t s, int64_t r0, int64_t rows,
                            int64_t columns)
{
    int64_t i = r0 + 1;
    while (i < tile->rows && joins(tile, s, r0, i, rows, columns)) ++i;
    return i;
}

static void check_full_block(const ps_block_header *h, const ps_block_tile *cut,
                             const ps_slice_tile *tile, int64_t s, int64_t b, int64_t end)
{
    int64_t corner = cut->corner_rows[b], low = INT64_MAX;
    for (int64_t r = corner; r < end; ++r) {
        int64_t v = s * tile->rows + r;
        if (tile->lengths[v] && tile->starts[v] < low) low = tile->starts[v];
    }
    assert_int_equal(cut->corner_columns[b], low);
    for (int64_t r = 0; r < h->block_rows; ++r)
        for (int64_t q = 0; q < h->block_columns; ++q) {
            int64_t v = s * tile->rows + corner + r, k = low + q;
            bool inside =
                corner + r < end && k >= tile->starts[v] && k < tile->starts[v] + tile->lengths[v];
            double due = inside ? synthetic_value(&odd, tile->first_row + corner + r,
                                                  tile->first_slice + s, k - tile->starts[v])
                                : 0;
            int64_t at = (b * h->block_columns + q) * h->block_rows + r;
            check_near(ps_real_at(h->slices.precision, cut->values, at), due, 0, 0);
        }
}

static void check_full(const ps_block_header *h, const ps_slice_tile *tile)
{
    PS_SCOPED(synthetic_cut_free) ps_block_tile cut = {0};
    synthetic_cut(h, tile, &cut);
    check_ok(ps_block_tile_check(h, &cut));
    int64_t b = 0;
    for (int64_t s = 0; s < tile->slices; ++s) {
        assert_int_equal(cut.block_start[s], b);
        for (int64_t row = 0; row < tile->rows;) {
            if (tile->lengths[s * tile->rows + row] == 0) {
                ++row;
                continue;
            }
            int64_t end = restated_end(tile, s, row, h->block_rows, h->block_columns);
            assert_true(b < cut.block_count);
            assert_int_equal(cut.corner_rows[b], row);
            check_full_block(h, &cut, tile, s, b++, end);
            row = end;
        }
    }
    assert_int_equal(b, cut.block_count);
}

static void full_blocks_follow_the_greedy_rule(void **state)
{
    const int64_t shapes[][2] = {{16, 12}, {7, 16}, {32, 33}, {1, 12}, {1024, 40}};
    for (int precision = 0; precision < 2; ++precision)
        for (int c = 0; c < 5; ++c) {
            PS_SCOPED(synthetic_tile_free)
            ps_slice_tile tile = tile_of(&odd, (ps_precision)precision, 3, 117, 11, 5);
            ps_block_header h = header_of(PS_BLOCK_FULL, (ps_precision)precision, shapes[c][0],
                                          shapes[c][1], (int64_t)tile.d_max);
            check_full(&h, &tile);
        }
}

static void at_worst_a_block_holds_one_row(void **state)
{
    enum { ROWS = 40 };
    uint16_t starts[ROWS], lengths[ROWS];
    float values[ROWS + 64] = {0};
    for (int r = 0; r < ROWS; ++r) starts[r] = (uint16_t)(r % 2 ? 50 : 1), lengths[r] = 1;
    ps_slice_tile tile = {.rows = ROWS,
                          .slices = 1,
                          .value_count = ROWS,
                          .starts = starts,
                          .lengths = lengths,
                          .values = values,
                          .d_max = 1,
                          .k_max = 50};
    ps_block_header h = header_of(PS_BLOCK_FULL, PS_SINGLE, 16, 8, 1);
    ps_block_tile cut;
    ps_blocking_count(&h, &tile, &cut);
    assert_int_equal(cut.block_count, ROWS);
    assert_int_equal(cut.value_count, ROWS * 16 * 8);
    for (int r = 0; r < ROWS; ++r) lengths[r] = 0;
    tile.value_count = 0;
    ps_blocking_count(&h, &tile, &cut);
    assert_int_equal(cut.block_count, 0);
}

static void contiguous_blocks_hold_every_value(void **state)
{
    PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = tile_of(&odd, PS_DOUBLE, 3, 117, 11, 5);
    ps_block_header h =
        header_of(PS_BLOCK_CONTIGUOUS, PS_DOUBLE, 50, (int64_t)tile.d_max + 1, (int64_t)tile.d_max);
    PS_SCOPED(synthetic_cut_free) ps_block_tile cut = {0};
    synthetic_cut(&h, &tile, &cut);
    check_ok(ps_block_tile_check(&h, &cut));
    assert_int_equal(cut.block_count, 5 * 3);
    for (int64_t s = 0; s < 5; ++s)
        for (int64_t r = 0; r < 150; ++r)
            for (int64_t q = 0; q < h.block_columns; ++q) {
                int64_t at = ((s * 3 + r / 50) * h.block_columns + q) * 50 + r % 50;
                bool inside = r < 117 && q < tile.lengths[s * 117 + r];
                double due = inside ? synthetic_value(&odd, 3 + r, 11 + s, q) : 0;
                check_near(((double *)cut.values)[at], due, 0, 0);
            }
}

static void warps_hold_every_value(void **state)
{
    PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = tile_of(&odd, PS_SINGLE, 3, 117, 11, 5);
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_SINGLE, 0, 0, (int64_t)tile.d_max);
    PS_SCOPED(synthetic_cut_free) ps_block_tile cut = {0};
    synthetic_cut(&h, &tile, &cut);
    check_ok(ps_block_tile_check(&h, &cut));
    const float *next = cut.values;
    for (int64_t w = 0; w < 4; ++w)
        for (int64_t s = 0; s < 5; ++s) {
            int64_t longest = 0;
            for (int64_t lane = 0; lane < 32; ++lane) {
                int64_t r = w * 32 + lane, width = cut.widths[w * 5 + s];
                int64_t length = r < 117 ? tile.lengths[s * 117 + r] : 0;
                longest = length > longest ? length : longest;
                if (length)
                    assert_int_equal(cut.starts[(w * 5 + s) * 32 + lane], tile.starts[s * 117 + r]);
                for (int64_t q = 0; q < width; ++q)
                    check_near(next[q * 32 + lane],
                               q < length ? synthetic_value(&odd, 3 + r, 11 + s, q) : 0, 0, 0);
            }
            assert_int_equal(cut.widths[w * 5 + s], longest);
            next += longest * 32;
        }
    assert_int_equal(next - (float *)cut.values, cut.value_count);
}

/* The guide measures 92.5 % for warps on an aircraft in Hilbert order. */
static void warps_are_nine_tenths_full(void **state)
{
    const synthetic_slices real = {.unknowns = 20000, .shells = 340, .spread = 9, .seed = 4};
    PS_SCOPED(synthetic_tile_free)
    ps_slice_tile tile = tile_of(&real, PS_SINGLE, 4096, 1024, 5000, 8);
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_SINGLE, 0, 0, (int64_t)tile.d_max);
    ps_block_tile cut;
    ps_blocking_count(&h, &tile, &cut);
    check_at_most(0.9, (double)cut.nnz / (double)cut.value_count);
    h = header_of(PS_BLOCK_CONTIGUOUS, PS_SINGLE, 128, (int64_t)tile.d_max, (int64_t)tile.d_max);
    ps_block_tile contiguous;
    ps_blocking_count(&h, &tile, &contiguous);
    assert_true(contiguous.value_count > cut.value_count);
}

static void narrow_blocks_are_refused(void **state)
{
    ps_block_header h = {.layout = PS_BLOCK_FULL, .block_rows = 16, .block_columns = 8};
    h.slices.d_max = 9;
    check_fails(ps_blocking_check(&h), PS_USAGE, "d_max = 9 values, and full blocks");
    h.layout = PS_BLOCK_CONTIGUOUS;
    check_fails(ps_blocking_check(&h), PS_USAGE, "use at least 9");
    h.block_columns = 9, h.block_rows = 1025;
    check_fails(ps_blocking_check(&h), PS_USAGE, "--block-rows 1025");
    h.layout = PS_BLOCK_WARP;
    check_ok(ps_blocking_check(&h));
    assert_int_equal(h.block_rows, 32);
    assert_int_equal(h.block_columns, 9);
}
