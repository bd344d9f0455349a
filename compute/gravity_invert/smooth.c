/* The term of the regularisation: depth weights, volumes, differences between neighbours. */
#include <math.h>
#include <stdlib.h>

#include "compute/gravity_invert/invert.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

void smooth_release(invert_smooth *s)
{
    free(s->root);
    free(s->scale);
    s->root = s->scale = NULL;
}

typedef struct neighbours {
    int64_t number[6]; /* among the cells that are no air; -1: none */
    double weight[6];  /* L^2 A / h */
} neighbours;

static double width(const invert_mesh *m, int a, int64_t i)
{
    return m->edges[a][i + 1] - m->edges[a][i];
}

/* Those of a cell; returns its volume. */
static double find_neighbours(const invert_smooth *s, int64_t n, neighbours *out)
{
    const invert_mesh *m = s->mesh;
    const int64_t c = m->cell[n], stride[3] = {m->count[1] * m->count[2], m->count[2], 1};
    const int64_t at[3] = {c / stride[0], c / stride[1] % m->count[1], c % m->count[2]};
    double size[3], volume = 1;
    for (int a = 0; a < 3; ++a) volume *= size[a] = width(m, a, at[a]);
    for (int f = 0; f < 6; ++f) {
        const int a = f / 2, step = f % 2 ? 1 : -1;
        const int64_t to = at[a] + step;
        out->number[f] = to < 0 || to >= m->count[a] ? -1 : m->number[c + step * stride[a]];
        if (out->number[f] < 0) continue;
        double distance = (size[a] + width(m, a, to)) / 2;
        out->weight[f] = s->weight[a] * volume / size[a] / distance;
    }
    return volume;
}

void smooth_apply(const invert_smooth *s, const double *x, double *y)
{
    const int64_t count = s->mesh->cells;
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < count; ++n) {
        neighbours near;
        double sum = 0;
        find_neighbours(s, n, &near);
        for (int f = 0; f < 6; ++f)
            if (near.number[f] >= 0)
                sum += near.weight[f] * s->root[near.number[f]] * x[near.number[f]];
        y[n] = x[n] - s->root[n] * sum;
    }
}

/* ---- weights ---- */

/* Elevations of the tops of columns, NaN where all is air. */
static ps_status find_tops(const invert_mesh *m, double **out)
{
    const int64_t nz = m->count[2];
    PS_TRY(PS_ALLOC(out, m->count[0] * m->count[1], "tops of columns"));
    for (int64_t column = 0; column < m->count[0] * m->count[1]; ++column) {
        int64_t k = nz - 1;
        while (k >= 0 && m->number[column * nz + k] < 0) --k;
        (*out)[column] = k < 0 ? NAN : m->edges[2][k + 1];
    }
    return PS_OK;
}

static int64_t find_interval(const double *edges, int64_t count, double x)
{
    int64_t next;
    PS_LOWER_BOUND(next, 1, count, at, edges[at] <= x);
    return next - 1;
}

/* Mean height of stations above the tops of their columns, at least half of the uppermost cells. */
static double find_offset(const inversion *v, const double *tops)
{
    const invert_mesh *m = &v->mesh;
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < v->stations.count; ++i) {
        int64_t x = find_interval(m->edges[0], m->count[0], v->stations.column[0][i]);
        int64_t y = find_interval(m->edges[1], m->count[1], v->stations.column[1][i]);
        double top = tops[x * m->count[1] + y];
        if (isnan(top)) continue;
        sum += v->stations.column[2][i] - top;
        ++count;
    }
    double least = width(m, 2, m->count[2] - 1) / 2;
    return count > 0 ? fmax(sum / (double)count, least) : least;
}

static ps_status weigh(inversion *v)
{
    invert_smooth *s = &v->smooth;
    const invert_mesh *m = &v->mesh;
    PS_SCOPED_MEMORY double *tops = NULL;
    PS_TRY(find_tops(m, &tops));
    double offset = v->options.depth_offset, power = v->options.depth_power;
    if (offset < 0) v->options.depth_offset = offset = find_offset(v, tops);
    if (power < 0)
        v->options.depth_power = power =
            v->options.field == FIELD_GRAVITY && v->options.component < 3 ? 2 : 3;
    for (int64_t n = 0; n < m->cells; ++n) {
        double depth = tops[m->cell[n] / m->count[2]] - (m->low[2][n] + m->high[2][n]) / 2;
        double weight = pow((depth + offset) / offset, -power / 2);
        s->scale[n] = s->root[n] / weight;
    }
    return PS_OK;
}

static void set_lengths(inversion *v)
{
    for (int a = 0; a < 3; ++a) {
        double least = INFINITY;
        for (int64_t i = 0; i < v->mesh.count[a]; ++i) least = fmin(least, width(&v->mesh, a, i));
        if (!(v->options.lengths[a] > 0)) v->options.lengths[a] = 2 * least;
        v->smooth.weight[a] = v->options.lengths[a] * v->options.lengths[a];
    }
}

static ps_status set_bounds(inversion *v)
{
    const double *bounds = v->options.bounds;
    if (isinf(bounds[0]) && isinf(bounds[1])) return PS_OK;
    PS_TRY(PS_ALLOC(&v->low, v->length, "bounds"));
    PS_TRY(PS_ALLOC(&v->high, v->length, "bounds"));
    for (int64_t i = 0; i < v->length; ++i) {
        int64_t n = i % v->mesh.cells;
        double from = v->reference ? v->reference[n] : 0;
        v->low[i] = (bounds[0] - from) / v->smooth.scale[n];
        v->high[i] = (bounds[1] - from) / v->smooth.scale[n];
    }
    return PS_OK;
}

ps_status smooth_make(inversion *v)
{
    invert_smooth *s = &v->smooth;
    const int64_t count = v->mesh.cells;
    s->mesh = &v->mesh;
    set_lengths(v);
    PS_TRY(PS_ALLOC(&s->root, count, "scales"));
    PS_TRY(PS_ALLOC(&s->scale, count, "scales"));
    for (int64_t n = 0; n < count; ++n) {
        neighbours near;
        double diagonal = find_neighbours(s, n, &near);
        for (int f = 0; f < 6; ++f) diagonal += near.number[f] >= 0 ? near.weight[f] : 0;
        s->root[n] = 1 / sqrt(diagonal);
    }
    PS_TRY(weigh(v));
    return set_bounds(v);
}
