/*
 * penstock/sum.h: pairwise sums of particles by the fast multipole method (specs/fmm_adaptive.md).
 *
 *     potential_i = sum_j q_j K(r_ij),   gradient_i = sum_j q_j K'(r_ij) (x_i - y_j) / r_ij
 *
 * Particles at one place do not act on each other.
 */
#ifndef PENSTOCK_SUM_H
#define PENSTOCK_SUM_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PENSTOCK_SIDES_MAX = 8 };

typedef struct penstock_sum {
    int64_t sources, targets;
    const double *source[3]; /* x, y, z [sources]; any unit of length              */
    const double *target[3]; /* x, y, z [targets]; all NULL: the sources           */
    const double *charges;   /* [sides][sources]                                   */
    int sides;               /* 1 .. PENSTOCK_SIDES_MAX                            */
    const char *kernel;      /* "inverse": 1/r; "inverse-square", "inverse-fourth", "distance",
                                "exponential", "yukawa", "gaussian" (specs/fmm.md)          */
    double parameter;        /* b of the last three, 1/length (gaussian 1/length^2)         */
    double accuracy;         /* relative error, 1e-12 .. 1                                  */
} penstock_sum;

typedef struct penstock_sum_figures {
    int order, levels, attempts; /* order 0: all pairs directly, as that is cheaper */
    int64_t samples;             /* targets that were summed directly, too */
    double potential, gradient;  /* relative errors at them                */
} penstock_sum_figures;

/* potential[sides][targets], gradient[sides][3][targets] or NULL; figures may be NULL.
 * PENSTOCK_INACCURATE where samples of the result do not meet the accuracy at any order. */
PENSTOCK_API penstock_status penstock_sum_run(const penstock_sum *sum, double *potential,
                                              double *gradient, penstock_sum_figures *figures);

#ifdef __cplusplus
}
#endif
#endif
