/* The multiply-add rate of one core, for the floors of benchmarks. */
#ifndef PS_TESTS_SUPPORT_PEAK_FLOPS_H
#define PS_TESTS_SUPPORT_PEAK_FLOPS_H

#include <math.h>

#include "tests/support/thread_clock.h"

/* Compiled for the widest vectors that this machine has. */
#ifdef PS_ISA_VARIANTS
#define WIDEST                                                                                     \
    __attribute__((noinline, optimize("fp-contract=fast"),                                         \
                   target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDEST __attribute__((noinline, optimize("fp-contract=fast")))
#endif
typedef double peak_lanes __attribute__((vector_size(64)));

/* Multiply-adds a second in fp64, counted as two operations: 10 independent chains of vectors of 8.
 */
WIDEST static double peak_flops(void)
{
    double best = 0;
    for (int trial = 0; trial < 5; ++trial) {
        peak_lanes sum[10] = {{0}};
        for (int n = 0; n < 10; ++n) sum[n] += (double)n;
        peak_lanes a = sum[1] * 1e-9 + 1 - 1e-9, b = sum[2] * 1e-12;
        double start = thread_seconds();
        for (int r = 0; r < 2000000; ++r)
            for (int n = 0; n < 10; ++n) sum[n] = sum[n] * a + b;
        double seconds = thread_seconds() - start;
        volatile double sink = 0;
        for (int n = 0; n < 10; ++n) sink += sum[n][3];
        best = fmax(best, 2000000.0 * 10 * 8 * 2 / seconds);
    }
    return best;
}

#endif
