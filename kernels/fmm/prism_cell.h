/*
 * prism_cell: between prisms, or stations, and the vectors of a cell: what P2M and L2P are for
 * particles (cell.h), and both transposed.
 *
 *     P2M   M_m += w prod_d I_d[m_d],   I_d[m] = int_a^b S(m, x) dx over the prism's side along d
 *     dipoles   M_m -= sum_d m_d (S(m_d, b) - S(m_d, a)) prod_{e != d} I_e[m_e]
 *     L2P   V, g = grad V, T = grad grad V of sum_m S(m, xi) L_m, at stations
 *
 * The integrals are exact, as S is a polynomial: with divided differences T_n[a,b] = (T_n(b) -
 * T_n(a)) / (b - a), T_{n+1}[a,b] = 2 (b T_n[a,b] + T_n(a)) - T_{n-1}[a,b],
 *
 *     I[m] = (b - a) { 1/l + (2/l) sum_n T_n(xbar_m) (T_{n+1}[a,b]/(n+1) - T_{n-1}[a,b]/(n-1))/2 },
 *
 * which is as good for the thinnest plate. Prisms must lie in their cell: S grows fast outside.
 *
 * | op             | flop                              | per               |
 * | P2M            | 2 l^3 + 2 l^2 + 3 (2 l^2 + 12 l)  | prism             |
 * | P2M of dipoles | 6 l^3 + 6 l^2 + 3 (4 l^2 + 12 l)  | prism             |
 * | L2P            | 4 l^3 (6 l^3 with T)              | station           |
 */
#ifndef PS_KERNELS_FMM_PRISM_CELL_H
#define PS_KERNELS_FMM_PRISM_CELL_H

#include "kernels/common/prism_field.h"
#include "kernels/fmm/chebyshev.h"

/* Prisms within a cell (numbers in the caller's units), or stations in it. All borrowed. */
typedef struct ps_fmm_prism_cell {
    ps_prism_kind kind;
    double centre[3], width;
    int64_t count;
    const double *low[3], *high[3]; /* [count], prisms            */
    const double *place[3];         /* [count], stations          */
} ps_fmm_prism_cell;

/* Vectors: double [l^3]. Serial, no state. */
struct ps_fmm_prism_functions {
    /* weight[1 or 3][count] */
    void (*p2m)(const ps_fmm_interpolation *interpolation, const ps_fmm_prism_cell *cell,
                const double *const *weight, double *multipoles);
    /* out[1 or 3][count] is overwritten by the sums over m. */
    void (*p2m_transposed)(const ps_fmm_interpolation *interpolation, const ps_fmm_prism_cell *cell,
                           const double *locals, double *const *out);
    /* out[numbers of the kind][count] is added to. */
    void (*l2p)(const ps_fmm_interpolation *interpolation, const ps_fmm_prism_cell *cell,
                const double *locals, double *const *out);
    /* data[numbers of the kind][count] */
    void (*l2p_transposed)(const ps_fmm_interpolation *interpolation, const ps_fmm_prism_cell *cell,
                           const double *const *data, double *multipoles);
};

/* For this machine. */
const struct ps_fmm_prism_functions *ps_fmm_prism_functions_here(void);

#endif
