/*
 * Slices, contiguous blocks and warps with AVX-512, included once per type after
 * slice_product_body.h:
 *   real, SUFFIX        the type and the ending of the names
 *   LANE_*              its intrinsics (slice_product_cpu.c, slice_product_avx512_body.h)
 *
 * Vectors run over rows: the values of a column, one vector, are used in place, once for each g;
 * row-vectors of slices are first turned into columns, zero-padded to the longest of some rows.
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
#define AHEAD 6144       /* bytes of a warp that are fetched before they are needed  */
#define TABLE_GROUP 16   /* steps of a pass, at most  */

/* table[i] lane r = past[first + i - starts[r]], 0 <= i < count. */
INLINE void NAME(see_past)(const real *past, const uint16_t *starts, int64_t first, int64_t count,
                           LANE_VECTOR *table)
{
    int low, high;
    LANE_RANGE(starts, low, high);
    const real *from = past + first - high;
    if (high - low < 2 * LANES) {
        LANE_INDEX index = LANE_INDEX_FROM(starts, high);
        if (high - low < LANES)
            for (int64_t i = 0; i < count; ++i) table[i] = LANE_PERMUTE(index, LANE_LOAD(from + i));
        else
            for (int64_t i = 0; i < count; ++i)
                table[i] = LANE_PERMUTE2(LANE_LOAD(from + i), index, LANE_LOAD(from + i + LANES));
        return;
    }
    real *out = (real *)table;
    for (int64_t i = 0; i < count; ++i)
        for (int r = 0; r < LANES; ++r) out[i * LANES + r] = past[first + i - starts[r]];
}

/* The row-vectors of some rows of one slice. Warps and blocks: column by column, `pitch` bytes
 * from one to the next. Slices: row by row, with their lengths; pitch is that of turned columns. */
typedef struct NAME(lane_rows) {
    const char *values;
    const char *soon; /* in the same order, what is to be fetched meanwhile */
    const uint16_t *starts, *lengths;
    const uint8_t *scales; /* of halves */
    int64_t pitch, width;
} NAME(lane_rows);

INLINE int64_t NAME(size_of)(lanes_kind kind)
{
    return kind == LANES_HALVES ? sizeof(uint16_t) : sizeof(real);
}

INLINE LANE_VECTOR NAME(value_of)(const char *at, LANE_VECTOR scale, const lanes_kind kind)
{
    if (kind != LANES_HALVES) return LANE_LOAD((const real *)at);
    return LANE_HALVES(at) * scale;
}

/* sum[h][g] += columns [first, first + columns), at `values`, of `sets` sets of LANES rows; kind,
 * sets and group are constants. */
INLINE void NAME(add_columns)(const NAME(lane_rows) * rows, const char *values, int64_t first,
                              int64_t columns, const real *past, LANE_VECTOR (*sum)[TABLE_GROUP],
                              const lanes_kind kind, const int sets, const int group)
{
    LANE_VECTOR table[2][TABLE_COLUMNS + TABLE_GROUP], scale[2];
    const int64_t set = LANES * NAME(size_of)(kind);
    const char *soon = rows->soon + first * rows->pitch;
    for (int h = 0; kind == LANES_HALVES && h < sets; ++h)
        scale[h] = LANE_SCALES(rows->scales + h * LANES);
    for (int h = 0; h < sets; ++h)
        NAME(see_past)
        (past, rows->starts + h * LANES, -(first + columns - 1), columns + group - 1, table[h]);
    for (int64_t q = 0; q < columns; ++q, values += rows->pitch, soon += rows->pitch)
        for (int h = 0; h < sets; ++h) {
            LANE_VECTOR value = NAME(value_of)(values + h * set, scale[h], kind);
            __builtin_prefetch(soon + h * set, 0, 2);
            const LANE_VECTOR *seen = table[h] + (columns - 1 - q);
            for (int g = 0; g < group; ++g)
                sum[h][g] += value * seen[g]; /* fused or not as in the other bodies */
        }
}

/* All columns; row-vectors of slices are turned first. */
INLINE void NAME(add_lanes)(const NAME(lane_rows) * rows, const real *past,
                            LANE_VECTOR (*sum)[TABLE_GROUP], const lanes_kind kind, const int sets,
                            const int group)
{
    _Alignas(64) real turned[TABLE_COLUMNS * 2 * LANES];
    for (int64_t first = 0; first < rows->width; first += TABLE_COLUMNS) {
        int64_t columns = rows->width - first < TABLE_COLUMNS ? rows->width - first : TABLE_COLUMNS;
        const char *values = rows->values + first * rows->pitch;
        if (kind == LANES_SLICES) {
            const real *from = (const real *)rows->values;
            for (int h = 0; h < sets; ++h) {
                if (h) from += sum_of(rows->lengths, LANES);
                LANE_COLUMNS(from, rows->lengths + h * LANES, (int)first, (int)columns,
                             turned + h * LANES, sets * LANES);
            }
            values = (const char *)turned;
        }
        NAME(add_columns)(rows, values, first, columns, past, sum, kind, sets, group);
    }
}

/* ---- where the rows of a slice lie ---- */

/* `count` rows from `row` on of a tile of slices. */
INLINE NAME(lane_rows)
    NAME(rows_of_slice)(const ps_slice_product *p, int64_t s, int64_t row, int64_t count)
{
    const ps_slice_tile *tile = p->slices;
    int64_t blocks = ps_slice_tile_row_blocks(tile), before = row % PS_TILE_ROW_BLOCK;
    int64_t v = s * tile->rows + row, skipped = sum_of(tile->lengths + v - before, before);
    const uint32_t *offset = tile->offsets + s * blocks + row / PS_TILE_ROW_BLOCK;
    const uint32_t *next = offset + (s + 4 < tile->slices ? 4 * blocks : 0);
    const real *values = tile->values;
    int longest = 0;
    for (int64_t r = 0; r < count; r += LANES) {
        int low, high;
        LANE_RANGE(tile->lengths + v + r, low, high);
        if (high > longest) longest = high;
    }
    return (NAME(lane_rows)){.values = (const char *)(values + *offset + skipped),
                             .soon = (const char *)(values + *next + skipped),
                             .starts = tile->starts + v,
                             .lengths = tile->lengths + v,
                             .pitch = count * (int64_t)sizeof(real),
                             .width = longest};
}

INLINE NAME(lane_rows) NAME(rows_of_block)(const ps_slice_product *p, int64_t s, int64_t row)
{
    const ps_block_tile *tile = p->blocks;
    int64_t height = p->block_rows, size = height * p->block_columns;
    int64_t per_slice = (tile->rows + height - 1) / height, block = row / height;
    const real *values = (const real *)tile->values + (s * per_slice + block) * size + row % height;
    return (NAME(lane_rows)){
        .values = (const char *)values,
        .soon = (const char *)(values + (s + 4 < tile->slices ? 4 : 0) * per_slice * size),
        .starts = tile->starts + s * tile->rows + row,
        .pitch = height * (int64_t)sizeof(real),
        .width = p->block_columns};
}

/* `values`: of the warp and slice. */
INLINE NAME(lane_rows) NAME(rows_of_warp)(const ps_slice_product *p, int64_t s, int64_t row,
                                          const char *values, const lanes_kind kind)
{
    const ps_block_tile *tile = p->blocks;
    int64_t lane = row % PS_WARP_ROWS, unit = row / PS_WARP_ROWS * tile->slices + s;
    int64_t own = unit * PS_WARP_ROWS + lane;
    values += lane * NAME(size_of)(kind);
    return (NAME(lane_rows)){.values = values,
                             .soon = values + AHEAD,
                             .starts = tile->starts + own,
                             .scales = kind == LANES_HALVES ? tile->scales + own : NULL,
                             .pitch = PS_WARP_ROWS * NAME(size_of)(kind),
                             .width = tile->widths[unit]};
}

/* ---- sums in registers ---- */

/* Sums of `sets` sets of rows from row-major memory to registers, and back. */
INLINE void NAME(take_lanes)(const real *sums, int64_t stride, LANE_VECTOR (*sum)[TABLE_GROUP],
                             const int sets, const int group)
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

/* Sets of rows, all slices of the tile, sums of steps g0 .. g0 + group - 1. `values`: of the warp,
 * where there are warps. kind, sets and group are constants. */
INLINE void NAME(sweep_lanes)(const ps_slice_product *p, const char *values, int64_t row,
                              int64_t g0, const lanes_kind kind, const int sets, const int group)
{
    const bool sliced = kind == LANES_SLICES;
    int64_t slices = sliced ? p->slices->slices : p->blocks->slices;
    int64_t first_row = sliced ? p->slices->first_row : p->blocks->first_row;
    int64_t first_slice = sliced ? p->slices->first_slice : p->blocks->first_slice;
    real *sums = (real *)p->sums + (first_row + row) * p->sums_stride + g0;
    const real *past = (const real *)p->past + first_slice * p->past_stride + p->past_origin + g0;
    LANE_VECTOR sum[2][TABLE_GROUP];
    NAME(take_lanes)(sums, p->sums_stride, sum, sets, group);
    for (int64_t s = 0; s < slices; ++s, past += p->past_stride) {
        NAME(lane_rows) rows;
        switch (kind) {
        case LANES_SLICES:
            rows = NAME(rows_of_slice)(p, s, row, sets * LANES);
            break;
        case LANES_CONTIGUOUS:
            rows = NAME(rows_of_block)(p, s, row);
            break;
        default:
            rows = NAME(rows_of_warp)(p, s, row, values, kind);
            values += rows.width * rows.pitch;
        }
        NAME(add_lanes)(&rows, past, sum, kind, sets, group);
    }
    NAME(give_lanes)(sum, sums, p->sums_stride, sets, group);
}

/* Passes over steps g0 .. g0 + group - 1 of 32 rows, a function a kind. Sums of 8 steps of two
 * sets, or of 16 of one, fill half of the registers. */
#define LANES_PASS(name, kind, group, sets)                                                        \
    __attribute__((noinline)) static void NAME(name##_##group)(                                    \
        const ps_slice_product *p, const char *values, int64_t row, int64_t g0)                    \
    {                                                                                              \
        for (int64_t r = 0; r < PS_WARP_ROWS; r += sets * LANES)                                   \
            NAME(sweep_lanes)(p, values, row + r, g0, kind, sets, group);                          \
    }
#define LANES_PASSES(name, kind)                                                                   \
    LANES_PASS(name, kind, 1, 2)                                                                   \
    LANES_PASS(name, kind, 2, 2)                                                                   \
    LANES_PASS(name, kind, 4, 2)                                                                   \
    LANES_PASS(name, kind, 8, 2)                                                                   \
    LANES_PASS(name, kind, 16, 1)
LANES_PASSES(slices, LANES_SLICES)
LANES_PASSES(contiguous, LANES_CONTIGUOUS)
LANES_PASSES(warp, LANES_WARP)
LANES_PASSES(halves, LANES_HALVES)
#undef LANES_PASSES
#undef LANES_PASS

typedef void (*NAME(pass))(const ps_slice_product *p, const char *values, int64_t row, int64_t g0);
#define LANES_TABLE(name)                                                                          \
    {                                                                                              \
        NAME(name##_1), NAME(name##_2), NAME(name##_4), NAME(name##_8), NAME(name##_16)            \
    }
static const NAME(pass) NAME(passes)[][5] = {[LANES_SLICES] = LANES_TABLE(slices),
                                             [LANES_CONTIGUOUS] = LANES_TABLE(contiguous),
                                             [LANES_WARP] = LANES_TABLE(warp),
                                             [LANES_HALVES] = LANES_TABLE(halves)};
#undef LANES_TABLE

/* All steps of 32 rows; `values`: of the warp. The largest passes, 2^n steps each, that fit what is
 * left. */
static void NAME(whole_warp)(const ps_slice_product *p, lanes_kind kind, const char *values,
                             int64_t row)
{
    int n = 4;
    for (int64_t g0 = 0; g0 < p->group; g0 += (int64_t)1 << n) {
        while (p->group - g0 < (int64_t)1 << n) --n;
        NAME(passes)[kind][n](p, values, row, g0);
    }
}

/* Bytes of `count` warps from warp `first` on. */
INLINE int64_t NAME(warp_bytes)(const ps_block_tile *tile, int64_t first, int64_t count)
{
    int64_t widths = 0;
    for (int64_t u = first * tile->slices; u < (first + count) * tile->slices; ++u)
        widths += tile->widths[u];
    return widths * PS_WARP_ROWS * NAME(size_of)(tile->scales ? LANES_HALVES : LANES_WARP);
}

/* Rows [begin, end) of a tile; what is no whole warp of 32 rows goes to `others`, and so do blocks
 * of a height that is no multiple of it. */
static void NAME(add_lanes_of_rows)(const ps_slice_product *p, int64_t begin, int64_t end,
                                    ps_slice_product_fn others)
{
    const bool warps = p->layout == PS_TILE_WARP;
    bool whole = p->layout != PS_TILE_CONTIGUOUS || p->block_rows % PS_WARP_ROWS == 0;
    lanes_kind kind = p->layout == PS_TILE_SLICES ? LANES_SLICES
                      : !warps                    ? LANES_CONTIGUOUS
                      : p->blocks->scales         ? LANES_HALVES
                                                  : LANES_WARP;
    int64_t first = (begin + PS_WARP_ROWS - 1) / PS_WARP_ROWS, last = end / PS_WARP_ROWS;
    if (first >= last || !whole) {
        others(p, begin, end);
        return;
    }
    if (begin < first * PS_WARP_ROWS) others(p, begin, first * PS_WARP_ROWS);
    const char *values = NULL;
    if (warps) values = (const char *)p->blocks->values + NAME(warp_bytes)(p->blocks, 0, first);
    for (int64_t w = first; w < last; ++w) {
        NAME(whole_warp)(p, kind, values, w * PS_WARP_ROWS);
        if (warps) values += NAME(warp_bytes)(p->blocks, w, 1);
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
#undef LANE_RANGE
#undef LANE_COLUMNS
#undef LANE_INDEX_FROM
#undef SUFFIX
