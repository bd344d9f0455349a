/* What an iteration says and asks, and how one ends that comes no further. */
#include "compute/schwarz_solve/solve.h"
#include "runtime/log.h"
#include "runtime/stop.h"

void note_iteration(solve_problem *p, int64_t iteration, double residual, bool *stop)
{
    bool often = p->options.method >= METHOD_FIXED_POINT || iteration % 100 == 0;
    if (iteration >= 1 && iteration <= HISTORY_MAX) p->history[iteration - 1] = residual;
    if (often) ps_info("iteration %lld: residual %.3e", (long long)iteration, residual);
    ps_progress_part(&p->progress, ps_progress_of_residual(residual, p->options.tolerance),
                     "iteration %lld, residual %.2e", (long long)iteration, residual);
    *stop = ps_comm_any(ps_stop_requested());
}

ps_status stop_here(solve_problem *p)
{
    p->stopped = true;
    return ps_fail(PS_STOPPED, "stopped after iteration %lld; the same command %s",
                   (long long)p->result.iterations, p->trial ? "begins again" : "continues");
}

ps_status watch_iteration(void *problem, int64_t iteration, double residual)
{
    bool stop;
    note_iteration(problem, iteration, residual, &stop);
    return stop ? stop_here(problem) : PS_OK;
}

ps_status end_of_krylov(solve_problem *p, ps_status status)
{
    bool limit = status == PS_FAILED && p->result.iterations >= p->options.limit && !p->stopped;
    return limit ? not_converged(p) : status;
}

ps_status not_converged(const solve_problem *p)
{
    const solve_options *o = &p->options;
    return ps_fail(PS_FAILED,
                   "the %s residual is %.3g after %lld iterations, %.3g is wanted; more --limit "
                   "%s may help",
                   o->method >= METHOD_FIXED_POINT ? "interface" : "relative", p->result.residual,
                   (long long)p->result.iterations, o->tolerance,
                   o->method == METHOD_FIXED_POINT || o->method == METHOD_SWEEPS
                       ? ", a better --kind or --method gmres"
                       : "");
}
