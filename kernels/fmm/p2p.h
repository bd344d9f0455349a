/*
 * p2p: direct interactions of near particles,
 *
 *     phi_i += q_j K(r),  g_i += q_j c(r) (x_i - x_j),
 *     mutual: phi_j += q_i K(r),  g_j -= q_i c(r) (x_i - x_j)  as well,
 *
 * with r = |x_i - x_j| (kernel_function.h). Targets are one range (a leaf), sources a list of
 * ranges (itself and its neighbours: consecutive leaves make one range), first those that only
 * act, then those that are acted on, too. They are packed together, so that short leaves do not
 * waste lanes.
 *
 * | work per pair, kernel 1/r, fp64, AVX-512 | instructions of 8 lanes |
 * | one-sided: 3 differences, 3 r^2, 7 rsqrt, 2 K and c, 5 sums, 3 mask | 23 per ordered pair |
 * | mutual: 3 + 3 + 7 + 2 + 10                     | 25 per two ordered pairs |
 *
 * By convention (RR-8513) a mutual pair counts as PS_FMM_P2P_FLOPS = 46 flop.
 *
 * In PS_SINGLE positions are taken relative to the centre of the target leaf and rounded to fp32,
 * as is all arithmetic; sums over at most PS_FMM_P2P_CHUNK sources are added to the results in
 * fp64. Relative errors of gradients are then about 2^-24 width over the least distance.
 * Particles in different places that fp32 cannot tell apart act as if they were one width/10^9
 * apart (mutual) or not at all (one-sided).
 *
 * Order of additions: sources in the order of the ranges, blocks of 4 targets; it does not depend
 * on threads. Serial, no state.
 */
#ifndef PS_KERNELS_FMM_P2P_H
#define PS_KERNELS_FMM_P2P_H

#include "kernels/fmm/kernel_function.h"
#include "kernels/fmm/particle_set.h"
#include "runtime/isa.h"

enum { PS_FMM_P2P_CHUNK = 512, PS_FMM_P2P_FLOPS = 46 };

typedef struct ps_fmm_p2p {
    ps_fmm_function function;
    int sides; /* right-hand sides, 1 .. PS_FMM_SIDES_MAX             */
    const ps_fmm_particles *targets;
    const ps_fmm_particles *sources; /* may be the targets; or copies with results of their own */
    ps_fmm_range target;             /* a leaf of the targets                               */
    /* Ranges of the sources: [0, one_sided) act on the targets alone; pairs at distance 0 (a
     * particle and itself) contribute nothing, so the leaf itself may be among them.
     * [one_sided, run_count) are mutual: they get the opposite results, and must not hold a
     * target. */
    const ps_fmm_range *runs;
    int64_t one_sided, run_count;
    double centre[3], width; /* of the target leaf                                  */
} ps_fmm_p2p;

typedef void (*ps_fmm_p2p_fn)(const ps_fmm_p2p *p2p);

struct ps_fmm_p2p_functions {
    ps_fmm_p2p_fn interact[PS_FMM_KERNEL_COUNT];
};

/* The functions of a backend and precision of arithmetic for this machine, or NULL. */
const struct ps_fmm_p2p_functions *ps_fmm_p2p_functions_of(ps_backend backend,
                                                           ps_precision precision);

#endif
