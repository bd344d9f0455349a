#include "kernels/schwarz/vertical.h"

#include <string.h>

#include "kernels/schwarz/plane_sum.h"
#include "kernels/schwarz/prism.h"

/* Attraction of a cell with sides h, density 1 and G = 1, whose lowest corner is at d from the
 * point. */
static double cell_vertical(const double d[3], const double h[3])
{
    static const double origin[3] = {0, 0, 0};
    const ps_prism prism = {
        {d[0], d[1], d[2]}, {d[0] + h[0], d[1] + h[1], d[2] + h[2]}, .density = 1};
    return ps_prism_vertical(&prism, origin, 1);
}

bool ps_vertical_by_fft(void)
{
#ifdef PS_WITH_FFTW
    return true;
#else
    return false;
#endif
}

int64_t ps_vertical_bytes(const ps_q1_grid *cells, bool fft)
{
    const int64_t plane[2] = {cells->nodes[0] - 1, cells->nodes[1] - 1};
    return fft ? ps_plane_sum_bytes(plane) : 0;
}

int64_t ps_vertical_workspace(const ps_q1_grid *cells, bool fft)
{
    const int64_t *n = cells->nodes;
    return fft ? 1 : (n[0] - 1) * (n[1] - 1) + n[0] * n[1];
}

ps_status ps_vertical_open(const ps_q1_grid *cells, bool fft, double *workspace,
                           ps_vertical_sum *out)
{
    const int64_t *n = cells->nodes, plane[2] = {n[0] - 1, n[1] - 1};
    *out = (ps_vertical_sum){.cells = *cells};
    if (fft) return ps_plane_sum_open(plane, &out->planes);
    out->table = workspace;
    out->sums = workspace + plane[0] * plane[1];
    memset(out->sums, 0, (size_t)(n[0] * n[1]) * sizeof *out->sums);
    return PS_OK;
}

void ps_vertical_close(ps_vertical_sum *sum) { ps_plane_sum_close(&sum->planes); }

/* ---- by FFT ---- */

static void add_by_fft(ps_vertical_sum *s, int64_t first, int slots, const double *density)
{
    const int64_t cx = s->cells.nodes[0] - 1, cy = s->cells.nodes[1] - 1, stride[2] = {cy, 1};
    const ps_plane_axes axes = {2, 0, 1, s->cells.spacing};
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < slots; ++k)
        if (ps_plane_sum_density(s->planes, k, 0, density + k * cx * cy, stride))
            ps_plane_sum_table(s->planes, k, &axes, first + k, cell_vertical);
    ps_plane_sum_add(s->planes, slots, 1);
}

/* ---- directly ---- */

static bool is_empty(const double *density, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        if (density[i] != 0) return false;
    return true;
}

/* The sum over a line of cells at node j of its own line: as many cells away as the table counts,
 * on either side. */
static double line_sum(const double *density, const double *table, int64_t j, int64_t cells)
{
    double sum = 0;
    for (int64_t c = 0; c < j; ++c) sum += density[c] * table[j - 1 - c];
    for (int64_t c = j; c < cells; ++c) sum += density[c] * table[c - j];
    return sum;
}

static void add_directly(ps_vertical_sum *s, int64_t layer, const double *density)
{
    const int64_t nx = s->cells.nodes[0], ny = s->cells.nodes[1], cx = nx - 1, cy = ny - 1;
    const double *h = s->cells.spacing;
    if (is_empty(density, cx * cy)) return;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < cx; ++i)
        for (int64_t j = 0; j < cy; ++j)
            s->table[i * cy + j] = cell_vertical(
                (const double[3]){(double)i * h[0], (double)j * h[1], (double)layer * h[2]}, h);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < nx; ++i)
        for (int64_t j = 0; j < ny; ++j)
            for (int64_t c = 0; c < cx; ++c) {
                const double *table = s->table + (c < i ? i - 1 - c : c - i) * cy;
                s->sums[i * ny + j] += line_sum(density + c * cy, table, j, cy);
            }
}

/* ---- all ---- */

void ps_vertical_add(ps_vertical_sum *s, int64_t first, int64_t count, const double *density)
{
    const int64_t plane = (s->cells.nodes[0] - 1) * (s->cells.nodes[1] - 1);
    for (int64_t k = 0; k < count && !s->planes; ++k)
        add_directly(s, first + k, density + k * plane);
    for (int64_t k = 0; k < count && s->planes; k += PS_PLANE_SLOTS)
        add_by_fft(s, first + k, (int)(count - k < PS_PLANE_SLOTS ? count - k : PS_PLANE_SLOTS),
                   density + k * plane);
}

void ps_vertical_values(ps_vertical_sum *s, double gravity, const int64_t refine[2], double *out)
{
    const int64_t *n = s->cells.nodes;
    int64_t row = n[1], size = 1;
    const double *from = s->planes ? ps_plane_sum_values(s->planes, 0, &row, &size) : s->sums;
    for (int64_t i = 0; i < n[0]; i += refine[0])
        for (int64_t j = 0; j < n[1]; j += refine[1])
            *out++ = gravity / (double)size * from[i * row + j];
}
