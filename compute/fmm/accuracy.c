/*
 * --accuracy as a bound: samples of the result against direct sums, and what is done where their
 * errors exceed what was asked (specs/fmm.md, "The bound").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/compare.h"
#include "runtime/memory.h"

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
    double samples = (pairs > least_pairs ? pairs : least_pairs) / sources;
    return samples < FEWEST ? FEWEST : samples > MOST ? MOST : (int64_t)samples;
}

/* ---- errors ---- */

/* Of one quantity and side: magnitudes of errors and of references, [samples]. */
typedef struct magnitudes {
    double *error, *reference, *sorted;
} magnitudes;

static void measure(const fmm_check *c, int first, int rows, magnitudes *m)
{
    for (int64_t i = 0; i < c->count; ++i) {
        double error = 0, square = 0;
        for (int row = first; row < first + rows; ++row) {
            double direct = c->direct[row * c->count + i],
                   off = c->taken[row * c->count + i] - direct;
            error += off * off;
            square += direct * direct;
        }
        m->error[i] = sqrt(error);
        m->reference[i] = sqrt(square);
    }
}

/* What errors are held against at the least: the median of what is there, and, for kernels with a
 * length of their own, a small part of what a unit does at that distance. A few close pairs do not
 * hide what happens to all others, as they would in a mean. */
static double least_reference(const fmm_check *c, magnitudes *m, double floor)
{
    memcpy(m->sorted, m->reference, (size_t)c->even * sizeof *m->sorted);
    qsort(m->sorted, (size_t)c->even, sizeof *m->sorted, ps_compare_reals);
    return fmax(m->sorted[c->even / 2], floor);
}

/* sqrt of the mean of squares, raised to what it is below with a certainty of 99.5 %; all targets
 * are sampled: as it is. */
static double bound_of_mean(const double *values, int64_t count, bool all)
{
    double mean = 0, fourth = 0, n = (double)count;
    for (int64_t i = 0; i < count; ++i) {
        mean += values[i] * values[i] / n;
        fourth += values[i] * values[i] * values[i] * values[i] / n;
    }
    if (all || mean == 0) return sqrt(mean);
    double deviation = sqrt(fmax(fourth / (mean * mean) - 1, 0));
    return sqrt(mean * (1 + 2.6 * deviation / sqrt(n)));
}

static double ratio(double error, double reference)
{
    return error > 0 ? error / reference : error; /* NaN stays one */
}

/* The larger one; NaN if one is. */
static double worse(double a, double b) { return isnan(a) || a >= b ? a : b; }

/* The larger of the two means of specs/fmm.md; *largest grows. */
static double error_of(const fmm_problem *p, const fmm_check *c, magnitudes *m, double floor,
                       double *largest)
{
    bool all = c->even == p->header->count[1];
    double norm = bound_of_mean(m->reference, c->even, true);
    double least = least_reference(c, m, floor);
    if (least == 0) least = norm; /* half of the targets feel nothing */
    double whole = ratio(bound_of_mean(m->error, c->even, all), norm);
    for (int64_t i = 0; i < c->count; ++i) {
        m->error[i] = ratio(m->error[i], fmax(m->reference[i], least));
        *largest = worse(*largest, m->error[i]);
    }
    return worse(whole, bound_of_mean(m->error, c->even, all));
}

/* Of kernels with a length 1/b of their own a millionth of what a charge of the mean size does
 * there, to phi or to its gradient; 0 for others. */
static double floor_of(const fmm_problem *p, double charge, bool gradient)
{
    static const double small = 1e-6;
    double b = p->fmm.function.parameter, length, k, c;
    switch (p->fmm.function.kernel) {
    case PS_FMM_EXPONENTIAL:
    case PS_FMM_YUKAWA:
        length = 1 / b;
        break;
    case PS_FMM_GAUSSIAN:
        length = 1 / sqrt(b);
        break;
    default:
        return 0;
    }
    if (!(length > 0 && length < p->header->box.width)) return 0;
    ps_fmm_function_at(&p->fmm.function, length, &k, &c);
    return small * charge * fabs(gradient ? c * length : k);
}

fmm_reached fmm_samples_errors(const fmm_problem *p, const fmm_check *c, bool gradient)
{
    fmm_reached reached = {0, 0, 0};
    magnitudes m;
    if (PS_ALLOC(&m.error, 3 * c->count, "errors of samples") != PS_OK)
        return (fmm_reached){NAN, NAN, NAN};
    m.reference = m.error + c->count;
    m.sorted = m.reference + c->count;
    for (int s = 0; s < c->sides; ++s) {
        measure(c, s, 1, &m);
        double floor = floor_of(p, c->charge[s], false);
        reached.potential = worse(reached.potential, error_of(p, c, &m, floor, &reached.largest));
        if (!gradient) continue;
        measure(c, c->sides + 3 * s, 3, &m);
        floor = floor_of(p, c->charge[s], true);
        reached.gradient = worse(reached.gradient, error_of(p, c, &m, floor, &reached.largest));
    }
    free(m.error);
    return reached;
}

double fmm_excess(const fmm_reached *reached, double accuracy)
{
    static const double single = 10; /* so many times the accuracy is allowed to one sample */
    return worse(worse(reached->potential, reached->gradient), reached->largest / single) /
           accuracy;
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
    static const double digits_an_order = 0.9, gain = 0.5;
    int order = p->fmm.interpolation.order;
    double excess = fmm_excess(reached, p->accuracy);
    bool stays = !p->far || (before && excess > gain * fmm_excess(before, p->accuracy));
    if (p->fmm.near == PS_SINGLE && (stays || order == PS_FMM_ORDER_MAX))
        return give_up(reached, p, "a higher order does not help: --precision fp64 does");
    if (stays)
        return give_up(reached, p,
                       "a higher order does not help: what is left is rounding, as where charges "
                       "cancel");
    if (order == PS_FMM_ORDER_MAX)
        return give_up(reached, p,
                       "no higher order is possible: a tree of fewer levels "
                       "(penstock-octree-build --height) may do");
    double steps = ceil(log10(excess) / digits_an_order);
    int more = steps < 1 ? 1 : steps > 3 ? 3 : (int)steps;
    if (order + more > PS_FMM_ORDER_MAX) more = PS_FMM_ORDER_MAX - order;
    p->epsilon *= pow(10, -more);
    return ps_fmm_interpolation_init(&p->fmm.interpolation, order + more);
}
