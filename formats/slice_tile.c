/* Tiles of slices in memory: checks, statistics, the offset table. */
#include "formats/slice_matrix.h"

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
                   (long long)(tile->first_row + v % tile->rows), tile->starts[v],
                   tile->lengths[v], (long long)k_limit, (long long)d_limit);
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
    return ps_fail(PS_INVALID, "lengths add up to %lld, but there are %lld values",
                   (long long)sum, (long long)tile->value_count);
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
            int64_t rows = tile->rows - first < PS_TILE_ROW_BLOCK ? tile->rows - first
                                                                  : PS_TILE_ROW_BLOCK;
            offsets[s * blocks + b] = (uint32_t)offset;
            offset += scan_rows(tile->starts + at, tile->lengths + at, rows, (unsigned)k_limit,
                                (unsigned)d_limit, &bad);
        }
    if (bad) return find_fault(tile, k_limit, d_limit);
    return offset == tile->value_count ? PS_OK : wrong_sum(tile, offset);
}
