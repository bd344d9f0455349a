#include "kernels/schwarz/krylov_mixed.h"

/* Residuals are made anew after falls by `fall`; the last aim is a little below the tolerance. */
static const double fall = .1, aim = .9, progress = .9;

double ps_krylov_mixed_aim(const ps_krylov_mixed *m, double norm)
{
    double last = aim * m->tolerance * m->size;
    return (fall * norm > last ? fall * norm : last) / m->first;
}

/* r has been made anew, the direction stays. */
static void go_on(const ps_krylov_mixed *m, double norm, ps_krylov_state *state)
{
    double rho = norm * norm / m->diagonal;
    state->scalars[0] = rho / state->alpha;
    state->scalars[1] = state->sums[0] = state->sums[1] = state->sums[2] = 0;
    state->rho = rho;
    state->tolerance = ps_krylov_mixed_aim(m, norm);
    state->verdict = PS_KRYLOV_RUNNING;
    state->pass = PS_CG_DIRECTION;
}

ps_status ps_krylov_mixed_solve(const ps_krylov_mixed *m, double norm, ps_krylov_state *state,
                                ps_krylov_result *result)
{
    for (;;) {
        double last = norm;
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
