/* The box as one: direct solution, or a Krylov method, over ranks by planes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct whole {
    solve_problem *p;
    ps_slab slab; /* own planes and halos */
    ps_slab_stencil stencil;
    int64_t first, end; /* own planes */
    rank_links links;
    ps_krylov_ranks ranks;
    ps_krylov_system system;
    ps_krylov_state krylov;
    run_state state;
    double *b, *u, *workspace;
    double *best, least; /* an iterate and its residual; NULL: the last one is the best */
} whole;

void whole_planes(const solve_problem *p, int64_t *first, int64_t *end)
{
    *first = p->grid.nodes[0] * ps_comm_rank() / ps_comm_size();
    *end = p->grid.nodes[0] * (ps_comm_rank() + 1) / ps_comm_size();
}

/* Geometry, no memory. */
static whole measure(const solve_problem *p)
{
    whole w = {.slab = ps_slab_whole(&p->grid)};
    whole_planes(p, &w.first, &w.end);
    for (int side = 0; side < 2; ++side)
        w.ranks.beside[side] = w.slab.free[side] =
            side == 0 ? w.first > 0 : w.end < p->grid.nodes[0];
    w.slab.grid.nodes[0] = w.end - w.first + w.slab.free[0] + w.slab.free[1];
    w.ranks.first = w.first;
    w.ranks.all = p->grid.nodes[0];
    ps_slab_stencil_make(&w.slab, &w.stencil);
    return w;
}

static int64_t workspace_of(const solve_problem *p, const whole *w)
{
    ps_krylov_system system = {.stencil = &w->stencil,
                               .ranks = ps_comm_size() > 1 ? &w->ranks : NULL};
    if (p->options.mixed) return ps_krylov_cpu_mixed_workspace(&w->stencil);
    if (p->options.method == METHOD_DIRECT)
        return ps_round_up(ps_fast_solver_size(&w->slab), 8) +
               ps_fast_workspace(&w->slab, (int)p->run->threads);
    return ps_krylov_cpu_workspace(krylov_of(p->options.method), &system);
}

static ps_status allocate(whole *w, ps_ledger *ledger)
{
    int64_t nodes = ps_q1_grid_size(&w->slab.grid);
    PS_TRY(PS_LEDGER_TAKE(ledger, &w->b, nodes, "loads"));
    PS_TRY(PS_LEDGER_TAKE(ledger, &w->u, nodes, "solution"));
    if (w->p->options.method == METHOD_BICGSTAB)
        PS_TRY(PS_LEDGER_TAKE(ledger, &w->best, nodes, "best_iterate"));
    return PS_LEDGER_TAKE(ledger, &w->workspace, workspace_of(w->p, w), "workspace");
}

static void whole_plan(solve_problem *p, ps_ledger *ledger)
{
    whole w = measure(p);
    w.p = p;
    allocate(&w, ledger);
    if (p->options.method == METHOD_DIRECT || p->options.mixed) return;
    int64_t vectors = 1 + (p->options.method == METHOD_BICGSTAB) +
                      ps_krylov_vector_count(krylov_of(p->options.method));
    run_state_plan(p, vectors * ps_q1_grid_size(&p->grid), ledger);
}

/* ---- Krylov methods ---- */

static int state_arrays(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    whole *w = context;
    arrays[0] = (ps_checkpoint_array){"/x", "m2/s2", PS_F64, ps_q1_grid_size(&w->slab.grid), w->u};
    arrays[1] = (ps_checkpoint_array){
        "/vectors", "1", PS_F64, ps_krylov_cpu_state(krylov_of(w->p->options.method), &w->system),
        w->workspace};
    arrays[2] =
        (ps_checkpoint_array){"/scalars", "1", PS_U8, (int64_t)sizeof w->krylov, &w->krylov};
    if (!w->best) return 3;
    arrays[3] = (ps_checkpoint_array){"/best", "m2/s2", PS_F64, arrays[0].count, w->best};
    arrays[4] = (ps_checkpoint_array){"/least", "1", PS_F64, 1, &w->least};
    return 5;
}

/* Residuals of BiCGStab go up and down. An iterate is kept wherever the residual is half of what it
 * was at the one kept before, so that a solve that reaches its limit has one of at most twice the
 * least; those of the other methods fall in the norm that they minimise. */
static void keep_best(whole *w, double residual)
{
    if (!w->best || !(residual < .5 * w->least)) return;
    w->least = residual;
    memcpy(w->best, w->u, (size_t)ps_q1_grid_size(&w->slab.grid) * sizeof *w->best);
}

/* At the limit: what is written, and its residual. */
static void choose_best(whole *w)
{
    double *last = w->u;
    if (!w->best || !(w->least < w->p->result.residual)) return;
    w->p->result.residual = w->least;
    w->u = w->best;
    w->best = last;
}

/* The team's context, and whose it is. */
typedef struct watched {
    ps_krylov_cpu_team team;
    whole *w;
} watched;

static ps_status watch(void *context, int64_t iteration, double residual)
{
    whole *w = ((watched *)context)->w;
    bool stop;
    if (iteration == 0) return PS_OK;
    note_iteration(w->p, iteration, residual, &stop);
    bool last = iteration >= w->p->options.limit;
    keep_best(w, residual);
    PS_TRY(run_state_save(&w->state, iteration, stop || last));
    if (w->krylov.verdict != PS_KRYLOV_RUNNING) return PS_OK;
    return last ? not_converged(w->p) : stop ? stop_here(w->p) : PS_OK;
}

static ps_status krylov(whole *w)
{
    solve_problem *p = w->p;
    watched team = {.w = w};
    int64_t done;
    PS_TRY(ps_krylov_cpu_begin(krylov_of(p->options.method), &w->system, w->workspace, &team.team));
    ps_krylov_team control = ps_krylov_cpu_team_of(&team.team);
    control.watch = watch;
    /* The limit is watched here, so that a state at it can be continued with a higher one. */
    ps_krylov_state_begin(krylov_of(p->options.method), p->options.tolerance, INT64_MAX,
                          &w->krylov);
    w->least = INFINITY;
    PS_TRY(run_state_load(&w->state, &done));
    if (done > 0) {
        if (!ps_krylov_state_sound(&w->krylov, krylov_of(p->options.method), done))
            return ps_fail(PS_INVALID,
                           "a checkpoint of %lld iterations is in a state that no "
                           "solve by this method has; --fresh begins anew",
                           (long long)done);
        w->krylov.tolerance = p->options.tolerance;
        w->krylov.limit = INT64_MAX;
        ps_stencil_set_fixed(&w->stencil, w->b, w->u); /* which no residual sees */
        p->result =
            (ps_krylov_result){done, w->krylov.residual, w->krylov.verdict == PS_KRYLOV_CONVERGED};
    }
    ps_status status = ps_krylov_continue(&control, &w->krylov, &p->result);
    if (status != PS_OK && !p->stopped) choose_best(w);
    return status;
}

/* Without checkpoints. */
static ps_status mixed(whole *w)
{
    solve_problem *p = w->p;
    ps_krylov_cpu_control control = {p->options.tolerance, p->options.limit, watch_iteration, p};
    return end_of_krylov(p, ps_krylov_cpu_mixed(&w->system, &control, w->workspace, &p->result));
}

/* ---- direct ---- */

static ps_status direct(whole *w)
{
    ps_fast_solver solver;
    PS_TRY(ps_fast_solver_make(&w->slab, w->workspace, &solver));
    ps_fast_solve(&solver, w->b, w->u, w->workspace + ps_round_up(ps_fast_solver_size(&w->slab), 8),
                  (int)w->p->run->threads);
    w->p->result = (ps_krylov_result){.iterations = 0, .converged = true};
    return PS_OK;
}

static ps_status solve(void *state)
{
    whole *w = state;
    return w->p->options.method == METHOD_DIRECT ? direct(w)
           : w->p->options.mixed                 ? mixed(w)
                                                 : krylov(w);
}

static ps_status write_field(void *state, plane_writer *writer)
{
    const whole *w = state;
    for (int64_t i = w->slab.free[0]; i < w->end - w->first + w->slab.free[0]; ++i)
        PS_TRY(plane_writer_add(writer, w->u + i * w->p->out.plane));
    return PS_OK;
}

static ps_status open(solve_problem *p, void *state)
{
    whole *w = state;
    *w = measure(p);
    w->p = p;
    w->ranks.links = rank_links_open(&w->links);
    run_state_open(p, &w->state);
    w->state.arrays = state_arrays;
    w->state.context = w;
    PS_TRY(allocate(w, NULL));
    w->system = (ps_krylov_system){
        .stencil = &w->stencil, .b = w->b, .x = w->u, .ranks = w->ranks.links ? &w->ranks : NULL};
    return ps_box_field_read(&p->load, w->first - w->slab.free[0], w->slab.grid.nodes[0], w->b);
}

static void close(void *state)
{
    whole *w = state;
    PS_FREE(w->b, w->u, w->best, w->workspace);
}

const solve_way solve_whole = {sizeof(whole), whole_plan, open, solve, write_field, close};
