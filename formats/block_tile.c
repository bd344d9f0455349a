/* Tiles of blocks in memory: sizes, places and checks. */
#include "formats/block_matrix.h"
#include "formats/tile_set.h"
#include "runtime/sizes.h"

int64_t ps_block_tile_warps(const ps_block_tile *tile)
{
    return (tile->rows + PS_WARP_ROWS - 1) / PS_WARP_ROWS;
}

int64_t ps_block_tile_value_bytes(const ps_block_header *header)
{
    return header->half ? 2 : header->slices.precision == PS_SINGLE ? 4 : 8;
}

int64_t ps_block_tile_place(const ps_block_header *header, ps_block_tile *tile, void *memory)
{
    bool full = header->layout == PS_BLOCK_FULL, warp = header->layout == PS_BLOCK_WARP;
    int64_t warps = ps_block_tile_warps(tile) * tile->slices, at = 0;
    const struct {
        bool there;
        void **pointer;
        int64_t bytes;
    } arrays[] = {
        {full, (void **)&tile->block_start, 4 * (tile->slices + 1)},
        {full, (void **)&tile->corner_rows, 4 * tile->block_count},
        {full, (void **)&tile->corner_columns, 2 * tile->block_count},
        {!full, (void **)&tile->starts,
         2 * (warp ? warps * PS_WARP_ROWS : tile->slices * tile->rows)},
        {warp, (void **)&tile->widths, 2 * warps},
        {header->half, (void **)&tile->scales, warps * PS_WARP_ROWS},
        {true, &tile->values, tile->value_count * ps_block_tile_value_bytes(header)},
    };
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) {
        if (!arrays[a].there) continue;
        if (memory) *arrays[a].pointer = (char *)memory + at;
        at += ps_padded(arrays[a].bytes + PS_TILE_SLACK);
    }
    if (!header->half) tile->scales = NULL;
    return at;
}

static ps_status wrong_count(const char *what, int64_t count, int64_t due)
{
    return ps_fail(PS_INVALID, "%lld %s, where its other figures ask for %lld", (long long)count,
                   what, (long long)due);
}

/* Starts or corner columns: within 1..k_limit. */
static ps_status check_starts(const char *what, const uint16_t *starts, int64_t count,
                              unsigned k_limit)
{
    unsigned bad = 0;
    for (int64_t v = 0; v < count; ++v) bad |= (unsigned)(starts[v] - 1u >= k_limit);
    for (int64_t v = 0; bad && v < count; ++v)
        if (starts[v] - 1u >= k_limit)
            return ps_fail(PS_INVALID, "%s %lld is %d, outside 1..%u", what, (long long)v,
                           starts[v], k_limit);
    return PS_OK;
}

static ps_status check_corners(const ps_block_tile *tile, int64_t slice)
{
    int64_t before = -1;
    for (int64_t b = tile->block_start[slice]; b < tile->block_start[slice + 1]; ++b) {
        if (tile->corner_rows[b] <= before || tile->corner_rows[b] >= tile->rows)
            return ps_fail(
                PS_INVALID,
                "block %lld begins at row %u after %lld; rows must ascend within 0..%lld",
                (long long)b, tile->corner_rows[b], (long long)before, (long long)tile->rows - 1);
        before = tile->corner_rows[b];
    }
    return PS_OK;
}

static ps_status check_full(const ps_block_header *header, const ps_block_tile *tile,
                            unsigned k_limit)
{
    int64_t due = tile->block_count * header->block_rows * header->block_columns;
    if (tile->value_count != due) return wrong_count("values", tile->value_count, due);
    if (tile->block_start[0] != 0 || tile->block_start[tile->slices] != tile->block_count)
        return wrong_count("blocks", tile->block_start[tile->slices], tile->block_count);
    for (int64_t s = 0; s < tile->slices; ++s)
        if (tile->block_start[s + 1] < tile->block_start[s])
            return ps_fail(PS_INVALID, "slice %lld has a negative number of blocks",
                           (long long)(tile->first_slice + s));
    for (int64_t s = 0; s < tile->slices; ++s) PS_TRY(check_corners(tile, s));
    return check_starts("corner column", tile->corner_columns, tile->block_count, k_limit);
}

static ps_status check_contiguous(const ps_block_header *header, const ps_block_tile *tile,
                                  unsigned k_limit)
{
    int64_t blocks = tile->slices * ((tile->rows + header->block_rows - 1) / header->block_rows);
    int64_t due = blocks * header->block_rows * header->block_columns;
    if (tile->block_count != blocks) return wrong_count("blocks", tile->block_count, blocks);
    if (tile->value_count != due) return wrong_count("values", tile->value_count, due);
    return check_starts("start", tile->starts, tile->slices * tile->rows, k_limit);
}

/* Subnormal, infinite or NaN? Normal magnitudes are 0x0400 .. 0x7bff. */
static unsigned is_unfit(unsigned half)
{
    unsigned magnitude = half & 0x7fffu;
    return (unsigned)(magnitude - 0x0400u >= 0x7800u) & (unsigned)(magnitude != 0);
}

static ps_status check_halves(const ps_block_tile *tile)
{
    const uint16_t *halves = tile->values;
    unsigned bad = 0;
    for (int64_t v = 0; v < tile->value_count; ++v) bad |= is_unfit(halves[v]);
    for (int64_t v = 0; bad && v < tile->value_count; ++v)
        if (is_unfit(halves[v]))
            return ps_fail(PS_INVALID, "value %lld is the half %#06x, neither 0 nor normal",
                           (long long)v, halves[v]);
    return PS_OK;
}

static ps_status check_warps(const ps_block_tile *tile, unsigned k_limit)
{
    int64_t blocks = ps_block_tile_warps(tile) * tile->slices, sum = 0;
    if (tile->block_count != blocks) return wrong_count("blocks", tile->block_count, blocks);
    for (int64_t b = 0; b < blocks; ++b) {
        if (tile->widths[b] > tile->d_max)
            return ps_fail(PS_INVALID, "width %lld is %d, above %g", (long long)b, tile->widths[b],
                           tile->d_max);
        sum += tile->widths[b];
    }
    if (tile->value_count != sum * PS_WARP_ROWS)
        return wrong_count("values", tile->value_count, sum * PS_WARP_ROWS);
    if (tile->scales) PS_TRY(check_halves(tile));
    return check_starts("start", tile->starts, blocks * PS_WARP_ROWS, k_limit);
}

ps_status ps_block_tile_check(const ps_block_header *header, const ps_block_tile *tile)
{
    unsigned k_limit = tile->k_max >= 1 ? (unsigned)tile->k_max : 1;
    switch (header->layout) {
    case PS_BLOCK_FULL:
        return check_full(header, tile, k_limit);
    case PS_BLOCK_CONTIGUOUS:
        return check_contiguous(header, tile, k_limit);
    default:
        return check_warps(tile, k_limit);
    }
}
