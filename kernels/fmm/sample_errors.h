/*
 * sample_errors: the errors of specs/fmm.md, "The bound", from samples of a result and the direct
 * sums at them; and the order that the next attempt takes.
 */
#ifndef PS_KERNELS_FMM_SAMPLE_ERRORS_H
#define PS_KERNELS_FMM_SAMPLE_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/fmm/kernel_function.h"

/* All borrowed. The first `even` samples are at random, others where errors are largest. */
typedef struct ps_fmm_samples {
    int64_t count, even;
    bool all; /* every target is sampled */
    int sides;
    const double *direct, *taken; /* [4 S][count] both: potentials [S], then gradients [S][3];
                                     of several components [S][components], with Hessians behind */
    const double *charge;         /* [S] mean magnitude of the sources */
    ps_fmm_function function;
    double width;   /* of the box */
    int components; /* of a value, whose errors are one: 0 is 1 */
    bool hessian;
} ps_fmm_samples;

/* The worst of all sides. */
typedef struct ps_fmm_reached {
    double potential, gradient; /* 0: gradients are not wanted */
    double largest;             /* of a single sample */
    double hessian;             /* 0: second derivatives are not wanted */
} ps_fmm_reached;

/* sqrt of the mean of squares of values[count], raised to what it is below with a certainty of 99.5
 * %; all targets are sampled: as it is. */
double ps_fmm_bound_of_mean(const double *values, int64_t count, bool all);

/* workspace[3 count]. */
ps_fmm_reached ps_fmm_sample_errors(const ps_fmm_samples *samples, bool gradient,
                                    double *workspace);

/* How many times more than asked the errors are. */
double ps_fmm_excess(const ps_fmm_reached *reached, double accuracy);

/* How many orders more the next attempt takes, up to the highest there is: 0 at that, -1 where
 * one does not help. `before`: the excess of the attempt before, 0 if there was none. */
int ps_fmm_more_order(int order, double excess, double before);

#endif
