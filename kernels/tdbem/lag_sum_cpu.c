#include "kernels/tdbem/lag_sum.h"
#include "runtime/isa.h"

/* Four weights at a time, so that out is loaded and stored once for four products. */
static void add(int64_t length, const double *weights, int64_t count, const double *series,
                double *restrict out)
{
    int64_t q = 0;
    for (; q + 4 <= length; q += 4) {
        const double *s = series - q;
        double w0 = weights[q], w1 = weights[q + 1], w2 = weights[q + 2], w3 = weights[q + 3];
#pragma omp simd
        for (int64_t i = 0; i < count; ++i)
            out[i] += w0 * s[i] + w1 * s[i - 1] + w2 * s[i - 2] + w3 * s[i - 3];
    }
    for (; q < length; ++q) {
        const double *s = series - q;
        double w = weights[q];
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) out[i] += w * s[i];
    }
}

extern const ps_lag_sum_functions PS_ISA_TABLE(ps_lag_sum);
const ps_lag_sum_functions PS_ISA_TABLE(ps_lag_sum) = {.add = add};
