#include "kernels/fmm/sample_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/chebyshev.h"
#include "runtime/compare.h"

/* Of one quantity and side: magnitudes of errors and of references, [samples]. */
typedef struct magnitudes {
    double *error, *reference, *sorted;
} magnitudes;

static void measure(const ps_fmm_samples *c, int first, int rows, magnitudes *m)
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
static double least_reference(const ps_fmm_samples *c, magnitudes *m, double floor)
{
    memcpy(m->sorted, m->reference, (size_t)c->even * sizeof *m->sorted);
    qsort(m->sorted, (size_t)c->even, sizeof *m->sorted, ps_compare_reals);
    return fmax(m->sorted[c->even / 2], floor);
}

double ps_fmm_bound_of_mean(const double *values, int64_t count, bool all)
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
static double error_of(const ps_fmm_samples *c, magnitudes *m, double floor, double *largest)
{
    double norm = ps_fmm_bound_of_mean(m->reference, c->even, true);
    double least = least_reference(c, m, floor);
    if (least == 0) least = norm; /* half of the targets feel nothing */
    double whole = ratio(ps_fmm_bound_of_mean(m->error, c->even, c->all), norm);
    for (int64_t i = 0; i < c->count; ++i) {
        m->error[i] = ratio(m->error[i], fmax(m->reference[i], least));
        *largest = worse(*largest, m->error[i]);
    }
    return worse(whole, ps_fmm_bound_of_mean(m->error, c->even, c->all));
}

/* Of kernels with a length 1/b of their own a millionth of what a charge of the mean size does
 * there, to phi or to its gradient; 0 for others. */
static double floor_of(const ps_fmm_samples *s, double charge, bool gradient)
{
    static const double small = 1e-6;
    double b = s->function.parameter, length, k, c;
    switch (s->function.kernel) {
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
    if (!(length > 0 && length < s->width)) return 0;
    ps_fmm_function_at(&s->function, length, &k, &c);
    return small * charge * fabs(gradient ? c * length : k);
}

ps_fmm_reached ps_fmm_sample_errors(const ps_fmm_samples *c, bool gradient, double *workspace)
{
    ps_fmm_reached reached = {0};
    int each = c->components ? c->components : 1, all = each * c->sides;
    magnitudes m = {workspace, workspace + c->count, workspace + 2 * c->count};
    for (int s = 0; s < c->sides; ++s) {
        measure(c, each * s, each, &m);
        double floor = floor_of(c, c->charge[s], false);
        reached.potential = worse(reached.potential, error_of(c, &m, floor, &reached.largest));
        if (!gradient) continue;
        measure(c, all + 3 * each * s, 3 * each, &m);
        floor = floor_of(c, c->charge[s], true);
        reached.gradient = worse(reached.gradient, error_of(c, &m, floor, &reached.largest));
        if (!c->hessian) continue;
        measure(c, 4 * all + 6 * each * s, 6 * each, &m);
        reached.hessian = worse(reached.hessian, error_of(c, &m, 0, &reached.largest));
    }
    return reached;
}

double ps_fmm_excess(const ps_fmm_reached *reached, double accuracy)
{
    static const double single = 10; /* so many times the accuracy is allowed to one sample */
    return worse(worse(worse(reached->potential, reached->gradient), reached->hessian),
                 reached->largest / single) /
           accuracy;
}

int ps_fmm_more_order(int order, double excess, double before)
{
    static const double digits_an_order = 0.9, gain = 0.5;
    if (before > 0 && excess > gain * before) return -1;
    double steps = ceil(log10(excess) / digits_an_order);
    if (steps > PS_FMM_ORDER_MAX) return -1; /* true values that vanish by cancelling */
    int more = steps < 1 ? 1 : steps > 3 ? 3 : (int)steps;
    return order + more > PS_FMM_ORDER_MAX ? PS_FMM_ORDER_MAX - order : more;
}
