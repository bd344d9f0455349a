/*
 * hermitian: eigenvalues of matrices of a march on the unit circle, for tests of passivity.
 */
#ifndef PS_TESTS_SUPPORT_HERMITIAN_H
#define PS_TESTS_SUPPORT_HERMITIAN_H

#include <complex.h>
#include <lapacke.h>
#include <stdbool.h>

#include "runtime/scope.h"
#include "tests/check.h"

/* The least and the largest eigenvalue of the Hermitian part of X(z) / (1 - z) (hard) or (1 - z)
 * X(z), with X(z) = sum_k z^k M^k at z = e^{i angle}, m[k_max + 1][n][n]. */
static inline void hermitian_ends(const double *m, int64_t k_max, int64_t n, double angle,
                                  bool hard, double ends[2])
{
    double complex z = cexp(I * angle), power = hard ? 1 / (1 - z) : 1 - z;
    PS_SCOPED_MEMORY double complex *x = calloc((size_t)(n * n), sizeof *x);
    PS_SCOPED_MEMORY double *values = calloc((size_t)n, sizeof *values);
    int size = (int)n;
    for (int64_t k = 0; k <= k_max; ++k, power *= z)
        for (int64_t v = 0; v < n * n; ++v) x[v] += power * m[k * n * n + v];
    for (int64_t j = 0; j < n; ++j) /* its upper triangle */
        for (int64_t i = 0; i <= j; ++i) x[j * n + i] = (x[j * n + i] + conj(x[i * n + j])) / 2;
    assert_int_equal(LAPACKE_zheev(LAPACK_COL_MAJOR, 'N', 'U', size, (void *)x, size, values), 0);
    ends[0] = values[0];
    ends[1] = values[n - 1];
}

#endif
