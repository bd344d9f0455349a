/*
 * Contiguous blocks and warps, a part of slice_product_body.h: rows stored column by column, a
 * start per row. Values are used in place.
 */
/* Up to COPY_ROWS rows of some columns of a block. */
INLINE void NAME(column_rows)(const real *values, int64_t height, int64_t width,
                              const uint16_t *starts, int64_t rows, int64_t first,
                              NAME(windows) windows, NAME(sums) to)
{
    const real *window[COPY_ROWS];
    for (int64_t r = 0; r < rows; ++r)
        window[r] = windows.from - (windows.first + starts[r] + first) * STEP;
    NAME(add_columns_panel)(values, height, width, window, to, rows);
}

/* A run of rows of a block that one table serves. */
static void NAME(column_run)(const real *values, int64_t height, int64_t width,
                             const uint16_t *starts, int64_t rows, const real *past, int64_t ahead,
                             NAME(sums) to)
{
    _Alignas(64) real table[LINES * LANES];
    for (int64_t first = 0; first < width; first += COPY_COLUMNS) {
        int64_t part = width - first < COPY_COLUMNS ? width - first : COPY_COLUMNS;
        NAME(windows)
        windows = NAME(make_windows)(past, starts, rows, first, part, table, to.vectors);
        NAME(sums) own = to;
        const real *from = values + first * height;
        for (int64_t r = 0; r < rows; r += COPY_ROWS, own.sums += COPY_ROWS * to.pitch) {
            NAME(fetch)(values + ahead + r * width, COPY_ROWS * width);
            if (rows - r >= COPY_ROWS)
                NAME(column_rows)
                (from + r, height, part, starts + r, COPY_ROWS, first, windows, own);
            else
                NAME(column_rows)
                (from + r, height, part, starts + r, rows - r, first, windows, own);
        }
    }
}

/* `rows` rows of a block stored column by column, `height` values a column. */
INLINE void NAME(add_columns)(const real *values, int64_t height, int64_t width,
                              const uint16_t *starts, int64_t rows, const real *past, int64_t ahead,
                              NAME(sums) to)
{
    for (int64_t r = 0, run; r < rows; r += run, to.sums += run * to.pitch) {
        run = NAME(run_of_rows)(starts + r, rows - r, to.vectors);
        NAME(column_run)(values + r, height, width, starts + r, run, past, ahead, to);
    }
}

static void NAME(add_contiguous)(const ps_slice_product *p, int64_t begin, int64_t end,
                                 NAME(sums) to)
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
            NAME(add_columns)
            ((const real *)tile->values + (s * per_slice + block) * size + (row - block * height),
             height, p->block_columns, tile->starts + s * tile->rows + row, next - row,
             NAME(past_of)(p, tile->first_slice + s), per_slice * size, part);
        }
}

/* The same for halves: some columns at a time as numbers of this type, which is exact. */
static void NAME(add_halves)(const uint16_t *halves, const uint8_t *scales, int64_t width,
                             const uint16_t *starts, int64_t rows, const real *past, NAME(sums) to)
{
    _Alignas(64) real columns[COPY_COLUMNS * PS_WARP_ROWS];
    real scale[PS_WARP_ROWS];
    for (int64_t r = 0; r < rows; ++r) scale[r] = ps_half_scale(scales[r]);
    for (int64_t first = 0; first < width; first += COPY_COLUMNS) {
        int64_t part = width - first < COPY_COLUMNS ? width - first : COPY_COLUMNS;
        const uint16_t *from = halves + first * PS_WARP_ROWS;
        for (int64_t q = 0; q < part; ++q)
            for (int64_t r = 0; r < rows; ++r)
                columns[q * PS_WARP_ROWS + r] =
                    ps_half_decode(from[q * PS_WARP_ROWS + r]) * scale[r];
        NAME(add_columns)(columns, PS_WARP_ROWS, part, starts, rows, past - first, 0, to);
    }
}

/* Rows [begin, end) of one warp, whose values begin at number `at`; returns where they end. */
INLINE int64_t NAME(add_warp)(const ps_slice_product *p, int64_t at, int64_t begin, int64_t end,
                              NAME(sums) to)
{
    const ps_block_tile *tile = p->blocks;
    int64_t lane = begin % PS_WARP_ROWS, unit = begin / PS_WARP_ROWS * tile->slices;
    for (int64_t s = 0; s < tile->slices; ++s, ++unit) {
        int64_t width = tile->widths[unit], own = unit * PS_WARP_ROWS + lane;
        const real *past = NAME(past_of)(p, tile->first_slice + s);
        if (tile->scales)
            NAME(add_halves)
            ((const uint16_t *)tile->values + at + lane, tile->scales + own, width,
             tile->starts + own, end - begin, past, to);
        else
            NAME(add_columns)
            ((const real *)tile->values + at + lane, PS_WARP_ROWS, width, tile->starts + own,
             end - begin, past, 4 * PS_WARP_ROWS * width, to);
        at += width * PS_WARP_ROWS;
    }
    return at;
}

static void NAME(add_warps)(const ps_slice_product *p, int64_t begin, int64_t end, NAME(sums) to)
{
    const ps_block_tile *tile = p->blocks;
    int64_t before = begin / PS_WARP_ROWS * tile->slices, at = 0;
    for (int64_t u = 0; u < before; ++u) at += tile->widths[u] * PS_WARP_ROWS;
    for (int64_t row = begin, next; row < end; row = next) {
        next = (row / PS_WARP_ROWS + 1) * PS_WARP_ROWS;
        if (next > end) next = end;
        NAME(take_sums)(p, tile->first_row + row, next - row, to);
        at = NAME(add_warp)(p, at, row, next, to);
        NAME(give_sums)(p, tile->first_row + row, next - row, to);
    }
}
