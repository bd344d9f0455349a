/*
 * Full blocks, a part of slice_product_body.h: all rows of a block share one window of the past, so
 * vectors run over rows, and the past is broadcast. Sums are kept g by g for a run of rows.
 */
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
            NAME(full_rows)
            (from, height, columns, window + g, sums + g * to.pitch, to.pitch, end - r, FULL_GROUP);
        for (; g + 2 <= p->group; g += 2)
            NAME(full_rows)
            (from, height, columns, window + g, sums + g * to.pitch, to.pitch, end - r, 2);
        if (g < p->group)
            NAME(full_rows)
            (from, height, columns, window + g, sums + g * to.pitch, to.pitch, end - r, 1);
    }
}

/* The first block of slice s that may hold row `row`. */
static int64_t NAME(full_first)(const ps_block_tile *tile, int64_t s, int64_t row)
{
    int64_t low = tile->block_start[s], high = tile->block_start[s + 1];
    while (high - low > 1) { /* corner_rows[low] <= row, or low is the first */
        int64_t middle = (low + high) / 2;
        if (tile->corner_rows[middle] <= row)
            low = middle;
        else
            high = middle;
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
            NAME(full_block)
            (p, (const real *)tile->values + b * size, corner, from, next < end ? next : end,
             base - tile->corner_columns[b], part);
        }
    }
}

/* Sums of rows kept g by g for full blocks. */
static void NAME(add_full_rows)(const ps_slice_product *p, int64_t begin, int64_t end)
{
    _Alignas(64) real sums[PS_GROUP_MAX * (SUB_ROWS + LANES)];
    NAME(sums) to = {sums, SUB_ROWS + LANES, 1, 1};
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
