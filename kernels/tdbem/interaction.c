#include "kernels/tdbem/interaction.h"

#include <math.h>
#include <string.h>

#include "kernels/tdbem/interaction_internal.h"
#include "runtime/sizes.h"

static const double trim_level = 1e-12; /* of the largest entry of a pair (guide 2.6)      */
/* The outer rule was tested up to h = 8 D, where the longest edges are 10 D; above, triangles are
 * cut until their edges are at most 8 D (guide 2.5). */
static const double longest_tested = 10, longest_after_cutting = 8; /* in D */

int ps_lags(ps_formulation formulation)
{
    switch (formulation) {
    case PS_SOUND_SOFT_S:
        return 0;
    case PS_SOUND_SOFT_M:
        return 1;
    default:
        return 2;
    }
}

/* ---- setting up ---- */

static double patch_reach(const ps_interaction *interaction, int64_t vertex)
{
    double reach = 0;
    const double *x = interaction->vertices[vertex];
    for (int64_t p = interaction->around_start[vertex]; p < interaction->around_start[vertex + 1];
         ++p) {
        const ps_triangle *triangle = &interaction->triangles[interaction->around[p]];
        for (int v = 0; v < 3; ++v) {
            const double *y = triangle->vertex[v];
            reach = fmax(reach, sqrt((y[0] - x[0]) * (y[0] - x[0]) + (y[1] - x[1]) * (y[1] - x[1]) +
                                     (y[2] - x[2]) * (y[2] - x[2])));
        }
    }
    return reach;
}

void ps_interaction_set_reach(ps_interaction *interaction, double *reach)
{
    interaction->reach = reach;
    interaction->reach_max = interaction->triangle_reach_max = 0;
    interaction->parts_max = 1;
    for (int64_t t = 0; t < interaction->triangle_count; ++t) {
        int parts = ps_interaction_parts(interaction, t);
        interaction->triangle_reach_max =
            fmax(interaction->triangle_reach_max, interaction->triangles[t].radius);
        if (parts > interaction->parts_max) interaction->parts_max = parts;
    }
    for (int64_t i = 0; i < interaction->unknowns; ++i) {
        reach[i] = interaction->formulation == PS_SOUND_HARD ? patch_reach(interaction, i)
                                                             : interaction->triangles[i].radius;
        interaction->reach_max = fmax(interaction->reach_max, reach[i]);
    }
}

int ps_interaction_parts(const ps_interaction *interaction, int64_t triangle)
{
    double longest = ps_triangle_longest_edge(&interaction->triangles[triangle]);
    int cut = (int)interaction->triangles[triangle].cut;
    if (longest <= longest_tested * interaction->shell) return cut;
    return cut * (int)fmin(ceil(longest / (longest_after_cutting * interaction->shell)), 1024);
}

int64_t ps_interaction_k_bound(const ps_interaction *interaction)
{
    double extent = ps_triangles_extent(interaction->triangles, interaction->triangle_count);
    return (int64_t)fmin(extent / interaction->shell, 1e15) + ps_lags(interaction->formulation);
}

static const double *support_centre(const ps_interaction *interaction, int64_t i)
{
    return interaction->formulation == PS_SOUND_HARD ? interaction->vertices[i]
                                                     : interaction->triangles[i].centroid;
}

int64_t ps_interval_bound(const ps_interaction *interaction, int64_t i, int64_t j, int64_t *first)
{
    const double *x = support_centre(interaction, i), *y = support_centre(interaction, j);
    double u = x[0] - y[0], v = x[1] - y[1], w = x[2] - y[2];
    double distance = sqrt(u * u + v * v + w * w);
    double reach = interaction->reach[i] + interaction->reach[j];
    double slack = 1e-12 * (distance + reach);
    double low = (distance - reach - slack) / interaction->shell;
    *first = low > 0 ? (int64_t)low : 0;
    int64_t last = (int64_t)((distance + reach + slack) / interaction->shell);
    return last - *first + 1 + ps_lags(interaction->formulation);
}

/* A pair's shells lie in an interval of length 2 (reach_i + reach_j); the sum over the tile is
 * linear in the reaches. */
int64_t ps_interaction_value_bound(const ps_interaction *interaction, int64_t first_row,
                                   int64_t rows, int64_t first_slice, int64_t slices)
{
    double row_sum = 0, slice_sum = 0;
    for (int64_t i = first_row; i < first_row + rows; ++i) row_sum += interaction->reach[i];
    for (int64_t j = first_slice; j < first_slice + slices; ++j) slice_sum += interaction->reach[j];
    double wide = 2 * (row_sum * (double)slices + slice_sum * (double)rows) / interaction->shell;
    return (int64_t)(wide * (1 + 1e-9)) + rows * slices * (3 + ps_lags(interaction->formulation));
}

int64_t ps_interaction_workspace(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                                 int64_t first_slice, int64_t slices)
{
    ps_interaction_tile tile = {
        .first_row = first_row, .rows = rows, .first_slice = first_slice, .slices = slices};
    ps_carver carver = {NULL, 0};
    if (interaction->formulation == PS_SOUND_HARD)
        ps_hard_compute(interaction, &tile, &carver);
    else
        ps_soft_compute(interaction, &tile, &carver);
    return carver.used + 64;
}

/* Raises the bounds to what the square of these rows and slices needs. */
static void widen(const ps_interaction *interaction, int64_t side, int64_t row, int64_t slice,
                  int64_t bounds[2])
{
    int64_t n = interaction->unknowns;
    int64_t rows = ps_smaller(side, n - row), slices = ps_smaller(side, n - slice);
    int64_t values = ps_interaction_value_bound(interaction, row, rows, slice, slices);
    int64_t workspace = ps_interaction_workspace(interaction, row, rows, slice, slices);
    bounds[0] = values > bounds[0] ? values : bounds[0];
    bounds[1] = workspace > bounds[1] ? workspace : bounds[1];
}

void ps_interaction_square_bounds(const ps_interaction *interaction, int64_t side, int64_t *values,
                                  int64_t *workspace)
{
    enum { ROUNDING = 65536 }; /* of the pieces of the workspace */
    int64_t n = interaction->unknowns, last = (n - 1) / side * side, bounds[2] = {0, 0};
    for (int64_t first = 0; first < n; first += side) {
        widen(interaction, side, first, first, bounds);
        widen(interaction, side, first, last, bounds);
        widen(interaction, side, last, first, bounds);
    }
    *values = bounds[0];
    *workspace = bounds[1] + ROUNDING;
}

/* ---- computing ---- */

ps_status ps_interaction_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                                 void *workspace, int64_t workspace_bytes)
{
    int64_t needed = ps_interaction_workspace(interaction, tile->first_row, tile->rows,
                                              tile->first_slice, tile->slices);
    if (needed > workspace_bytes)
        return ps_fail(PS_EXHAUSTED,
                       "the workspace of an interaction tile needs %lld bytes, not %lld",
                       (long long)needed, (long long)workspace_bytes);
    uintptr_t address = (uintptr_t)workspace;
    ps_carver carver = {(char *)workspace + (64 - address % 64) % 64, 0};
    tile->value_count = tile->near_count = tile->k_max = tile->pairs = 0;
    return interaction->formulation == PS_SOUND_HARD ? ps_hard_compute(interaction, tile, &carver)
                                                     : ps_soft_compute(interaction, tile, &carver);
}

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
