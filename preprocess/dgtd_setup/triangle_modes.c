/*
 * triangle_modes: eigenfunctions by subspace iteration with the inverse of a band matrix (Bathe 1971), and potentials.
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/blas_threads.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

enum { ITERATIONS = 300, SPARE = 8 };

static const double SETTLED = 1e-13, FAILED = 1e-9;

/* Symmetric matrices of the nodes that are free, lower triangles by columns of width + 1. */
typedef struct bands {
    int64_t free, width;
    int32_t *place;        /* [nodes] row, or -1 */
    double *shifted, *mass; /* K + shift M, then its Cholesky factor; M */
    double *right;         /* [free] -K u of the nodes that are given */
} bands;

static void bands_release(bands *b)
{
    free(b->place), free(b->shifted), free(b->mass), free(b->right);
}

static ps_status bands_open(const triangle_space *x, const uint8_t *fixed, bands *b)
{
    *b = (bands){0};
    PS_TRY(PS_ALLOC(&b->place, x->nodes, "a mode"));
    for (int64_t i = 0; i < x->nodes; ++i) {
        int32_t node = x->sorted[i];
        b->place[node] = fixed[node] ? -1 : (int32_t)b->free++;
    }
    for (int64_t t = 0; t < x->p->count; ++t)
        for (int k = 0; k < x->per * x->per; ++k) {
            int32_t i = b->place[x->node[t * x->per + k / x->per]], j = b->place[x->node[t * x->per + k % x->per]];
            if (j >= 0 && i - j > b->width) b->width = i - j;
        }
    PS_TRY(PS_ALLOC(&b->shifted, b->free * (b->width + 1), "a mode"));
    PS_TRY(PS_ALLOC(&b->mass, b->free * (b->width + 1), "a mode"));
    return PS_ALLOC(&b->right, b->free, "a mode");
}

static double stiffness_of(const triangle_space *x, const double hats[3][3], int at)
{
    double sum = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            sum += (hats[a][0] * hats[b][0] + hats[a][1] * hats[b][1] + hats[a][2] * hats[b][2]) * x->slopes[a][b][at];
    return sum;
}

/* given: values of the nodes that have no row, or NULL: 0. */
static void bands_fill(const triangle_space *x, double shift, const double *given, bands *b)
{
    double hats[3][3];
    for (int64_t t = 0; t < x->p->count; ++t) {
        const int32_t *node = x->node + t * x->per;
        double area = triangle_hats(x->p, t, hats);
        for (int k = 0; k < x->per * x->per; ++k) {
            int64_t i = b->place[node[k / x->per]], j = b->place[node[k % x->per]];
            double k_ij = area * stiffness_of(x, (const double(*)[3])hats, k), m_ij = area * x->mass[k];
            if (i >= 0 && j < 0 && given) b->right[i] -= k_ij * given[node[k % x->per]];
            if (j < 0 || i < j) continue;
            b->shifted[j * (b->width + 1) + i - j] += k_ij + shift * m_ij;
            b->mass[j * (b->width + 1) + i - j] += m_ij;
        }
    }
}

static ps_status factor(const char *text, bands *b)
{
    lapack_int info = LAPACKE_dpbtrf(LAPACK_COL_MAJOR, 'L', (lapack_int)b->free, (lapack_int)b->width, b->shifted,
                                     (lapack_int)b->width + 1);
    return info == 0 ? PS_OK : ps_fail(PS_FAILED, "--port %s: the matrix of its modes has no factor", text);
}

static ps_status solve(const char *text, const bands *b, int columns, double *x)
{
    lapack_int info = LAPACKE_dpbtrs(LAPACK_COL_MAJOR, 'L', (lapack_int)b->free, (lapack_int)b->width, columns,
                                     b->shifted, (lapack_int)b->width + 1, x, (lapack_int)b->free);
    return info == 0 ? PS_OK : ps_fail(PS_FAILED, "--port %s: the matrix of its modes was not solved", text);
}

static void apply_mass(const bands *b, const double *x, double *y)
{
    memset(y, 0, (size_t)b->free * sizeof *y);
    for (int64_t j = 0; j < b->free; ++j) {
        const double *column = b->mass + j * (b->width + 1);
        y[j] += column[0] * x[j];
        for (int64_t k = 1; k <= b->width && j + k < b->free; ++k) {
            y[j + k] += column[k] * x[j];
            y[j] += column[k] * x[j + k];
        }
    }
}

/* ---- subspace iteration ---- */

typedef struct subspace {
    const bands *b;
    int size;
    double *x, *y, *z;            /* [size][free] */
    double *small, *other, *values; /* [size][size], [size] */
} subspace;

static void subspace_release(subspace *s)
{
    free(s->x), free(s->y), free(s->z), free(s->small), free(s->other), free(s->values);
}

static ps_status subspace_open(const bands *b, int size, subspace *s)
{
    uint64_t seed = 1;
    *s = (subspace){.b = b, .size = size};
    PS_TRY(PS_ALLOC(&s->x, size * b->free, "modes"));
    PS_TRY(PS_ALLOC(&s->y, size * b->free, "modes"));
    PS_TRY(PS_ALLOC(&s->z, size * b->free, "modes"));
    PS_TRY(PS_ALLOC(&s->small, size * size, "modes"));
    PS_TRY(PS_ALLOC(&s->other, size * size, "modes"));
    PS_TRY(PS_ALLOC(&s->values, size, "modes"));
    for (int64_t i = 0; i < size * b->free; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        s->x[i] = (double)(seed >> 33) * 0x1p-31 - .5;
    }
    return PS_OK;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* x <- the Ritz vectors of (K + shift M)^-1 M x, with int u v = delta. */
static ps_status iterate(const char *text, subspace *s)
{
    int64_t n = s->b->free, m = s->size;
    for (int64_t k = 0; k < m; ++k) apply_mass(s->b, s->x + k * n, s->y + k * n);
    memcpy(s->z, s->y, (size_t)(m * n) * sizeof *s->z);
    PS_TRY(solve(text, s->b, s->size, s->z));
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j <= i; ++j) s->small[j * m + i] = dot(n, s->z + i * n, s->y + j * n);
    for (int64_t k = 0; k < m; ++k) apply_mass(s->b, s->z + k * n, s->y + k * n);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j <= i; ++j) s->other[j * m + i] = dot(n, s->z + i * n, s->y + j * n);
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', s->size, s->small, s->size, s->other, s->size, s->values) != 0)
        return ps_fail(PS_FAILED, "--port %s: its modes were not found", text);
    memset(s->x, 0, (size_t)(m * n) * sizeof *s->x);
    for (int64_t k = 0; k < m; ++k)
        for (int64_t j = 0; j < m; ++j)
            for (int64_t i = 0; i < n; ++i) s->x[k * n + i] += s->small[k * m + j] * s->z[j * n + i];
    return PS_OK;
}

static ps_status settle(const char *text, int wanted, subspace *s)
{
    double change = INFINITY;
    double before[2 * TRIANGLE_MODES_MAX + SPARE] = {0};
    for (int k = 0; k < ITERATIONS && change > SETTLED; ++k) {
        PS_TRY(iterate(text, s));
        change = 0;
        for (int i = 0; i < wanted; ++i) {
            change = fmax(change, fabs(s->values[i] / before[i] - 1));
            before[i] = s->values[i];
        }
    }
    for (int k = 0; k < 3; ++k) PS_TRY(iterate(text, s)); /* vectors follow their values slowly */
    return change <= FAILED ? PS_OK : ps_fail(PS_FAILED, "--port %s: its modes do not settle (%g)", text, change);
}

ps_status triangle_modes_find(const triangle_space *x, const char *text, triangle_kind kind, int wanted,
                              triangle_modes *out)
{
    PS_SCOPED(bands_release) bands b = {0};
    PS_SCOPED(subspace_release) subspace s = {0};
    double area = 0, hats[3][3];
    for (int64_t t = 0; t < x->p->count; ++t) area += triangle_hats(x->p, t, hats);
    ps_blas_threads_single();
    *out = (triangle_modes){0};
    PS_TRY(bands_open(x, kind == TRIANGLE_TE ? x->magnetic : x->metal, &b));
    if (b.free == 0) return PS_OK;
    bands_fill(x, 1 / area, NULL, &b);
    PS_TRY(factor(text, &b));
    int all = b.free < wanted + 1 ? (int)b.free : wanted + 1, size = 2 * all + SPARE;
    PS_TRY(subspace_open(&b, size < b.free ? size : (int)b.free, &s));
    PS_TRY(settle(text, all, &s));
    PS_TRY(PS_ALLOC(&out->squares, all, "modes"));
    PS_TRY(PS_ALLOC(&out->vectors, all * x->nodes, "modes"));
    for (int k = 0; k < all && out->count < wanted; ++k) {
        double square = s.values[k] - 1 / area;
        if (square * area < 1e-6) continue;
        for (int64_t i = 0; i < x->nodes; ++i)
            out->vectors[out->count * x->nodes + i] = b.place[i] < 0 ? 0 : s.x[k * b.free + b.place[i]];
        out->squares[out->count++] = square;
    }
    return PS_OK;
}

void triangle_modes_release(triangle_modes *x) { free(x->squares), free(x->vectors); }

ps_status triangle_space_potential(const triangle_space *x, const char *text, double *u, double *energy)
{
    PS_SCOPED(bands_release) bands b = {0};
    double hats[3][3];
    for (int64_t i = 0; i < x->nodes; ++i) u[i] = x->metal[i] == 2;
    PS_TRY(bands_open(x, x->metal, &b));
    bands_fill(x, 0, u, &b);
    if (b.free > 0) {
        PS_TRY(factor(text, &b));
        PS_TRY(solve(text, &b, 1, b.right));
    }
    for (int64_t i = 0; i < x->nodes; ++i)
        if (b.place[i] >= 0) u[i] = b.right[b.place[i]];
    *energy = 0;
    for (int64_t t = 0; t < x->p->count; ++t) {
        const int32_t *node = x->node + t * x->per;
        double area = triangle_hats(x->p, t, hats);
        for (int k = 0; k < x->per * x->per; ++k)
            *energy += area * u[node[k / x->per]] * u[node[k % x->per]] * stiffness_of(x, (const double(*)[3])hats, k);
    }
    return PS_OK;
}
