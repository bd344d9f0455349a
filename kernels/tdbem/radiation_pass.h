/*
 * radiation_pass: what the steps of a group owe each other (kernels/tdbem/radiation.h), on cores,
 * from matrices by warps (kernels/tdbem/near_pack.h).
 *
 * The steps are paired off by halves: with L the largest power of two that divides g, one pass
 * before step g adds what steps g-L .. g-1 owe to steps g .. g+L-1,
 *
 *     owed[g+b](i) += sum_{m=1..2L-1} sum_j M^m(i,j) a^{g+b-m}(j),   0 <= b < L,  g-L <= g+b-m < g,
 *
 * so every pair of steps meets once: in the pass before that g between them which the highest power
 * of two divides. A group of 16 reads values of lag 15 once and those of lag 1 15 times: as
 * matrices grow with m, a third of the values that one pass a step reads, and a sixth in a group
 * of 32.
 *
 * Sums: products and their sums in the precision of the matrices over 8 row-vectors, those in fp64.
 * In fp32 that errs by at most 2^-24 (n + 1) of the sum of |M a| of 8 row-vectors, n their terms
 * (at random by its root). Threads own warps and the order of additions is fixed, so bits do not
 * depend on threads. (Without fused multiply-add they are rounded once more.)
 */
#ifndef PS_KERNELS_TDBEM_RADIATION_PASS_H
#define PS_KERNELS_TDBEM_RADIATION_PASS_H

#include "kernels/tdbem/near_pack.h"

/* A group under way. All arrays are the caller's. */
typedef struct ps_radiation {
    const ps_packed_near *near; /* in host memory; its inner part is not used                */
    const void *recent;         /* [group][unknowns] steps so far, precision of the matrices */
    double *owed;               /* [group][unknowns]                                         */
    void *past;                 /* ps_radiation_past_bytes                                   */
} ps_radiation;

int64_t ps_radiation_past_bytes(int64_t unknowns, int64_t group, ps_precision precision);

/* sums[unknowns] += the radiation of step g. To be called for g = 0, 1, .. in turn, each time after
 * step g - 1 has come into `recent`; g = 0 begins a group. */
void ps_radiation_step(const ps_radiation *radiation, int64_t g, double *sums);

/* One pass, made by the above for one instruction set. */
typedef struct ps_radiation_pass {
    const ps_packed_near *near;
    /* past[origin + column * pitch + t], t = 0 .. length - 1: steps g - length + t; zero between
     * the columns. */
    const void *past;
    int64_t origin, pitch;
    int64_t g, length; /* of steps back, and ahead unless the group ends */
    double *owed;
} ps_radiation_pass;

struct ps_radiation_functions {
    void (*warp[PS_PRECISION_COUNT])(const ps_radiation_pass *pass, int64_t warp);
};

#endif
