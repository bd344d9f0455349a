/*
 * slab_methods: the fixed point and double sweeps until they have converged, and fields of slabs.
 */
#ifndef PS_TESTS_SUPPORT_SLAB_METHODS_H
#define PS_TESTS_SUPPORT_SLAB_METHODS_H

#include <math.h>

#include "kernels/schwarz/slab_box.h"

/* One iteration; *change: the norm of that of g. */
typedef ps_status slab_step(void *problem, double *g, double *space, double *change);

typedef struct slab_control {
    double tolerance;
    int64_t limit;
    double *history; /* [limit], the residuals; NULL: not wanted */
} slab_control;

/* The residual is the change of g relative to the first one. PS_FAILED if `limit` iterations are
 * not enough or numbers stop being finite. */
static inline ps_status slab_iterate(slab_step *step, void *problem, const slab_control *control,
                                     double *g, double *space, ps_krylov_result *result)
{
    double first = 0, change;
    *result = (ps_krylov_result){0};
    while (!result->converged) {
        if (result->iterations == control->limit)
            return ps_fail(PS_FAILED, "more iterations are needed");
        PS_TRY(step(problem, g, space, &change));
        if (result->iterations++ == 0) first = change;
        result->residual = change == 0 ? 0 : change / first;
        if (!isfinite(result->residual)) return ps_fail(PS_FAILED, "the residual is not finite");
        if (control->history) control->history[result->iterations - 1] = result->residual;
        result->converged = result->residual <= control->tolerance;
    }
    return PS_OK;
}

static inline ps_status fixed_point_step(void *problem, double *g, double *space, double *change)
{
    return ps_interface_step(problem, g, space, change);
}

static inline ps_status fixed_point(ps_interface *problem, double tolerance, int64_t limit,
                                    double *g, double *space, ps_krylov_result *result)
{
    return slab_iterate(fixed_point_step, problem, &(slab_control){tolerance, limit, NULL}, g,
                        space, result);
}

static inline ps_status sweep_step(void *box, double *g, double *space, double *change)
{
    return ps_slab_box_sweep(box, g, change);
}

static inline ps_status double_sweeps(ps_slab_box *box, double tolerance, int64_t limit, double *g,
                                      ps_krylov_result *result)
{
    return slab_iterate(sweep_step, box, &(slab_control){tolerance, limit, NULL}, g, NULL, result);
}

/* The planes of a slab in the field of a box in memory, after ps_slab_box_finish. */
static inline const double *field_of_slab(const ps_slab_box *box, int64_t slab)
{
    int64_t nx = box->plan.grid.nodes[0], slabs = box->plan.slabs, own = box->plan.first;
    int64_t planes = ps_slab_first(nx, slabs, slab) - ps_slab_first(nx, slabs, own) + slab - own;
    return box->field + planes * box->plane;
}

#endif
