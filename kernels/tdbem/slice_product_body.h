/*
 * Body of the slice product, included once per type and vector width:
 *   real, integer   the type of the values and the integer of its size
 *   BYTES, SUFFIX   the vector width and the ending of the names
 *
 * Slices, contiguous blocks and warps: vectors run over g. A value is broadcast and multiplied with
 * the window of the past that belongs to it; some rows are interleaved so that their
 * chains of additions hide each other's latency. What limits this is loading: one broadcast and
 * one window a value. So vectors of 64 bytes, whose windows would nearly always straddle two cache
 * lines, take them from a table, made per slice for a run of rows, in which each window is a line
 * of its own.
 * Row-vectors of slices are first copied, zero-padded to the longest of COPY_ROWS rows, which makes
 * the inner loop free of unpredictable branches; blocks are used in place.
 * Full blocks: all rows of a block share one window, so vectors run over rows and the past is
 * broadcast.
 */
#define vec NAME(vec)
#define vec_u NAME(vec_u)
#define mask NAME(mask)
typedef real vec __attribute__((vector_size(BYTES)));
typedef real vec_u __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
typedef integer mask __attribute__((vector_size(BYTES)));

/* Sums of consecutive rows: `pitch` reals a row, passes * vectors * LANES of them in use. */
typedef struct NAME(sums) {
    real *sums;
    int64_t pitch;
    int passes, vectors;
} NAME(sums);

enum {
    NAME(LANES) = BYTES / sizeof(real),
    NAME(SUB_ROWS) = 256, /* at most, whose sums are kept in the first cache */
    NAME(SUB_REALS) = 16384 / sizeof(real),
    NAME(COPY_ROWS) = 8,
    NAME(COPY_COLUMNS) = PS_PRODUCT_OVERREAD / sizeof(real),
    NAME(FULL_GROUP) = 8, /* sums of a full block's rows in registers */
    NAME(TABLED) = BYTES == 64,
    NAME(LINES) = NAME(TABLED) ? 384 : 1,       /* of the table of windows */
    NAME(STEP) = NAME(TABLED) ? NAME(LANES) : 1 /* from one window to the next */
};
#define TABLED NAME(TABLED)
#define LINES NAME(LINES)
#define STEP NAME(STEP)
#define LANES NAME(LANES)
#define SUB_ROWS NAME(SUB_ROWS)
#define SUB_REALS NAME(SUB_REALS)
#define COPY_ROWS NAME(COPY_ROWS)
#define COPY_COLUMNS NAME(COPY_COLUMNS)
#define FULL_GROUP NAME(FULL_GROUP)
#define INLINE static inline __attribute__((always_inline))

INLINE vec NAME(broadcast)(real x) { return (vec){0} + x; }
INLINE vec NAME(load)(const real *p) { return (vec) * (const vec_u *)p; }
INLINE void NAME(store)(real *p, vec x) { *(vec_u *)p = (vec_u)x; }

/* Has lines that are to be read soon brought into the second cache: the hardware follows a stream
 * only within a page and starts anew at every slice. Any address is fine. */
INLINE void NAME(fetch)(const real *from, int64_t count)
{
    for (int64_t i = 0; i < count; i += 64 / (int64_t)sizeof(real))
        __builtin_prefetch(from + i, 0, 2);
}

/* The first `count` lanes of x, zero in the others. */
INLINE vec NAME(head)(vec x, int64_t count)
{
    mask lane;
    for (int i = 0; i < LANES; ++i) lane[i] = i;
    return (vec)((mask)x & (lane < (mask){0} + (integer)count));
}

/* sums[r][n] += sum_q values[r * row_step + q * column_step] window[r][n - q] for `rows` rows and
 * n < vectors * LANES; sums has `pitch` reals a row. rows and vectors are constants. */
INLINE void NAME(rows_panel)(const real *values, int64_t row_step, int64_t column_step,
                             int64_t width, const real *const *window, real *sums, int64_t pitch,
                             const int rows, const int vectors)
{
    vec sum[8][4];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) sum[r][v] = NAME(load)(sums + r * pitch + v * LANES);
    for (int64_t q = 0; q < width; ++q)
        for (int r = 0; r < rows; ++r) {
            vec value = NAME(broadcast)(values[r * row_step + q * column_step]);
            for (int v = 0; v < vectors; ++v)
                sum[r][v] += value * NAME(load)(window[r] + (v * LANES - q) * STEP);
        }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) NAME(store)(sums + r * pitch + v * LANES, sum[r][v]);
}

/* The same for any number of rows and passes * vectors * LANES sums a row. Advances the windows. */
INLINE void NAME(panel)(const real *values, int64_t row_step, int64_t column_step, int64_t width,
                        const real **window, NAME(sums) to, int64_t rows, const int vectors)
{
    const int at_once = vectors == 1 && BYTES == 64 ? 8 : vectors <= 2 || BYTES == 64 ? 4 : 2;
    const int count = (int)rows, even = count - count % at_once;
    for (int pass = 0; pass < to.passes; ++pass) {
        real *sums = to.sums + pass * vectors * LANES;
        for (int r = 0; r < even; r += at_once)
            NAME(rows_panel)
            (values + r * row_step, row_step, column_step, width, window + r, sums + r * to.pitch,
             to.pitch, at_once, vectors);
        for (int r = even; r < count; ++r)
            NAME(rows_panel)
            (values + r * row_step, row_step, column_step, width, window + r, sums + r * to.pitch,
             to.pitch, 1, vectors);
        for (int r = 0; r < count; ++r) window[r] += vectors * LANES * STEP;
    }
}

/* One function per number of vectors, for values row by row (copies) and column by column. */
#define PANEL_ROWS(vectors)                                                                        \
    __attribute__((noinline)) static void NAME(panel_rows_##vectors)(                              \
        const real *values, int64_t width, const real **window, NAME(sums) to, int64_t rows)       \
    {                                                                                              \
        NAME(panel)(values, COPY_COLUMNS, 1, width, window, to, rows, vectors);                    \
    }
PANEL_ROWS(1)
PANEL_ROWS(2)
PANEL_ROWS(3)
PANEL_ROWS(4)
#undef PANEL_ROWS
#define PANEL_COLUMNS(vectors)                                                                     \
    __attribute__((noinline)) static void NAME(panel_columns_##vectors)(                           \
        const real *values, int64_t height, int64_t width, const real **window, NAME(sums) to,     \
        int64_t rows)                                                                              \
    {                                                                                              \
        NAME(panel)(values, 1, height, width, window, to, rows, vectors);                          \
    }
PANEL_COLUMNS(1)
PANEL_COLUMNS(2)
PANEL_COLUMNS(3)
PANEL_COLUMNS(4)
#undef PANEL_COLUMNS

INLINE void NAME(add_rows_panel)(const real *values, int64_t width, const real **window,
                                 NAME(sums) to, int64_t rows)
{
    switch (to.vectors) {
    case 1:
        NAME(panel_rows_1)(values, width, window, to, rows);
        break;
    case 2:
        NAME(panel_rows_2)(values, width, window, to, rows);
        break;
    case 3:
        NAME(panel_rows_3)(values, width, window, to, rows);
        break;
    default:
        NAME(panel_rows_4)(values, width, window, to, rows);
    }
}

INLINE void NAME(add_columns_panel)(const real *values, int64_t height, int64_t width,
                                    const real **window, NAME(sums) to, int64_t rows)
{
    switch (to.vectors) {
    case 1:
        NAME(panel_columns_1)(values, height, width, window, to, rows);
        break;
    case 2:
        NAME(panel_columns_2)(values, height, width, window, to, rows);
        break;
    case 3:
        NAME(panel_columns_3)(values, height, width, window, to, rows);
        break;
    default:
        NAME(panel_columns_4)(values, height, width, window, to, rows);
    }
}

/* ---- windows of the past ---- */

/* Where windows are found: that of time t at from + (t - first) * STEP. */
typedef struct NAME(windows) {
    const real *from;
    int64_t first;
} NAME(windows);

/* Smallest and largest start. */
INLINE void NAME(start_range)(const uint16_t *starts, int64_t rows, int64_t *low, int64_t *high)
{
    uint16_t least = starts[0], most = starts[0];
    for (int64_t r = 1; r < rows; ++r) {
        least = starts[r] < least ? starts[r] : least;
        most = starts[r] > most ? starts[r] : most;
    }
    *low = least;
    *high = most;
}

/* How many of `rows` rows one table serves; at least 1. */
INLINE int64_t NAME(run_of_rows)(const uint16_t *starts, int64_t rows, int vectors)
{
    int64_t low, high, limit = LINES - COPY_COLUMNS - vectors * LANES - 1;
    for (; TABLED && rows > 1; rows = (rows + 1) / 2) {
        NAME(start_range)(starts, rows, &low, &high);
        if (high - low <= limit) break;
    }
    return rows;
}

/* The windows of `width` columns, from `first` on, of rows with these starts. */
INLINE NAME(windows) NAME(make_windows)(const real *past, const uint16_t *starts, int64_t rows,
                                        int64_t first, int64_t width, real *table, int vectors)
{
    if (!TABLED) return (NAME(windows)){past, 0};
    int64_t low, high;
    NAME(start_range)(starts, rows, &low, &high);
    int64_t from = -(high + first + width - 1), to = -(low + first) + (vectors - 1) * LANES;
    for (int64_t t = from; t <= to; ++t)
        NAME(store)(table + (t - from) * STEP, NAME(load)(past + t));
    return (NAME(windows)){table, from};
}

/* ---- sums of some rows, kept aside with a pitch of whole vectors ---- */

INLINE void NAME(take_sums)(const ps_slice_product *p, int64_t row, int64_t rows, NAME(sums) to)
{
    const real *from = (const real *)p->sums + row * p->sums_stride;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t g = 0; g < to.pitch; ++g)
            to.sums[r * to.pitch + g] = g < p->group ? from[r * p->sums_stride + g] : 0;
}

INLINE void NAME(give_sums)(const ps_slice_product *p, int64_t row, int64_t rows, NAME(sums) from)
{
    real *to = (real *)p->sums + row * p->sums_stride;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t g = 0; g < p->group; ++g)
            to[r * p->sums_stride + g] = from.sums[r * from.pitch + g];
}

/* past_j(0) of slice s of a tile. */
INLINE const real *NAME(past_of)(const ps_slice_product *p, int64_t slice)
{
    return (const real *)p->past + slice * p->past_stride + p->past_origin;
}

/* ---- slices ---- */

/* `width` values of a row-vector, zero from `length` on; width <= COPY_COLUMNS. In the widest
 * vectors that there are. */
INLINE void NAME(copy_row)(const real *values, int64_t length, int64_t width, real *out)
{
    typedef real wide __attribute__((vector_size(WIDEST)));
    typedef real wide_u __attribute__((vector_size(WIDEST), aligned(sizeof(real)), may_alias));
    typedef integer wide_mask __attribute__((vector_size(WIDEST)));
    const int lanes = WIDEST / sizeof(real);
    wide_mask lane;
    for (int i = 0; i < lanes; ++i) lane[i] = i;
    for (int64_t q = 0; q < width; q += lanes) {
        wide_mask inside = lane < (wide_mask){0} + (integer)(length - q);
        *(wide_u *)(out + q) = (wide_u)((wide_mask)(wide) * (const wide_u *)(values + q) & inside);
    }
}

/* Columns [first, first + width) of up to COPY_ROWS consecutive row-vectors. */
INLINE void NAME(slice_columns)(const real *values, const uint16_t *lengths, int64_t rows,
                                int64_t first, int64_t width, real *copy)
{
    for (int64_t r = 0; r < rows; ++r, copy += COPY_COLUMNS) {
        if (lengths[r] > first)
            NAME(copy_row)(values + first, lengths[r] - first, width, copy);
        else
            memset(copy, 0, (size_t)width * sizeof(real));
        values += lengths[r];
    }
}

/* Up to COPY_ROWS consecutive row-vectors, columns from `first` on; returns their values' end. */
INLINE const real *NAME(slice_rows)(const real *values, const uint16_t *starts,
                                    const uint16_t *lengths, int64_t rows, int64_t first,
                                    NAME(windows) windows, NAME(sums) to)
{
    _Alignas(64) real copy[COPY_ROWS * COPY_COLUMNS];
    const real *window[COPY_ROWS];
    int64_t longest = 0, count = 0;
    for (int64_t r = 0; r < rows; ++r) {
        longest = lengths[r] > longest ? lengths[r] : longest;
        count += lengths[r];
        window[r] = windows.from - (windows.first + starts[r] + first) * STEP;
    }
    if (longest > first) {
        int64_t width = longest - first < COPY_COLUMNS ? longest - first : COPY_COLUMNS;
        NAME(slice_columns)(values, lengths, rows, first, width, copy);
        NAME(add_rows_panel)(copy, width, window, to, rows);
    }
    return values + count;
}

/* A run of rows of a slice that one table serves. */
static const real *NAME(slice_run)(const real *values, const uint16_t *starts,
                                   const uint16_t *lengths, int64_t rows, const real *past,
                                   int64_t ahead, NAME(sums) to)
{
    _Alignas(64) real table[LINES * LANES];
    const real *end = values;
    int64_t longest = 0;
    for (int64_t r = 0; r < rows; ++r) longest = lengths[r] > longest ? lengths[r] : longest;
    for (int64_t first = 0; first == 0 || first < longest; first += COPY_COLUMNS) {
        int64_t width = longest - first < COPY_COLUMNS ? longest - first : COPY_COLUMNS;
        NAME(windows)
        windows = NAME(make_windows)(past, starts, rows, first, width, table, to.vectors);
        NAME(sums) part = to;
        end = values;
        for (int64_t r = 0; r < rows; r += COPY_ROWS, part.sums += COPY_ROWS * to.pitch) {
            NAME(fetch)(end + ahead, COPY_ROWS * longest);
            if (rows - r >= COPY_ROWS) /* a constant, so that the compiler unrolls */
                end =
                    NAME(slice_rows)(end, starts + r, lengths + r, COPY_ROWS, first, windows, part);
            else
                end =
                    NAME(slice_rows)(end, starts + r, lengths + r, rows - r, first, windows, part);
        }
    }
    return end;
}

/* Offset of row `row` of slice s in the values of a tile. */
INLINE int64_t NAME(slice_offset)(const ps_slice_tile *tile, int64_t s, int64_t row)
{
    int64_t block = row / PS_TILE_ROW_BLOCK;
    int64_t offset = tile->offsets[s * ps_slice_tile_row_blocks(tile) + block];
    for (int64_t r = block * PS_TILE_ROW_BLOCK; r < row; ++r)
        offset += tile->lengths[s * tile->rows + r];
    return offset;
}

static void NAME(add_slices)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to)
{
    const ps_slice_tile *tile = p->slices;
    for (int64_t s = 0; s < tile->slices; ++s) {
        const real *base = NAME(past_of)(p, tile->first_slice + s);
        int64_t offset = NAME(slice_offset)(tile, s, begin),
                next = s + 1 < tile->slices ? s + 1 : s;
        int64_t ahead = NAME(slice_offset)(tile, next, begin) - offset;
        const real *values = (const real *)tile->values + offset;
        NAME(sums) part = to;
        for (int64_t r = begin, rows; r < end; r += rows, part.sums += rows * to.pitch) {
            int64_t v = s * tile->rows + r;
            rows = NAME(run_of_rows)(tile->starts + v, end - r, to.vectors);
            values = NAME(slice_run)(values, tile->starts + v, tile->lengths + v, rows, base, ahead,
                                     part);
        }
    }
}

#include "kernels/tdbem/slice_product_columns_body.h"
#include "kernels/tdbem/slice_product_full_body.h"

/* ---- a range of rows of any layout ---- */

static void NAME(add_rows)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to)
{
    int64_t at_once = SUB_REALS / to.pitch < SUB_ROWS ? SUB_REALS / to.pitch : SUB_ROWS;
    int64_t first = p->layout == PS_TILE_SLICES ? p->slices->first_row : p->blocks->first_row;
    for (int64_t row = begin, next; row < end; row = next) {
        next = (row / at_once + 1) * at_once;
        if (next > end) next = end;
        NAME(take_sums)(p, first + row, next - row, to);
        if (p->layout == PS_TILE_SLICES)
            NAME(add_slices)(p, row, next, to);
        else
            NAME(add_contiguous)(p, row, next, to);
        NAME(give_sums)(p, first + row, next - row, to);
    }
}

static void NAME(add)(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    _Alignas(64) real buffer[SUB_REALS];
    int vectors = (int)((p->group + LANES - 1) / LANES), passes = (vectors + 3) / 4;
    if (vectors > 4) vectors = 4;
    NAME(sums) to = {buffer, passes * vectors * LANES, passes, vectors};
    switch (p->layout) {
    case PS_TILE_FULL:
        NAME(add_full_rows)(p, row_begin, row_end);
        break;
    case PS_TILE_WARP:
        NAME(add_warps)(p, row_begin, row_end, to);
        break;
    default:
        NAME(add_rows)(p, row_begin, row_end, to);
    }
}

#undef vec
#undef vec_u
#undef mask
#undef LANES
#undef SUB_ROWS
#undef SUB_REALS
#undef COPY_ROWS
#undef COPY_COLUMNS
#undef FULL_GROUP
#undef TABLED
#undef LINES
#undef STEP
#undef INLINE
#undef BYTES
#undef SUFFIX
