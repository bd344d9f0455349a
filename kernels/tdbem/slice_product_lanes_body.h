/*
 * Warps with AVX-512, included once per type after slice_product_body.h:
 *   real, SUFFIX        the type and the ending of the names
 *   LANE_*              its intrinsics (slice_product_cpu.c)
 *
 * Vectors run over rows: the values of a column, one vector, are used in place, once for each g.
 * What they meet is the past seen from each row's own start, past_j(t - start): the same for all
 * (g, q) with t = g - q, so a table of width + n_g - 1 vectors serves width * n_g products. An
 * entry is a permutation of the past: all starts of LANES rows mostly lie within 2 LANES steps.
 * That is n_g loads and products a column of LANES values, with sums in registers, where vectors
 * over g take two loads a value. The order of additions of a sum is that of the other bodies,
 * and so are its bits.
 */
#define LANES ((int)(64 / sizeof(real)))
#define INLINE static inline __attribute__((always_inline))

#define TABLE_COLUMNS 48 /* of a row-vector at a time */
#define AHEAD 6144       /* bytes that are fetched before they are needed: a warp's are contiguous */
#define TABLE_GROUP 16   /* steps of a pass, at most  */

/* table[i] lane r = past[first + i - starts[r]], 0 <= i < count. */
INLINE void NAME(see_past)(const real *past, const uint16_t *starts, int64_t first, int64_t count,
                           LANE_VECTOR *table)
{
    int low, high;
    LANE_START_RANGE(starts, low, high);
    const real *from = past + first - high;
    if (high - low < 2 * LANES) {
        LANE_INDEX index = LANE_INDEX_FROM(starts, high);
        if (high - low < LANES)
            for (int64_t i = 0; i < count; ++i)
                table[i] = LANE_PERMUTE(index, LANE_LOAD(from + i));
        else
            for (int64_t i = 0; i < count; ++i)
                table[i] = LANE_PERMUTE2(LANE_LOAD(from + i), index, LANE_LOAD(from + i + LANES));
        return;
    }
    real *out = (real *)table;
    for (int64_t i = 0; i < count; ++i)
        for (int r = 0; r < LANES; ++r) out[i * LANES + r] = past[first + i - starts[r]];
}

/* sum[h][g] += columns of `sets` sets of LANES rows; sets and group are constants. */
INLINE void NAME(add_lanes)(const real *values, int64_t height, int64_t width,
                            const uint16_t *starts, const real *past,
                            LANE_VECTOR (*sum)[TABLE_GROUP], const int sets, const int group)
{
    LANE_VECTOR table[2][TABLE_COLUMNS + TABLE_GROUP];
    for (int64_t first = 0; first < width; first += TABLE_COLUMNS) {
        int64_t columns = width - first < TABLE_COLUMNS ? width - first : TABLE_COLUMNS;
        for (int h = 0; h < sets; ++h)
            NAME(see_past)(past, starts + h * LANES, -(first + columns - 1), columns + group - 1,
                           table[h]);
        const real *column = values + first * height;
        for (int64_t q = 0; q < columns; ++q, column += height)
            for (int h = 0; h < sets; ++h) {
                LANE_VECTOR value = LANE_LOAD(column + h * LANES);
                __builtin_prefetch(column + h * LANES + AHEAD / (int)sizeof(real), 0, 2);
                const LANE_VECTOR *seen = table[h] + (columns - 1 - q);
                for (int g = 0; g < group; ++g)
                    sum[h][g] += value * seen[g]; /* fused or not as in the other bodies */
            }
    }
}

/* Sums of `sets` sets of rows from row-major memory to registers, and back. */
INLINE void NAME(take_lanes)(const real *sums, int64_t stride,
                             LANE_VECTOR (*sum)[TABLE_GROUP], const int sets, const int group)
{
    for (int h = 0; h < sets; ++h)
        for (int g = 0; g < group; ++g) {
            _Alignas(64) real lane[LANES];
            for (int r = 0; r < LANES; ++r) lane[r] = sums[(h * LANES + r) * stride + g];
            sum[h][g] = LANE_LOAD(lane);
        }
}

INLINE void NAME(give_lanes)(LANE_VECTOR (*sum)[TABLE_GROUP], real *sums, int64_t stride,
                             const int sets, const int group)
{
    for (int h = 0; h < sets; ++h)
        for (int g = 0; g < group; ++g) {
            _Alignas(64) real lane[LANES];
            LANE_STORE(lane, sum[h][g]);
            for (int r = 0; r < LANES; ++r) sums[(h * LANES + r) * stride + g] = lane[r];
        }
}

/* Sets of rows of a warp, all slices of the tile, sums of steps g0 .. g0 + group - 1. */
INLINE void NAME(warp_lanes)(const ps_slice_product *p, const real *values, int64_t row, int64_t g0,
                             const int sets, const int group)
{
    const ps_block_tile *tile = p->blocks;
    int64_t warp = row / PS_WARP_ROWS, lane = row % PS_WARP_ROWS;
    const uint16_t *widths = tile->widths + warp * tile->slices;
    const uint16_t *starts = tile->starts + warp * tile->slices * PS_WARP_ROWS + lane;
    real *sums = (real *)p->sums + (tile->first_row + row) * p->sums_stride + g0;
    const real *past = (const real *)p->past + tile->first_slice * p->past_stride +
                       p->past_origin + g0;
    LANE_VECTOR sum[2][TABLE_GROUP];
    NAME(take_lanes)(sums, p->sums_stride, sum, sets, group);
    for (int64_t s = 0; s < tile->slices; ++s) {
        NAME(add_lanes)(values + lane, PS_WARP_ROWS, widths[s], starts + s * PS_WARP_ROWS,
                        past + s * p->past_stride, sum, sets, group);
        values += widths[s] * PS_WARP_ROWS;
    }
    NAME(give_lanes)(sum, sums, p->sums_stride, sets, group);
}

/* A pass over steps g0 .. g0 + group - 1 of a warp. Sums of 8 steps of two sets, or of 16 of
 * one, fill half of the registers. */
#define WARP_PASS(group, sets)                                                               \
    __attribute__((noinline)) static void NAME(warp_pass_##group)(                           \
        const ps_slice_product *p, const real *values, int64_t row, int64_t g0)              \
    {                                                                                        \
        for (int64_t r = 0; r < PS_WARP_ROWS; r += sets * LANES)                             \
            NAME(warp_lanes)(p, values, row + r, g0, sets, group);                           \
    }
WARP_PASS(1, 2)
WARP_PASS(2, 2)
WARP_PASS(4, 2)
WARP_PASS(8, 2)
WARP_PASS(16, 1)
#undef WARP_PASS

/* Largest pass that fits the steps that are left. */
INLINE int NAME(pass_of)(int64_t left)
{
    return left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* All steps of the rows of one whole warp whose values begin at `values`. */
static void NAME(whole_warp)(const ps_slice_product *p, const real *values, int64_t row)
{
    for (int64_t g0 = 0, step; g0 < p->group; g0 += step) {
        step = NAME(pass_of)(p->group - g0);
        switch (step) {
        case 16: NAME(warp_pass_16)(p, values, row, g0); break;
        case 8: NAME(warp_pass_8)(p, values, row, g0); break;
        case 4: NAME(warp_pass_4)(p, values, row, g0); break;
        case 2: NAME(warp_pass_2)(p, values, row, g0); break;
        default: NAME(warp_pass_1)(p, values, row, g0);
        }
    }
}

/* Rows [begin, end) of the warps of a tile; what is no whole warp goes to `others`. */
static void NAME(add_warps_lanes)(const ps_slice_product *p, int64_t begin, int64_t end,
                                  ps_slice_product_fn others)
{
    const ps_block_tile *tile = p->blocks;
    int64_t first = (begin + PS_WARP_ROWS - 1) / PS_WARP_ROWS, last = end / PS_WARP_ROWS;
    if (first >= last) {
        others(p, begin, end);
        return;
    }
    if (begin < first * PS_WARP_ROWS) others(p, begin, first * PS_WARP_ROWS);
    int64_t widths = 0;
    for (int64_t u = 0; u < first * tile->slices; ++u) widths += tile->widths[u];
    const real *values = (const real *)tile->values + widths * PS_WARP_ROWS;
    for (int64_t w = first; w < last; ++w) {
        NAME(whole_warp)(p, values, w * PS_WARP_ROWS);
        for (int64_t s = 0; s < tile->slices; ++s)
            values += tile->widths[w * tile->slices + s] * PS_WARP_ROWS;
    }
    if (last * PS_WARP_ROWS < end) others(p, last * PS_WARP_ROWS, end);
}

#undef LANES
#undef INLINE
#undef TABLE_COLUMNS
#undef TABLE_GROUP
#undef AHEAD
#undef LANE_VECTOR
#undef LANE_INDEX
#undef LANE_LOAD
#undef LANE_STORE
#undef LANE_PERMUTE
#undef LANE_PERMUTE2
#undef LANE_START_RANGE
#undef LANE_INDEX_FROM
#undef SUFFIX
