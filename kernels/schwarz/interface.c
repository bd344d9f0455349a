#include "kernels/schwarz/interface.h"

#include <math.h>
#include <string.h>

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

enum { M = PS_GMRES_RESTART };

typedef struct arnoldi {
    const ps_interface *p;
    ps_gmres_state *s;
    double *basis; /* [restart + 1][size]    */
    double *parts; /* [restart + 1][all]     */
} arnoldi;

/* Basis, scalar products by trace, state. */
int64_t ps_interface_gmres_workspace(const ps_interface *p, int64_t restart)
{
    return beyond(p, restart + 1) + (restart + 1) * p->all +
           (int64_t)(sizeof(ps_gmres_state) / sizeof(double));
}

ps_gmres_state *ps_interface_gmres_state(const ps_interface *p, int64_t restart, double *workspace)
{
    return (ps_gmres_state *)(workspace + beyond(p, restart + 1) + (restart + 1) * p->all);
}

/* Takes the parts of `to` along the first k + 1 vectors out of it. */
static ps_status orthogonalise(arnoldi *a, int64_t k, double *to)
{
    double sums[M];
    PS_TRY(dots(a->p, k + 1, a->basis, to, a->parts));
    PS_TRY(add_up(a->p, k + 1, a->parts, sums));
    for (int64_t j = 0; j <= k; ++j) {
        a->s->h[j][k] += sums[j];
        sums[j] = -sums[j];
    }
    return add(a->p, k + 1, sums, a->basis, to);
}

/* Basis vector k + 1 = P (I - T) times vector k, made orthogonal to the former (twice, as once is
 * not enough near convergence); column k of h. */
static ps_status extend(arnoldi *a, int64_t k)
{
    const ps_interface *p = a->p;
    int64_t n = p->size;
    double *from = a->basis + k * n, *to = from + n, *size = &a->s->h[k + 1][k];
    PS_TRY(p->exchange(p->context, false, from, to));
    PS_TRY(subtract(p, from, to));
    if (p->correct) PS_TRY(p->correct(p->context, to));
    for (int64_t j = 0; j <= k; ++j) a->s->h[j][k] = 0;
    for (int turn = 0; turn < 2; ++turn) PS_TRY(orthogonalise(a, k, to));
    PS_TRY(norm(p, to, a->parts, size));
    return divide(p, *size, to);
}

/* Turns column k upper triangular and the right-hand side with it. */
static void turn_column(ps_gmres_state *a, int64_t k)
{
    for (int64_t j = 0; j < k; ++j) {
        double c = a->rotation[j][0], s = a->rotation[j][1], u = a->h[j][k], v = a->h[j + 1][k];
        a->h[j][k] = c * u + s * v;
        a->h[j + 1][k] = c * v - s * u;
    }
    double size = hypot(a->h[k][k], a->h[k + 1][k]);
    double c = size > 0 ? a->h[k][k] / size : 1, s = size > 0 ? a->h[k + 1][k] / size : 0;
    a->rotation[k][0] = c;
    a->rotation[k][1] = s;
    a->h[k][k] = size;
    a->h[k + 1][k] = 0;
    a->rest[k + 1] = -s * a->rest[k];
    a->rest[k] *= c;
}

/* g += sum of the basis vectors with the weights that minimise the residual. */
static ps_status update(arnoldi *a, double *g)
{
    const ps_gmres_state *s = a->s;
    int64_t count = (int64_t)s->count;
    double y[M];
    for (int64_t i = count - 1; i >= 0; --i) {
        y[i] = s->rest[i];
        for (int64_t j = i + 1; j < count; ++j) y[i] -= s->h[i][j] * y[j];
        y[i] = s->h[i][i] != 0 ? y[i] / s->h[i][i] : 0;
    }
    return add(a->p, count, y, a->basis, g);
}

/* First vector of a cycle: the residual, made of norm 1. */
static ps_status start_cycle(arnoldi *a, const ps_gmres *options, const double *g,
                             ps_krylov_result *result)
{
    ps_gmres_state *s = a->s;
    double size;
    PS_TRY(residual_of(a->p, g, a->basis));
    PS_TRY(norm(a->p, a->basis, a->parts, &size));
    if (s->first == 0) s->first = size;
    s->count = 0;
    s->rest[0] = size;
    PS_TRY(divide(a->p, size, a->basis));
    return judge(a->p, size, s->first, options->tolerance, result);
}

/* Steps until the cycle, the limit or the tolerance is reached. */
static ps_status cycle(arnoldi *a, const ps_gmres *options, ps_krylov_result *result)
{
    ps_gmres_state *s = a->s;
    while ((int64_t)s->count < options->restart && !result->converged &&
           result->iterations < options->limit) {
        int64_t k = (int64_t)s->count;
        PS_TRY(extend(a, k));
        turn_column(s, k);
        s->count = (double)(k + 1);
        s->iterations = (double)++result->iterations;
        PS_TRY(judge(a->p, fabs(s->rest[k + 1]), s->first, options->tolerance, result));
    }
    return PS_OK;
}

ps_status ps_interface_gmres(const ps_interface *p, const ps_gmres *options, double *g,
                             double *workspace, ps_krylov_result *result)
{
    ps_gmres_state *s = ps_interface_gmres_state(p, options->restart, workspace);
    arnoldi a = {p, s, first_vector(p, workspace), workspace + beyond(p, options->restart + 1)};
    bool resume = options->resume;
    *result = (ps_krylov_result){0};
    if (options->restart < 1 || options->restart > M)
        return ps_fail(PS_USAGE, "GMRES restarts after 1..%d steps, not %lld", M,
                       (long long)options->restart);
    if (resume) {
        double residual = fabs(s->rest[(int64_t)s->count]) / s->first;
        *result =
            (ps_krylov_result){(int64_t)s->iterations, residual, residual <= options->tolerance};
    } else
        memset(s, 0, sizeof *s);
    for (;; resume = false) {
        if (!resume) PS_TRY(start_cycle(&a, options, g, result));
        if (!resume && result->converged) return PS_OK;
        if (!result->converged && result->iterations >= options->limit)
            return too_many(result, options->tolerance);
        PS_TRY(cycle(&a, options, result));
        PS_TRY(update(&a, g));
        if (result->converged) return PS_OK;
    }
}
