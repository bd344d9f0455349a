#include "kernels/schwarz/load.h"

#include <math.h>
#include <string.h>

/* What a cell of density `amount` / volume gives to the corners of its element, which it is the
 * part `at` of, one of refine[3]: the integral of their hat functions. */
static void add_cell(const ps_q1_grid *grid, const int64_t refine[3], const int64_t at[3],
                     double amount, double *load)
{
    double weight[3][2];
    int64_t ny = grid->nodes[1], nz = grid->nodes[2], e[3];
    for (int a = 0; a < 3; ++a) {
        e[a] = at[a] / refine[a];
        weight[a][1] = ((double)(at[a] % refine[a]) + .5) / (double)refine[a];
        weight[a][0] = 1 - weight[a][1];
    }
    for (int c = 0; c < 8; ++c)
        load[((e[0] + (c >> 2)) * ny + e[1] + (c >> 1 & 1)) * nz + e[2] + (c & 1)] +=
            amount * weight[0][c >> 2] * weight[1][c >> 1 & 1] * weight[2][c & 1];
}

ps_status ps_load_set_cells(const ps_q1_grid *grid, const int64_t refine[3], const double *source,
                            double scale, double *load)
{
    const double *h = grid->spacing;
    int64_t cells[3], parts = refine[0] * refine[1] * refine[2];
    double volume = scale * h[0] * h[1] * h[2] / (double)parts;
    for (int a = 0; a < 3; ++a) cells[a] = (grid->nodes[a] - 1) * refine[a];
    memset(load, 0, (size_t)ps_q1_grid_size(grid) * sizeof *load);
    for (int64_t i = 0; i < cells[0]; ++i)
        for (int64_t j = 0; j < cells[1]; ++j)
            for (int64_t k = 0; k < cells[2]; ++k) {
                double value = source[(i * cells[1] + j) * cells[2] + k];
                if (!isfinite(value))
                    return ps_fail(PS_INVALID, "the density of cell (%lld, %lld, %lld) is %g",
                                   (long long)i, (long long)j, (long long)k, value);
                if (value != 0)
                    add_cell(grid, refine, (const int64_t[3]){i, j, k}, volume * value, load);
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

/* w at the nodes around node k of a line, w'' = -source, w = w' = 0 there. */
static void particular(const ps_gradient_line *line, int64_t k, int64_t first, int count, double *w)
{
    double h = line->h, value = 0, slope = 0;
    w[k - first] = 0;
    for (int64_t i = k; i + 1 < first + count; ++i) {
        double f = line->source[i];
        w[i + 1 - first] = value += h * slope - h * h * f / 2;
        slope -= h * f;
    }
    value = slope = 0;
    for (int64_t i = k; i > first; --i) {
        double f = line->source[i - 1];
        w[i - 1 - first] = value -= h * slope + h * h * f / 2;
        slope += h * f;
    }
}

double ps_gradient_at(const ps_gradient_line *line, int64_t k)
{
    static const double five[5][5] = {{-25, 48, -36, 16, -3},
                                      {-3, -10, 18, -6, 1},
                                      {1, -8, 0, 8, -1},
                                      {-1, 6, -18, 10, 3},
                                      {3, -16, 36, -48, 25}};
    static const double three[3][3] = {{-18, 24, -6}, {-6, 0, 6}, {6, -24, 18}};
    int count = line->nodes < 5 ? 3 : 5;
    int64_t first = k - count / 2, last = line->nodes - count;
    first = first < 0 ? 0 : first > last ? last : first;
    const double *weights = count == 5 ? five[k - first] : three[k - first];
    double w[5] = {0}, sum = 0;
    if (line->source) particular(line, k, first, count, w);
    for (int i = 0; i < count; ++i) sum += weights[i] * (line->u[first + i] - w[i]);
    return sum / (12 * line->h);
}
