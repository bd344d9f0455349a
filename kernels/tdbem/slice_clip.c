#include "kernels/tdbem/slice_clip.h"

#include <string.h>

/* Clips the row-vectors; values move to the front. */
static void clip_rows(ps_slice_tile *tile, size_t size, int64_t k_from, int64_t k_below)
{
    int64_t from = 0, to = 0;
    for (int64_t v = 0; v < tile->slices * tile->rows; ++v) {
        int64_t start = tile->starts[v], end = start + tile->lengths[v];
        int64_t low = start > k_from ? start : k_from, high = end < k_below ? end : k_below;
        int64_t length = high > low ? high - low : 0;
        if (tile->values && length > 0)
            memmove((char *)tile->values + (size_t)to * size,
                    (const char *)tile->values + (size_t)(from + low - start) * size,
                    (size_t)length * size);
        from += tile->lengths[v];
        to += length;
        tile->starts[v] = (uint16_t)(length > 0 ? low : start);
        tile->lengths[v] = (uint16_t)length;
    }
    tile->value_count = to;
}

/* Empty row-vectors take the start of a neighbour, so that the starts of a warp stay together. */
static void fill_starts(ps_slice_tile *tile)
{
    for (int64_t s = 0; s < tile->slices; ++s) {
        uint16_t *starts = tile->starts + s * tile->rows, before = 1;
        const uint16_t *lengths = tile->lengths + s * tile->rows;
        int64_t first = 0;
        while (first < tile->rows && lengths[first] == 0) ++first;
        if (first < tile->rows) before = starts[first];
        for (int64_t r = 0; r < tile->rows; ++r) {
            if (lengths[r] == 0) starts[r] = before;
            before = starts[r];
        }
    }
}

ps_status ps_slice_clip(ps_slice_tile *tile, ps_precision precision, int64_t k_from,
                        int64_t k_below, uint32_t *offsets)
{
    int64_t histogram[PS_LENGTH_BINS] = {0};
    clip_rows(tile, precision == PS_SINGLE ? sizeof(float) : sizeof(double), k_from, k_below);
    fill_starts(tile);
    PS_TRY(ps_slice_tile_measure(tile, PS_K_LIMIT, histogram));
    PS_TRY(ps_slice_tile_index(tile, PS_K_LIMIT, PS_K_LIMIT, offsets));
    tile->offsets = offsets;
    return PS_OK;
}
