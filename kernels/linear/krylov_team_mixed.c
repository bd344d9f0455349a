/* P-CG with its vectors in fp32 and residuals in fp64 on CPU cores (krylov_team.h). */
#include <math.h>
#include <string.h>

#include "kernels/linear/krylov_mixed.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/sizes.h"

typedef struct mixed {
    const ps_krylov_system *wide;
    const ps_krylov_cpu_control *control;
    ps_krylov_mixed *shared;
    ps_krylov_cpu_team team; /* in fp32 */
    float *b, *x;
    double *product, *sums; /* A x; by plane */
    int64_t rows, plane;
} mixed;

int64_t ps_krylov_cpu_mixed_workspace(const ps_slab_stencil *stencil)
{
    ps_krylov_system narrow = {.stencil = stencil, .narrow = true};
    return 2 * ps_round_up(ps_stencil_rows(stencil), 8) + ps_round_up(stencil->nodes[0], 8) +
           ps_krylov_cpu_workspace(PS_KRYLOV_CG, &narrow);
}

static void lay_out(mixed *m, double *workspace)
{
    int64_t vector = ps_round_up(m->rows, 8);
    m->product = workspace;
    m->b = (float *)(workspace + vector);
    m->x = m->b + vector;
    m->sums = workspace + 2 * vector;
}

/* |b - product|, or of b alone; by planes, in their order. r gets the difference, may be NULL. */
static double norm_of(const mixed *m, const double *product, float *r)
{
    const double *b = m->wide->b;
    double sum = 0;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->rows / m->plane; ++i) {
        double square = 0;
#pragma omp simd reduction(+ : square)
        for (int64_t k = i * m->plane; k < (i + 1) * m->plane; ++k) {
            double rest = product ? b[k] - product[k] : b[k];
            square += rest * rest;
            if (r) r[k] = (float)rest;
        }
        m->sums[i] = square;
    }
    for (int64_t i = 0; i < m->rows / m->plane; ++i) sum += m->sums[i];
    return sqrt(sum);
}

static void add(const mixed *m)
{
    double *x = m->wide->x;
    float *added = m->x;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < m->rows; ++k) {
        x[k] += (double)added[k];
        added[k] = 0;
    }
}

static ps_status renew(void *context, double *norm)
{
    mixed *m = context;
    add(m);
    ps_stencil_multiply(m->wide->stencil, m->wide->x, m->product);
    *norm = norm_of(m, m->product, m->team.vectors.r);
    return PS_OK;
}

/* The team in fp32, with the residual as the whole system has it. */
static ps_status run_pass(void *context, ps_krylov_pass pass, const double scalars[2],
                          double sums[3])
{
    mixed *m = context;
    ps_krylov_team team = ps_krylov_cpu_team_of(&m->team);
    return team.run(team.context, pass, scalars, sums);
}

static ps_status watch(void *context, int64_t iteration, double residual)
{
    const mixed *m = context;
    if (iteration == 0) return PS_OK;
    return m->control->watch(m->control->context, iteration,
                             residual * m->shared->first / m->shared->size);
}

static ps_status run(void *context, ps_krylov_state *state)
{
    mixed *m = context;
    ps_krylov_team team = {m, run_pass, m->control->watch ? watch : NULL};
    ps_krylov_result ignored;
    ps_status status = ps_krylov_continue(&team, state, &ignored);
    return state->verdict == PS_KRYLOV_RUNNING ? status : PS_OK; /* judged by whom it serves */
}

ps_status ps_krylov_cpu_mixed(const ps_krylov_system *system, const ps_krylov_cpu_control *control,
                              double *workspace, ps_krylov_result *result)
{
    const ps_slab_stencil *s = system->stencil;
    ps_krylov_mixed shared = {.tolerance = control->tolerance, .run = run, .renew = renew};
    mixed m = {.wide = system, .control = control, .shared = &shared};
    ps_krylov_state state;
    *result = (ps_krylov_result){0};
    if (!s || s->free[0] || s->free[1] || system->ranks || system->narrow)
        return ps_fail(PS_USAGE, "P-CG in fp32 with residuals in fp64 is for a stencil without "
                                 "free faces on one rank, b and x in fp64");
    m.rows = ps_stencil_rows(s);
    m.plane = s->nodes[1] * s->nodes[2];
    lay_out(&m, workspace);
    memset(m.x, 0, (size_t)m.rows * sizeof *m.x);
    ps_krylov_system narrow = {.stencil = s, .b = m.b, .x = m.x, .narrow = true};
    PS_TRY(
        ps_krylov_cpu_begin(PS_KRYLOV_CG, &narrow, m.sums + ps_round_up(s->nodes[0], 8), &m.team));
    ps_stencil_set_fixed(s, system->b, system->x);
    ps_stencil_multiply(s, system->x, m.product);
    shared.context = &m;
    shared.diagonal = s->plane[0][0][0];
    shared.size = norm_of(&m, NULL, NULL);
    shared.first = norm_of(&m, m.product, m.b);
    if (ps_krylov_mixed_begin(&shared, control->limit, &state, result)) return PS_OK;
    return ps_krylov_mixed_solve(&shared, &state, result);
}
