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

/* Values of g and the basis that checkpoints have as copies. */
static int64_t kept_of(const solve_problem *p, const ps_interface *problem)
{
    int64_t basis = p->options.method == METHOD_GMRES ? p->options.restart + 1 : 0;
    return problem->vectors && !p->trial ? (1 + basis) * problem->size : 0;
}

/* Steps of a cycle that memory is planned for: half as many again as the conditions of transmission
 * promise, and a few. The basis is not touched beyond those that are made. */
static int64_t steps_of(const solve_problem *p)
{
    const solve_options *o = &p->options;
    if (o->method != METHOD_GMRES) return 0;
    if (o->streamed || !(o->factor > 0 && o->factor < 1)) return o->restart;
    return (int64_t)fmin(5 + ceil(3 * log(o->tolerance) / log(o->factor)), (double)o->restart);
}

/* Doubles that a step more of a cycle takes. */
static int64_t step_doubles(const solve_problem *p, const ps_interface *problem)
{
    return problem->vectors && p->trial ? 0 : problem->size;
}

int64_t outer_doubles(const solve_problem *p, const ps_interface *problem)
{
    int64_t beyond = p->options.method == METHOD_GMRES ? p->options.restart - steps_of(p) : 0;
    return (problem->vectors ? kept_of(p, problem) : problem->size) + space_of(p, problem) -
           beyond * step_doubles(p, problem);
}

void outer_plan_states(const solve_problem *p, int64_t size, ps_ledger *ledger)
{
    run_state_plan(p, size * (p->options.method == METHOD_GMRES ? steps_of(p) + 2 : 1), ledger);
}

/* More steps than were planned for have what --host-memory leaves beside the plan. */
static ps_status check_room(const outer *o, double count)
{
    const solve_problem *p = o->p;
    int64_t steps = steps_of(p), each = 8 * step_doubles(p, &o->problem);
    if (steps == p->options.restart) return PS_OK;
    int64_t least = p->ledger.most[PS_ROOM_HOST] + ((int64_t)count + 1 - steps) * each;
    if (!ps_comm_any(least > p->run->host_memory && (int64_t)count < p->options.restart))
        return PS_OK;
    return ps_fail(
        PS_EXHAUSTED,
        "--host-memory: GMRES takes more steps than its conditions promise, and the next one "
        "takes %.1f MB at least in all; a smaller --gmres-restart, or --method fixed-point, "
        "takes less",
        1e-6 * (double)least);
}

/* Vectors of the basis that a state after this step has. */
static int64_t reached(const outer *o, int64_t step)
{
    return o->p->options.method == METHOD_GMRES ? (step - 1) % o->p->options.restart + 2 : 0;
}

/* Traces; for GMRES its basis, as far as it reaches after this step. */
static int state_arrays(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    outer *o = context;
    int64_t restart = o->p->options.restart, size = o->problem.size;
    double *g = o->copy ? o->kept : o->g, *basis = o->copy ? o->kept + size : o->space;
    int count = 0;
    arrays[count++] = (ps_checkpoint_array){"/traces", "1", PS_F64, size, g};
    arrays[count++] = (ps_checkpoint_array){"/measure", "1", PS_F64, 2, o->measure};
    if (o->p->options.method == METHOD_GMRES) {
        double *small = (double *)ps_interface_gmres_state(&o->problem, restart, o->space);
        arrays[count++] =
            (ps_checkpoint_array){"/basis", "1", PS_F64, reached(o, step) * size, basis};
        arrays[count++] =
            (ps_checkpoint_array){"/gmres", "1", PS_F64, ps_gmres_state_doubles(restart), small};
    }
    return count + (o->further ? o->further(o->context, arrays + count) : 0);
}

/* Copies between the vectors and the arrays of a state. */
static ps_status bring(void *context, int64_t step, bool to_host)
{
    outer *o = context;
    int64_t size = o->problem.size, basis = reached(o, step) * size;
    if (!o->copy) return PS_OK;
    PS_TRY(o->copy(o->context, to_host, size, o->g, o->kept));
    if (basis == 0) return PS_OK;
    return o->copy(o->context, to_host, basis, o->problem.vectors->basis, o->kept + size);
}

ps_status outer_open(solve_problem *p, const ps_interface *problem, void *context, outer *out)
{
    *out = (outer){.p = p, .problem = *problem, .context = context};
    run_state_open(p, &out->state);
    out->state.arrays = state_arrays;
    out->state.bring = bring;
    out->state.context = out;
    if (!problem->vectors) PS_TRY(PS_ALLOC(&out->g, problem->size, "traces"));
    /* of a basis only what steps reach is touched */
    PS_TRY(ps_alloc_untouched((void **)&out->kept, kept_of(p, problem) * (int64_t)sizeof *out->kept,
                              "checkpoints"));
    return ps_alloc_untouched((void **)&out->space,
                              space_of(p, problem) * (int64_t)sizeof *out->space, "the iteration");
}

void outer_close(outer *o)
{
    if (!o->problem.vectors) free(o->g);
    free(o->space);
    free(o->kept);
    o->g = o->space = o->kept = NULL;
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
    if (r->iterations > 0 && (!(o->measure[0] > 0) || !(o->measure[1] >= 0) ||
                              o->measure[1] != o->p->history[r->iterations - 1]))
        return ps_fail(PS_INVALID,
                       "a checkpoint of %lld iterations with changes of %g at first and %g of that "
                       "at last: no run has that; --fresh begins anew",
                       (long long)r->iterations, o->measure[0], o->measure[1]);
    r->residual = r->iterations > 0 ? o->measure[1] : 1;
    r->converged = r->iterations > 0 && r->residual <= options->tolerance;
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
    if (!(g->count > 0)) return PS_OK;
    PS_TRY(end_iteration(o, iteration, residual));
    return residual > o->p->options.tolerance ? check_room(o, g->count) : PS_OK;
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
        &o->problem, &(ps_gmres){options->tolerance, options->limit, options->restart, done}, o->g,
        o->space, r);
    bool limit = status == PS_FAILED && r->iterations >= options->limit && !o->p->stopped;
    return limit && isfinite(r->residual) ? not_converged(o->p) : status;
}

ps_status outer_solve(outer *o)
{
    return o->p->options.method == METHOD_GMRES ? run_gmres(o) : iterate(o);
}
