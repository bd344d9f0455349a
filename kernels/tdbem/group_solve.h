/*
 * group_solve: the steps of a group, once their sums are there, on the device of a stream:
 *
 *     b^n = l^n - s^n - sum_{m=1..g} M^m a^{n-m},   M^0 a^n = b^n,   n = n0 + g, g = 0 .. count-1
 *
 * (Bramas, Coulaud, Sylvand 2014, 3.3), by conjugate gradients with Jacobi scaling in fp64, each
 * from the straight line through the last two answers, to |b - M^0 a| <= tolerance |b|. On CUDA all
 * steps are one kernel that stays on the device: no step waits for the host.
 *
 * CUDA uses the pipelined form of conjugate gradients (Ghysels and Vanroose, Parallel Computing
 * 40, 2014, algorithm 4), one meeting of all blocks an iteration. Its recurrences drift further
 * from the truth than the plain form, so the residual that ends a step is computed anew from its
 * definition; if it misses the tolerance by more than 1e-14 the iteration starts over from there.
 *
 * An M^0 that is not symmetric (the combined field equation) is solved by BiCGStab (van der Vorst
 * 1992) with the same scaling, start and end.
 *
 * Parts of the surface that give way (specs/tdbem_lining.md) take (beta * w)^n from b^n, without
 * what beta leaves in its own step, which M^0 has:
 *
 *     w^n = s_G^n + sum_{m=1..g} G^m a^{n-m} + G^0 a^n
 *
 * and their states go on by a step with every answer. M^0 is not symmetric then.
 *
 * What the steps owe each other is added in the run's precision over one row-vector and in fp64
 * over row-vectors (on the CPU: all in fp64).
 *
 * Sums have a fixed order: bits repeat on the same kind of device, and do not depend on timing.
 */
#ifndef PS_KERNELS_TDBEM_GROUP_SOLVE_H
#define PS_KERNELS_TDBEM_GROUP_SOLVE_H

#include "formats/csr.h"
#include "kernels/tdbem/admittance.h"
#include "kernels/tdbem/m0_pack.h"
#include "kernels/tdbem/near_pack.h"
#include "runtime/device.h"

/* How a step went. Doubles alone, so that it is copied and stored as it is. */
typedef struct ps_group_step {
    double state;      /* ps_group_state                                                         */
    double iterations; /* of the iteration                                                       */
    double residual;   /* |b - M^0 a| / |b|, from the definition on CUDA; 0 where b counts as 0  */
    double load;       /* largest |l|                                                            */
    double response;   /* largest |D^{-1} l|, D the diagonal of M^0                              */
    double right;      /* largest |b|                                                            */
    double largest;    /* largest |a|, a rounded to the run's precision                          */
    double mean;       /* weights . a                                                            */
} ps_group_step;

typedef enum ps_group_state {
    PS_GROUP_SKIPPED, /* an earlier step failed: nothing was computed               */
    PS_GROUP_SOLVED,
    PS_GROUP_NOT_CONVERGED, /* and what comes after it is skipped                         */
    PS_GROUP_NOT_FINITE     /* load or right-hand side hold NaN or infinity, or |b|^2 overflows */
} ps_group_state;

/* A part of the surface that gives way. All pointers are memory of the stream's device. */
typedef struct ps_group_lining {
    const void *sums;    /* s_G, laid out as those of M                           */
    ps_packed_near near; /* G^1 .. G^{n_g-1}                                      */
    ps_csr m0;           /* G^0 */
    ps_admittance_filter filter;
    double *state; /* [states of the filter][N] before the group, in the end after it */
    double *w;     /* ps_group_lining_workspace bytes                             */
} ps_group_lining;
int64_t ps_group_lining_workspace(int64_t unknowns);

/* All pointers are memory of the stream's device. */
typedef struct ps_group_solve {
    int64_t unknowns, group, count; /* N, n_g, steps to do: 1 .. n_g                       */
    ps_precision precision;         /* of sums, near matrices and recent                   */
    const void *sums;               /* s^{n0+g}(i) = sums[i * sums_stride + g]             */
    int64_t sums_stride;
    ps_packed_near near;
    ps_packed_m0 m0;       /* read on CUDA                                        */
    const ps_csr *rows;    /* M^0 on the host: read on the CPU; else may be NULL  */
    const double *scale;   /* [N] 1 / diagonal of M^0 (its own: > 0)              */
    const double *weights; /* [N] for the mean                                    */
    const double *loads;   /* [count][N]                                          */
    double tolerance;
    int64_t limit;                  /* iterations a step                                   */
    bool unsymmetric;               /* M^0 is: BiCGStab                                    */
    int lining_count;               /* with some M^0 is not symmetric                      */
    const ps_group_lining *linings; /* [lining_count]                            */
    double *last[2];                /* [N] the two answers before the group, newest first; in
                                       the end those of the group's end, rounded           */
    void *recent;                   /* [group][N] out: a^{n0+g}                            */
    void *workspace;                /* ps_group_solve_workspace bytes, 64-byte aligned     */
    ps_group_step *steps;           /* [group] out                                         */
} ps_group_solve;

/* Bytes; enough for every device. halo: halo_count of M^0. */
int64_t ps_group_solve_workspace(int64_t unknowns, int64_t group, int64_t halo);

/* Enqueues the group. Not converged, or not finite, is no error here: see `steps`; `last` and
 * the rest of `recent` then hold nothing of use. PS_USAGE if sizes are wrong; PS_FAILED if the
 * launch fails, this build has no such device, or a block's rows exceed the shared memory of its
 * multiprocessor (on an H200 from some 250,000 unknowns on). */
ps_status ps_group_solve_run(const ps_group_solve *solve, ps_stream *stream);

/* The largest |x|, times |scale| where that is given; NaN and infinity come through. Of the host;
 * threaded. */
double ps_group_largest(const double *x, const double *scale, int64_t rows);

#endif
