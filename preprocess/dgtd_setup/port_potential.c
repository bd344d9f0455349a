/* port_potential: the potential between the two conductors of a lumped port, harmonic on its faces (P1). */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "setup.h"

double triangle_hats(const port_patch *p, int64_t triangle, double gradient[3][3])
{
    const double *corner[3];
    double a[3], b[3], normal[3], opposite[3];
    for (int k = 0; k < 3; ++k) corner[k] = patch_point(p, p->sides[triangle].corner[k]);
    ps_subtract3(corner[1], corner[0], a);
    ps_subtract3(corner[2], corner[0], b);
    ps_cross3(a, b, normal);
    double twice = ps_norm3(normal);
    for (int k = 0; k < 3; ++k) {
        ps_subtract3(corner[(k + 2) % 3], corner[(k + 1) % 3], opposite);
        ps_cross3(normal, opposite, gradient[k]);
        for (int c = 0; c < 3; ++c) gradient[k][c] /= twice * twice;
    }
    return twice / 2;
}

/* out = stiffness u over the faces, once each; rows of the conductors are zero. */
static void apply(const port_patch *p, const double *u, double *out)
{
    memset(out, 0, (size_t)p->vertices * sizeof *out);
    for (int64_t i = 0; i < p->count; ++i) {
        const port_side *x = p->sides + i;
        double g[3][3], sum[3] = {0};
        double area = triangle_hats(p, i, g) * (x->alone ? 1 : .5);
        for (int k = 0; k < 3; ++k)
            for (int c = 0; c < 3; ++c) sum[c] += u[x->corner[k]] * g[k][c];
        for (int k = 0; k < 3; ++k) out[x->corner[k]] += area * ps_dot3(sum, g[k]);
    }
    for (int32_t v = 0; v < p->vertices; ++v)
        if (p->root[v] >= 0) out[v] = 0;
}

static double product(const port_patch *p, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t v = 0; v < p->vertices; ++v) sum += a[v] * b[v];
    return sum;
}

/* Conjugate gradients from 0 inside and 0, 1 on the conductors. */
ps_status port_potential_find(port_patch *p)
{
    double *r = p->work, *d = r + p->vertices, *q = d + p->vertices;
    for (int32_t v = 0; v < p->vertices; ++v)
        p->potential[v] = p->root[v] >= 0 && patch_root(p, v) == p->conductor[1];
    apply(p, p->potential, r);
    for (int64_t v = 0; v < p->vertices; ++v) d[v] = r[v] = -r[v];
    double square = product(p, r, r), first = square;
    for (int64_t k = 0; k < 20 * p->vertices + 100 && square > 1e-28 * first; ++k) {
        apply(p, d, q);
        double step = square / product(p, d, q), before = square;
        for (int64_t v = 0; v < p->vertices; ++v) {
            p->potential[v] += step * d[v];
            r[v] -= step * q[v];
        }
        square = product(p, r, r);
        for (int64_t v = 0; v < p->vertices; ++v) d[v] = r[v] + square / before * d[v];
    }
    return square <= 1e-20 * first
               ? PS_OK
               : ps_fail(PS_FAILED, "--port %s: no potential between its conductors was found",
                         p->text);
}

void port_gradients(port_patch *p, ps_dgtd_port_spec *x, int32_t *faces, double (*gradients)[3])
{
    qsort(p->sides, (size_t)p->count, sizeof *p->sides, patch_by_face);
    x->norm = 0;
    x->sides = p->count;
    for (int64_t i = 0; i < p->count; ++i) {
        const port_side *from = p->sides + i;
        double g[3][3], share = from->alone ? 1 : .5, area = triangle_hats(p, i, g), sum[3] = {0};
        for (int k = 0; k < 3; ++k)
            for (int c = 0; c < 3; ++c) sum[c] += p->potential[from->corner[k]] * g[k][c];
        x->norm += share * area * ps_dot3(sum, sum);
        faces[i] = from->face;
        for (int c = 0; c < 3; ++c) gradients[i][c] = share * sum[c];
    }
}

