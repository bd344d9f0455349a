#include "kernels/linear/bounded.h"

#include <math.h>
#include <string.h>

enum { INNER_LIMIT = 40, HALVINGS = 12 };
static const double inner_tolerance = 0.1, decrease = 1e-4;

/* ---- memory ---- */

static const ps_lockstep_options inner_options = {
    .method = PS_LOCKSTEP_CG, .tolerance = 0.1, .limit = INNER_LIMIT, .restart = 1};

static ps_lockstep_system inner_system(int64_t length)
{
    return (ps_lockstep_system){.shape = {1, length}, .sides = 1};
}

void ps_bounded_memory(int64_t length, int64_t doubles[PS_BOUNDED_PIECES])
{
    int64_t inner[PS_LOCKSTEP_PIECES];
    ps_lockstep_system system = inner_system(length);
    ps_lockstep_memory(&system, &inner_options, inner);
    doubles[PS_BOUNDED_SMALL] =
        (int64_t)(sizeof(ps_bounded_progress) / 8) + inner[PS_LOCKSTEP_SMALL];
    doubles[PS_BOUNDED_VECTORS] = 2 * length + inner[PS_LOCKSTEP_VECTORS];
    doubles[PS_BOUNDED_WORK] = 3 * length + ps_panel_scratch(1, 1) + inner[PS_LOCKSTEP_WORK];
}

static ps_status apply_free(void *context, int64_t count, const double *x, double *y);

ps_status ps_bounded_attach(ps_bounded *s, const ps_bounded_system *system,
                            double *const memory[PS_BOUNDED_PIECES])
{
    const int64_t n = system->length;
    *s = (ps_bounded){.system = system};
    s->progress = (ps_bounded_progress *)memory[PS_BOUNDED_SMALL];
    s->x = memory[PS_BOUNDED_VECTORS];
    s->gradient = s->x + n;
    s->side = memory[PS_BOUNDED_WORK];
    s->trial = s->side + n;
    s->product = s->trial + n;
    s->scratch = s->product + n;
    s->free_system = inner_system(n);
    s->free_system.context = s;
    s->free_system.apply = apply_free;
    s->free_system.b = s->side;
    double *const inner[PS_LOCKSTEP_PIECES] = {
        memory[PS_BOUNDED_SMALL] + sizeof(ps_bounded_progress) / 8, s->gradient + n,
        s->scratch + ps_panel_scratch(1, 1)};
    return ps_lockstep_attach(&s->inner, &s->free_system, &inner_options, inner);
}

/* ---- sums ---- */

static double dot(const ps_bounded *s, double *a, double *b)
{
    double complex sum;
    ps_panel_dots((ps_panel_shape){1, s->system->length}, (ps_panel){a, 1, 0}, (ps_panel){b, 1, 0},
                  &sum, s->scratch);
    return creal(sum);
}

static bool is_free(const ps_bounded *s, int64_t i)
{
    const ps_bounded_system *a = s->system;
    if (!a->low) return true;
    if (s->x[i] <= a->low[i] && s->gradient[i] >= 0) return false;
    return !(s->x[i] >= a->high[i] && s->gradient[i] <= 0);
}

/* The right-hand side of a round: minus the gradient of what is free. */
static void set_side(ps_bounded *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->system->length; ++i)
        s->side[i] = is_free(s, i) ? -s->gradient[i] : 0;
}

static ps_status apply_free(void *context, int64_t count, const double *x, double *y)
{
    ps_bounded *s = context;
    const int64_t n = s->system->length;
    (void)count;
    PS_TRY(s->system->apply(s->system->context, x, y));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i)
        if (!is_free(s, i)) y[i] = 0;
    return PS_OK;
}

/* ---- rounds ---- */

static void set_inner(ps_bounded *s)
{
    s->inner.options.tolerance = s->progress->inner;
    s->inner.options.limit = s->system->low ? INNER_LIMIT : s->progress->limit;
}

static ps_status begin_round(ps_bounded *s)
{
    ps_bounded_progress *p = s->progress;
    set_side(s);
    double size = sqrt(dot(s, s->side, s->side));
    p->gradient = p->reference > 0 ? size / p->reference : 0;
    if (!isfinite(size))
        return ps_fail(PS_FAILED, "the gradient is not finite after %lld products",
                       (long long)p->products);
    p->converged = p->gradient <= p->tolerance;
    p->finished = p->converged || p->products >= p->limit;
    if (p->finished) return PS_OK;
    ++p->rounds;
    p->searching = p->plain = 0;
    p->step = 1;
    p->inner = 0.9 * p->tolerance / p->gradient;
    if (s->system->low) p->inner = fmax(p->inner, inner_tolerance);
    set_inner(s);
    return ps_lockstep_begin(&s->inner);
}

ps_status ps_bounded_begin(ps_bounded *s, double tolerance, double reference, int64_t limit)
{
    *s->progress =
        (ps_bounded_progress){.tolerance = tolerance, .reference = reference, .limit = limit};
    return begin_round(s);
}

/* What a run has between two steps. */
static bool is_sound(const ps_bounded *s, double tolerance)
{
    const ps_bounded_progress *p = s->progress;
    return p->tolerance == tolerance && p->products >= 0 && p->finished == p->converged &&
           (p->finished == 0 || p->finished == 1) && p->searching >= 0 &&
           p->searching <= HALVINGS && (p->plain == 0 || p->plain == 1) && p->step > 0 &&
           p->step < INFINITY && p->inner > 0 && p->inner < INFINITY && p->reference > 0 &&
           p->reference < INFINITY && ps_lockstep_sound(&s->inner);
}

bool ps_bounded_resume(ps_bounded *s, double tolerance, int64_t limit)
{
    ps_bounded_progress *p = s->progress;
    if (!is_sound(s, tolerance)) return false;
    p->limit = limit;
    set_side(s);
    set_inner(s);
    return !p->finished || sqrt(dot(s, s->side, s->side)) <= p->tolerance * p->reference;
}

/* Without bounds the direction is the solution, and the inner residual minus the gradient. */
static ps_status take_all(ps_bounded *s)
{
    const double *p = s->inner.x, *r = s->inner.kept;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->system->length; ++i) {
        s->x[i] += p[i];
        s->gradient[i] = -r[i];
    }
    return begin_round(s);
}

static double moved(const ps_bounded *s, int64_t i)
{
    double to = s->x[i] + s->progress->step * s->inner.x[i];
    return s->system->low ? fmin(fmax(to, s->system->low[i]), s->system->high[i]) : to;
}

static void set_trial(ps_bounded *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->system->length; ++i) s->trial[i] = moved(s, i) - s->x[i];
}

static ps_status accept(ps_bounded *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->system->length; ++i) {
        s->x[i] = moved(s, i);
        s->gradient[i] += s->product[i];
    }
    return begin_round(s);
}

/* Along minus the gradient of what is free, as far as the curvature of the last trial says. */
static void turn_to_gradient(ps_bounded *s, double curvature, double size)
{
    s->progress->plain = 1;
    s->progress->step = curvature > 0 ? size / curvature : 1;
    memcpy(s->inner.x, s->side, (size_t)s->system->length * sizeof *s->side);
}

static ps_status search(ps_bounded *s)
{
    ps_bounded_progress *p = s->progress;
    set_trial(s);
    PS_TRY(s->system->apply(s->system->context, s->trial, s->product));
    double slope = dot(s, s->gradient, s->trial), curvature = dot(s, s->trial, s->product);
    if (!isfinite(slope) || !isfinite(curvature))
        return ps_fail(PS_FAILED, "a step is not finite after %lld products",
                       (long long)p->products);
    if (slope < 0 && slope + curvature / 2 <= decrease * slope) return accept(s);
    /* The least along the trial, where it leads down at all. */
    double shorter = slope < 0 && curvature > 0 ? -slope / curvature : 0;
    p->step *= fmin(fmax(shorter, 0.1), 0.5);
    if (++p->searching <= HALVINGS) return PS_OK;
    if (p->plain) { /* rounding alone is left */
        p->finished = 1;
        return PS_OK;
    }
    p->searching = 1;
    turn_to_gradient(s, curvature, dot(s, s->trial, s->trial));
    return PS_OK;
}

ps_status ps_bounded_step(ps_bounded *s)
{
    ps_bounded_progress *p = s->progress;
    ++p->products;
    if (p->searching) return search(s);
    PS_TRY(ps_lockstep_step(&s->inner));
    if (!ps_lockstep_finished(&s->inner)) return PS_OK;
    if (!s->system->low) return take_all(s);
    p->searching = 1;
    return PS_OK;
}
