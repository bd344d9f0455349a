/*
 * cholesky: M^0 factored once by CHOLMOD, the alternative to conjugate gradients. Where CHOLMOD
 * was not found at build time, opening fails and says so.
 */
#ifndef PS_TDBEM_MARCH_CHOLESKY_H
#define PS_TDBEM_MARCH_CHOLESKY_H

#include "formats/csr.h"

typedef struct cholesky cholesky;

/* Orders and factors, without BLAS threads, so that equal matrices give equal bits. PS_INVALID if
 * the matrix is not positive definite; PS_EXHAUSTED without memory; PS_USAGE if not built in. */
ps_status cholesky_open(const ps_csr *matrix, cholesky **out);
int64_t cholesky_bytes(const cholesky *factor); /* memory of the factor */
ps_status cholesky_solve(cholesky *factor, const double *b, double *x);
void cholesky_close(cholesky **factor); /* NULL is fine */

#endif
