/*
 * factors: the complex systems M - c L by sparse LU factors, one for every shift (T. Davis, ACM
 * Trans. Math. Softw. 30 (2004) 196-199: UMFPACK). Damped square roots have shifts close to the
 * spectrum, where iterations take their hundreds; a factor costs about N^1.5.
 */
#ifndef PS_HBEM_SOLVE_FACTORS_H
#define PS_HBEM_SOLVE_FACTORS_H

#include "kernels/hbem/osrc.h"

typedef struct factors factors;

/* Whether this build can. */
bool factors_available(void);

/* Bytes of the factors of `count` shifts, about. */
int64_t factors_estimate(int64_t dofs, int count);

/* Factorises for these shifts. PS_EXHAUSTED where memory runs out; PS_FAILED for a singular matrix.
 */
ps_status factors_open(const ps_hbem_sparse *matrix, int count, double (*shifts)[2], factors **out);
void factors_close(factors **f); /* NULL is fine */
int64_t factors_bytes(const factors *f);

/* A ps_shifted_solver; the context is a factors. The shifts must be those of factors_open; parts
 * is 2. Bits do not depend on the number of threads. */
ps_status factors_solve(void *context, int64_t count, const ps_shifted_system *systems);

#endif
