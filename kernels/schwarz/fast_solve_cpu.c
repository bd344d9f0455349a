#include <string.h>

#include "kernels/schwarz/fast_solve.h"
#include "runtime/isa.h"

/* ---- small products: ROWS x 3 vectors of c at a time stay in registers ---- */

#if defined(__AVX512F__)
enum { BYTES = 64, ROWS = 8 };
#elif defined(__AVX2__)
enum { BYTES = 32, ROWS = 4 };
#else
enum { BYTES = 16, ROWS = 4 };
#endif
enum { VECTORS = 3, LANES = BYTES / 8, WIDTH = VECTORS * LANES };

typedef double vector __attribute__((vector_size(BYTES), aligned(8), may_alias));

static void tile(const double *const a[ROWS], int64_t k, const double *b, int64_t b_stride,
                 double c[ROWS][WIDTH])
{
    vector sum[ROWS][VECTORS] = {{{0}}};
    for (int64_t l = 0; l < k; ++l, b += b_stride) {
        const vector *row = (const vector *)b;
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; ++v) sum[r][v] += a[r][l] * row[v];
    }
    memcpy(c, sum, sizeof sum);
}

static void product(const ps_small_product *p)
{
    double c[ROWS][WIDTH];
    for (int64_t column = 0; column < p->n; column += WIDTH) {
        int64_t count = p->n - column < WIDTH ? p->n - column : WIDTH;
        for (int64_t row = 0; row < p->m; row += ROWS) {
            const double *a[ROWS];
            for (int r = 0; r < ROWS; ++r)
                a[r] = p->a + (row + r < p->m ? row + r : p->m - 1) * p->a_stride;
            tile(a, p->k, p->b + column, p->b_stride, c);
            for (int r = 0; r < ROWS && row + r < p->m; ++r)
                memcpy(p->c + (row + r) * p->c_stride + column, c[r],
                       (size_t)count * sizeof(double));
        }
    }
}

/* ---- tridiagonal systems, one a lane ---- */

/* The diagonal is d0 + d1 mu. */
static void diagonal_of(const ps_slab *slab, int64_t plane, double d[2])
{
    double h = slab->grid.spacing[0], mass = ps_mass_here(h, slab->grid.lumped);
    int side = plane == 0 ? 0 : plane == slab->grid.nodes[0] - 1 ? 1 : -1;
    d[0] = side < 0 ? 2 / h : 1 / h + slab->p[side];
    d[1] = side < 0 ? mass : mass / 2 + slab->q[side];
}

static void modes(const ps_fast_solver *s, int64_t first, int64_t end, double *planes,
                  double *factor)
{
    int64_t open = ps_slab_open_planes(&s->slab), size = s->my * s->stride, count = end - first;
    int64_t shift = s->slab.free[0] ? 0 : 1;
    double h = s->slab.grid.spacing[0], o0 = -1 / h, o1 = ps_mass_beside(h, s->slab.grid.lumped);
    const double *restrict mu = s->mu + first, *restrict inverse = s->inverse + first;
    for (int64_t i = 0; i < open; ++i) {
        double d[2], *restrict w = planes + i * size + first, *restrict c = factor + i * count;
        const double *restrict before = i > 0 ? w - size : w;
        const double *restrict c_before = i > 0 ? c - count : c;
        diagonal_of(&s->slab, i + shift, d);
        if (i == 0) {
#pragma omp simd
            for (int64_t m = 0; m < count; ++m) {
                double r = 1 / (d[0] + d[1] * mu[m]);
                c[m] = (o0 + o1 * mu[m]) * r;
                w[m] = w[m] * inverse[m] * r;
            }
            continue;
        }
#pragma omp simd
        for (int64_t m = 0; m < count; ++m) {
            double off = o0 + o1 * mu[m], r = 1 / (d[0] + d[1] * mu[m] - off * c_before[m]);
            c[m] = off * r;
            w[m] = (w[m] * inverse[m] - off * before[m]) * r;
        }
    }
    for (int64_t i = open - 2; i >= 0; --i) {
        double *restrict w = planes + i * size + first;
        const double *restrict after = w + size, *restrict c = factor + i * count;
#pragma omp simd
        for (int64_t m = 0; m < count; ++m) w[m] -= c[m] * after[m];
    }
}

extern const struct ps_fast_functions PS_ISA_TABLE(ps_fast_table);
const struct ps_fast_functions PS_ISA_TABLE(ps_fast_table) = {.product = product, .modes = modes};
