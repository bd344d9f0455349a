/*
 * passivity: does a march with these matrices decay? (numerics guide 2.7; specs/tdbem_assembly.md)
 *
 * On the unit circle z = e^{i theta} a passive system has
 *     H(theta) = Re[ g(z) sum_k z^k M^k ] >= 0,   g = 1 - z (sound-soft, S-form), 1 (M-form),
 *                                                 1 / (1 - z) (sound-hard).
 * All M^k are real and symmetric, so H is: H_ij = sum_k w_k M^k(i,j) with real weights w_k, a few
 * multiplications for each stored value. Blocks of H are made from tiles while these are in memory
 * (ps_passivity_fill), for several angles at once; the least eigenvalue of
 *     D^{-1/2} H D^{-1/2},   D = |g(z)| diag M^0,
 * then comes from Lanczos' method. The scaling keeps its sign and shows small triangles beside
 * large ones. As D is of the size of the whole matrix at z, not of its Hermitian part alone, an
 * eigenvalue -e lets a mode grow by about exp(e) a step. Scaled by diag H it would not: of an
 * element much smaller than a shell nearly all of M is reactive, diag H is as small as the rounding
 * of stored values, and rounding would look like growth.
 *
 * No allocation: callers bring the memory.
 */
#ifndef PS_KERNELS_TDBEM_PASSIVITY_H
#define PS_KERNELS_TDBEM_PASSIVITY_H

#include "formats/slice_matrix.h"

enum { PS_PASSIVITY_ANGLES = 4 }; /* of one pass over the values */

/* weights[(k_max + 1) * PS_PASSIVITY_ANGLES]: w_k of angle t at [k * PS_PASSIVITY_ANGLES + t], or
 * (imaginary) Im[g z^k], with which matrices that are not symmetric make A = g sum z^k M^k, whose
 * Hermitian part is then asked. angles[PS_PASSIVITY_ANGLES], rad, in (0, pi]. */
void ps_passivity_weights(ps_formulation formulation, int64_t k_max, const double *angles,
                          bool imaginary, double *weights);

/* |g| at angle theta, rad. */
double ps_passivity_factor(ps_formulation formulation, double theta);

/* sum_k>=1 of `count` row-vectors: out[t][v] = sum_q weights[starts[v] + q] values[q], t below
 * `angles`; the values of row-vector v follow those of v - 1. One fused multiply-add of
 * PS_PASSIVITY_ANGLES lanes a value. Thread-safe. */
typedef struct ps_passivity_functions {
    void (*fill_f32)(int64_t count, const uint16_t *starts, const uint16_t *lengths,
                     const float *values, const double *weights, int angles, float *const *out);
    void (*fill_f64)(int64_t count, const uint16_t *starts, const uint16_t *lengths,
                     const double *values, const double *weights, int angles, float *const *out);
} ps_passivity_functions;
const ps_passivity_functions *ps_passivity_functions_here(void);

/* y = A x, A real and symmetric. */
typedef ps_status (*ps_symmetric_product)(void *context, const double *x, double *y);

typedef struct ps_lanczos_result {
    double least;    /* Ritz value: an upper bound of the least eigenvalue              */
    int64_t largest; /* number of the largest component of its vector                   */
    double share;    /* of that component in the vector's norm: 1 where one unknown is all */
    int steps;       /* made */
} ps_lanczos_result;

/* Doubles of workspace for ps_lanczos_least. */
int64_t ps_lanczos_workspace(int64_t n, int steps);

/* The least eigenvalue of an n x n symmetric matrix by `steps` steps of Lanczos' method with full
 * orthogonalisation, from a start vector that is always the same; unknowns with mask[i] = 0 are
 * left out (NULL: none). Deterministic. Whatever the product returns is passed on. */
ps_status ps_lanczos_least(int64_t n, const double *mask, int steps, ps_symmetric_product product,
                           void *context, double *workspace, ps_lanczos_result *out);

#endif
