/*
 * krylov_step_body: the decisions of the Krylov methods after each pass (krylov.h), written once
 * for the host and for devices. LEAF qualifies the functions; sqrt, isfinite come from the
 * including file.
 */

LEAF void next_pass(ps_krylov_state *s, ps_krylov_pass pass, double s0, double s1)
{
    s->pass = pass;
    s->scalars[0] = s0;
    s->scalars[1] = s1;
    s->sums[0] = s->sums[1] = s->sums[2] = 0;
}

LEAF void end_with(ps_krylov_state *s, ps_krylov_verdict verdict)
{
    s->verdict = verdict;
    next_pass(s, PS_KRYLOV_PASSES, 0, 0);
}

/* Takes |r|^2 after an iteration (or at the start); true if it goes on. */
LEAF bool judge_residual(ps_krylov_state *s, double rr)
{
    s->residual = s->size == 0 && rr == 0 ? 0 : sqrt(rr) / s->size;
    if (!isfinite(s->residual))
        end_with(s, PS_KRYLOV_NOT_FINITE);
    else if (s->residual <= s->tolerance)
        end_with(s, PS_KRYLOV_CONVERGED);
    else if (s->iterations >= s->limit)
        end_with(s, PS_KRYLOV_LIMIT);
    return s->verdict == PS_KRYLOV_RUNNING;
}

/* A denominator that should not vanish, nor be negative where `definite`; true if it is so. */
LEAF bool usable(ps_krylov_state *s, double below, bool definite)
{
    bool bad = below == 0 || !isfinite(below) || (definite && below < 0);
    s->below = below;
    if (bad) end_with(s, definite ? PS_KRYLOV_INDEFINITE : PS_KRYLOV_SINGULAR);
    return !bad;
}

LEAF void begin_with(ps_krylov_state *s, double rho, ps_krylov_pass pass)
{
    s->size = sqrt(s->sums[0]);
    s->rho = rho;
    if (judge_residual(s, s->sums[1])) next_pass(s, pass, 0, 0);
}

LEAF void conjugate_gradients(ps_krylov_state *s)
{
    double rho = s->sums[1];
    if (s->pass == PS_CG_DIRECTION) {
        if (usable(s, s->sums[0], true)) next_pass(s, PS_CG_ADVANCE, s->rho / s->sums[0], 0);
        return;
    }
    ++s->iterations;
    s->alpha = s->rho;
    if (judge_residual(s, s->sums[0])) next_pass(s, PS_CG_DIRECTION, rho / s->rho, 0);
    s->rho = rho;
}

LEAF void stabilised(ps_krylov_state *s)
{
    double rho = s->sums[1], omega = s->scalars[1];
    switch (s->pass) {
    case PS_STAB_DIRECTION:
        if (!usable(s, s->sums[0], false)) return;
        s->alpha = s->rho / s->sums[0];
        next_pass(s, PS_STAB_HALF, s->alpha, 0);
        return;
    case PS_STAB_HALF:
        if (sqrt(s->sums[0]) <= s->tolerance * s->size)
            next_pass(s, PS_STAB_ADVANCE, s->alpha, 0);
        else
            next_pass(s, PS_STAB_TURN, 0, 0);
        return;
    case PS_STAB_TURN:
        if (usable(s, s->sums[1], true))
            next_pass(s, PS_STAB_ADVANCE, s->alpha, s->sums[0] / s->sums[1]);
        return;
    default:
        break;
    }
    ++s->iterations;
    if (!judge_residual(s, s->sums[0]) || !usable(s, s->rho * omega, false)) return;
    next_pass(s, PS_STAB_DIRECTION, rho * s->alpha / (s->rho * omega), omega);
    s->rho = rho;
}

LEAF void conjugate_residuals(ps_krylov_state *s)
{
    double rho = s->sums[1];
    if (s->pass == PS_CR_DIRECTION) {
        if (usable(s, s->sums[0], true)) next_pass(s, PS_CR_ADVANCE, s->rho / s->sums[0], 0);
        return;
    }
    ++s->iterations;
    if (!judge_residual(s, s->sums[0]) || !usable(s, s->rho, false)) return;
    next_pass(s, PS_CR_DIRECTION, rho / s->rho, 0);
    s->rho = rho;
}

LEAF void krylov_step(ps_krylov_state *s)
{
    switch (s->pass) {
    case PS_CG_START:
        begin_with(s, s->sums[2], PS_CG_DIRECTION);
        return;
    case PS_STAB_START:
        begin_with(s, s->sums[1], PS_STAB_DIRECTION);
        return;
    case PS_CR_START:
        begin_with(s, s->sums[2], PS_CR_DIRECTION);
        return;
    case PS_CG_DIRECTION:
    case PS_CG_ADVANCE:
        conjugate_gradients(s);
        return;
    case PS_CR_DIRECTION:
    case PS_CR_ADVANCE:
        conjugate_residuals(s);
        return;
    case PS_KRYLOV_PASSES:
        return;
    default:
        stabilised(s);
    }
}
