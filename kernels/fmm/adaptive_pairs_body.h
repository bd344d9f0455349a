/*
 * M2P and P2L of an adaptive tree, one target or one point at a time: the includer defines
 * KERNEL_INLINE, v_rsqrt (0 at 0), v_exp, v_of and v_negated_product for vreal = double, after
 * kernels/fmm/device_adaptive.h. adaptive_cuda.cu runs them; the tests run them on the host.
 */
#include "kernels/fmm/kernel_function_body.h"

KERNEL_INLINE void pair_at(int kernel, double r2, double b, double *k, double *c)
{
#define KERNEL_CASE(NAME, name)                                                                    \
    case PS_FMM_##NAME:                                                                            \
        v_kernel_##name(r2, b, k, c);                                                              \
        break;
    switch (kernel) {
        PS_FMM_COMMON_KERNELS(KERNEL_CASE)
    default:
        v_kernel_user(r2, b, k, c);
    }
#undef KERNEL_CASE
}

/* Adds what the Chebyshev points of a cell, with charges `at(multipole, m)`, do at a target:
 * sums = potential and gradient. */
#define PS_M2P_BODY(name, real)                                                                    \
    KERNEL_INLINE void name(const ps_fmm_function *f, int order, const double *nodes,              \
                            const ps_fmm_device_cell *cell, const real *multipole,                 \
                            const double x[3], double sums[4])                                     \
    {                                                                                              \
        double half = 0.5 * cell->width;                                                           \
        int m = 0;                                                                                 \
        for (int a = 0; a < order; ++a) {                                                          \
            double d0 = x[0] - (cell->centre[0] + half * nodes[a]);                                \
            for (int b = 0; b < order; ++b) {                                                      \
                double d1 = x[1] - (cell->centre[1] + half * nodes[b]), plane = d0 * d0 + d1 * d1; \
                for (int c = 0; c < order; ++c, ++m) {                                             \
                    double d2 = x[2] - (cell->centre[2] + half * nodes[c]), k, slope;              \
                    double charge = (double)multipole[m];                                          \
                    pair_at(f->kernel, plane + d2 * d2, f->parameter, &k, &slope);                 \
                    slope *= charge;                                                               \
                    sums[0] += charge * k;                                                         \
                    sums[1] += slope * d0;                                                         \
                    sums[2] += slope * d1;                                                         \
                    sums[3] += slope * d2;                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
PS_M2P_BODY(m2p_double, double)
PS_M2P_BODY(m2p_single, float)

/* What the sources of runs [first, end) do at a point. */
KERNEL_INLINE double p2l_point(const ps_fmm_function *f, const ps_fmm_device_sources *sources,
                               int side, const ps_fmm_device_run *runs, int first, int end,
                               const double x[3])
{
    double sum = 0;
    for (int r = first; r < end; ++r)
        for (int j = runs[r].begin; j < runs[r].end; ++j) {
            const double *at = sources->rows + j;
            double d0 = x[0] - at[0], d1 = x[1] - at[sources->stride],
                   d2 = x[2] - at[2 * sources->stride], k, slope;
            pair_at(f->kernel, d0 * d0 + d1 * d1 + d2 * d2, f->parameter, &k, &slope);
            sum += at[(3 + side) * sources->stride] * k;
        }
    return sum;
}
