/*
 * penstock/hmatrix.h: products with the H-matrix of a boundary operator (specs/hmatrix.md).
 */
#ifndef PENSTOCK_HMATRIX_H
#define PENSTOCK_HMATRIX_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_hmatrix penstock_hmatrix;

typedef struct penstock_hmatrix_info {
    int64_t rows, columns; /* functions of the test and of the trial space          */
    bool complex_numbers;  /* of a Helmholtz operator                               */
    bool symmetric;        /* A = A^T                                               */
    char kernel[8];        /* "slp", "dlp", "adlp", "hyps"                          */
    char test_space[8],
        trial_space[8];    /* "p0": one function a triangle; "p1": one a vertex; "dp1" */
    double wavenumber;     /* k, rad/m; 0: Laplace                                  */
    double tolerance;      /* eps of the compression                                */
    int64_t leaves, bytes; /* of the values in memory                               */
    char mesh_hash[17];    /* content hash of the mesh                              */
} penstock_hmatrix_info;

/* Reads the whole matrix into memory: PENSTOCK_EXHAUSTED where its values take more than
 * memory_limit bytes (0: what the machine has free). Every leaf's hash is verified. */
PENSTOCK_API penstock_status penstock_hmatrix_open(const char *path, int64_t memory_limit,
                                                   penstock_hmatrix **out);
PENSTOCK_API void penstock_hmatrix_close(penstock_hmatrix **matrix);
PENSTOCK_API penstock_status penstock_hmatrix_info_of(const penstock_hmatrix *matrix,
                                                      penstock_hmatrix_info *out);

/* y[sides][rows] = A x[sides][columns]; transposed: y[sides][columns] = A^T x[sides][rows] (no
 * conjugate). Functions are numbered as in the mesh. Numbers are double, or, where info says
 * complex_numbers, pairs of them; sums are double. Bits do not depend on the number of threads. x
 * and y do not overlap; x must be finite (PENSTOCK_INVALID). */
PENSTOCK_API penstock_status penstock_hmatrix_product(penstock_hmatrix *matrix, bool transposed,
                                                      int64_t sides, const double *x, double *y);

#ifdef __cplusplus
}
#endif
#endif
