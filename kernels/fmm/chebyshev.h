/*
 * chebyshev: interpolation at Chebyshev points of the first kind, the basis of the black-box fast
 * multipole method (Fong and Darve, J. Comput. Phys. 228, 2009; Agullo et al., RR-8513, eq. 3).
 *
 *     xbar_a = cos((2a+1) pi / (2l)),  a = 0 .. l-1
 *     S(a, x) = 1/l + (2/l) sum_{n=1}^{l-1} T_n(xbar_a) T_n(x)
 *     S'(a, x) = (2/l) sum_{n=1}^{l-1} T_n(xbar_a) n U_{n-1}(x)
 *
 * In space S(m, xi) = prod_d S(m_d, xi_d) with m = (m0, m1, m2) at index (m0 l + m1) l + m2 and
 * xi = 2 (x - centre) / width of the cell. T_n and U_n by recurrence, so that xi may leave [-1, 1]
 * by rounding.
 */
#ifndef PS_KERNELS_FMM_CHEBYSHEV_H
#define PS_KERNELS_FMM_CHEBYSHEV_H

#include <stdint.h>

#include "runtime/status.h"

enum {
    PS_FMM_ORDER_MAX = 12, /* l; 1 is the monopole */
    PS_FMM_POINTS_MAX = PS_FMM_ORDER_MAX * PS_FMM_ORDER_MAX * PS_FMM_ORDER_MAX
};

/* l, l^3 and what the operators read often, for one order. */
typedef struct ps_fmm_interpolation {
    int order;                      /* l                            */
    int points;                     /* l^3                          */
    double nodes[PS_FMM_ORDER_MAX]; /* xbar_a                       */
    double polynomials[PS_FMM_ORDER_MAX]
                      [PS_FMM_ORDER_MAX]; /* [n][a]: (2/l) T_n(xbar_a); row 0: 1/l */
    /* [o][a][b] = S(a, (xbar_b + o')/2), o' = -1 for o = 0 and +1 for o = 1: parent point a, child
     * point b. M2M contracts b, L2L contracts a. */
    double child[2][PS_FMM_ORDER_MAX][PS_FMM_ORDER_MAX];
} ps_fmm_interpolation;

/* PS_USAGE if the order is not in 1 .. PS_FMM_ORDER_MAX. */
ps_status ps_fmm_interpolation_init(ps_fmm_interpolation *interpolation, int order);

/* values[l] = S(a, x), slopes[l] = S'(a, x) (may be NULL). */
void ps_fmm_interpolation_at(const ps_fmm_interpolation *interpolation, double x, double *values,
                             double *slopes);

/* The coordinates of point m of the cell [-1, 1]^3. */
void ps_fmm_point(const ps_fmm_interpolation *interpolation, int m, double point[3]);

/* weights[l^3] = sqrt(prod_d (pi/l) sqrt(1 - xbar_{m_d}^2)): the norm of the truncation. */
void ps_fmm_weights(const ps_fmm_interpolation *interpolation, double *weights);

#endif
