/*
 * factors: the complex systems M - c L by sparse factors, one for every shift
 * (kernels/hbem/sparse_factor.h). Damped square roots have shifts close to the spectrum, where
 * iterations take their hundreds; a factor costs about N^1.5.
 */
#ifndef PS_HBEM_SOLVE_FACTORS_H
#define PS_HBEM_SOLVE_FACTORS_H

#include "kernels/hbem/osrc.h"
#include "kernels/hbem/sparse_factor.h"

/* A matrix that is dissected, with its memory. */
typedef struct dissected {
    ps_dissection d;
    void *memory;
} dissected;
ps_status dissected_open(const ps_pencil *matrix, dissected *out);
void dissected_close(dissected *d); /* also after a failure */

typedef struct factors {
    const ps_pencil *matrix;
    dissected dissected;
    int count;
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    double *numbers[1 + PS_OSRC_TERMS_MAX];
    double *vectors; /* of as many systems as were solved at once */
    int64_t bytes, systems;
} factors;

/* Bytes of the factors of `count` shifts, about. */
int64_t factors_estimate(int64_t dofs, int count);

/* Factorises for these shifts, by all threads. PS_EXHAUSTED where memory runs out; PS_FAILED for a
 * singular matrix. */
ps_status factors_open(const ps_pencil *matrix, int count, double (*shifts)[2], factors **out);
void factors_close(factors **f); /* NULL is fine */
int64_t factors_bytes(const factors *f);

/* A ps_shifted_solver; the context is a factors. The shifts must be those of factors_open; parts
 * is 2. Bits depend neither on the number of threads nor on the other systems. */
ps_status factors_solve(void *context, int64_t count, const ps_shifted_system *systems);

#endif
