/*
 * gravity_exact: loads of boxes and the attraction of spheres in closed form.
 */
#ifndef PS_TESTS_SUPPORT_GRAVITY_EXACT_H
#define PS_TESTS_SUPPORT_GRAVITY_EXACT_H

#include <math.h>

#include "kernels/schwarz/load.h"
#include "kernels/schwarz/prism.h"

/* Integral of the hat about c over the part of [low, high] on one side of it. */
static inline double half_overlap(double c, double h, int side, double low, double high)
{
    double l = fmax(low, side < 0 ? c - h : c), u = fmin(high, side < 0 ? c : c + h);
    return u > l ? (u - l) * (1 - fabs((l + u) / 2 - c) / h) : 0;
}

/* overlap[n]: integrals of the hat functions of a line of n nodes from `start`, `h` apart, over
 * [low, high]: side s adds (u - l) (1 - |(l + u) / 2 - c| / h), [l, u] = [low, high] cap
 * [c, c + s h]. */
typedef struct node_line {
    int64_t nodes;
    double start, h;
} node_line;
static inline void line_overlaps(node_line line, double low, double high, double *overlap)
{
    for (int64_t i = 0; i < line.nodes; ++i) {
        double c = line.start + (double)i * line.h;
        overlap[i] = (i > 0 ? half_overlap(c, line.h, -1, low, high) : 0) +
                     (i < line.nodes - 1 ? half_overlap(c, line.h, 1, low, high) : 0);
    }
}

/* load[nodes] += scale x product of the overlaps with the box [low, high]. origin: of node
 * (0, 0, 0). workspace: nx + ny + nz. */
static inline void load_add_box(const ps_q1_grid *grid, const double origin[3], const ps_prism *box,
                                double scale, double *load, double *workspace)
{
    const int64_t *n = grid->nodes;
    double *along[3] = {workspace, workspace + n[0], workspace + n[0] + n[1]};
    for (int a = 0; a < 3; ++a)
        line_overlaps((node_line){n[a], origin[a], grid->spacing[a]}, box->low[a], box->high[a],
                      along[a]);
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t j = 0; j < n[1]; ++j) {
            double area = scale * along[0][i] * along[1][j];
            double *line = load + (i * n[1] + j) * n[2];
            if (area == 0) continue;
            for (int64_t k = 0; k < n[2]; ++k) line[k] += area * along[2][k];
        }
}

/* g_z of a sphere outside of it: G M d / R^3, d the depth of its centre below the point. */
static inline double sphere_vertical(double mass, const double centre[3], const double point[3],
                                     double gravity)
{
    double r2 = 0;
    for (int a = 0; a < 3; ++a) r2 += (centre[a] - point[a]) * (centre[a] - point[a]);
    return gravity * mass * (centre[2] - point[2]) / (r2 * sqrt(r2));
}

#endif
