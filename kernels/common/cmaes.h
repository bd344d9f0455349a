/*
 * cmaes: minimises a function of few variables by the covariance matrix adaptation evolution
 * strategy, A. Auger, N. Hansen, GECCO 2012 tutorial, 827-848 (constants in cmaes.c).
 *
 * Needs values alone, no derivatives, and takes maxima with corners in its stride. Runs are
 * repeatable: equal seeds, equal answers. No allocation, no threads, no global state.
 */
#ifndef PS_KERNELS_COMMON_CMAES_H
#define PS_KERNELS_COMMON_CMAES_H

#include <stdint.h>

#include "runtime/status.h"

enum { PS_CMAES_DIMENSIONS = 8, PS_CMAES_POPULATION = 64 };

typedef struct ps_cmaes {
    int dimension;                    /* 1 .. PS_CMAES_DIMENSIONS */
    int population;                   /* 4 .. PS_CMAES_POPULATION */
    double mean[PS_CMAES_DIMENSIONS]; /* where it starts          */
    double sigma;                     /* how far it looks at first */
    double threshold; /* stops once the best values of the last 10 + 30 n / population generations
                         and those of the population lie within it */
    int64_t limit;    /* generations */
    uint64_t seed;
    double (*cost)(void *context, const double *x); /* NaN counts as infinite */
    void *context;
} ps_cmaes;

typedef struct ps_cmaes_result {
    double x[PS_CMAES_DIMENSIONS]; /* the best point met, its value */
    double cost;
    int64_t evaluations, generations;
} ps_cmaes_result;

/* PS_USAGE for sizes out of range; PS_FAILED when the limit is reached: *result holds the best. */
ps_status ps_cmaes_minimise(const ps_cmaes *problem, ps_cmaes_result *result);

#endif
