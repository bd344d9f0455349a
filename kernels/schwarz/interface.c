#include "kernels/schwarz/interface.h"

#include <math.h>
#include <string.h>

static ps_status reduce(const ps_interface *p, double *sums, int64_t count)
{
    return p->reduce ? p->reduce(p->context, sums, count) : PS_OK;
}

static double dot_here(int64_t n, const double *a, const double *b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

static ps_status norm(const ps_interface *p, const double *a, double *out)
{
    double sum = dot_here(p->size, a, a);
    PS_TRY(reduce(p, &sum, 1));
    *out = sqrt(sum);
    return PS_OK;
}

static void add(int64_t n, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* r = P (T g + b - g) */
static ps_status residual_of(const ps_interface *p, const double *g, double *r)
{
    PS_TRY(p->exchange(p->context, p->source, g, r));
    add(p->size, -1, g, r);
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
    return p->watch ? p->watch(p->context, result->iterations, result->residual) : PS_OK;
}

static ps_status too_many(const ps_krylov_result *result, double tolerance)
{
    return ps_fail(PS_FAILED,
                   "the interface residual is %.3g after %lld iterations, %.3g is wanted",
                   result->residual, (long long)result->iterations, tolerance);
}

ps_status ps_interface_step(const ps_interface *p, double *g, double *r, double *change)
{
    PS_TRY(residual_of(p, g, r));
    add(p->size, 1, r, g);
    return norm(p, r, change);
}

ps_status ps_interface_fixed_point(const ps_interface *p, double tolerance, int64_t limit,
                                   double *g, double *r, ps_krylov_result *result)
{
    double first = 0, size;
    *result = (ps_krylov_result){0};
    while (!result->converged) {
        if (result->iterations == limit) return too_many(result, tolerance);
        PS_TRY(ps_interface_step(p, g, r, &size));
        if (result->iterations++ == 0) first = size;
        PS_TRY(judge(p, size, first, tolerance, result));
    }
    return PS_OK;
}

/* ---- GMRES ---- */

enum { M = PS_GMRES_RESTART };

typedef struct arnoldi {
    const ps_interface *p;
    double *basis; /* [restart + 1][size] */
    int64_t count; /* steps of this cycle */
    double h[M + 1][M], rotation[M][2], rest[M + 1];
} arnoldi;

/* Doubles: the basis, and behind it the Hessenberg matrix and its rotations. */
int64_t ps_interface_gmres_workspace(int64_t size, int64_t restart)
{
    return (restart + 1) * size + (int64_t)(sizeof(arnoldi) / sizeof(double)) + 1;
}

/* Basis vector k + 1 = P (I - T) times vector k, made orthogonal to the former (twice, as once is
 * not enough near convergence); column k of h. */
static ps_status extend(arnoldi *a, int64_t k)
{
    const ps_interface *p = a->p;
    int64_t n = p->size;
    double *from = a->basis + k * n, *to = from + n, sums[M];
    PS_TRY(p->exchange(p->context, false, from, to));
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] - to[i];
    if (p->correct) PS_TRY(p->correct(p->context, to));
    for (int64_t j = 0; j <= k; ++j) a->h[j][k] = 0;
    for (int turn = 0; turn < 2; ++turn) {
        for (int64_t j = 0; j <= k; ++j) sums[j] = dot_here(n, a->basis + j * n, to);
        PS_TRY(reduce(p, sums, k + 1));
        for (int64_t j = 0; j <= k; ++j) {
            add(n, -sums[j], a->basis + j * n, to);
            a->h[j][k] += sums[j];
        }
    }
    PS_TRY(norm(p, to, &a->h[k + 1][k]));
    if (a->h[k + 1][k] > 0)
        for (int64_t i = 0; i < n; ++i) to[i] /= a->h[k + 1][k];
    return PS_OK;
}

/* Turns column k upper triangular and the right-hand side with it. */
static void turn_column(arnoldi *a, int64_t k)
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

/* g += sum of the first `count` basis vectors with the weights that minimise the residual. */
static void update(arnoldi *a, int64_t count, double *g)
{
    double y[M];
    for (int64_t i = count - 1; i >= 0; --i) {
        y[i] = a->rest[i];
        for (int64_t j = i + 1; j < count; ++j) y[i] -= a->h[i][j] * y[j];
        y[i] = a->h[i][i] != 0 ? y[i] / a->h[i][i] : 0;
    }
    for (int64_t i = 0; i < count; ++i) add(a->p->size, y[i], a->basis + i * a->p->size, g);
}

/* One cycle from the residual in the first basis vector, of norm `size`. */
static ps_status cycle(arnoldi *a, const ps_gmres *options, double size, double first,
                       ps_krylov_result *result)
{
    a->count = 0;
    for (int64_t i = 0; i < a->p->size; ++i) a->basis[i] /= size;
    a->rest[0] = size;
    while (a->count < options->restart && !result->converged &&
           result->iterations < options->limit) {
        PS_TRY(extend(a, a->count));
        turn_column(a, a->count);
        ++a->count;
        ++result->iterations;
        PS_TRY(judge(a->p, fabs(a->rest[a->count]), first, options->tolerance, result));
    }
    return PS_OK;
}

ps_status ps_interface_gmres(const ps_interface *p, const ps_gmres *options, double *g,
                             double *workspace, ps_krylov_result *result)
{
    double first = 0, size;
    *result = (ps_krylov_result){0};
    if (options->restart < 1 || options->restart > M)
        return ps_fail(PS_USAGE, "GMRES restarts after 1..%d steps, not %lld", M,
                       (long long)options->restart);
    arnoldi *a = (arnoldi *)(workspace + (options->restart + 1) * p->size);
    a->p = p;
    a->basis = workspace;
    for (;;) {
        PS_TRY(residual_of(p, g, a->basis));
        PS_TRY(norm(p, a->basis, &size));
        if (first == 0) first = size;
        PS_TRY(judge(p, size, first, options->tolerance, result));
        if (result->converged) return PS_OK;
        if (result->iterations >= options->limit) return too_many(result, options->tolerance);
        PS_TRY(cycle(a, options, size, first, result));
        update(a, a->count, g);
        if (result->converged) return PS_OK;
    }
}
