/*
 * Body of the slice product, included once per type and vector width:
 *   real, integer   the type of the values and the integer of its size
 *   BYTES, SUFFIX   the vector width and the ending of the names
 *
 * Slices, contiguous blocks and warps: vectors run over g. A value is broadcast and
 * multiplied with the window of the past that belongs to it; ROWS_AT_ONCE rows are interleaved so
 * that their chains of additions hide each other's latency. Row-vectors of slices are first
 * copied, zero-padded to the longest of COPY_ROWS rows, which makes the inner loop free of
 * unpredictable branches. Full blocks: all rows of a block share one window, so vectors run over
 * rows and the past is broadcast.
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
    int passes;
} NAME(sums);

enum {
    NAME(LANES) = BYTES / sizeof(real),
    NAME(SUB_ROWS) = 256, /* at most, whose sums are kept in the first cache */
    NAME(SUB_REALS) = 16384 / sizeof(real),
    NAME(COPY_ROWS) = 8,
    NAME(COPY_COLUMNS) = PS_PRODUCT_OVERREAD / sizeof(real),
    NAME(FULL_GROUP) = 8 /* sums of a full block's rows in registers */
};
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
    vec sum[4][4];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) sum[r][v] = NAME(load)(sums + r * pitch + v * LANES);
    for (int64_t q = 0; q < width; ++q)
        for (int r = 0; r < rows; ++r) {
            vec value = NAME(broadcast)(values[r * row_step + q * column_step]);
            for (int v = 0; v < vectors; ++v)
                sum[r][v] += value * NAME(load)(window[r] - q + v * LANES);
        }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) NAME(store)(sums + r * pitch + v * LANES, sum[r][v]);
}

/* The same for any number of rows and passes * vectors * LANES sums a row. */
INLINE void NAME(panel)(const real *values, int64_t row_step, int64_t column_step, int64_t width,
                        const real **window, NAME(sums) to, int64_t rows, const int vectors)
{
    const int at_once = vectors <= 2 || BYTES == 64 ? 4 : 2;
    for (int pass = 0; pass < to.passes; ++pass) {
        int64_t r = 0;
        real *sums = to.sums + pass * vectors * LANES;
        for (; r + at_once <= rows; r += at_once)
            NAME(rows_panel)(values + r * row_step, row_step, column_step, width, window + r,
                             sums + r * to.pitch, to.pitch, at_once, vectors);
        for (; r < rows; ++r)
            NAME(rows_panel)(values + r * row_step, row_step, column_step, width, window + r,
                             sums + r * to.pitch, to.pitch, 1, vectors);
        for (r = 0; r < rows; ++r) window[r] += vectors * LANES;
    }
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

/* `width` values of a row-vector, zero from `length` on; width <= COPY_COLUMNS. */
INLINE void NAME(copy_row)(const real *values, int64_t length, int64_t width, real *out)
{
    for (int64_t q = 0; q < width; q += LANES)
        NAME(store)(out + q, NAME(head)(NAME(load)(values + q), length - q));
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

/* Up to COPY_ROWS consecutive row-vectors of a slice; returns where the next ones begin. */
INLINE const real *NAME(slice_rows)(const real *values, const uint16_t *starts,
                                    const uint16_t *lengths, int64_t rows, const real *base,
                                    NAME(sums) to, const int vectors)
{
    _Alignas(64) real copy[COPY_ROWS * COPY_COLUMNS];
    const real *window[COPY_ROWS];
    int64_t longest = 0, count = 0;
    for (int64_t r = 0; r < rows; ++r) {
        longest = lengths[r] > longest ? lengths[r] : longest;
        count += lengths[r];
    }
    for (int64_t first = 0; first < longest; first += COPY_COLUMNS) {
        int64_t width = longest - first < COPY_COLUMNS ? longest - first : COPY_COLUMNS;
        NAME(slice_columns)(values, lengths, rows, first, width, copy);
        for (int64_t r = 0; r < rows; ++r) window[r] = base - starts[r] - first;
        NAME(panel)(copy, COPY_COLUMNS, 1, width, window, to, rows, vectors);
    }
    return values + count;
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

INLINE void NAME(add_slices)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to,
                             const int vectors)
{
    const ps_slice_tile *tile = p->slices;
    for (int64_t s = 0; s < tile->slices; ++s) {
        const real *base = NAME(past_of)(p, tile->first_slice + s);
        const real *values = (const real *)tile->values + NAME(slice_offset)(tile, s, begin);
        NAME(sums) row_sums = to;
        for (int64_t r = begin; r < end; r += COPY_ROWS) {
            int64_t v = s * tile->rows + r, rows = end - r;
            if (rows >= COPY_ROWS) /* a constant, so that the compiler unrolls */
                values = NAME(slice_rows)(values, tile->starts + v, tile->lengths + v, COPY_ROWS,
                                          base, row_sums, vectors);
            else
                values = NAME(slice_rows)(values, tile->starts + v, tile->lengths + v, rows, base,
                                          row_sums, vectors);
            row_sums.sums += COPY_ROWS * to.pitch;
        }
    }
}

/* ---- contiguous blocks and warps: columns of rows, a start per row ---- */

/* `rows` rows of a block stored column by column, `height` values a column. */
INLINE void NAME(add_columns)(const real *values, int64_t height, int64_t width,
                              const uint16_t *starts, int64_t rows, const real *base,
                              NAME(sums) to, const int vectors)
{
    const real *window[COPY_ROWS];
    for (int64_t r = 0; r < rows; r += COPY_ROWS) {
        int64_t part = rows - r < COPY_ROWS ? rows - r : COPY_ROWS;
        for (int64_t i = 0; i < part; ++i) window[i] = base - starts[r + i];
        NAME(panel)(values + r, 1, height, width, window, to, part, vectors);
        to.sums += COPY_ROWS * to.pitch;
    }
}

INLINE void NAME(add_contiguous)(const ps_slice_product *p, int64_t begin, int64_t end,
                                 NAME(sums) to, const int vectors)
{
    const ps_block_tile *tile = p->blocks;
    int64_t height = p->block_rows, size = height * p->block_columns;
    int64_t per_slice = (tile->rows + height - 1) / height;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t row = begin, next; row < end; row = next) {
            int64_t block = row / height;
            next = (block + 1) * height < end ? (block + 1) * height : end;
            NAME(sums) part = to;
            part.sums += (row - begin) * to.pitch;
            NAME(add_columns)((const real *)tile->values + (s * per_slice + block) * size +
                                  (row - block * height),
                              height, p->block_columns, tile->starts + s * tile->rows + row,
                              next - row, NAME(past_of)(p, tile->first_slice + s), part, vectors);
        }
}

/* Rows [begin, end) of one warp, whose values begin at `values`; returns where they end. */
INLINE const real *NAME(add_warp)(const ps_slice_product *p, const real *values, int64_t begin,
                                  int64_t end, NAME(sums) to, const int vectors)
{
    const ps_block_tile *tile = p->blocks;
    int64_t warp = begin / PS_WARP_ROWS, lane = begin % PS_WARP_ROWS;
    const uint16_t *widths = tile->widths + warp * tile->slices;
    const uint16_t *starts = tile->starts + warp * tile->slices * PS_WARP_ROWS + lane;
    for (int64_t s = 0; s < tile->slices; ++s) {
        NAME(add_columns)(values + lane, PS_WARP_ROWS, widths[s], starts + s * PS_WARP_ROWS,
                          end - begin, NAME(past_of)(p, tile->first_slice + s), to, vectors);
        values += widths[s] * PS_WARP_ROWS;
    }
    return values;
}

INLINE void NAME(add_warps)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to,
                            const int vectors)
{
    const ps_block_tile *tile = p->blocks;
    const real *values = tile->values;
    int64_t before = begin / PS_WARP_ROWS * tile->slices, widths = 0;
    for (int64_t u = 0; u < before; ++u) widths += tile->widths[u];
    values += widths * PS_WARP_ROWS;
    for (int64_t row = begin, next; row < end; row = next) {
        next = (row / PS_WARP_ROWS + 1) * PS_WARP_ROWS;
        if (next > end) next = end;
        NAME(take_sums)(p, tile->first_row + row, next - row, to);
        values = NAME(add_warp)(p, values, row, next, to, vectors);
        NAME(give_sums)(p, tile->first_row + row, next - row, to);
    }
}

/* ---- full blocks ---- */

/* Some lanes of rows of a block and `group` of their sums; count: valid lanes. sums has the g of a
 * row `pitch` apart and rows next to each other; window[g - q] is the past. */
INLINE void NAME(full_rows)(const real *values, int64_t height, int64_t columns, const real *window,
                            real *sums, int64_t pitch, int64_t count, const int group)
{
    vec sum[FULL_GROUP];
    for (int g = 0; g < group; ++g) sum[g] = NAME(load)(sums + g * pitch);
    if (count >= LANES)
        for (int64_t q = 0; q < columns; ++q) {
            vec value = NAME(load)(values + q * height);
            for (int g = 0; g < group; ++g) sum[g] += value * NAME(broadcast)(window[g - q]);
        }
    else
        for (int64_t q = 0; q < columns; ++q) {
            vec value = NAME(head)(NAME(load)(values + q * height), count);
            for (int g = 0; g < group; ++g) sum[g] += value * NAME(broadcast)(window[g - q]);
        }
    for (int g = 0; g < group; ++g) NAME(store)(sums + g * pitch, sum[g]);
}

/* Rows [begin, end) of a tile within a block that starts at row `corner`. */
INLINE void NAME(full_block)(const ps_slice_product *p, const real *values, int64_t corner,
                             int64_t begin, int64_t end, const real *window, NAME(sums) to)
{
    int64_t height = p->block_rows, columns = p->block_columns;
    for (int64_t r = begin; r < end; r += LANES) {
        const real *from = values + (r - corner);
        real *sums = to.sums + (r - begin);
        int64_t g = 0;
        for (; g + FULL_GROUP <= p->group; g += FULL_GROUP)
            NAME(full_rows)(from, height, columns, window + g, sums + g * to.pitch, to.pitch,
                            end - r, FULL_GROUP);
        for (; g + 2 <= p->group; g += 2)
            NAME(full_rows)(from, height, columns, window + g, sums + g * to.pitch, to.pitch,
                            end - r, 2);
        if (g < p->group)
            NAME(full_rows)(from, height, columns, window + g, sums + g * to.pitch, to.pitch,
                            end - r, 1);
    }
}

/* The first block of slice s that may hold row `row`. */
static int64_t NAME(full_first)(const ps_block_tile *tile, int64_t s, int64_t row)
{
    int64_t low = tile->block_start[s], high = tile->block_start[s + 1];
    while (high - low > 1) { /* corner_rows[low] <= row, or low is the first */
        int64_t middle = (low + high) / 2;
        if (tile->corner_rows[middle] <= row) low = middle;
        else high = middle;
    }
    return low;
}

static void NAME(add_full)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to)
{
    const ps_block_tile *tile = p->blocks;
    int64_t height = p->block_rows, size = height * p->block_columns;
    for (int64_t s = 0; s < tile->slices; ++s) {
        const real *base = NAME(past_of)(p, tile->first_slice + s);
        int64_t last = tile->block_start[s + 1];
        for (int64_t b = NAME(full_first)(tile, s, begin); b < last; ++b) {
            int64_t corner = tile->corner_rows[b], next = corner + height;
            if (corner >= end) break;
            if (b + 1 < last && tile->corner_rows[b + 1] < next) next = tile->corner_rows[b + 1];
            NAME(sums) part = to;
            int64_t from = corner > begin ? corner : begin;
            part.sums += from - begin;
            NAME(full_block)(p, (const real *)tile->values + b * size, corner, from,
                             next < end ? next : end, base - tile->corner_columns[b], part);
        }
    }
}

/* Sums of rows kept g by g for full blocks. */
static void NAME(add_full_rows)(const ps_slice_product *p, int64_t begin, int64_t end)
{
    _Alignas(64) real sums[PS_GROUP_MAX * (SUB_ROWS + LANES)];
    NAME(sums) to = {sums, SUB_ROWS + LANES, 1};
    for (int64_t row = begin, next; row < end; row = next) {
        next = row + SUB_ROWS < end ? row + SUB_ROWS : end;
        real *own = (real *)p->sums + (p->blocks->first_row + row) * p->sums_stride;
        for (int64_t g = 0; g < p->group; ++g)
            for (int64_t r = 0; r < next - row; ++r)
                sums[g * to.pitch + r] = own[r * p->sums_stride + g];
        NAME(add_full)(p, row, next, to);
        for (int64_t r = 0; r < next - row; ++r)
            for (int64_t g = 0; g < p->group; ++g)
                own[r * p->sums_stride + g] = sums[g * to.pitch + r];
    }
}

/* ---- a range of rows of any layout ---- */

INLINE void NAME(add_rows)(const ps_slice_product *p, int64_t begin, int64_t end, int passes,
                           const int vectors)
{
    _Alignas(64) real buffer[SUB_REALS];
    NAME(sums) to = {buffer, passes * vectors * LANES, passes};
    int64_t at_once = SUB_REALS / to.pitch < SUB_ROWS ? SUB_REALS / to.pitch : SUB_ROWS;
    if (p->layout == PS_TILE_WARP) {
        NAME(add_warps)(p, begin, end, to, vectors);
        return;
    }
    int64_t first = p->layout == PS_TILE_SLICES ? p->slices->first_row : p->blocks->first_row;
    for (int64_t row = begin, next; row < end; row = next) {
        next = (row / at_once + 1) * at_once;
        if (next > end) next = end;
        NAME(take_sums)(p, first + row, next - row, to);
        if (p->layout == PS_TILE_SLICES) NAME(add_slices)(p, row, next, to, vectors);
        else NAME(add_contiguous)(p, row, next, to, vectors);
        NAME(give_sums)(p, first + row, next - row, to);
    }
}

static void NAME(add)(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    int vectors = (int)((p->group + LANES - 1) / LANES), passes = (vectors + 3) / 4;
    if (p->layout == PS_TILE_FULL) NAME(add_full_rows)(p, row_begin, row_end);
    else if (vectors == 1) NAME(add_rows)(p, row_begin, row_end, 1, 1);
    else if (vectors == 2) NAME(add_rows)(p, row_begin, row_end, 1, 2);
    else if (vectors == 3) NAME(add_rows)(p, row_begin, row_end, 1, 3);
    else NAME(add_rows)(p, row_begin, row_end, passes, 4);
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
#undef INLINE
#undef BYTES
#undef SUFFIX
