/* Row-vectors and entries of k = 0 into a tile, and the mirror of one. */
#include <math.h>
#include <string.h>

#include "kernels/tdbem/interaction_internal.h"

static const double trim_level = 1e-12; /* of the largest entry of a pair (guide 2.6)      */

static void append_near(ps_interaction_tile *tile, int64_t row, int64_t slice, double value)
{
    tile->near_rows[tile->near_count] = (int32_t)row;
    tile->near_columns[tile->near_count] = (int32_t)slice;
    tile->near_values[tile->near_count++] = value;
}

ps_status ps_tile_append(ps_interaction_tile *tile, int64_t row, int64_t slice, int64_t first,
                         int64_t count, const double *m)
{
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) largest = fmax(largest, fabs(m[i]));
    int64_t low = first == 0 ? 1 : 0, high = count;
    double level = trim_level * largest;
    if (first == 0 && count > 0 && largest > 0 && fabs(m[0]) >= level)
        append_near(tile, row, slice, m[0]);
    while (low < high && !(fabs(m[low]) >= level && largest > 0)) ++low;
    while (high > low && !(fabs(m[high - 1]) >= level)) --high;
    int64_t v = (slice - tile->first_slice) * tile->rows + row - tile->first_row;
    int64_t length = high > low ? high - low : 0;
    if (length > UINT16_MAX || first + high > UINT16_MAX + 1)
        return ps_fail(PS_FAILED, "k = %lld does not fit 16 bits; choose a larger --dt",
                       (long long)(first + high - 1));
    if (tile->value_count + length > tile->value_capacity)
        return ps_fail(PS_FAILED, "internal error: capacity of %lld values is too small",
                       (long long)tile->value_capacity);
    tile->starts[v] = (uint16_t)(length ? first + low : 0);
    tile->lengths[v] = (uint16_t)length;
    if (length) {
        memcpy(tile->values + tile->value_count, m + low, (size_t)length * sizeof *m);
        tile->value_count += length;
        if (first + high - 1 > tile->k_max) tile->k_max = first + high - 1;
    }
    return PS_OK;
}

ps_status ps_interaction_transpose(const ps_interaction_tile *tile, int64_t *offsets,
                                   ps_interaction_tile *out)
{
    if (out->value_capacity < tile->value_count)
        return ps_fail(PS_FAILED, "internal error: capacity of %lld values is too small",
                       (long long)out->value_capacity);
    int64_t offset = 0;
    for (int64_t s = 0; s < tile->slices; ++s) {
        offsets[s] = offset;
        for (int64_t r = 0; r < tile->rows; ++r) offset += tile->lengths[s * tile->rows + r];
    }
    out->value_count = out->near_count = 0;
    for (int64_t r = 0; r < tile->rows; ++r)
        for (int64_t s = 0; s < tile->slices; ++s) {
            int64_t from = s * tile->rows + r, to = r * tile->slices + s;
            int64_t length = tile->lengths[from];
            out->starts[to] = tile->starts[from];
            out->lengths[to] = tile->lengths[from];
            memcpy(out->values + out->value_count, tile->values + offsets[s],
                   (size_t)length * sizeof(double));
            offsets[s] += length;
            out->value_count += length;
        }
    for (int64_t e = 0; e < tile->near_count; ++e)
        append_near(out, tile->near_columns[e], tile->near_rows[e], tile->near_values[e]);
    out->k_max = tile->k_max;
    out->pairs = 0;
    return PS_OK;
}
