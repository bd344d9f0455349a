/* Checks, sums, and the accuracy reached, by samples against direct sums (specs/prism_sum.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/prism_field/field.h"
#include "kernels/fmm/sample_errors.h"
#include "runtime/compare.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- before ---- */

static ps_status check_overlap(field *f)
{
    int64_t p[2];
    PS_TRY(ps_prism_overlap(&f->bodies, (int)f->run->threads, &f->overlap, p));
    if (!f->overlap) return PS_OK;
    double *const *c = f->prisms.column;
    return ps_refuse(
        f->run, "overlapping",
        "prisms %lld and %lld share volume: x %.10g to %.10g and %.10g to %.10g, y %.10g to %.10g "
        "and %.10g to %.10g, z %.10g to %.10g and %.10g to %.10g: their masses would be added "
        "there",
        (long long)p[0] + 1, (long long)p[1] + 1, c[0][p[0]], c[1][p[0]], c[0][p[1]], c[1][p[1]],
        c[2][p[0]], c[3][p[0]], c[2][p[1]], c[3][p[1]], c[4][p[0]], c[5][p[0]], c[4][p[1]],
        c[5][p[1]]);
}

static bool has_weight(const field *f, int64_t prism)
{
    for (int w = 0; w < ps_prism_kind_weights(f->kind); ++w)
        if (f->prisms.column[6 + w][prism] != 0) return true;
    return false;
}

/* Stations inside of prisms that have mass; within magnetised ones B has mu0 m more. */
static ps_status check_inside(field *f, const int64_t *containing)
{
    int64_t first = -1;
    f->inside = 0;
    for (int64_t i = 0; i < f->stations.count; ++i) {
        if (containing[i] < 0 || !has_weight(f, containing[i])) continue;
        if (f->inside++ == 0) first = i;
    }
    if (f->inside == 0) return PS_OK;
    double *const *s = f->stations.column, *const *c = f->prisms.column;
    int64_t p = containing[first];
    if (f->kind == PS_PRISM_MAGNETIC && f->overlap)
        return ps_fail(
            PS_INVALID,
            "station %lld lies inside of a prism, and prisms overlap: which magnetisation "
            "is there is not known",
            (long long)first + 1);
    return ps_refuse(f->run, "stations-inside",
                     "%lld of %lld stations lie inside of prisms: station %lld at %.10g, %.10g, "
                     "%.10g in prism %lld, z from %.10g to %.10g",
                     (long long)f->inside, (long long)f->stations.count, (long long)first + 1,
                     s[0][first], s[1][first], s[2][first], (long long)p + 1, c[4][p], c[5][p]);
}

static ps_status look_inside(field *f, int64_t **containing)
{
    PS_TRY(PS_ALLOC(containing, f->stations.count, "stations inside of prisms"));
    ps_prism_sum_inside(f->sum, *containing);
    return check_inside(f, *containing);
}

/* ---- samples ---- */

enum { FEWEST = 16, MOST = 1000 };

/* About a twentieth of the closed forms of the sum, 2 million at least. */
static int64_t samples_wanted(const field *f)
{
    double pairs = 2e6 + 0.05 * (double)f->figures.near_pairs;
    double samples = pairs / (double)f->prisms.count, all = (double)f->stations.count;
    samples = fmin(fmax(samples, FEWEST), MOST);
    return (int64_t)fmin(samples, all);
}

/* A random place of each even part of the stations' Morton order. */
static void choose(const field *f, int64_t *places)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int64_t i = 0; i < f->samples; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double at = ((double)i + (double)(state >> 11) * 0x1p-53) / (double)f->samples;
        int64_t place = (int64_t)(at * (double)f->stations.count);
        places[i] = place < f->stations.count ? place : f->stations.count - 1;
    }
}

/* Numbers that are measured together: V, g or B, T. */
typedef struct group {
    int first, count;
} group;
static int groups_of(ps_prism_kind kind, group out[3])
{
    if (kind == PS_PRISM_MAGNETIC) {
        out[0] = (group){0, 3};
        return 1;
    }
    out[0] = (group){0, 1};
    out[1] = (group){1, 3};
    out[2] = (group){4, 6};
    return kind == PS_PRISM_TENSOR ? 3 : 2;
}

/* As specs/fmm.md, "The bound". error, size, sorted: [samples]. */
static double error_of(field *f, const group *g, const int64_t *indices, double *const *direct,
                       double *error)
{
    double *size = error + f->samples, *sorted = size + f->samples;
    int64_t count = 0;
    for (int64_t i = 0; i < f->samples; ++i) {
        double e = 0, r = 0;
        for (int k = g->first; k < g->first + g->count; ++k) {
            double off = f->result[k][indices[i]] - direct[k][i];
            e += off * off;
            r += direct[k][i] * direct[k][i];
        }
        if (isnan(e)) continue; /* on an edge */
        error[count] = sqrt(e);
        sorted[count] = size[count] = sqrt(r);
        ++count;
    }
    if (count == 0) return 0;
    qsort(sorted, (size_t)count, sizeof *sorted, ps_compare_reals);
    bool all = count == f->stations.count;
    double norm = ps_fmm_bound_of_mean(size, count, true), least = sorted[count / 2];
    if (norm == 0) return 0;
    if (least == 0) least = norm;
    double whole = ps_fmm_bound_of_mean(error, count, all) / norm;
    for (int64_t i = 0; i < count; ++i) {
        error[i] /= fmax(size[i], least);
        f->largest = fmax(f->largest, error[i]);
    }
    return fmax(whole, ps_fmm_bound_of_mean(error, count, all));
}

static ps_status measure(field *f)
{
    double *direct[PS_PRISM_NUMBERS];
    PS_SCOPED_MEMORY double *room = NULL;
    PS_SCOPED_MEMORY int64_t *indices = NULL;
    group groups[3];
    int count = groups_of(f->kind, groups);
    f->samples = samples_wanted(f);
    PS_TRY(PS_ALLOC(&room, (PS_PRISM_NUMBERS + 3) * f->samples, "samples of the result"));
    PS_TRY(PS_ALLOC(&indices, f->samples, "samples of the result"));
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) direct[k] = room + k * f->samples;
    choose(f, indices);
    PS_TRY(ps_prism_sum_samples(f->sum, indices, f->samples, direct));
    const int64_t *order = ps_prism_sum_station_order(f->sum);
    for (int64_t i = 0; i < f->samples; ++i) indices[i] = order[indices[i]];
    f->largest = 0;
    for (int g = 0; g < count; ++g)
        f->reached[g] =
            error_of(f, &groups[g], indices, direct, room + PS_PRISM_NUMBERS * f->samples);
    return PS_OK;
}

static double excess_of(const field *f)
{
    static const double single = 10; /* so many times the accuracy is allowed to one sample */
    double worst = f->largest / single;
    for (int g = 0; g < 3; ++g) worst = fmax(worst, f->reached[g]);
    return worst / f->accuracy;
}

/* ---- sums ---- */

static const double digits_an_order = 0.72;

static ps_status evaluate(field *f, bool again)
{
    const double *weight[3] = {f->prisms.column[6], f->prisms.column[7], f->prisms.column[8]};
    PS_TRY(ps_prism_sum_operators(f->sum, f->order, f->epsilon));
    PS_TRY(ps_prism_sum_apply(f->sum, again ? NULL : weight, f->result));
    ps_prism_sum_figures_of(f->sum, &f->figures);
    return PS_OK;
}

static ps_status give_up(const field *f)
{
    return ps_fail(PS_INACCURATE,
                   "an accuracy of %.3g is not reached: at order %d errors are up to %.3g, %.3g, "
                   "%.3g of %s, %.3g of a single sample; nothing is written: --height 1 sums "
                   "directly",
                   f->accuracy, f->order, f->reached[0], f->reached[1], f->reached[2],
                   f->kind == PS_PRISM_MAGNETIC ? "B" : "V, g, T", f->largest);
}

static ps_status raise_order(field *f, double excess)
{
    if (f->order == f->order_most) return give_up(f);
    int more = (int)fmin(fmax(ceil(log10(excess) / digits_an_order), 1), 3);
    if (f->order + more > f->order_most) more = f->order_most - f->order;
    f->order += more;
    f->epsilon *= pow(10, -more);
    ps_info("errors are %.2g times what is allowed: once more with order %d", excess, f->order);
    return PS_OK;
}

static ps_status reach(field *f)
{
    if (f->accuracy > 0) {
        f->order =
            (int)fmin(fmax(ceil((0.2 - log10(f->accuracy)) / digits_an_order), 3), f->order_most);
        f->epsilon = pow(10, -f->order);
    }
    for (bool again = false;; again = true) {
        PS_TRY(evaluate(f, again));
        if (f->figures.height < 3) return PS_OK; /* direct sums */
        PS_TRY(measure(f));
        double excess = f->accuracy > 0 ? excess_of(f) : 0;
        if (excess <= 1) return PS_OK;
        PS_TRY(raise_order(f, excess));
    }
}

/* ---- after ---- */

/* B = mu0 (T m / 4 pi + m within): 4 pi m to the sums. */
static void add_magnetisation(field *f, const int64_t *containing)
{
    const double four_pi = 12.566370614359172954;
    for (int64_t i = 0; i < f->stations.count; ++i)
        for (int d = 0; d < 3 && containing[i] >= 0; ++d)
            f->result[d][i] += four_pi * f->prisms.column[6 + d][containing[i]];
}

/* NaN stands for what is not defined on an edge, and for nothing else. */
static ps_status check_result(field *f)
{
    int always = f->kind == PS_PRISM_MAGNETIC ? 0 : 4;
    f->undefined = 0;
    for (int64_t i = 0; i < f->stations.count; ++i) {
        bool undefined = false;
        for (int k = 0; k < ps_prism_kind_numbers(f->kind); ++k) {
            double value = f->result[k][i];
            if (isinf(value) || (isnan(value) && k < always))
                return ps_fail(PS_FAILED, "the field at station %lld is %g", (long long)i + 1,
                               value);
            undefined = undefined || isnan(value);
        }
        f->undefined += undefined;
    }
    if (f->undefined)
        ps_warning(
            "%lld of %lld stations lie on edges of prisms, where derivatives are infinite or "
            "depend on the direction: NaN stands there",
            (long long)f->undefined, (long long)f->stations.count);
    return PS_OK;
}

/* On a device that was not asked for by name only if its memory is enough. */
static ps_status open_sum(field *f, ps_prism_sum_options *options)
{
    ps_status status = ps_prism_sum_open(&f->bodies, options, &f->sum);
    if (status != PS_EXHAUSTED || strcmp(f->run->device, "auto") != 0) return status;
    ps_info("computing on cores: %s", ps_message());
    options->device = NULL;
    return ps_prism_sum_open(&f->bodies, options, &f->sum);
}

ps_status field_compute(field *f)
{
    PS_SCOPED_MEMORY int64_t *containing = NULL;
    ps_prism_sum_options options = {
        .height = f->height, .threads = (int)f->run->threads, .device = f->device};
    PS_TRY(check_overlap(f));
    PS_TRY(open_sum(f, &options));
    for (int k = 0; k < ps_prism_kind_numbers(f->kind); ++k)
        PS_TRY(PS_ALLOC(&f->result[k], f->stations.count, "results"));
    PS_TRY(look_inside(f, &containing));
    PS_TRY(reach(f));
    PS_TRY(check_result(f));
    if (f->kind == PS_PRISM_MAGNETIC) add_magnetisation(f, containing);
    return PS_OK;
}
