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
 * and so are its bits. Halves become numbers of this type, exactly, on their way to a register.
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

/* The values of a warp, and how those of a lane are scaled if they are halves. */
typedef struct NAME(stored) {
    const char *values;
    const uint8_t *scales; /* of the lanes of the slice at hand */
} NAME(stored);

INLINE LANE_VECTOR NAME(value_of)(const char *at, LANE_VECTOR scale, const bool half)
{
    if (!half) return LANE_LOAD((const real *)at);
    return LANE_HALVES(at) * scale;
}

/* sum[h][g] += columns of `sets` sets of LANES rows; sets, group and half are constants. */
INLINE void NAME(add_lanes)(NAME(stored) from, int64_t width, const uint16_t *starts,
                            const real *past, LANE_VECTOR (*sum)[TABLE_GROUP], const int sets,
                            const int group, const bool half)
{
    const int64_t size = half ? sizeof(uint16_t) : sizeof(real);
    LANE_VECTOR table[2][TABLE_COLUMNS + TABLE_GROUP], scale[2];
    for (int h = 0; half && h < sets; ++h) scale[h] = LANE_SCALES(from.scales + h * LANES);
    for (int64_t first = 0; first < width; first += TABLE_COLUMNS) {
        int64_t columns = width - first < TABLE_COLUMNS ? width - first : TABLE_COLUMNS;
        for (int h = 0; h < sets; ++h)
            NAME(see_past)(past, starts + h * LANES, -(first + columns - 1), columns + group - 1,
                           table[h]);
        const char *column = from.values + first * PS_WARP_ROWS * size;
        for (int64_t q = 0; q < columns; ++q, column += PS_WARP_ROWS * size)
            for (int h = 0; h < sets; ++h) {
                LANE_VECTOR value = NAME(value_of)(column + h * LANES * size, scale[h], half);
                __builtin_prefetch(column + h * LANES * size + AHEAD, 0, 2);
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
INLINE void NAME(warp_lanes)(const ps_slice_product *p, const char *values, int64_t row, int64_t g0,
                             const int sets, const int group, const bool half)
{
    const ps_block_tile *tile = p->blocks;
    const int64_t size = half ? sizeof(uint16_t) : sizeof(real);
    int64_t lane = row % PS_WARP_ROWS, unit = row / PS_WARP_ROWS * tile->slices;
    real *sums = (real *)p->sums + (tile->first_row + row) * p->sums_stride + g0;
    const real *past = (const real *)p->past + tile->first_slice * p->past_stride +
                       p->past_origin + g0;
    NAME(stored) from = {values + lane * size, NULL};
    LANE_VECTOR sum[2][TABLE_GROUP];
    NAME(take_lanes)(sums, p->sums_stride, sum, sets, group);
    for (int64_t s = 0; s < tile->slices; ++s, ++unit) {
        if (half) from.scales = tile->scales + unit * PS_WARP_ROWS + lane;
        NAME(add_lanes)(from, tile->widths[unit], tile->starts + unit * PS_WARP_ROWS + lane,
                        past + s * p->past_stride, sum, sets, group, half);
        from.values += tile->widths[unit] * PS_WARP_ROWS * size;
    }
    NAME(give_lanes)(sum, sums, p->sums_stride, sets, group);
}

/* A pass over steps g0 .. g0 + group - 1 of a warp. Sums of 8 steps of two sets, or of 16 of
 * one, fill half of the registers. */
#define WARP_PASS(name, group, sets, half)                                                   \
    __attribute__((noinline)) static void NAME(name)(const ps_slice_product *p,              \
                                                     const char *values, int64_t row,        \
                                                     int64_t g0)                             \
    {                                                                                        \
        for (int64_t r = 0; r < PS_WARP_ROWS; r += sets * LANES)                             \
            NAME(warp_lanes)(p, values, row + r, g0, sets, group, half);                     \
    }
WARP_PASS(pass_1, 1, 2, false)
WARP_PASS(pass_2, 2, 2, false)
WARP_PASS(pass_4, 4, 2, false)
WARP_PASS(pass_8, 8, 2, false)
WARP_PASS(pass_16, 16, 1, false)
WARP_PASS(halves_1, 1, 2, true)
WARP_PASS(halves_2, 2, 2, true)
WARP_PASS(halves_4, 4, 2, true)
WARP_PASS(halves_8, 8, 2, true)
WARP_PASS(halves_16, 16, 1, true)
#undef WARP_PASS

typedef void (*NAME(pass))(const ps_slice_product *p, const char *values, int64_t row, int64_t g0);
static const NAME(pass) NAME(passes)[2][5] = {
    {NAME(pass_1), NAME(pass_2), NAME(pass_4), NAME(pass_8), NAME(pass_16)},
    {NAME(halves_1), NAME(halves_2), NAME(halves_4), NAME(halves_8), NAME(halves_16)}};

/* All steps of the rows of one whole warp whose values begin at `values`: the largest passes,
 * 2^n steps each, that fit what is left. */
static void NAME(whole_warp)(const ps_slice_product *p, const char *values, int64_t row)
{
    int n = 4;
    for (int64_t g0 = 0; g0 < p->group; g0 += (int64_t)1 << n) {
        while (p->group - g0 < (int64_t)1 << n) --n;
        NAME(passes)[p->blocks->scales != NULL][n](p, values, row, g0);
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
    int64_t column = PS_WARP_ROWS * (int64_t)(tile->scales ? sizeof(uint16_t) : sizeof(real));
    const char *values = tile->values;
    for (int64_t u = 0; u < first * tile->slices; ++u) values += tile->widths[u] * column;
    for (int64_t w = first; w < last; ++w) {
        NAME(whole_warp)(p, values, w * PS_WARP_ROWS);
        for (int64_t s = 0; s < tile->slices; ++s)
            values += tile->widths[w * tile->slices + s] * column;
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
#undef LANE_HALVES
#undef LANE_SCALES
#undef LANE_STORE
#undef LANE_PERMUTE
#undef LANE_PERMUTE2
#undef LANE_START_RANGE
#undef LANE_INDEX_FROM
#undef SUFFIX
