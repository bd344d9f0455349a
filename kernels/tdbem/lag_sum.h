/*
 * lag_sum: sums of lagged series with short weight rows, the inner loop of penstock-probe:
 *
 *     out[i] += sum_q weights[q] series[i - q],   i = 0 .. count-1, q = 0 .. length-1
 *
 * 2 length flop and about 16 length / 4 bytes of cache traffic per i. series[-(length-1)] must
 * be readable. Thread-safe.
 */
#ifndef PS_KERNELS_TDBEM_LAG_SUM_H
#define PS_KERNELS_TDBEM_LAG_SUM_H

#include <stdint.h>

typedef struct ps_lag_sum_functions {
    void (*add)(int64_t length, const double *weights, int64_t count, const double *series,
                double *out);
} ps_lag_sum_functions;

/* The function for this machine's instruction set. */
const ps_lag_sum_functions *ps_lag_sum_functions_here(void);

#endif
