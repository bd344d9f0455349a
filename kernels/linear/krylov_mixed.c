#include "kernels/linear/krylov_mixed.h"

/* Residuals are made anew after falls by `fall`; the last aim is a little below the tolerance. */
static const double fall = .1, aim = .9, progress = .9;

/* The tolerance that the solver in fp32 is to be run to, from a residual of this norm on. */
static double aim_from(const ps_krylov_mixed *m, double norm)
{
    double last = aim * m->tolerance * m->size;
    return (fall * norm > last ? fall * norm : last) / m->first;
}

bool ps_krylov_mixed_begin(const ps_krylov_mixed *m, int64_t limit, ps_krylov_state *state,
                           ps_krylov_result *result)
{
    *result = (ps_krylov_result){.residual = m->first == 0 ? 0 : m->first / m->size,
                                 .converged = m->first <= m->tolerance * m->size};
    if (!result->converged)
        ps_krylov_state_begin(PS_KRYLOV_CG, aim_from(m, m->first), limit, state);
    return result->converged;
}

/* r has been made anew, the direction stays. */
static void go_on(const ps_krylov_mixed *m, double norm, ps_krylov_state *state)
{
    double rho = norm * norm / m->diagonal;
    state->scalars[0] = rho / state->alpha;
    state->scalars[1] = state->sums[0] = state->sums[1] = state->sums[2] = 0;
    state->rho = rho;
    state->tolerance = aim_from(m, norm);
    state->verdict = PS_KRYLOV_RUNNING;
    state->pass = PS_CG_DIRECTION;
}

ps_status ps_krylov_mixed_solve(const ps_krylov_mixed *m, ps_krylov_state *state,
                                ps_krylov_result *result)
{
    for (double norm = m->first, last = norm;; last = norm) {
        PS_TRY(m->run(m->context, state));
        PS_TRY(m->renew(m->context, &norm));
        *result =
            (ps_krylov_result){state->iterations, norm / m->size, norm <= m->tolerance * m->size};
        if (result->converged) return PS_OK;
        PS_TRY(ps_krylov_state_judge(state));
        if (!(norm < progress * last))
            return ps_fail(PS_FAILED,
                           "P-CG in fp32 comes no further than a residual of %.3g after %lld "
                           "iterations: take fp64",
                           result->residual, (long long)result->iterations);
        go_on(m, norm, state);
    }
}
