#include "kernels/linear/shifted_solve.h"

#include <string.h>

#include "runtime/isa.h"

enum { W = PS_SHIFTED_LANES };

#define LANES _Pragma("omp simd") for (int w = 0; w < W; ++w)

/* z = r / (m - c l), of one row. */
static inline void scale_row(const ps_shifted_group *g, int64_t row, const double *r, double *z)
{
    double m = g->diagonal[2 * row], l = g->diagonal[2 * row + 1];
    LANES
    {
        double re = m - g->shift[0][w] * l, im = -g->shift[1][w] * l;
        double inverse = 1 / (re * re + im * im);
        z[w] = (r[w] * re + r[W + w] * im) * inverse;
        z[W + w] = (r[W + w] * re - r[w] * im) * inverse;
    }
}

/* sums += a b, without conjugate. */
static inline void add_product(const double *a, const double *b, double *sums)
{
    LANES
    {
        sums[w] += a[w] * b[w] - a[W + w] * b[W + w];
        sums[W + w] += a[w] * b[W + w] + a[W + w] * b[w];
    }
}

static inline void add_square(const double *a, double *sums)
{
    LANES sums[w] += a[w] * a[w] + a[W + w] * a[W + w];
}

static void start(const ps_shifted_group *g, int64_t begin, int64_t end, double *sums)
{
    memset(sums, 0, 3 * W * sizeof *sums);
    for (int64_t i = begin; i < end; ++i) {
        double *p = g->p + 2 * W * i;
        const double *r = g->r + 2 * W * i;
        memset(g->x + 2 * W * i, 0, 2 * W * sizeof(double));
        scale_row(g, i, r, p);
        add_product(r, p, sums);
        add_square(r, sums + 2 * W);
    }
}

static void multiply(const ps_shifted_group *g, int64_t begin, int64_t end, double *sums)
{
    memset(sums, 0, 2 * W * sizeof *sums);
    for (int64_t i = begin; i < end; ++i) {
        double m[2 * W] = {0}, l[2 * W] = {0}, *q = g->q + 2 * W * i;
        for (int64_t e = g->matrix->start[i]; e < g->matrix->start[i + 1]; ++e) {
            const double *p = g->p + 2 * W * (int64_t)g->matrix->column[e];
            double mass = g->matrix->mass[e], stiffness = g->matrix->stiffness[e];
#pragma omp simd
            for (int w = 0; w < 2 * W; ++w) {
                m[w] += mass * p[w];
                l[w] += stiffness * p[w];
            }
        }
        LANES
        {
            q[w] = m[w] - (g->shift[0][w] * l[w] - g->shift[1][w] * l[W + w]);
            q[W + w] = m[W + w] - (g->shift[0][w] * l[W + w] + g->shift[1][w] * l[w]);
        }
        add_product(g->p + 2 * W * i, q, sums);
    }
}

/* y += a x */
static inline void add_scaled(const double a[2][W], const double *x, double sign, double *y)
{
    LANES
    {
        y[w] += sign * (a[0][w] * x[w] - a[1][w] * x[W + w]);
        y[W + w] += sign * (a[0][w] * x[W + w] + a[1][w] * x[w]);
    }
}

static void advance(const ps_shifted_group *g, const double alpha[2][W], int64_t begin, int64_t end,
                    double *sums)
{
    memset(sums, 0, 3 * W * sizeof *sums);
    for (int64_t i = begin; i < end; ++i) {
        double z[2 * W], *r = g->r + 2 * W * i;
        add_scaled(alpha, g->p + 2 * W * i, 1, g->x + 2 * W * i);
        add_scaled(alpha, g->q + 2 * W * i, -1, r);
        scale_row(g, i, r, z);
        add_product(r, z, sums);
        add_square(r, sums + 2 * W);
    }
}

static void turn(const ps_shifted_group *g, const double beta[2][W], int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i) {
        double z[2 * W], *p = g->p + 2 * W * i;
        scale_row(g, i, g->r + 2 * W * i, z);
        add_scaled(beta, p, 1, z);
        memcpy(p, z, sizeof z);
    }
}

const struct ps_shifted_functions PS_ISA_TABLE(ps_shifted) = {
    .start = start, .multiply = multiply, .advance = advance, .turn = turn};
