/*
 * aca: adaptive cross approximation of a block with partial pivoting (Bebendorf 2008; eqs (6), (7)
 * of Vater, Betcke, Dilba), a check on random rows, and recompression.
 *
 *     v = A[i,:] - sum_l u_l[i] v_l,  j = argmax |v|,  v /= v[j],  u = A[:,j] - sum_l v_l[j] u_l
 *
 * until |u_k| |v_k| <= eps |S_k|. That alone is silently wrong on blocks that decouple (flat faces,
 * numerics guide 5): at convergence, and after a row of zeros, rows that no cross has used are
 * evaluated: one of each stratum (kernels/hbem/strata.h) that has 1/64 of the rows or more, and one
 * of those in none; then, up to so many as asked for, one of each group of normals, the others from
 * equal parts of the row cluster. The block is accepted only if
 *
 *     sqrt(sum_strata n_s |residual row|^2 + (m - sum n_s)/q sum |residual row|^2) <= eps |S_k|
 *
 * with the n_s unused rows of a stratum; otherwise the worst of them is the next pivot row. What
 * is 0 by the geometry is so for whole strata: none with 1/64 of the rows stays unseen.
 *
 * Numbers: one part (real) or two (real, imaginary), kept apart.
 */
#ifndef PS_KERNELS_HBEM_ACA_H
#define PS_KERNELS_HBEM_ACA_H

#include <stdint.h>

#include "kernels/hbem/entries.h"

typedef struct ps_aca_block {
    int64_t rows, columns;
    int parts;
    const void *context;
    /* Row i, values[part][columns], or column i, values[part][rows]. */
    void (*line)(const void *context, bool column, int64_t i, double *values);
    const uint8_t *group; /* [rows] groups 0 .. 7, as by normals; NULL: one          */
    const int32_t *stratum; /* [rows], below 0: of none; NULL: all are of none         */
    double scale;         /* what an entry may be: smaller than `zero` times it is 0 */
    /* Crosses are taken from, and checks made of, the first so many; 0: all. The others are only
     * carried along: a block of which one corner cannot be evaluated is approximated by the rest.
     */
    int64_t pivot_rows, pivot_columns;
} ps_aca_block;

typedef struct ps_aca_options {
    double tolerance; /* eps                                                    */
    double zero;      /* pivots below it times the largest entry are 0: 1e-13 (fp64), 4e-7 (fp32) */
    int check_rows;   /* q; 0: none, for tests of what goes wrong then          */
    int64_t max_rank;
} ps_aca_options;

/* Block = sum_l u_l v_l^T + error; u[rank][part][rows], v[rank][part][columns], in the workspace.
 * */
typedef struct ps_aca_result {
    int64_t rank;
    bool converged; /* false: the rank limit came first, the factors are not good enough      */
    double norm;    /* |S_k|, Frobenius                                                     */
    double error;   /* estimate from the rows checked, relative to |S_k|; 0 where all were used */
    int64_t evaluated; /* rows and columns evaluated                                        */
    double *u, *v;
} ps_aca_result;

/* a^H b of vectors [part][n]. */
void ps_aca_inner(const double *a, const double *b, int parts, int64_t n, double out[2]);

/* Bytes of workspace: of the factors and of two rows. */
int64_t ps_aca_bytes(int64_t rows, int64_t columns, int parts, int64_t max_rank);

/* The factors stay in the workspace (`used` is past them). PS_EXHAUSTED where it is too small. */
ps_status ps_aca(const ps_aca_block *block, const ps_aca_options *options,
                 ps_hbem_workspace *workspace, ps_aca_result *result);

/* Bytes of workspace that recompression needs beside the factors. */
int64_t ps_recompress_bytes(int64_t rows, int64_t columns, int parts, int64_t rank);

/* U = Qu Ru, V = Qv Rv, SVD of Ru Rv^T; singular values whose tail is below eps |sigma| are
 * dropped. In place; result->rank is the new rank. PS_FAILED where LAPACK fails (numbers that are
 * not finite). */
ps_status ps_recompress(const ps_aca_block *block, double tolerance, ps_hbem_workspace *workspace,
                        ps_aca_result *result);

#endif
