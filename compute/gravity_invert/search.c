/* The search for beta, each beta by conjugate gradients between bounds; its states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/gravity_invert/invert.h"
#include "runtime/memory.h"
#include "runtime/log.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/stop.h"

enum { SEARCH, SMALL, VECTORS, ARRAYS, TRIALS_MAX = 60 };
/* Gradients over the regularisation's at which a trial ends: on the way, and near the target. */
static const double roughly = 1e-2, solved = 1e-3, reached = 0.01, least_share = 1e-10;

typedef struct trial {
    double beta, chi2, rough;
} trial;

/* What a state keeps beside the solver's; all 8 bytes wide. */
typedef struct search_state {
    int64_t products, trials, done, tight; /* tight: near the target */
    int64_t device;                        /* 1: a CUDA device sums */
    double beta, first;
    trial above, below; /* nearest ones; beta 0: none yet */
    trial tried[TRIALS_MAX];
} search_state;

typedef struct search {
    inversion *v;
    search_state now;
    ps_bounded_system system;
    ps_bounded solver;
    double *memory[PS_BOUNDED_PIECES];
    int64_t doubles[PS_BOUNDED_PIECES];
    double *smoothed, *descent; /* [length]: R y; gradient of chi2 / 2 */
    double start;               /* chi2 of the reference */
    ps_state state;
    char name[4096], *identity;
} search;

static ps_status take(search *s, int64_t length, ps_ledger *ledger)
{
    static const char line[] = "solver";
    ps_bounded_memory(length, s->doubles);
    for (int k = 0; k < PS_BOUNDED_PIECES; ++k)
        PS_TRY(PS_LEDGER_TAKE(ledger, &s->memory[k], s->doubles[k], line));
    PS_TRY(PS_LEDGER_TAKE(ledger, &s->smoothed, length, line));
    return PS_LEDGER_TAKE(ledger, &s->descent, length, line);
}

void search_count(const inversion *v, ps_ledger *ledger)
{
    search s = {.v = NULL};
    (void)take(&s, v->length, ledger);
    int64_t state = 8 * (s.doubles[PS_BOUNDED_SMALL] + s.doubles[PS_BOUNDED_VECTORS]);
    ps_ledger_add(ledger, PS_ROOM_DISK, "states", v->run->keep * (state + (int64_t)sizeof s.now));
}

/* ---- products ---- */

static void smooth_all(const inversion *v, const double *x, double *y)
{
    for (int p = 0; p < v->parts; ++p)
        smooth_apply(&v->smooth, x + p * v->mesh.cells, y + p * v->mesh.cells);
}

static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
}

static void divide_by_squares(const inversion *v, double *data)
{
    const double *e = v->stations.column[4];
    for (int64_t i = 0; i < v->stations.count; ++i) data[i] /= e[i] * e[i];
}

/* y = (J' E^-2 J + beta R) x, scaled */
static ps_status apply(void *context, const double *x, double *y)
{
    search *s = context;
    inversion *v = s->v;
    PS_TRY(operator_apply(v, x, v->data));
    divide_by_squares(v, v->data);
    PS_TRY(operator_transposed(v, v->data, y));
    smooth_all(v, x, s->smoothed);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < v->length; ++i) y[i] += s->now.beta * s->smoothed[i];
    return PS_OK;
}

/* chi2 and its gradient at x (descent), R x (smoothed). */
static ps_status look(search *s, double *chi2)
{
    inversion *v = s->v;
    const double *e = v->stations.column[4];
    PS_TRY(operator_apply(v, s->solver.x, v->data));
    *chi2 = 0;
    for (int64_t i = 0; i < v->stations.count; ++i) {
        v->data[i] -= v->wanted[i];
        *chi2 += v->data[i] * v->data[i] / (e[i] * e[i]);
    }
    divide_by_squares(v, v->data);
    PS_TRY(operator_transposed(v, v->data, s->descent));
    smooth_all(v, s->solver.x, s->smoothed);
    s->now.products += 1;
    return isfinite(*chi2) ? PS_OK : ps_fail(PS_FAILED, "the misfit is not finite");
}

/* ---- beta ---- */

static double tolerance_of(const search *s) { return s->now.tight ? solved : roughly; }

static ps_status begin_trial(search *s, double beta)
{
    const int64_t n = s->v->length;
    double *g = s->solver.gradient;
    s->now.beta = beta;
    for (int64_t i = 0; i < n; ++i) g[i] = s->descent[i] + beta * s->smoothed[i];
    double size = beta * sqrt(dot(s->smoothed, s->smoothed, n));
    if (size == 0) size = sqrt(dot(s->descent, s->descent, n));
    return ps_bounded_begin(&s->solver, tolerance_of(s), size, s->v->options.limit);
}

/* The largest beta worth a trial: what J weighs along the gradient. */
static ps_status first_beta(search *s, double *out)
{
    inversion *v = s->v;
    const double *e = v->stations.column[4], size = dot(s->descent, s->descent, v->length);
    double sum = 0;
    PS_TRY(operator_apply(v, s->descent, v->data));
    for (int64_t i = 0; i < v->stations.count; ++i) sum += v->data[i] * v->data[i] / (e[i] * e[i]);
    *out = size > 0 ? sum / size : 1;
    return *out > 0 && isfinite(*out)
               ? PS_OK
               : ps_fail(PS_FAILED, "the stations see nothing of the cells: beta would be %g",
                         *out);
}

static double target_of(const inversion *v)
{
    return v->options.target * (double)v->stations.count;
}

static double slope_of(const trial *a, const trial *b)
{
    return log(a->chi2 / b->chi2) / log(a->beta / b->beta);
}

/* Between the two nearest, or beyond the one there is, by the slope of the last two. */
static double next_beta(const search *s, const trial *last, const trial *before)
{
    const search_state *n = &s->now;
    double target = target_of(s->v);
    if (n->above.beta > 0 && n->below.beta > 0) {
        double low = log(n->below.beta), high = log(n->above.beta);
        double t = log(target / n->below.chi2) / log(n->above.chi2 / n->below.chi2);
        return exp(low + fmin(fmax(t, .1), .9) * (high - low));
    }
    double factor = n->above.beta > 0 ? .125 : 8;
    double slope = before ? slope_of(last, before) : 0;
    if (slope > .05) factor = pow(target / last->chi2, 1 / slope);
    factor = n->above.beta > 0 ? fmin(fmax(factor * .9, .1), .5) : fmax(fmin(factor, 50), 2);
    return last->beta * factor;
}

static ps_status give_up(const search *s, const trial *last)
{
    return ps_fail(PS_INACCURATE,
                   "chi2 is %.5g at beta %.3g after %lld trials, %.5g is asked for: no model of "
                   "these cells%s fits so well. Errors too small, an offset of the values, a mesh "
                   "that is too coarse or small? --target takes more; nothing is written",
                   last->chi2, last->beta, (long long)s->now.trials, target_of(s->v),
                   s->v->low ? " and bounds" : "");
}

static ps_status unsolved(const search *s)
{
    const ps_bounded_progress *p = s->solver.progress;
    return ps_fail(PS_FAILED,
                   "beta %.3g: the gradient is %.2g of the regularisation's after %lld products, "
                   "%.2g is wanted: --limit allows more",
                   s->now.beta, p->gradient, (long long)p->products, p->tolerance);
}

/* After a solution: is it the one, and which beta is next. */
static ps_status judge(search *s)
{
    search_state *n = &s->now;
    trial last = {.beta = n->beta};
    if (!s->solver.progress->converged) return unsolved(s);
    PS_TRY(look(s, &last.chi2));
    last.rough = dot(s->solver.x, s->smoothed, s->v->length);
    double share = last.chi2 / target_of(s->v);
    n->tried[n->trials++] = last;
    ps_info("beta %.4g: chi2 %.5g, %.4g is asked for; %lld products", last.beta, last.chi2,
            target_of(s->v), (long long)n->products);
    bool near = s->v->options.regularisation > 0 || fabs(share - 1) <= reached;
    n->done = near && n->tight;
    if (n->done) return PS_OK;
    if (near) {
        n->tight = 1;
        return begin_trial(s, n->beta);
    }
    *(share > 1 ? &n->above : &n->below) = last;
    n->tight = (n->above.beta > 0 && n->below.beta > 0) || (share < 3 && share > 1. / 3);
    bool enough = n->trials == TRIALS_MAX || last.beta < least_share * n->first;
    const trial *before = n->trials > 1 && n->tried[n->trials - 2].beta != last.beta
                              ? &n->tried[n->trials - 2]
                              : NULL;
    if (enough) return give_up(s, &last);
    return begin_trial(s, next_beta(s, &last, before));
}

/* ---- states ---- */

static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    search *s = context;
    (void)step;
    arrays[SEARCH] = (ps_checkpoint_array){"/search", "1", PS_U8, sizeof s->now, &s->now};
    arrays[SMALL] = (ps_checkpoint_array){"/small", "1", PS_U8, 8 * s->doubles[PS_BOUNDED_SMALL],
                                          s->memory[PS_BOUNDED_SMALL]};
    arrays[VECTORS] = (ps_checkpoint_array){"/vectors", "1", PS_F64, s->doubles[PS_BOUNDED_VECTORS],
                                            s->memory[PS_BOUNDED_VECTORS]};
    return ARRAYS;
}

static ps_status make_spec(search *s, const ps_product *product, ps_state_spec *out)
{
    PS_TRY(ps_product_identity(product, "", &s->identity));
    snprintf(s->name, sizeof s->name, "%.4000s.state", s->v->run->output);
    *out = (ps_state_spec){.run = s->v->run,
                           .name = s->name,
                           .identity = s->identity,
                           .unit = "product",
                           .every = s->v->options.checkpoint_every,
                           .describe = describe,
                           .context = s};
    return PS_OK;
}

static void release(search *s)
{
    ps_state_close(&s->state);
    for (int k = 0; k < PS_BOUNDED_PIECES; ++k) free(s->memory[k]);
    PS_FREE(s->smoothed, s->descent, s->identity);
}

ps_status search_tidy(inversion *v, const ps_product *product)
{
    PS_SCOPED(release) search s = {.v = v};
    ps_state_spec spec;
    PS_TRY(make_spec(&s, product, &spec));
    return ps_state_tidy(&spec);
}

/* ---- all ---- */

static ps_status prepare(search *s)
{
    inversion *v = s->v;
    s->system = (ps_bounded_system){
        .context = s, .length = v->length, .low = v->low, .high = v->high, .apply = apply};
    PS_TRY(take(s, v->length, NULL));
    return ps_bounded_attach(&s->solver, &s->system, s->memory);
}

static ps_status begin(search *s)
{
    inversion *v = s->v;
    PS_TRY(look(s, &s->start));
    if (s->start <= target_of(v) && !(v->options.regularisation > 0)) {
        ps_warning("the reference fits with chi2 %.4g, %.4g is asked for: it is the result, the "
                   "values say nothing beyond it",
                   s->start, target_of(v));
        s->now.tried[s->now.trials++] = (trial){INFINITY, s->start, 0};
        s->now.tried[0].beta = 0;
        s->now.done = 1;
        return PS_OK;
    }
    s->now.first = v->options.regularisation;
    s->now.tight = v->options.regularisation > 0;
    if (!(s->now.first > 0)) PS_TRY(first_beta(s, &s->now.first));
    return begin_trial(s, s->now.first);
}

/* How far chi2 has come, by logarithms, from the reference to what is asked for. */
static void tell(const search *s, ps_progress *progress)
{
    const search_state *n = &s->now;
    double chi2 = n->trials ? n->tried[n->trials - 1].chi2 : s->start, target = target_of(s->v);
    double part =
        s->start > target ? log(s->start / fmax(chi2, target)) / log(s->start / target) : 0;
    ps_progress_part(progress, fmin(fmax(part, 0), .99), "product %lld, beta %.3g, chi2 %.4g",
                     (long long)n->products, n->beta, chi2);
}

static ps_status iterate(search *s, int64_t from)
{
    ps_progress progress;
    ps_progress_start(&progress, "inverting", "", 0, 0);
    while (!s->now.done) {
        if (s->now.products > from && ps_stop_requested()) {
            PS_TRY(ps_state_save(&s->state, s->now.products));
            return ps_fail(PS_STOPPED, "stopped after %lld products; the same command continues",
                           (long long)s->now.products);
        }
        if (!ps_bounded_finished(&s->solver)) PS_TRY(ps_bounded_step(&s->solver));
        ++s->now.products;
        if (ps_bounded_finished(&s->solver)) PS_TRY(judge(s));
        tell(s, &progress);
        if (!s->now.done && ps_state_is_due(&s->state, s->now.products))
            PS_TRY(ps_state_save(&s->state, s->now.products));
    }
    ps_progress_end(&progress);
    return PS_OK;
}

static void take_result(search *s)
{
    inversion *v = s->v;
    const int64_t n = v->mesh.cells;
    for (int64_t i = 0; i < v->length; ++i)
        v->model[i] =
            v->smooth.scale[i % n] * s->solver.x[i] + (v->reference ? v->reference[i % n] : 0);
    for (int64_t i = 0; i < v->length && v->low; ++i) /* what rounding of the scales leaves */
        v->model[i] = fmin(fmax(v->model[i], v->options.bounds[0]), v->options.bounds[1]);
    v->products = s->now.products;
    v->trials = s->now.trials;
    v->beta = s->now.tried[v->trials - 1].beta;
    memcpy(v->history, s->now.tried, (size_t)v->trials * sizeof(trial));
}

static bool on_device(const inversion *v)
{
    return v->device && ps_device_describe(v->device).kind == PS_DEVICE_CUDA;
}

static bool is_sound(const search *s, int64_t step)
{
    const search_state *n = &s->now;
    double given = s->v->options.regularisation;
    if (given > 0 && (n->first != given || !n->tight)) return false;
    if ((given > 0 || n->trials == 0) && n->beta != n->first) return false;
    return n->products == step && n->trials >= 0 && n->trials < TRIALS_MAX && n->done == 0 &&
           n->beta > 0 && n->beta < INFINITY && n->first > 0 && n->first < INFINITY;
}

/* Whether the gradient that was kept is the one of the model that was kept, but for rounding. */
static ps_status check_gradient(search *s, bool *same)
{
    const int64_t n = s->v->length;
    double chi2, *miss = s->descent, beta = s->now.beta;
    PS_TRY(look(s, &chi2));
    s->now.products -= 1; /* which a run without a stop does not make */
    double size =
        sqrt(dot(s->descent, s->descent, n)) + beta * sqrt(dot(s->smoothed, s->smoothed, n));
    for (int64_t i = 0; i < n; ++i) miss[i] += beta * s->smoothed[i] - s->solver.gradient[i];
    const ps_bounded_progress *p = s->solver.progress;
    *same =
        sqrt(dot(miss, miss, n)) <= fmin(p->tolerance * p->reference, 1e-3 * size) + 1e-8 * size;
    return PS_OK;
}

/* A state that was read may be of a file that no run has written. */
static ps_status resume(search *s, int64_t step)
{
    bool sound =
        is_sound(s, step) && ps_bounded_resume(&s->solver, tolerance_of(s), s->v->options.limit);
    ps_status status = sound ? check_gradient(s, &sound) : PS_OK;
    if (status == PS_OK && sound) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: a checkpoint of %lld products whose numbers do not belong together: no run "
                   "has that; --fresh begins anew",
                   s->name, (long long)step);
}

ps_status search_run(inversion *v, const ps_product *product)
{
    PS_SCOPED(release) search s = {.v = v};
    ps_state_spec spec;
    int64_t step;
    PS_TRY(make_spec(&s, product, &spec));
    PS_TRY(prepare(&s));
    PS_TRY(ps_state_open(&spec, &s.state, &step));
    if (step > 0) {
        ps_info("going on after %lld products", (long long)step);
        if (s.now.device != on_device(v))
            ps_warning("the state is of sums on %s: the result differs by rounding from one that "
                       "is made on %s alone",
                       s.now.device ? "a device" : "cores", s.now.device ? "cores" : "a device");
        PS_TRY(resume(&s, step));
    } else {
        s.now.device = on_device(v);
        PS_TRY(begin(&s));
    }
    ps_stop_defer();
    ps_status status = iterate(&s, step);
    if (status == PS_STOPPED) return status;
    if (status != PS_OK) {
        ps_state_fail(&s.state, status, status == PS_FAILED || status == PS_INACCURATE);
        return status;
    }
    take_result(&s);
    return PS_OK;
}
