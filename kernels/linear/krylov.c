#include "kernels/linear/krylov.h"

#include <math.h>
#include <stddef.h>

#define LEAF static
#include "kernels/linear/krylov_step_body.h"
#undef LEAF

const char *ps_krylov_name(ps_krylov_method method)
{
    static const char *const name[PS_KRYLOV_METHODS] = {"P-CG", "BiCGStab", "P-BiCGCR"};
    return name[method];
}

ps_krylov_pass ps_krylov_first_pass(ps_krylov_method method)
{
    static const ps_krylov_pass first[PS_KRYLOV_METHODS] = {PS_CG_START, PS_STAB_START,
                                                            PS_CR_START};
    return first[method];
}

enum { VECTORS = 7 };
/* In the order r p q z w h u. */
static const char uses[PS_KRYLOV_METHODS][VECTORS] = {
    {1, 1, 1}, {1, 1, 1, 1, 0, 1, 1}, {1, 1, 1, 1, 1}};

int64_t ps_krylov_vector_count(ps_krylov_method method)
{
    int64_t count = 0;
    for (int i = 0; i < VECTORS; ++i) count += uses[method][i];
    return count;
}

void *ps_krylov_lay_out(ps_krylov_method method, void *memory, int64_t stride, ps_krylov_vectors *v)
{
    void **own[VECTORS] = {&v->r, &v->p, &v->q, &v->z, &v->w, &v->h, &v->u};
    char *at = memory;
    for (int i = 0; i < VECTORS; ++i)
        if (uses[method][i]) {
            *own[i] = at;
            at += stride;
        }
    return at;
}

void ps_krylov_product_of(ps_krylov_pass pass, const ps_krylov_vectors *v, void **in, void **out)
{
    *in = *out = NULL;
    switch (pass) {
    case PS_CG_DIRECTION:
        *in = v->p, *out = v->q;
        break;
    case PS_STAB_DIRECTION:
        *in = v->u, *out = v->q;
        break;
    case PS_STAB_TURN:
        *in = v->u, *out = v->z;
        break;
    case PS_CR_START:
    case PS_CR_ADVANCE:
        *in = v->z, *out = v->w;
        break;
    default:
        break;
    }
}

void ps_krylov_state_begin(ps_krylov_method method, double tolerance, int64_t limit,
                           ps_krylov_state *out)
{
    *out = (ps_krylov_state){.method = (int32_t)method,
                             .pass = (int32_t)ps_krylov_first_pass(method),
                             .tolerance = tolerance,
                             .limit = limit};
}

void ps_krylov_state_step(ps_krylov_state *state) { krylov_step(state); }

bool ps_krylov_state_sound(const ps_krylov_state *s, ps_krylov_method method, int64_t iterations)
{
    int32_t first = (int32_t)ps_krylov_first_pass(method), end = first + 1;
    while (end < PS_KRYLOV_PASSES && !ps_krylov_starts((ps_krylov_pass)end)) ++end;
    if (s->method != (int32_t)method || s->iterations != iterations) return false;
    if (s->verdict == PS_KRYLOV_RUNNING) return s->pass > first && s->pass < end;
    return s->verdict > 0 && s->verdict <= PS_KRYLOV_SINGULAR && s->pass == PS_KRYLOV_PASSES;
}

static ps_status verdict_of(const ps_krylov_state *s)
{
    switch ((ps_krylov_verdict)s->verdict) {
    case PS_KRYLOV_NOT_FINITE:
        return ps_fail(PS_FAILED, "the residual is not finite after %lld iterations",
                       (long long)s->iterations);
    case PS_KRYLOV_LIMIT:
        return ps_fail(PS_FAILED, "the residual is %.3g after %lld iterations, %.3g is wanted",
                       s->residual, (long long)s->iterations, s->tolerance);
    case PS_KRYLOV_INDEFINITE:
    case PS_KRYLOV_SINGULAR:
        return ps_fail(PS_FAILED,
                       "iteration %lld breaks down (a product is %g): the matrix is singular%s or "
                       "not finite",
                       (long long)s->iterations + 1, s->below,
                       s->verdict == PS_KRYLOV_INDEFINITE ? ", indefinite" : "");
    default:
        return PS_OK;
    }
}

ps_status ps_krylov_state_judge(const ps_krylov_state *state)
{
    ps_status status = verdict_of(state);
    return status == PS_OK
               ? PS_OK
               : ps_context(status, "%s", ps_krylov_name((ps_krylov_method)state->method));
}

/* Tells the team of an iteration that has ended, and of the start. */
static ps_status watch(const ps_krylov_team *team, const ps_krylov_state *s, ps_krylov_pass ran)
{
    bool within = ran == PS_CG_DIRECTION || ran == PS_STAB_DIRECTION || ran == PS_STAB_HALF ||
                  ran == PS_STAB_TURN || ran == PS_CR_DIRECTION;
    if (!team->watch || within || s->verdict == PS_KRYLOV_NOT_FINITE) return PS_OK;
    ps_status status = team->watch(team->context, s->iterations, s->residual);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "%s", ps_krylov_name((ps_krylov_method)s->method));
}

ps_status ps_krylov_continue(const ps_krylov_team *team, ps_krylov_state *s,
                             ps_krylov_result *result)
{
    while (s->pass != PS_KRYLOV_PASSES) {
        ps_krylov_pass ran = (ps_krylov_pass)s->pass;
        ps_status status = team->run(team->context, ran, s->scalars, s->sums);
        if (status != PS_OK)
            return ps_context(status, "%s", ps_krylov_name((ps_krylov_method)s->method));
        ps_krylov_state_step(s);
        *result = (ps_krylov_result){s->iterations, s->residual, s->verdict == PS_KRYLOV_CONVERGED};
        PS_TRY(watch(team, s, ran));
    }
    return ps_krylov_state_judge(s);
}

ps_status ps_krylov_solve(ps_krylov_method method, const ps_krylov_team *team, double tolerance,
                          int64_t limit, ps_krylov_result *result)
{
    ps_krylov_state s;
    *result = (ps_krylov_result){0};
    ps_krylov_state_begin(method, tolerance, limit, &s);
    return ps_krylov_continue(team, &s, result);
}
