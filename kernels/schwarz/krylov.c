#include "kernels/schwarz/krylov.h"

#include <math.h>

typedef struct solve {
    const ps_krylov_team *team;
    double tolerance;
    int64_t limit;
    double size; /* |b| */
    ps_krylov_result *result;
} solve;

const char *ps_krylov_name(ps_krylov_method method)
{
    static const char *const name[PS_KRYLOV_METHODS] = {"P-CG", "BiCGStab", "P-BiCGCR"};
    return name[method];
}

static ps_status run(const solve *s, ps_krylov_pass pass, double s0, double s1, double sums[3])
{
    const double scalars[2] = {s0, s1};
    return s->team->run(s->team->context, pass, scalars, sums);
}

/* Takes |r|^2 after an iteration (or at the start). */
static ps_status judge(solve *s, double rr)
{
    ps_krylov_result *result = s->result;
    result->residual = s->size == 0 && rr == 0 ? 0 : sqrt(rr) / s->size;
    result->converged = result->residual <= s->tolerance;
    if (!isfinite(result->residual))
        return ps_fail(PS_FAILED, "the residual is not finite after %lld iterations",
                       (long long)result->iterations);
    if (s->team->watch)
        PS_TRY(s->team->watch(s->team->context, result->iterations, result->residual));
    if (!result->converged && result->iterations >= s->limit)
        return ps_fail(PS_FAILED, "the residual is %.3g after %lld iterations, %.3g is wanted",
                       result->residual, (long long)result->iterations, s->tolerance);
    return PS_OK;
}

static ps_status begin(solve *s, ps_krylov_pass pass, double sums[3])
{
    PS_TRY(run(s, pass, 0, 0, sums));
    s->size = sqrt(sums[0]);
    return judge(s, sums[1]);
}

/* A quotient whose denominator should not vanish, nor be negative where `definite`. */
static ps_status quotient(const solve *s, double above, double below, bool definite, double *out)
{
    if (below == 0 || !isfinite(below) || (definite && below < 0))
        return ps_fail(PS_FAILED,
                       "iteration %lld breaks down (a product is %g): the matrix is singular%s or "
                       "not finite",
                       (long long)s->result->iterations + 1, below,
                       definite ? ", indefinite" : "");
    *out = above / below;
    return PS_OK;
}

static ps_status conjugate_gradients(solve *s)
{
    double sums[3], alpha = 0, beta = 0, rz;
    PS_TRY(begin(s, PS_CG_START, sums));
    rz = sums[2];
    while (!s->result->converged) {
        PS_TRY(run(s, PS_CG_DIRECTION, beta, 0, sums));
        PS_TRY(quotient(s, rz, sums[0], true, &alpha));
        PS_TRY(run(s, PS_CG_ADVANCE, alpha, 0, sums));
        beta = sums[1] / rz;
        rz = sums[1];
        ++s->result->iterations;
        PS_TRY(judge(s, sums[0]));
    }
    return PS_OK;
}

static ps_status stabilised(solve *s)
{
    double sums[3], alpha = 0, beta = 0, omega = 0, rho;
    PS_TRY(begin(s, PS_STAB_START, sums));
    rho = sums[1];
    while (!s->result->converged) {
        PS_TRY(run(s, PS_STAB_DIRECTION, beta, omega, sums));
        PS_TRY(quotient(s, rho, sums[0], false, &alpha));
        PS_TRY(run(s, PS_STAB_HALF, alpha, 0, sums));
        omega = 0;
        if (!(sqrt(sums[0]) <= s->tolerance * s->size)) {
            PS_TRY(run(s, PS_STAB_TURN, 0, 0, sums));
            PS_TRY(quotient(s, sums[0], sums[1], true, &omega));
        }
        PS_TRY(run(s, PS_STAB_ADVANCE, alpha, omega, sums));
        ++s->result->iterations;
        PS_TRY(judge(s, sums[0]));
        if (s->result->converged) break;
        PS_TRY(quotient(s, sums[1] * alpha, rho * omega, false, &beta));
        rho = sums[1];
    }
    return PS_OK;
}

static ps_status conjugate_residuals(solve *s)
{
    double sums[3], alpha = 0, beta = 0, zw;
    PS_TRY(begin(s, PS_CR_START, sums));
    zw = sums[2];
    while (!s->result->converged) {
        PS_TRY(run(s, PS_CR_DIRECTION, beta, 0, sums));
        PS_TRY(quotient(s, zw, sums[0], true, &alpha));
        PS_TRY(run(s, PS_CR_ADVANCE, alpha, 0, sums));
        ++s->result->iterations;
        PS_TRY(judge(s, sums[0]));
        if (s->result->converged) break;
        PS_TRY(quotient(s, sums[1], zw, false, &beta));
        zw = sums[1];
    }
    return PS_OK;
}

ps_status ps_krylov_solve(ps_krylov_method method, const ps_krylov_team *team, double tolerance,
                          int64_t limit, ps_krylov_result *result)
{
    static ps_status (*const method_of[PS_KRYLOV_METHODS])(solve *) = {
        conjugate_gradients, stabilised, conjugate_residuals};
    *result = (ps_krylov_result){0};
    solve s = {team, tolerance, limit, 0, result};
    ps_status status = method_of[method](&s);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_krylov_name(method));
}
