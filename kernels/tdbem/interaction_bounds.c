/* How far triangles and functions reach, and what that bounds. */
#include <math.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/interaction_internal.h"

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
    interaction->spread = reach;
    interaction->spread_max = interaction->reach_max;
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
    int64_t all = interaction->triangle_count * ps_reflectors_images(&interaction->mirrors);
    double extent = ps_triangles_extent(interaction->triangles, all);
    return (int64_t)fmin(extent / interaction->shell, 1e15) + ps_lags(interaction->formulation);
}

static const double *support_centre(const ps_interaction *interaction, int64_t i)
{
    return interaction->formulation == PS_SOUND_HARD ? interaction->vertices[i]
                                                     : interaction->triangles[i].centroid;
}

/* Distances of the centre of i from that of j and from its images. */
static void image_distances(const ps_interaction *interaction, int64_t i, int64_t j,
                            double *nearest, double *farthest)
{
    const double *x = support_centre(interaction, i), *y = support_centre(interaction, j);
    *nearest = *farthest = ps_distance3(x, y);
    for (int m = 1; m < ps_reflectors_images(&interaction->mirrors); ++m) {
        double image[3];
        ps_reflectors_point(&interaction->mirrors, m, y, image);
        *nearest = fmin(*nearest, ps_distance3(x, image));
        *farthest = fmax(*farthest, ps_distance3(x, image));
    }
}

int64_t ps_interval_bound(const ps_interaction *interaction, int64_t i, int64_t j, int64_t *first)
{
    double nearest, farthest;
    image_distances(interaction, i, j, &nearest, &farthest);
    double reach = interaction->reach[i] + interaction->reach[j];
    double slack = 1e-12 * (farthest + reach);
    double low = (nearest - reach - slack) / interaction->shell;
    *first = low > 0 ? (int64_t)low : 0;
    int64_t last = (int64_t)((farthest + reach + slack) / interaction->shell);
    return last - *first + 1 + ps_lags(interaction->formulation);
}

void ps_interaction_set_spread(ps_interaction *interaction, double *spread)
{
    const ps_reflectors *mirrors = &interaction->mirrors;
    interaction->spread = spread;
    interaction->spread_max = 0;
    for (int64_t i = 0; i < interaction->unknowns; ++i) {
        const double *x = support_centre(interaction, i);
        double farthest = 0;
        for (int m = 1; m < ps_reflectors_images(mirrors); ++m) {
            double y[3];
            ps_reflectors_point(mirrors, m, x, y);
            farthest = fmax(farthest, ps_distance3(x, y));
        }
        spread[i] = interaction->reach[i] + farthest / 4 * (1 + 1e-9);
        interaction->spread_max = fmax(interaction->spread_max, spread[i]);
    }
}

/* A pair's shells lie in an interval of length 2 (spread_i + spread_j); the sum over the tile is
 * linear in the spreads. */
int64_t ps_interaction_value_bound(const ps_interaction *interaction, int64_t first_row,
                                   int64_t rows, int64_t first_slice, int64_t slices)
{
    double row_sum = 0, slice_sum = 0;
    for (int64_t i = first_row; i < first_row + rows; ++i) row_sum += interaction->spread[i];
    for (int64_t j = first_slice; j < first_slice + slices; ++j)
        slice_sum += interaction->spread[j];
    double wide = 2 * (row_sum * (double)slices + slice_sum * (double)rows) / interaction->shell;
    return (int64_t)(wide * (1 + 1e-9)) + rows * slices * (3 + ps_lags(interaction->formulation));
}
