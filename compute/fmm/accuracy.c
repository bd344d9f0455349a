/*
 * --accuracy as a bound: samples of the result against direct sums, and what is done where their
 * errors exceed what was asked (specs/fmm.md, "The bound").
 */
#include <math.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- how many samples ---- */

/* Flop of the whole by the octree's forecasts, in ordered pairs of particles. */
static double work_in_pairs(const fmm_problem *p)
{
    const fmm_lists *lists = &p->lists;
    if (p->pairs > 0) return p->pairs;
    double l = p->fmm.interpolation.order, flop = 0, mean_rank = 0.5 * l * l;
    double points = l * l * l, particles = (double)(p->header->count[0] + p->header->count[1]);
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, p->leaf); ++g)
        flop += PS_FMM_P2P_FLOPS * (p->same ? 1 : 0.5) *
                (double)(lists->near_pairs[g] + lists->augmented_pairs[g]);
    for (int level = 2; level <= p->leaf; ++level)
        for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, level); ++g)
            flop += (double)lists->far_pairs[level][g] * 4 * points * mean_rank;
    if (p->far) flop += particles * (4 * points + 12 * l * l);
    return flop / (0.5 * PS_FMM_P2P_FLOPS);
}

int64_t fmm_samples_wanted(const fmm_problem *p)
{
    /* The outermost ones are a quarter more, and a pair that is summed from one side costs 1.8
     * times half a mutual one: 4.5 % of the work. */
    static const double part = 0.02, least_pairs = 4e6;
    enum { FEWEST = 16, MOST = 1000 };
    double sources = (double)p->header->count[0], pairs = part * work_in_pairs(p);
    double samples =
        (pairs > least_pairs ? pairs : least_pairs) / (sources * p->lattice.images);
    return samples < FEWEST ? FEWEST : samples > MOST ? MOST : (int64_t)samples;
}

/* ---- errors ---- */

fmm_reached fmm_samples_errors(const fmm_problem *p, const fmm_check *c, bool gradient)
{
    PS_SCOPED_MEMORY double *workspace = NULL;
    ps_fmm_samples samples = {.count = c->count,
                              .even = c->even,
                              .all = c->even == p->header->count[1],
                              .sides = c->sum.sides,
                              .components = ps_fmm_sum_components(&c->sum),
                              .hessian = c->sum.derivatives > 1,
                              .direct = c->direct,
                              .taken = c->taken,
                              .charge = c->charge,
                              .function = p->fmm.function,
                              .width = p->header->box.width};
    if (PS_ALLOC(&workspace, 3 * c->count, "errors of samples") != PS_OK)
        return (fmm_reached){NAN, NAN, NAN, NAN};
    /* What fields of single charges are a measure for. */
    if (c->sum.moments != PS_MOMENTS_CHARGES) samples.function.kernel = PS_FMM_INVERSE;
    return ps_fmm_sample_errors(&samples, gradient, workspace);
}

/* ---- the next attempt ---- */

static ps_status give_up(const fmm_reached *reached, const fmm_problem *p, const char *why)
{
    return ps_fail(PS_INACCURATE,
                   "an accuracy of %.3g is not reached: at order %d errors are up to %.3g of "
                   "potentials, %.3g of gradients, %.3g of a single sample, and %s; nothing is "
                   "written",
                   p->accuracy, p->fmm.interpolation.order, reached->potential, reached->gradient,
                   reached->largest, why);
}

ps_status fmm_accuracy_raise(const fmm_reached *reached, const fmm_reached *before, fmm_problem *p)
{
    int order = p->fmm.interpolation.order;
    double excess = ps_fmm_excess(reached, p->accuracy);
    int more = ps_fmm_more_order(order, excess, before ? ps_fmm_excess(before, p->accuracy) : 0);
    bool stays = !p->far || more < 0;
    if (p->fmm.near == PS_SINGLE && (stays || order == PS_FMM_ORDER_MAX))
        return give_up(reached, p, "a higher order does not help: --precision fp64 does");
    if (stays)
        return give_up(reached, p,
                       reached->gradient > reached->potential
                           ? "a higher order does not help: gradients are what is left where "
                             "charges cancel, as in a crystal (--no-gradient leaves them out)"
                           : "a higher order does not help: what is left is rounding, as where "
                             "charges cancel");
    if (order == PS_FMM_ORDER_MAX)
        return give_up(reached, p,
                       "no higher order is possible: a tree of fewer levels "
                       "(penstock-octree-build --height) may do");
    p->epsilon *= pow(10, -more);
    return ps_fmm_interpolation_init(&p->fmm.interpolation, order + more);
}
