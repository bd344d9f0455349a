/*
 * common_basis: all operators of a level in one basis (Fong and Darve 2009; specs/fmm.md),
 *
 *     K_t ~ W^-1 B C_t B^T W^-1,   C_t = B^T Khat_t B, truncated as the operators are.
 *
 * A source cell is projected once, m = R_k B^T W^-1 M; its interactions work on k < l^3 numbers;
 * a target cell adds L += W^-1 B lt once.
 *
 * B is adapted to parity: each column is even or odd along each axis, so that a reflection of the
 * cube multiplies the k numbers by signs. B comes from a singular value decomposition for each of
 * the 8 classes of parity of the stacked operators (not from sum A A^T, which loses half the
 * digits), cut at eps_b: smallest k with sqrt(sum_{i>k} s_i^2) <= eps_b sqrt(sum s_i^2) over all
 * classes, never inside a multiplet. The worst operator error is 2.6-3.4 eps for eps_b = eps,
 * 0.7-1.7 eps for eps/2, about eps for eps/4; potentials and gradients of 10^6 particles, cube and
 * ellipsoid, change by at most 8 %, 2 % and 1 % (1/r, l = 3, 5, 7).
 *
 * Of the cores, those of the 56 far offsets with t >= 0 are kept: C_t R_k is symmetric (R_k: signs
 * of the reflection of all axes), = Y lambda Y^T, and Y sqrt|lambda| is stored with the signs of
 * lambda.
 */
#ifndef PS_KERNELS_FMM_COMMON_BASIS_H
#define PS_KERNELS_FMM_COMMON_BASIS_H

#include "kernels/fmm/m2l_operators.h"

enum { PS_FMM_CORES = 56 };

typedef struct ps_fmm_basis {
    ps_fmm_function function;
    int32_t order;
    double epsilon, basis_epsilon, rho;
    int32_t size;                    /* k                                               */
    int32_t rank[PS_FMM_CORES];      /* offsets t >= 0, in the order of their numbers   */
    int64_t start[PS_FMM_CORES + 1]; /* first row of a core                             */
    /* Caller's: room for l^3 vectors, and for 56 l^3 rows of cores at most.                 */
    double *vectors; /* [k][l^3]: B, orthonormal                        */
    uint8_t *parity; /* [k]: bit d: odd along axis d                    */
    double *cores;   /* [row][k]: Y sqrt|lambda|                        */
    double *signs;   /* [row]                                           */
} ps_fmm_basis;

/* Rows of cores at most. */
static inline int64_t ps_fmm_basis_rows_max(int order)
{
    return (int64_t)PS_FMM_CORES * order * order * order;
}

/* The core of |t|, 0 .. 55. */
int ps_fmm_core_of(const int t[3]);

/* Bytes of workspace for ps_fmm_basis_build. */
int64_t ps_fmm_basis_workspace(int order);

/* Computes all but function, order, epsilons and rho, which are given. Errors as for
 * ps_fmm_operators_build. */
ps_status ps_fmm_basis_build(ps_fmm_basis *basis, void *workspace);

#endif
