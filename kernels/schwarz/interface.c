#include "kernels/schwarz/interface.h"

#include <math.h>
#include <string.h>

#include "kernels/linear/arnoldi.h"

static int64_t begin_of(const ps_interface *p, int64_t trace)
{
    return p->start ? p->start[trace] : trace * (p->traces ? p->size / p->traces : 0);
}

static double dot_here(int64_t n, const double *a, const double *b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* parts[count][all]: scalar products of vectors 0 .. count - 1 of a basis with b, by trace. */
static void dot_traces(const ps_interface *p, int64_t count, const double *basis, const double *b,
                       double *parts)
{
    memset(parts, 0, (size_t)(count * p->all) * sizeof *parts);
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t v = 0; v < count; ++v)
        for (int64_t t = 0; t < p->traces; ++t) {
            int64_t at = begin_of(p, t);
            parts[v * p->all + p->first + t] =
                dot_here(begin_of(p, t + 1) - at, basis + v * p->size + at, b + at);
        }
}

static void add_here(int64_t n, double factor, const double *x, double *y)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* ---- where the vectors live ---- */

static ps_status dots(const ps_interface *p, int64_t count, const double *a, const double *b,
                      double *parts)
{
    if (p->vectors) return p->vectors->dots(p->vectors->context, count, a, b, parts);
    dot_traces(p, count, a, b, parts);
    return PS_OK;
}

static ps_status add(const ps_interface *p, int64_t count, const double *factors, const double *a,
                     double *y)
{
    if (p->vectors) return p->vectors->add(p->vectors->context, count, factors, a, y);
    for (int64_t v = 0; v < count; ++v) add_here(p->size, factors[v], a + v * p->size, y);
    return PS_OK;
}

static ps_status subtract(const ps_interface *p, const double *x, double *y)
{
    if (p->vectors) return p->vectors->subtract(p->vectors->context, x, y);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < p->size; ++i) y[i] = x[i] - y[i];
    return PS_OK;
}

static ps_status divide(const ps_interface *p, double by, double *x)
{
    if (!(by > 0)) return PS_OK;
    if (p->vectors) return p->vectors->divide(p->vectors->context, by, x);
    for (int64_t i = 0; i < p->size; ++i) x[i] /= by;
    return PS_OK;
}

/* Vectors of the workspace: the first one, and what is behind `count` of them. */
static double *first_vector(const ps_interface *p, double *workspace)
{
    return p->vectors ? p->vectors->basis : workspace;
}
static int64_t beyond(const ps_interface *p, int64_t count)
{
    return p->vectors ? 0 : count * p->size;
}

/* ---- sums ---- */

/* sums[count] of parts[count][all], over all ranks. */
static ps_status add_up(const ps_interface *p, int64_t count, double *parts, double *sums)
{
    if (p->reduce) PS_TRY(p->reduce(p->context, parts, count * p->all));
    for (int64_t v = 0; v < count; ++v) {
        sums[v] = 0;
        for (int64_t t = 0; t < p->all; ++t) sums[v] += parts[v * p->all + t];
    }
    return PS_OK;
}

ps_status ps_interface_norm(const ps_interface *p, double *parts, double *out)
{
    PS_TRY(add_up(p, 1, parts, out));
    *out = sqrt(*out);
    return PS_OK;
}

static ps_status norm(const ps_interface *p, const double *a, double *parts, double *out)
{
    PS_TRY(dots(p, 1, a, a, parts));
    return ps_interface_norm(p, parts, out);
}

/* r = P (T g + b - g) */
static ps_status residual_of(const ps_interface *p, const double *g, double *r)
{
    PS_TRY(p->exchange(p->context, p->source, g, r));
    PS_TRY(add(p, 1, &(double){-1}, g, r));
    return p->correct ? p->correct(p->context, r) : PS_OK;
}

/* Takes the norm after an iteration; the first one is the measure. */
static ps_status judge(const ps_interface *p, double size, double first, double tolerance,
                       ps_krylov_result *result)
{
    result->residual = size == 0 ? 0 : size / first;
    result->converged = result->residual <= tolerance;
    if (!isfinite(result->residual))
        return ps_fail(PS_FAILED, "the interface residual is not finite after %lld iterations",
                       (long long)result->iterations);
    return p->watch ? p->watch(p->watcher, result->iterations, result->residual) : PS_OK;
}

static ps_status too_many(const ps_krylov_result *result, double tolerance)
{
    return ps_fail(PS_FAILED,
                   "the interface residual is %.3g after %lld iterations, %.3g is wanted",
                   result->residual, (long long)result->iterations, tolerance);
}

int64_t ps_interface_workspace(const ps_interface *p) { return beyond(p, 1) + p->all; }

ps_status ps_interface_step(const ps_interface *p, double *g, double *workspace, double *change)
{
    double *r = first_vector(p, workspace), *parts = workspace + beyond(p, 1);
    PS_TRY(residual_of(p, g, r));
    PS_TRY(add(p, 1, &(double){1}, r, g));
    if (!p->measure) return norm(p, r, parts, change);
    memset(parts, 0, (size_t)p->all * sizeof *parts);
    p->measure(p->context, r, parts + p->first);
    return ps_interface_norm(p, parts, change);
}

/* ---- GMRES ---- */

/* The workspace behind the basis: scalar products by trace, the state, scratch. */
int64_t ps_gmres_state_doubles(int64_t restart)
{
    return (int64_t)(sizeof(ps_gmres_state) / sizeof(double)) + ps_arnoldi_numbers(restart);
}

int64_t ps_interface_gmres_workspace(const ps_interface *p, int64_t restart)
{
    return beyond(p, restart + 1) + (restart + 1) * (p->all + 2) + ps_gmres_state_doubles(restart);
}

ps_gmres_state *ps_interface_gmres_state(const ps_interface *p, int64_t restart, double *workspace)
{
    return (ps_gmres_state *)(workspace + beyond(p, restart + 1) + (restart + 1) * p->all);
}

/* Traces as vectors: the context of a ps_vector_space. */
typedef struct gmres {
    const ps_interface *p;
    ps_gmres_state *s;
    double *parts; /* [restart + 1][all]     */
    ps_vector_space space;
    ps_arnoldi arnoldi;
} gmres;

static ps_status space_dots(void *context, ps_panel a, double *b, double complex *out)
{
    const gmres *g = context;
    double sums[PS_GMRES_RESTART + 1];
    PS_TRY(dots(g->p, a.count, a.data, b, g->parts));
    PS_TRY(add_up(g->p, a.count, g->parts, sums));
    for (int64_t v = 0; v < a.count; ++v) out[v] = sums[v];
    return PS_OK;
}

static ps_status space_add(void *context, ps_panel a, const double complex *factors, double *y)
{
    const gmres *g = context;
    double real[PS_GMRES_RESTART + 1];
    for (int64_t v = 0; v < a.count; ++v) real[v] = creal(factors[v]);
    return add(g->p, a.count, real, a.data, y);
}

static ps_status space_divide(void *context, double by, double *x)
{
    return divide(((const gmres *)context)->p, by, x);
}

static void attach(const ps_interface *p, int64_t restart, double *workspace, gmres *out)
{
    ps_gmres_state *s = ps_interface_gmres_state(p, restart, workspace);
    double *scratch = (double *)s + ps_gmres_state_doubles(restart);
    *out = (gmres){.p = p,
                   .s = s,
                   .parts = workspace + beyond(p, restart + 1),
                   .space = {out, space_dots, space_add, space_divide},
                   .arnoldi = {.space = &out->space,
                               .basis = {first_vector(p, workspace), 0, p->size},
                               .scratch = (double complex *)scratch}};
    ps_arnoldi_attach(&out->arnoldi, restart, s->numbers);
}

/* Basis vector k + 1 = P (I - T) times vector k. */
static ps_status apply(const gmres *a, int64_t k)
{
    const ps_interface *p = a->p;
    double *from = a->arnoldi.basis.data + k * p->size, *to = from + p->size;
    PS_TRY(p->exchange(p->context, false, from, to));
    PS_TRY(subtract(p, from, to));
    return p->correct ? p->correct(p->context, to) : PS_OK;
}

/* First vector of a cycle: the residual, made of norm 1. */
static ps_status start_cycle(gmres *a, const ps_gmres *options, const double *g,
                             ps_krylov_result *result)
{
    ps_gmres_state *s = a->s;
    double size, *first = a->arnoldi.basis.data;
    PS_TRY(residual_of(a->p, g, first));
    PS_TRY(norm(a->p, first, a->parts, &size));
    if (s->first == 0) s->first = size;
    s->count = 0;
    ps_arnoldi_begin(&a->arnoldi, size);
    PS_TRY(divide(a->p, size, first));
    return judge(a->p, size, s->first, options->tolerance, result);
}

/* Steps until the cycle, the limit or the tolerance is reached. */
static ps_status cycle(gmres *a, const ps_gmres *options, ps_krylov_result *result)
{
    ps_gmres_state *s = a->s;
    while ((int64_t)s->count < options->restart && !result->converged &&
           result->iterations < options->limit) {
        int64_t k = (int64_t)s->count;
        double size;
        PS_TRY(apply(a, k));
        PS_TRY(ps_arnoldi_extend(&a->arnoldi, k, &size));
        s->count = (double)(k + 1);
        s->iterations = (double)++result->iterations;
        PS_TRY(judge(a->p, size, s->first, options->tolerance, result));
    }
    return PS_OK;
}

/* A state that was put back may be of a file that no run has written. */
static ps_status check_state(const ps_gmres_state *s, const ps_gmres *options)
{
    int64_t restart = options->restart;
    if (s->count == (double)((options->resume - 1) % restart + 1) &&
        s->iterations == (double)options->resume && s->first > 0 && isfinite(s->first))
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "a checkpoint of GMRES with %g steps of a cycle of %lld, %g in all, of a first "
                   "residual of %g: no run has that; --fresh begins anew",
                   s->count, (long long)restart, s->iterations, s->first);
}

ps_status ps_interface_gmres(const ps_interface *p, const ps_gmres *options, double *g,
                             double *workspace, ps_krylov_result *result)
{
    gmres a;
    bool resume = options->resume > 0;
    *result = (ps_krylov_result){0};
    if (options->restart < 1 || options->restart > PS_GMRES_RESTART)
        return ps_fail(PS_USAGE, "GMRES restarts after 1..%d steps, not %lld", PS_GMRES_RESTART,
                       (long long)options->restart);
    attach(p, options->restart, workspace, &a);
    if (resume) {
        PS_TRY(check_state(a.s, options));
        double residual = cabs(a.arnoldi.rest[(int64_t)a.s->count]) / a.s->first;
        *result =
            (ps_krylov_result){(int64_t)a.s->iterations, residual, residual <= options->tolerance};
    } else
        memset(a.s, 0, (size_t)ps_gmres_state_doubles(options->restart) * sizeof(double));
    for (;; resume = false) {
        if (!resume) PS_TRY(start_cycle(&a, options, g, result));
        if (!resume && result->converged) return PS_OK;
        if (!result->converged && result->iterations >= options->limit)
            return too_many(result, options->tolerance);
        PS_TRY(cycle(&a, options, result));
        PS_TRY(ps_arnoldi_update(&a.arnoldi, (int64_t)a.s->count, g));
        if (result->converged) return PS_OK;
    }
}
