#include "kernels/schwarz/load.h"

#include <math.h>
#include <string.h>

/* Integral of the hat about c over the part of [low, high] on one side of it. */
static double half_overlap(double c, double h, int side, double low, double high)
{
    double l = fmax(low, side < 0 ? c - h : c), u = fmin(high, side < 0 ? c : c + h);
    return u > l ? (u - l) * (1 - fabs((l + u) / 2 - c) / h) : 0;
}

void ps_line_overlaps(ps_line line, double low, double high, double *overlap)
{
    for (int64_t i = 0; i < line.nodes; ++i) {
        double c = line.start + (double)i * line.h;
        overlap[i] = (i > 0 ? half_overlap(c, line.h, -1, low, high) : 0) +
                     (i < line.nodes - 1 ? half_overlap(c, line.h, 1, low, high) : 0);
    }
}

void ps_load_add_box(const ps_q1_grid *grid, const double origin[3], const ps_prism *box,
                     double scale, double *load, double *workspace)
{
    const int64_t *n = grid->nodes;
    double *along[3] = {workspace, workspace + n[0], workspace + n[0] + n[1]};
    for (int a = 0; a < 3; ++a)
        ps_line_overlaps((ps_line){n[a], origin[a], grid->spacing[a]}, box->low[a], box->high[a],
                         along[a]);
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t j = 0; j < n[1]; ++j) {
            double area = scale * along[0][i] * along[1][j];
            double *line = load + (i * n[1] + j) * n[2];
            if (area == 0) continue;
            for (int64_t k = 0; k < n[2]; ++k) line[k] += area * along[2][k];
        }
}

/* An eighth of the element (i, j, k) to its corners. */
static void add_cell(const ps_q1_grid *grid, const int64_t at[3], double eighth, double *load)
{
    int64_t ny = grid->nodes[1], nz = grid->nodes[2];
    for (int c = 0; c < 8; ++c)
        load[((at[0] + (c >> 2)) * ny + at[1] + (c >> 1 & 1)) * nz + at[2] + (c & 1)] += eighth;
}

ps_status ps_load_set_cells(const ps_q1_grid *grid, const double *source, double scale,
                            double *load)
{
    const int64_t *n = grid->nodes;
    double eighth = scale * grid->spacing[0] * grid->spacing[1] * grid->spacing[2] / 8;
    memset(load, 0, (size_t)ps_q1_grid_size(grid) * sizeof *load);
    for (int64_t i = 0; i < n[0] - 1; ++i)
        for (int64_t j = 0; j < n[1] - 1; ++j)
            for (int64_t k = 0; k < n[2] - 1; ++k) {
                double value = source[(i * (n[1] - 1) + j) * (n[2] - 1) + k];
                if (!isfinite(value))
                    return ps_fail(PS_INVALID, "the density of cell (%lld, %lld, %lld) is %g",
                                   (long long)i, (long long)j, (long long)k, value);
                add_cell(grid, (const int64_t[3]){i, j, k}, eighth * value, load);
            }
    return PS_OK;
}

/* Sum of weight x value over the fixed neighbours of a node that is not fixed. */
static double from_fixed(const ps_slab_stencil *s, const int64_t at[3], const double *u)
{
    double sum = 0;
    for (int64_t i = at[0] - 1; i <= at[0] + 1; ++i)
        for (int64_t j = at[1] - 1; j <= at[1] + 1; ++j)
            for (int64_t k = at[2] - 1; k <= at[2] + 1; ++k) {
                if (i < 0 || i >= s->nodes[0] || !ps_stencil_fixed(s, i, j, k)) continue;
                int kind = at[0] == 0 ? 1 : at[0] == s->nodes[0] - 1 ? 2 : 0;
                const double(*w)[2] = i == at[0] ? s->plane[kind] : s->side;
                sum += w[j != at[1]][k != at[2]] * u[(i * s->nodes[1] + j) * s->nodes[2] + k];
            }
    return sum;
}

/* On a free face, the natural condition has no operator S that acts on Dirichlet data: callers
 * with such data on slabs use p = q = 0 here and lift S apart, or have none at the rim. */
void ps_load_lift(const ps_slab_stencil *s, const double *u, double *load)
{
    int64_t ny = s->nodes[1], nz = s->nodes[2];
    for (int64_t i = 0; i < s->nodes[0]; ++i)
        for (int64_t j = 0; j < ny; ++j)
            for (int64_t k = 0; k < nz; ++k) {
                int64_t at[3] = {i, j, k}, row = (i * ny + j) * nz + k;
                bool beside = i <= 1 || i >= s->nodes[0] - 2 || j <= 1 || j >= ny - 2 || k <= 1 ||
                              k >= nz - 2;
                if (ps_stencil_fixed(s, i, j, k))
                    load[row] = u[row];
                else if (beside)
                    load[row] -= from_fixed(s, at, u);
            }
}

void ps_top_gradient(const ps_q1_grid *grid, const double *u, double *out)
{
    for (int64_t c = 0; c < grid->nodes[0] * grid->nodes[1]; ++c) {
        const double *line = u + c * grid->nodes[2];
        out[c] = (-3 * line[0] + 4 * line[1] - line[2]) / (2 * grid->spacing[2]);
    }
}
