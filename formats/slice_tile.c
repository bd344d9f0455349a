/* Tiles of slices in memory: tiling, checks, statistics, the offset table. */
#include "formats/slice_matrix.h"
#include "runtime/sizes.h"

/* ---- tiling ---- */

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t row_tiles(const ps_slice_tiling *tiling)
{
    return quotient_up(tiling->unknowns, tiling->tile_rows);
}

int64_t ps_slice_tiling_count(const ps_slice_tiling *tiling)
{
    return row_tiles(tiling) *
           quotient_up(tiling->end_slice - tiling->first_slice, tiling->tile_slices);
}

void ps_slice_tiling_range(const ps_slice_tiling *tiling, int64_t index, ps_slice_tile *tile)
{
    tile->first_row = index % row_tiles(tiling) * tiling->tile_rows;
    tile->rows = ps_smaller(tiling->tile_rows, tiling->unknowns - tile->first_row);
    tile->first_slice = tiling->first_slice + index / row_tiles(tiling) * tiling->tile_slices;
    tile->slices = ps_smaller(tiling->tile_slices, tiling->end_slice - tile->first_slice);
}

ps_status ps_slice_tiling_check(const ps_slice_tiling *t)
{
    bool good = t->unknowns >= 1 && t->unknowns <= INT32_MAX && t->tile_rows >= 1 &&
                t->tile_rows <= t->unknowns && t->tile_slices >= 1 && t->first_slice >= 0 &&
                t->end_slice > t->first_slice && t->end_slice <= t->unknowns &&
                t->value_capacity >= 0 && t->value_capacity <= UINT32_MAX &&
                t->tile_slices <= UINT32_MAX / t->tile_rows;
    if (!good)
        return ps_fail(PS_USAGE,
                       "no tiling: %lld unknowns in tiles of %lld rows x %lld slices over slices "
                       "%lld..%lld with at most %lld values",
                       (long long)t->unknowns, (long long)t->tile_rows, (long long)t->tile_slices,
                       (long long)t->first_slice, (long long)t->end_slice,
                       (long long)t->value_capacity);
    if (t->tile_rows % 256 != 0 && t->tile_rows != t->unknowns)
        return ps_fail(PS_USAGE, "tiles of %lld rows: a multiple of 256, or all %lld rows, wanted",
                       (long long)t->tile_rows, (long long)t->unknowns);
    return PS_OK;
}

ps_status ps_slice_tiles_cover(const ps_slice_tile *tiles, int64_t count, int64_t unknowns)
{
    int64_t row = 0, slice = 0, slices = 0;
    for (int64_t t = 0; t < count; ++t) {
        const ps_slice_tile *tile = &tiles[t];
        if (row == 0) slices = tile->slices;
        if (tile->first_row != row || tile->first_slice != slice || tile->slices != slices ||
            tile->rows < 1 || tile->slices < 1 || tile->rows > unknowns - row ||
            tile->slices > unknowns - slice)
            return ps_fail(PS_INVALID,
                           "tile %lld covers rows %lld +%lld, slices %lld +%lld, where row %lld of "
                           "slice %lld comes next%s",
                           (long long)t, (long long)tile->first_row, (long long)tile->rows,
                           (long long)tile->first_slice, (long long)tile->slices, (long long)row,
                           (long long)slice,
                           t == 0 ? "; if this is one part of a run, open the master file" : "");
        row += tile->rows;
        if (row < unknowns) continue;
        row = 0;
        slice += slices;
    }
    if (row == 0 && slice == unknowns) return PS_OK;
    return ps_fail(PS_INVALID,
                   "the tiles end at row %lld of slice %lld of %lld; if this is one part of a run, "
                   "open the master file",
                   (long long)row, (long long)slice, (long long)unknowns);
}

/* ---- a tile ---- */

int64_t ps_slice_tile_row_blocks(const ps_slice_tile *tile)
{
    return (tile->rows + PS_TILE_ROW_BLOCK - 1) / PS_TILE_ROW_BLOCK;
}

void ps_slice_tile_fill_starts(ps_slice_tile *tile)
{
    for (int64_t s = 0; s < tile->slices; ++s) {
        uint16_t *starts = tile->starts + s * tile->rows, before = 1;
        const uint16_t *lengths = tile->lengths + s * tile->rows;
        for (int64_t r = 0; r < tile->rows; ++r) {
            if (lengths[r] == 0) starts[r] = before;
            before = starts[r];
        }
    }
}

static ps_status fault_at(const ps_slice_tile *tile, int64_t v, int64_t k_limit, int64_t d_limit)
{
    return ps_fail(PS_INVALID,
                   "slice %lld, row %lld: start %d and length %d; starts must lie in 1..%lld, "
                   "lengths be at most %lld and end by then",
                   (long long)(tile->first_slice + v / tile->rows),
                   (long long)(tile->first_row + v % tile->rows), tile->starts[v], tile->lengths[v],
                   (long long)k_limit, (long long)d_limit);
}

static bool outside(unsigned start, unsigned length, unsigned k_limit, unsigned d_limit)
{
    return start < 1 || start > k_limit || start + length > k_limit + 1 || length > d_limit;
}

static ps_status find_fault(const ps_slice_tile *tile, int64_t k_limit, int64_t d_limit)
{
    for (int64_t v = 0; v < tile->slices * tile->rows; ++v)
        if (outside(tile->starts[v], tile->lengths[v], (unsigned)k_limit, (unsigned)d_limit))
            return fault_at(tile, v, k_limit, d_limit);
    return PS_OK;
}

static ps_status wrong_sum(const ps_slice_tile *tile, int64_t sum)
{
    return ps_fail(PS_INVALID, "lengths add up to %lld, but there are %lld values", (long long)sum,
                   (long long)tile->value_count);
}

/* Sum of q^2 over consecutive rows of a slice, q the number of common k. */
static int64_t common_squares(const uint16_t *starts, const uint16_t *lengths, int64_t rows)
{
    int64_t sum = 0;
    for (int64_t r = 1; r < rows; ++r) {
        int low = starts[r] > starts[r - 1] ? starts[r] : starts[r - 1];
        int end = starts[r] + lengths[r], end_before = starts[r - 1] + lengths[r - 1];
        int common = (end < end_before ? end : end_before) - low;
        if (common > 0) sum += (int64_t)common * common;
    }
    return sum;
}

static void measure_ends(ps_slice_tile *tile, int64_t *histogram)
{
    int64_t d_max = 0, k_min = PS_K_LIMIT + 1, k_max = 0, filled = 0;
    for (int64_t v = 0; v < tile->slices * tile->rows; ++v) {
        int64_t length = tile->lengths[v], start = tile->starts[v];
        histogram[length < PS_LENGTH_BINS ? length : PS_LENGTH_BINS - 1]++;
        if (length == 0) continue;
        ++filled;
        if (length > d_max) d_max = length;
        if (start < k_min) k_min = start;
        if (start + length - 1 > k_max) k_max = start + length - 1;
    }
    tile->d_max = (double)d_max;
    tile->k_min = filled ? (double)k_min : 0;
    tile->k_max = (double)k_max;
    tile->filled = (double)filled;
}

ps_status ps_slice_tile_measure(ps_slice_tile *tile, int64_t k_limit, int64_t *histogram)
{
    PS_TRY(find_fault(tile, k_limit, k_limit));
    int64_t sum = 0, squares = 0;
    for (int64_t v = 0; v < tile->slices * tile->rows; ++v) sum += tile->lengths[v];
    if (sum != tile->value_count) return wrong_sum(tile, sum);
    measure_ends(tile, histogram);
    for (int64_t s = 0; s < tile->slices; ++s)
        squares += common_squares(tile->starts + s * tile->rows, tile->lengths + s * tile->rows,
                                  tile->rows);
    tile->score = tile->rows > 1 ? (double)squares / (double)(tile->slices * (tile->rows - 1)) : 0;
    return PS_OK;
}

/* Sum of the lengths of up to one row block; *bad collects faults. Branch-free: vectorises. */
static uint32_t scan_rows(const uint16_t *restrict starts, const uint16_t *restrict lengths,
                          int64_t rows, unsigned k_limit, unsigned d_limit, unsigned *bad)
{
    uint32_t sum = 0;
    unsigned faults = 0;
    for (int64_t r = 0; r < rows; ++r) {
        unsigned start = starts[r], length = lengths[r];
        sum += length;
        faults |= (unsigned)(start - 1 >= k_limit) | (unsigned)(start + length > k_limit + 1) |
                  (unsigned)(length > d_limit);
    }
    *bad |= faults;
    return sum;
}

ps_status ps_slice_tile_index(const ps_slice_tile *tile, int64_t k_limit, int64_t d_limit,
                              uint32_t *offsets)
{
    int64_t blocks = ps_slice_tile_row_blocks(tile), offset = 0;
    unsigned bad = 0;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t b = 0; b < blocks; ++b) {
            int64_t first = b * PS_TILE_ROW_BLOCK, at = s * tile->rows + first;
            int64_t rows =
                tile->rows - first < PS_TILE_ROW_BLOCK ? tile->rows - first : PS_TILE_ROW_BLOCK;
            offsets[s * blocks + b] = (uint32_t)offset;
            offset += scan_rows(tile->starts + at, tile->lengths + at, rows, (unsigned)k_limit,
                                (unsigned)d_limit, &bad);
        }
    if (bad) return find_fault(tile, k_limit, d_limit);
    return offset == tile->value_count ? PS_OK : wrong_sum(tile, offset);
}
