/*
 * cholesky: a sparse symmetric positive definite matrix factored once by CHOLMOD (Y. Chen, T.
 * Davis, W. Hager, S. Rajamanickam, ACM TOMS 35 (2008) 22). cholesky.c is the only file that knows
 * it; where it was not found at build time, opening fails and says so.
 */
#ifndef PS_RUNTIME_CHOLESKY_H
#define PS_RUNTIME_CHOLESKY_H

#include <stdint.h>

#include "runtime/status.h"

/* By rows, both triangles, columns ascending. */
typedef struct ps_symmetric_rows {
    int64_t rows;
    const int64_t *start;   /* [rows + 1] */
    const int32_t *columns; /* [start[rows]] */
    const double *values;
} ps_symmetric_rows;

typedef struct ps_cholesky ps_cholesky;

/* Orders and factors, without BLAS threads, so that equal matrices give equal bits. PS_INVALID if
 * the matrix is not positive definite; PS_EXHAUSTED without memory; PS_USAGE if not built in. */
ps_status ps_cholesky_open(const ps_symmetric_rows *matrix, ps_cholesky **out);
int64_t ps_cholesky_bytes(const ps_cholesky *factor); /* memory of the factor */
/* x may be b. One thread at a time for a factor. */
ps_status ps_cholesky_solve(ps_cholesky *factor, const double *b, double *x);
void ps_cholesky_close(ps_cholesky **factor); /* NULL is fine */

#endif
