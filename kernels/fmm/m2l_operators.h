/*
 * m2l_operators: the far-field operators between cells of one level, compressed.
 *
 * A target cell and a source cell whose centres differ by t widths (t = source - target, integer,
 * |t_d| <= 3, max |t_d| > 1) act on each other by K_t[m,n] = K(rho |xbar_m - xbar_n - 2t|), m and n
 * over the l^3 points. rho = 1 for a kernel of degree a, whose operators serve all levels with the
 * factor (w/2)^a; otherwise rho = w/2 and each level has its own operators with the factor 1.
 *
 * Symmetry (Messner et al. 2012): of the 316 offsets t, 16 representatives t_p (|t| descending) are
 * kept. With q(m): m_d -> l-1-m_d where t_d < 0, then axes reordered so that |t| descends (stable),
 * K_t[m,n] = K_p[q(m),q(n)].
 *
 * Truncation: Khat = W K W with the weights of ps_fmm_weights; Khat = Uhat S Vhat^T; the rank is
 * the smallest r with sqrt(sum_{k>r} s_k^2) <= eps sqrt(sum_k s_k^2); U = W^-1 Uhat S, V = W^-1
 * Vhat. As K_t[m,n] depends on xbar_m - xbar_n, the matrix Khat R with the reflection R (index n to
 * l^3-1-n) is symmetric, and the singular value decomposition comes from its eigenvectors Q and
 * eigenvalues lambda: Uhat = Q, s = |lambda|, Vhat[n,k] = sign(lambda_k) Q[l^3-1-n,k]. So one
 * factor is stored: A = W^-1 Q sqrt(s), and K_t[m,n] ~ sum_k sign_k A[m,k] A[l^3-1-n,k].
 */
#ifndef PS_KERNELS_FMM_M2L_OPERATORS_H
#define PS_KERNELS_FMM_M2L_OPERATORS_H

#include <stdint.h>

#include "kernels/fmm/chebyshev.h"
#include "kernels/fmm/kernel_function.h"

enum {
    PS_FMM_CLASSES = 16,      /* representatives p                                         */
    PS_FMM_PERMUTATIONS = 48, /* of the cube                                               */
    PS_FMM_OFFSETS = 343,     /* numbers of offsets, (t0+3) 49 + (t1+3) 7 + t2+3; 316 are used */
    PS_FMM_FAR_OFFSETS = 316
};

static inline int ps_fmm_offset_number(const int t[3])
{
    return ((t[0] + 3) * 7 + t[1] + 3) * 7 + t[2] + 3;
}

/* t of a number; returns whether max |t_d| > 1. */
static inline int ps_fmm_offset_of(int number, int t[3])
{
    t[0] = number / 49 - 3;
    t[1] = number / 7 % 7 - 3;
    t[2] = number % 7 - 3;
    return t[0] * t[0] > 1 || t[1] * t[1] > 1 || t[2] * t[2] > 1;
}

/* t_p, p = 0 .. 15: 200 210 211 220 221 222 300 310 311 320 321 322 330 331 332 333. */
extern const int8_t ps_fmm_representatives[PS_FMM_CLASSES][3];

/* p and the number of the permutation q (0 .. 47) of a far offset. */
void ps_fmm_offset_class(const int t[3], int *representative, int *permutation);

/* q[l^3] of permutation number 0 .. 47. */
void ps_fmm_permutation(int order, int permutation, uint16_t *q);

/* The operators of one level (or of all). One block of numbers behind it; a file keeps the fields
 * and the factors as they are. */
typedef struct ps_fmm_operators {
    ps_fmm_function function;
    int32_t order; /* l                                                    */
    double epsilon;
    double rho; /* 1 if homogeneous, else half the cell's width         */
    int32_t rank[PS_FMM_CLASSES];
    int64_t start[PS_FMM_CLASSES + 1]; /* first row of a representative in factors and signs */
    /* Caller's, room for ps_fmm_operators_rows_max rows; start[16] rows are used.           */
    double *factors; /* [row k][l^3]: A[m,k]                                 */
    double *signs;   /* [row k]: sign of lambda_k                            */
} ps_fmm_operators;

static inline int64_t ps_fmm_operators_rows_max(int order)
{
    return (int64_t)PS_FMM_CLASSES * order * order * order;
}

/* Bytes of workspace for ps_fmm_operators_build. */
int64_t ps_fmm_operators_workspace(int order);

/* Computes ranks, starts, factors and signs for function, order, epsilon and rho of `operators`.
 * PS_USAGE for an order or epsilon (0 <= eps < 1) out of range, PS_FAILED if LAPACK fails or the
 * kernel is not finite between the cells. About 16 x 9 l^9 flop. */
ps_status ps_fmm_operators_build(ps_fmm_operators *operators, void *workspace);

/* K_t, [m][n], uncompressed, from its definition: the reference. */
void ps_fmm_operator_exact(const ps_fmm_function *function, double rho,
                           const ps_fmm_interpolation *interpolation, const int t[3],
                           double *matrix);

/* The truncation rule: how many of count values (any order of sign, |.| descending) remain. */
int ps_fmm_rank(const double *values, int count, double epsilon);

/* Eigenvectors and eigenvalues of a symmetric matrix [n][n], by |value| descending: on return
 * row k of `matrix` is vector k, values[k] its value. workspace: ps_fmm_eigen_workspace(n) bytes,
 * 64-byte aligned. PS_FAILED if LAPACK fails. */
int64_t ps_fmm_eigen_workspace(int64_t n);
ps_status ps_fmm_eigen(double *matrix, int n, double *values, void *workspace);

#endif
