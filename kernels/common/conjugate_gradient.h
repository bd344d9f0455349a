/*
 * conjugate_gradient: A x = b for a symmetric positive definite sparse matrix, preconditioned by
 * its diagonal (Hestenes and Stiefel 1952; Jacobi scaling), in fp64.
 *
 * Threaded. Sums are taken over fixed blocks of rows and added in a fixed order, so the bits do
 * not depend on the number of threads.
 */
#ifndef PS_KERNELS_COMMON_CONJUGATE_GRADIENT_H
#define PS_KERNELS_COMMON_CONJUGATE_GRADIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/slice_matrix.h"

/* Doubles of workspace for a matrix of this many rows. */
int64_t ps_cg_workspace(int64_t rows);

/* Fills inverse_diagonal[rows]. PS_INVALID, naming the row, if a diagonal entry is missing, not
 * finite or not positive: the matrix is then not positive definite. */
ps_status ps_cg_prepare(const ps_csr *matrix, double *inverse_diagonal);

typedef struct ps_cg_result {
    int64_t iterations;
    double residual; /* |b - A x| / |b| (Euclidean) by the recurrence; 0 for b = 0 */
    bool converged;
} ps_cg_result;

/* Solves to |r| <= tolerance |b| or for `limit` iterations. x[rows] holds the first guess and gets
 * the solution. A right-hand side below 1e-140 everywhere counts as 0 and gives x = 0. Not
 * converged (see the result) also covers NaN and infinity in b or x. */
ps_cg_result ps_cg_solve(const ps_csr *matrix, const double *inverse_diagonal, const double *b,
                         double *x, double tolerance, int64_t limit, double *workspace);

#endif
