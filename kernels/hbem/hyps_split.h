/*
 * hyps_split: the hypersingular operator from the single layer on DP1, eq. (9) of Vater, Betcke,
 * Dilba:
 *
 *     W = sum_a Q_a^T S^ Q_a - k^2 sum_a P_a^T S^ P_a,     a = x, y, z
 *
 * Q_a[(t, l'), i] is component a of curl phi_i on t (for all three l'), P_a[(t, l), i] that of the
 * normal where l is vertex i. For comparison: on an S^ compressed at eps its error is larger than
 * eps (numerics guide 4.1), so assembly does without it.
 */
#ifndef PS_KERNELS_HBEM_HYPS_SPLIT_H
#define PS_KERNELS_HBEM_HYPS_SPLIT_H

#include "kernels/hbem/surface.h"

typedef enum ps_hbem_split { PS_SPLIT_CURL, PS_SPLIT_NORMAL } ps_hbem_split;

/* One of the six factors: P1 and DP1 on one surface, each in any order. */
typedef struct ps_hbem_split_factor {
    const ps_hbem_space *p1, *dp1;
    ps_hbem_split split;
    int axis; /* 0, 1, 2 */
} ps_hbem_split_factor;

/* y = Q x (P x): x[p1->dofs], y[dp1->dofs], overwritten. */
void ps_hbem_split_apply(const ps_hbem_split_factor *factor, const double *x, double *y);

/* y += scale Q^T x (P^T x): x[dp1->dofs], y[p1->dofs]. */
void ps_hbem_split_add_transposed(const ps_hbem_split_factor *factor, double scale, const double *x,
                                  double *y);

#endif
