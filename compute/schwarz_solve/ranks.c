/* Between ranks: traces and planes to the ranks beside, sums; checkpoints of each rank. */
#include <stdio.h>

#include "compute/schwarz_solve/solve.h"
#include "runtime/stop.h"

static ps_status pass(void *context, int side, int64_t count, const double *out, double *in)
{
    rank_links *r = context;
    int64_t bytes = count * (int64_t)sizeof(double);
    ps_comm_exchange exchange = {.neighbour = ps_comm_rank() + (side == 0 ? -1 : 1),
                                 .send = out,
                                 .receive = in,
                                 .send_bytes = out ? bytes : 0,
                                 .receive_bytes = in ? bytes : 0};
    return ps_comm_exchange_start(&exchange, 1, &r->pending[side]);
}

static ps_status wait(void *context, int side)
{
    rank_links *r = context;
    return ps_comm_exchange_wait(&r->pending[side]);
}

static ps_status sum(void *context, double *values, int64_t count)
{
    return ps_comm_sum_f64(values, count);
}

static ps_status agree(void *context, ps_status status) { return ps_comm_agree(status); }

const ps_slab_links *rank_links_open(rank_links *out)
{
    *out = (rank_links){.links = {pass, wait, sum, agree, out}};
    return ps_comm_size() > 1 ? &out->links : NULL;
}

/* ---- checkpoints ---- */

/* What the way to solve keeps, and what is told of the run: its residuals so far and the iterations
 * of inner solvers. */
static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    const run_state *s = context;
    solve_problem *p = s->p;
    int count = s->arrays(s->context, step, arrays);
    arrays[count++] = (ps_checkpoint_array){"/history", "1", PS_F64, step, p->history};
    arrays[count++] = (ps_checkpoint_array){"/inner", "1", PS_I64, 1, &p->inner_iterations};
    return count;
}

static ps_state_spec spec_of(run_state *s)
{
    return (ps_state_spec){.run = s->p->run,
                           .name = s->name,
                           .identity = s->p->options.identity,
                           .unit = "iteration",
                           .every_rank = true,
                           .every = s->p->options.checkpoint_every,
                           .describe = describe,
                           .context = s};
}

void run_state_open(solve_problem *p, run_state *out)
{
    *out = (run_state){.p = p};
    if (!p->trial) snprintf(out->name, sizeof out->name, "%.4000s.state", p->run->output);
}

void run_state_plan(const solve_problem *p, int64_t doubles, ps_ledger *ledger)
{
    ps_ledger_add(ledger, PS_ROOM_STATES, "states",
                  p->trial ? 0 : (p->run->keep + 1) * 8 * doubles);
}

ps_status run_state_save(run_state *s, int64_t step, bool always)
{
    if (s->p->trial || (!always && !ps_state_is_due(&s->state, step))) return PS_OK;
    ps_status status = s->bring ? s->bring(s->context, step, true) : PS_OK;
    PS_TRY(ps_comm_agree(status));
    return ps_state_save(&s->state, step);
}

ps_status run_state_load(run_state *s, int64_t *step)
{
    *step = 0;
    ps_stop_defer();
    if (s->p->trial) return PS_OK;
    ps_state_spec spec = spec_of(s);
    PS_TRY(ps_state_open(&spec, &s->state, step));
    return *step > 0 && s->bring ? ps_comm_agree(s->bring(s->context, *step, false)) : PS_OK;
}

ps_status run_state_check(run_state *s)
{
    ps_state_spec spec = spec_of(s);
    return s->p->trial ? PS_OK : ps_comm_agree(ps_state_check(&spec));
}

ps_status run_state_remove(run_state *s)
{
    ps_state_spec spec = spec_of(s);
    return s->p->trial ? PS_OK : ps_state_remove(&spec);
}
