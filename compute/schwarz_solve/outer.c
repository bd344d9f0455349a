#include "compute/schwarz_solve/outer.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/memory.h"

static int64_t space_of(const solve_problem *p, const ps_interface *problem)
{
    if (p->options.method == METHOD_SWEEPS) return 1;
    return p->options.method == METHOD_GMRES
               ? ps_interface_gmres_workspace(problem, p->options.restart)
               : ps_interface_workspace(problem);
}

int64_t outer_doubles(const solve_problem *p, const ps_interface *problem)
{
    return problem->size + space_of(p, problem);
}

/* Traces; for GMRES its basis, as far as it reaches after this step. */
static int state_arrays(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    outer *o = context;
    int64_t restart = o->p->options.restart, size = o->problem.size;
    int count = 0;
    arrays[count++] = (ps_checkpoint_array){"/traces", "1", PS_F64, size, o->g};
    arrays[count++] = (ps_checkpoint_array){"/measure", "1", PS_F64, 2, o->measure};
    if (o->p->options.method == METHOD_GMRES) {
        double *small = (double *)ps_interface_gmres_state(&o->problem, restart, o->space);
        arrays[count++] = (ps_checkpoint_array){"/basis", "1", PS_F64,
                                                ((step - 1) % restart + 2) * size, o->space};
        arrays[count++] = (ps_checkpoint_array){
            "/gmres", "1", PS_F64, (int64_t)(sizeof(ps_gmres_state) / sizeof(double)), small};
    }
    return count + (o->further ? o->further(o->context, arrays + count) : 0);
}

ps_status outer_open(solve_problem *p, const ps_interface *problem, void *context, outer *out)
{
    *out = (outer){.p = p, .problem = *problem, .context = context};
    run_state_open(p, &out->state);
    out->state.arrays = state_arrays;
    out->state.context = out;
    PS_TRY(PS_ALLOC(&out->g, problem->size, "traces"));
    /* of a basis only what steps reach is touched */
    return ps_alloc_untouched((void **)&out->space,
                              space_of(p, problem) * (int64_t)sizeof *out->space, "the iteration");
}

void outer_close(outer *o)
{
    free(o->g);
    free(o->space);
    o->g = o->space = NULL;
}

static ps_status end_iteration(outer *o, int64_t iteration, double residual)
{
    bool stop;
    note_iteration(o->p, iteration, residual, &stop);
    PS_TRY(run_state_save(&o->state, iteration, stop));
    return stop ? stop_here(o->p) : PS_OK;
}

static ps_status advance(outer *o, double *change)
{
    return o->advance ? o->advance(o->context, change)
                      : ps_interface_step(&o->problem, o->g, o->space, change);
}

static ps_status iterate(outer *o)
{
    const solve_options *options = &o->p->options;
    ps_krylov_result *r = &o->p->result;
    double change;
    PS_TRY(run_state_load(&o->state, &r->iterations));
    r->residual = r->iterations > 0 ? o->measure[1] : 1;
    while (!r->converged) {
        if (r->iterations >= options->limit) return not_converged(o->p);
        PS_TRY(advance(o, &change));
        if (r->iterations++ == 0) o->measure[0] = change;
        o->measure[1] = r->residual = change == 0 ? 0 : change / o->measure[0];
        r->converged = r->residual <= options->tolerance;
        if (!isfinite(r->residual))
            return ps_fail(PS_FAILED, "the interface residual is not finite after %lld iterations",
                           (long long)r->iterations);
        PS_TRY(end_iteration(o, r->iterations, r->residual));
    }
    return PS_OK;
}

/* At the start of a cycle nothing is kept that the step before has not kept. */
static ps_status watch(void *watcher, int64_t iteration, double residual)
{
    outer *o = watcher;
    const ps_gmres_state *g =
        ps_interface_gmres_state(&o->problem, o->p->options.restart, o->space);
    return g->count > 0 ? end_iteration(o, iteration, residual) : PS_OK;
}

static ps_status run_gmres(outer *o)
{
    const solve_options *options = &o->p->options;
    ps_krylov_result *r = &o->p->result;
    int64_t done;
    o->problem.watch = watch;
    o->problem.watcher = o;
    PS_TRY(run_state_load(&o->state, &done));
    ps_status status = ps_interface_gmres(
        &o->problem, &(ps_gmres){options->tolerance, options->limit, options->restart, done > 0},
        o->g, o->space, r);
    bool limit = status == PS_FAILED && r->iterations >= options->limit && !o->p->stopped;
    return limit && isfinite(r->residual) ? not_converged(o->p) : status;
}

ps_status outer_solve(outer *o)
{
    return o->p->options.method == METHOD_GMRES ? run_gmres(o) : iterate(o);
}
