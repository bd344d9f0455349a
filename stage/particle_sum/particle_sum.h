/*
 * particle_sum: pairwise sums of particles in arrays by the fast multipole method over an adaptive
 * tree (kernels/fmm/adaptive_evaluate.h), on cores, to an accuracy that samples must show
 * (specs/library.md):
 *
 *     phi_i = sum_j q_j K(|x_i - y_j|),   grad phi_i = sum_j q_j K'(r)/r (x_i - y_j)
 *
 * Particles at one place do not act on each other. Bits do not depend on the number of threads.
 */
#ifndef PS_PARTICLE_SUM_H
#define PS_PARTICLE_SUM_H

#include <stdint.h>

#include "kernels/fmm/kernel_function.h"

/* All borrowed, in SI units or any that go together. */
typedef struct ps_particle_sum {
    int64_t sources, targets;
    const double *source[3]; /* [sources] an axis                               */
    const double *target[3]; /* [targets] an axis; NULL: the sources, as targets are ignored */
    const double *charges;   /* [sides][sources]                                */
    int sides;               /* 1 .. PS_FMM_SIDES_MAX                           */
    ps_fmm_function function;
    double accuracy; /* relative, 1e-12 .. 1: of potentials, and of gradients if wanted        */
    int threads;     /* 1 at least                                                            */
} ps_particle_sum;

typedef struct ps_particle_sum_figures {
    int order, levels, attempts; /* order 0: all pairs directly */
    int64_t samples;
    double potential, gradient; /* errors reached at them */
} ps_particle_sum_figures;

/* potential[sides][targets] and gradient[sides][3][targets] (NULL: not wanted) are overwritten.
 * PS_USAGE and PS_INVALID name what is wrong of the arguments; PS_EXHAUSTED; PS_INACCURATE where no
 * order reaches the accuracy: what the arrays hold then is of no use. */
ps_status ps_particle_sum_run(const ps_particle_sum *sum, double *potential, double *gradient,
                              ps_particle_sum_figures *figures);

#endif
