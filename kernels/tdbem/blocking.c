#include "kernels/tdbem/blocking.h"

#include <math.h>
#include <string.h>

#include "kernels/tdbem/half_values.h"

ps_status ps_blocking_check(ps_block_header *header)
{
    int64_t d_max = header->slices.d_max;
    if (header->layout == PS_BLOCK_WARP) {
        header->block_rows = PS_WARP_ROWS;
        header->block_columns = d_max > 0 ? d_max : 1;
    }
    if (header->block_rows < 1 || header->block_rows > 1024)
        return ps_fail(PS_USAGE, "--block-rows %lld: 1 to 1024 rows are possible",
                       (long long)header->block_rows);
    if (header->block_columns < d_max || header->block_columns < 1)
        return ps_fail(PS_USAGE,
                       "--block-columns %lld: the longest row-vector has d_max = %lld values, and "
                       "%s blocks never split one; use at least %lld",
                       (long long)header->block_columns, (long long)d_max,
                       ps_block_layout_name(header->layout), (long long)(d_max > 0 ? d_max : 1));
    return PS_OK;
}

/* ---- values of a tile, whatever their precision ---- */

typedef struct copier {
    const char *from; /* next value of the tile */
    size_t size;      /* of a value             */
} copier;

/* The next `count` values go to to[first], to[first + step], ...: one row of a block. */
static void copy_row(copier *copy, void *to, int64_t first, int64_t step, int64_t count)
{
    if (copy->size == sizeof(float)) {
        float *out = (float *)to + first;
        for (int64_t q = 0; q < count; ++q) memcpy(out + q * step, copy->from + q * 4, sizeof *out);
    } else {
        double *out = (double *)to + first;
        for (int64_t q = 0; q < count; ++q) memcpy(out + q * step, copy->from + q * 8, sizeof *out);
    }
    copy->from += (size_t)count * copy->size;
}

/* ---- full blocks ---- */

/* One slice of a tile. */
typedef struct slice {
    const uint16_t *starts, *lengths;
    int64_t rows;
} slice;

static slice slice_of(const ps_slice_tile *tile, int64_t s)
{
    return (slice){tile->starts + s * tile->rows, tile->lengths + s * tile->rows, tile->rows};
}

/* A block: rows [begin, end), of which begin is not empty; k of its first column. */
typedef struct block {
    int64_t begin, end, column;
} block;

/* The block that opens at or after row `row`; false if all rows left are empty. */
static bool next_block(const ps_block_header *header, slice s, int64_t row, block *out)
{
    while (row < s.rows && s.lengths[row] == 0) ++row;
    if (row >= s.rows) return false;
    int64_t low = s.starts[row], high = low + s.lengths[row], i = row + 1;
    for (; i < s.rows && i - row < header->block_rows; ++i) {
        if (s.lengths[i] == 0) continue;
        int64_t start = s.starts[i], end = start + s.lengths[i];
        int64_t new_low = start < low ? start : low, new_high = end > high ? end : high;
        if (new_high - new_low > header->block_columns) break;
        low = new_low;
        high = new_high;
    }
    *out = (block){row, i, low};
    return true;
}

static int64_t count_full(const ps_block_header *header, const ps_slice_tile *tile)
{
    int64_t count = 0;
    block b;
    for (int64_t s = 0; s < tile->slices; ++s) {
        slice own = slice_of(tile, s);
        for (int64_t row = 0; next_block(header, own, row, &b); row = b.end) ++count;
    }
    return count;
}

static void fill_full(const ps_block_header *header, const ps_slice_tile *tile, copier *copy,
                      ps_block_tile *out)
{
    int64_t count = 0, height = header->block_rows, size = height * header->block_columns;
    block b;
    for (int64_t s = 0; s < tile->slices; ++s) {
        slice own = slice_of(tile, s);
        out->block_start[s] = (uint32_t)count;
        for (int64_t row = 0; next_block(header, own, row, &b); row = b.end, ++count) {
            out->corner_rows[count] = (uint32_t)b.begin;
            out->corner_columns[count] = (uint16_t)b.column;
            for (int64_t r = b.begin; r < b.end; ++r)
                copy_row(copy, out->values,
                         count * size + (own.starts[r] - b.column) * height + r - b.begin, height,
                         own.lengths[r]);
        }
    }
    out->block_start[tile->slices] = (uint32_t)count;
}

/* ---- contiguous blocks ---- */

static int64_t count_contiguous(const ps_block_header *header, const ps_slice_tile *tile)
{
    return tile->slices * ((tile->rows + header->block_rows - 1) / header->block_rows);
}

static void fill_contiguous(const ps_block_header *header, const ps_slice_tile *tile, copier *copy,
                            ps_block_tile *out)
{
    int64_t height = header->block_rows, size = height * header->block_columns;
    int64_t per_slice = count_contiguous(header, tile) / tile->slices;
    memcpy(out->starts, tile->starts, (size_t)(tile->slices * tile->rows) * sizeof *out->starts);
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r)
            copy_row(copy, out->values, (s * per_slice + r / height) * size + r % height, height,
                     tile->lengths[s * tile->rows + r]);
}

/* ---- warps ---- */

/* The longest row-vector of warp w in slice s. */
static int64_t warp_width(const ps_slice_tile *tile, int64_t w, int64_t s)
{
    int64_t width = 0, end = (w + 1) * PS_WARP_ROWS;
    for (int64_t r = w * PS_WARP_ROWS; r < tile->rows && r < end; ++r)
        if (tile->lengths[s * tile->rows + r] > width) width = tile->lengths[s * tile->rows + r];
    return width;
}

static int64_t sum_widths(const ps_slice_tile *tile, int64_t warps)
{
    int64_t sum = 0;
    for (int64_t w = 0; w < warps; ++w)
        for (int64_t s = 0; s < tile->slices; ++s) sum += warp_width(tile, w, s);
    return sum;
}

/* What the warps of a tile are filled with. */
typedef struct filling {
    copier copy;
    ps_half_error error; /* of halves */
} filling;

/* The next row-vector, of `count` values, as halves; returns its scale. */
static uint8_t put_halves(filling *f, uint16_t *to, int64_t count)
{
    copier *copy = &f->copy;
    ps_precision precision = copy->size == sizeof(float) ? PS_SINGLE : PS_DOUBLE;
    uint8_t scale = ps_half_encode_row(copy->from, precision, count, to, PS_WARP_ROWS, &f->error);
    copy->from += (size_t)count * copy->size;
    return scale;
}

/* Rows of one warp of one slice, the first value at `at`; values of the tile at its offsets. */
static void fill_warp(const ps_slice_tile *tile, int64_t w, int64_t s, filling *f, int64_t at,
                      ps_block_tile *out)
{
    int64_t first = (w * tile->slices + s) * PS_WARP_ROWS;
    uint16_t *starts = out->starts + first, before = 1;
    for (int64_t lane = 0; lane < PS_WARP_ROWS; ++lane) {
        int64_t r = w * PS_WARP_ROWS + lane, v = s * tile->rows + r;
        starts[lane] = r < tile->rows ? tile->starts[v] : before;
        before = starts[lane];
        if (out->scales)
            out->scales[first + lane] =
                r < tile->rows
                    ? put_halves(f, (uint16_t *)out->values + at + lane, tile->lengths[v])
                    : 0;
        else if (r < tile->rows)
            copy_row(&f->copy, out->values, at + lane, PS_WARP_ROWS, tile->lengths[v]);
    }
}

static void state_error(const ps_half_error *error, ps_block_tile *out)
{
    out->error_max = error->largest;
    out->error_rms = error->values > 0 ? sqrt(error->squares / error->values) : 0;
    out->square_sum = error->values;
}

/* The tile is read slice by slice but stored warp by warp: the next value of each slice is
 * found from the offset table and the lengths since. */
static void fill_warps(const ps_slice_tile *tile, const copier *copy, ps_block_tile *out)
{
    filling f = {.copy = *copy};
    int64_t at = 0, blocks = ps_slice_tile_row_blocks(tile);
    for (int64_t w = 0; w < ps_block_tile_warps(out); ++w)
        for (int64_t s = 0; s < tile->slices; ++s) {
            int64_t row = w * PS_WARP_ROWS, r = row / PS_TILE_ROW_BLOCK * PS_TILE_ROW_BLOCK;
            int64_t offset = tile->offsets[s * blocks + row / PS_TILE_ROW_BLOCK];
            for (; r < row; ++r) offset += tile->lengths[s * tile->rows + r];
            f.copy.from = copy->from + (size_t)offset * copy->size;
            int64_t width = warp_width(tile, w, s);
            out->widths[w * tile->slices + s] = (uint16_t)width;
            fill_warp(tile, w, s, &f, at, out);
            at += width * PS_WARP_ROWS;
        }
    if (out->scales) state_error(&f.error, out);
}

/* ---- any layout ---- */

void ps_blocking_count(const ps_block_header *header, const ps_slice_tile *tile, ps_block_tile *out)
{
    *out = (ps_block_tile){.first_row = tile->first_row,
                           .rows = tile->rows,
                           .first_slice = tile->first_slice,
                           .slices = tile->slices,
                           .nnz = tile->value_count,
                           .d_max = tile->d_max,
                           .k_min = tile->k_min,
                           .k_max = tile->k_max,
                           .score = tile->score,
                           .filled = tile->filled};
    int64_t warps = ps_block_tile_warps(out);
    switch (header->layout) {
    case PS_BLOCK_FULL:
        out->block_count = count_full(header, tile);
        break;
    case PS_BLOCK_CONTIGUOUS:
        out->block_count = count_contiguous(header, tile);
        break;
    case PS_BLOCK_WARP:
        out->block_count = warps * tile->slices;
        break;
    }
    out->value_count = header->layout == PS_BLOCK_WARP
                           ? sum_widths(tile, warps) * PS_WARP_ROWS
                           : out->block_count * header->block_rows * header->block_columns;
}

void ps_blocking_fill(const ps_block_header *header, const ps_slice_tile *tile, ps_block_tile *out)
{
    size_t size = header->slices.precision == PS_SINGLE ? sizeof(float) : sizeof(double);
    copier copy = {tile->values, size};
    memset(out->values, 0, (size_t)out->value_count * (header->half ? sizeof(uint16_t) : size));
    switch (header->layout) {
    case PS_BLOCK_FULL:
        fill_full(header, tile, &copy, out);
        break;
    case PS_BLOCK_CONTIGUOUS:
        fill_contiguous(header, tile, &copy, out);
        break;
    case PS_BLOCK_WARP:
        fill_warps(tile, &copy, out);
        break;
    }
}
