/* triangle_space: numbering, integrals and values; triangle_modes.c solves. */
#include "setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/reference.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* P_n(z) = z (z-1) .. (z-n+1)/n! at z = q l, and its slope by l (Silvester 1969). */
static void factor(int q, int n, double l, double out[2])
{
    out[0] = 1, out[1] = 0;
    for (int k = 0; k < n; ++k) {
        out[1] = (out[1] * (q * l - k) + out[0] * q) / (k + 1);
        out[0] *= (q * l - k) / (k + 1);
    }
}

/* Values of all polynomials at l, and slopes[node][a] by l_a. */
static void evaluate(const triangle_space *x, const double l[3], double *values, double (*slopes)[3])
{
    for (int i = 0; i < x->per; ++i) {
        double f[3][2];
        for (int a = 0; a < 3; ++a) factor(x->order, x->index[i][a], l[a], f[a]);
        values[i] = f[0][0] * f[1][0] * f[2][0];
        for (int a = 0; a < 3; ++a) slopes[i][a] = f[a][1] * f[(a + 1) % 3][0] * f[(a + 2) % 3][0];
    }
}

/* Points and weights of a triangle of area 1; exact to degree 2 n - 2. */
static int quadrature(int n, double (*points)[3], double *weights)
{
    double at[TRIANGLE_ORDER_MAX + 2], weight[TRIANGLE_ORDER_MAX + 2];
    ps_dgtd_gauss(n, at, weight);
    for (int i = 0; i < n * n; ++i) {
        double s = at[i / n], t = at[i % n] * (1 - s);
        points[i][0] = 1 - s - t, points[i][1] = s, points[i][2] = t;
        weights[i] = 2 * (1 - s) * weight[i / n] * weight[i % n];
    }
    return n * n;
}

enum { POINTS_MAX = (TRIANGLE_ORDER_MAX + 2) * (TRIANGLE_ORDER_MAX + 2) };

static void fill_integrals(triangle_space *x)
{
    double points[POINTS_MAX][3], weights[POINTS_MAX], v[TRIANGLE_NODES], d[TRIANGLE_NODES][3];
    int count = quadrature(x->order + 2, points, weights);
    for (int k = 0; k < count; ++k) {
        evaluate(x, points[k], v, d);
        for (int i = 0; i < x->per; ++i)
            for (int j = 0; j < x->per; ++j) {
                x->mass[i * x->per + j] += weights[k] * v[i] * v[j];
                for (int a = 0; a < 3; ++a)
                    for (int b = 0; b < 3; ++b)
                        x->slopes[a][b][i * x->per + j] += weights[k] * d[i][a] * d[j][b];
            }
    }
}

/* ---- numbers of nodes ---- */

/* Corners, then edges from the lower vertex on, then the inner ones of each triangle. */
static int32_t number_of(const triangle_space *x, const guide_walls *w, int64_t triangle, const int8_t index[3],
                         int *inner)
{
    const int32_t *c = x->p->sides[triangle].corner;
    int q = x->order, zero = 0, most = 0;
    for (int a = 0; a < 3; ++a) zero += index[a] == 0, most = index[a] > index[most] ? a : most;
    if (zero == 2) return c[most];
    int64_t edges = x->p->vertices, inside = edges + w->count * (q - 1);
    if (zero == 0) return (int32_t)(inside + triangle * ((q - 1) * (q - 2) / 2) + (*inner)++);
    int a = index[0] ? 0 : 1, b = index[2] ? 2 : 1;
    return (int32_t)(edges + guide_edge_find(w, c[a], c[b]) * (q - 1) + index[b] - 1);
}

static void number_nodes(triangle_space *x, const guide_walls *w)
{
    for (int64_t t = 0; t < x->p->count; ++t) {
        const int32_t *c = x->p->sides[t].corner;
        int inner = 0;
        for (int i = 0; i < x->per; ++i) {
            int32_t node = number_of(x, w, t, x->index[i], &inner);
            x->node[t * x->per + i] = node;
            for (int d = 0; d < 3; ++d) {
                x->points[node][d] = 0;
                for (int a = 0; a < 3; ++a)
                    x->points[node][d] += x->index[i][a] * patch_point(x->p, c[a])[d] / x->order;
            }
        }
    }
}

/* The nodes of walls, ends included. */
static void mark_walls(triangle_space *x, const guide_walls *w)
{
    for (int64_t e = 0; e < w->count; ++e) {
        const guide_edge *edge = w->edges + e;
        if (!edge->metal && !edge->magnetic) continue;
        uint8_t *marks = edge->metal ? x->metal : x->magnetic;
        int32_t root = edge->metal ? patch_root(x->p, edge->vertex[0]) : 0;
        uint8_t mark = !edge->metal || root == x->p->conductor[0] ? 1 : root == x->p->conductor[1] ? 2 : 3;
        for (int k = 0; k < 2; ++k) marks[edge->vertex[k]] = mark;
        for (int64_t k = 0; k < x->order - 1; ++k) marks[x->p->vertices + e * (x->order - 1) + k] = mark;
    }
}

typedef struct sortable {
    double at;
    int32_t node;
} sortable;

static int by_place(const void *a, const void *b)
{
    const sortable *x = a, *y = b;
    int order = (x->at > y->at) - (x->at < y->at);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static ps_status sort_nodes(triangle_space *x)
{
    double lower[3], upper[3], most = 0;
    int along = 0;
    PS_SCOPED_MEMORY sortable *list = NULL;
    PS_TRY(PS_ALLOC(&list, x->nodes, "a mode"));
    for (int c = 0; c < 3; ++c) {
        lower[c] = INFINITY, upper[c] = -INFINITY;
        for (int64_t i = 0; i < x->nodes; ++i) {
            lower[c] = fmin(lower[c], x->points[i][c]);
            upper[c] = fmax(upper[c], x->points[i][c]);
        }
        if (upper[c] - lower[c] > most) most = upper[c] - lower[along = c];
    }
    for (int64_t i = 0; i < x->nodes; ++i) list[i] = (sortable){x->points[i][along], (int32_t)i};
    qsort(list, (size_t)x->nodes, sizeof *list, by_place);
    for (int64_t i = 0; i < x->nodes; ++i) x->sorted[i] = list[i].node;
    return PS_OK;
}

ps_status triangle_space_open(const port_patch *p, const guide_walls *w, int order, triangle_space *x)
{
    int q = order;
    *x = (triangle_space){.p = p, .order = q};
    for (int b = 0; b <= q; ++b)
        for (int a = 0; a <= q - b; ++a) {
            const int8_t index[3] = {(int8_t)(q - a - b), (int8_t)a, (int8_t)b};
            memcpy(x->index[x->per++], index, sizeof index);
        }
    x->nodes = p->vertices + w->count * (q - 1) + p->count * ((q - 1) * (q - 2) / 2);
    PS_TRY(PS_ALLOC(&x->node, p->count * x->per, "a mode"));
    PS_TRY(PS_ALLOC(&x->sorted, x->nodes, "a mode"));
    PS_TRY(PS_ALLOC(&x->points, x->nodes, "a mode"));
    PS_TRY(PS_ALLOC(&x->metal, x->nodes, "a mode"));
    PS_TRY(PS_ALLOC(&x->magnetic, x->nodes, "a mode"));
    fill_integrals(x);
    number_nodes(x, w);
    mark_walls(x, w);
    return sort_nodes(x);
}

void triangle_space_release(triangle_space *x)
{
    free(x->node), free(x->sorted), free(x->points), free(x->metal), free(x->magnetic);
}

/* ---- values ---- */

double triangle_space_product(const triangle_space *x, const double *u, const double *v)
{
    double sum = 0, hats[3][3];
    for (int64_t t = 0; t < x->p->count; ++t) {
        const int32_t *node = x->node + t * x->per;
        double area = triangle_hats(x->p, t, hats);
        for (int i = 0; i < x->per; ++i)
            for (int j = 0; j < x->per; ++j) sum += area * u[node[i]] * x->mass[i * x->per + j] * v[node[j]];
    }
    return sum;
}

void triangle_space_gradient(const triangle_space *x, const double *u, int64_t triangle, const double l[3],
                             double out[3])
{
    double values[TRIANGLE_NODES], slopes[TRIANGLE_NODES][3], hats[3][3], by[3] = {0};
    const int32_t *node = x->node + triangle * x->per;
    triangle_hats(x->p, triangle, hats);
    evaluate(x, l, values, slopes);
    for (int i = 0; i < x->per; ++i)
        for (int a = 0; a < 3; ++a) by[a] += u[node[i]] * slopes[i][a];
    for (int c = 0; c < 3; ++c) out[c] = by[0] * hats[0][c] + by[1] * hats[1][c] + by[2] * hats[2][c];
}

/* int (offset + (x - middle).across) grad u. */
static void weighed(const triangle_space *x, const double *u, double offset, const double across[3], double out[3])
{
    double points[POINTS_MAX][3], weights[POINTS_MAX], hats[3][3], middle[3] = {0};
    int count = quadrature(x->order + 1, points, weights);
    for (int64_t v = 0; v < x->p->vertices; ++v)
        for (int c = 0; c < 3; ++c) middle[c] += patch_point(x->p, (int32_t)v)[c] / (double)x->p->vertices;
    out[0] = out[1] = out[2] = 0;
    for (int64_t t = 0; t < x->p->count; ++t) {
        const int32_t *corner = x->p->sides[t].corner;
        double area = triangle_hats(x->p, t, hats);
        for (int k = 0; k < count; ++k) {
            double gradient[3], weight = offset;
            triangle_space_gradient(x, u, t, points[k], gradient);
            for (int c = 0; c < 3; ++c) {
                double at = -middle[c];
                for (int a = 0; a < 3; ++a) at += points[k][a] * patch_point(x->p, corner[a])[c];
                weight += across[c] * at;
            }
            for (int c = 0; c < 3; ++c) out[c] += area * weights[k] * weight * gradient[c];
        }
    }
}

void triangle_space_mean(const triangle_space *x, const double *u, double out[3])
{
    static const double none[3] = {0};
    weighed(x, u, 1, none, out);
}

void triangle_space_moment(const triangle_space *x, const double *u, const double across[3], double out[3])
{
    weighed(x, u, 0, across, out);
}
