/* Between ranks: traces and planes to the ranks beside, sums; checkpoints of each rank. */
#include <stdio.h>
#include <stdlib.h>

#include "compute/schwarz_solve/solve.h"
#include "runtime/log.h"
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

void run_state_open(solve_problem *p, run_state *out)
{
    *out = (run_state){.p = p};
    if (p->trial) return;
    int length = snprintf(out->run, sizeof out->run, "%.4000s.state", p->run->operands[1]);
    if (ps_comm_size() > 1)
        snprintf(out->run + length, sizeof out->run - (size_t)length, ".r%04d", ps_comm_rank());
}

/* What the way to solve keeps, and what is told of the run: its residuals so far and the iterations
 * of inner solvers. */
static ps_checkpoint checkpoint_of(const run_state *s, ps_checkpoint_array *arrays, int64_t step)
{
    solve_problem *p = s->p;
    int count = s->arrays(s->context, step, arrays);
    arrays[count++] = (ps_checkpoint_array){"/history", "1", PS_F64, step, p->history};
    arrays[count++] = (ps_checkpoint_array){"/inner", "1", PS_I64, 1, &p->inner_iterations};
    return (ps_checkpoint){step, p->options.identity, p->options.identity, count, arrays};
}

ps_status run_state_save(run_state *s, int64_t step, bool always)
{
    ps_checkpoint_array arrays[STATE_ARRAYS];
    int64_t every = s->p->options.checkpoint_every;
    if (s->p->trial || (!always && (every == 0 || step % every))) return PS_OK;
    ps_checkpoint state = checkpoint_of(s, arrays, step);
    ps_status status = s->bring ? s->bring(s->context, step, true) : PS_OK;
    if (status == PS_OK) status = ps_checkpoint_save(s->run, ++s->generation, &state);
    PS_TRY(ps_comm_agree(status)); /* older ones go when all ranks have this one */
    ps_stop_defer();
    return ps_checkpoint_prune(s->run, PS_CHECKPOINTS_KEPT);
}

/* The newest generation here that is sound, of this run and of at most `limit` iterations; 0: none.
 * It is verified and not loaded, as another rank may not have it. */
static ps_status find_newest(run_state *s, int64_t limit, int64_t *generation, int64_t *step)
{
    int64_t *generations = NULL, count = 0;
    *generation = *step = 0;
    PS_TRY(ps_checkpoint_list(s->run, &generations, &count));
    if (count) s->generation = generations[0];
    for (int64_t i = 0; i < count && !s->p->run->fresh && *step == 0; ++i) {
        ps_checkpoint state = {.uuid = s->p->options.identity};
        int64_t at;
        ps_status status = ps_checkpoint_step(s->run, generations[i], &at);
        if (status == PS_OK && (at < 1 || at > limit)) continue;
        if (status == PS_OK) status = ps_checkpoint_load(s->run, generations[i], &state);
        if (status == PS_OK) {
            *step = at;
            *generation = generations[i];
        } else
            ps_warning("passing over a checkpoint: %s", ps_message());
    }
    free(generations);
    return PS_OK;
}

static ps_status load(run_state *s, int64_t generation, int64_t step)
{
    ps_checkpoint_array arrays[STATE_ARRAYS];
    ps_checkpoint state = checkpoint_of(s, arrays, step);
    PS_TRY(ps_checkpoint_load(s->run, generation, &state));
    return s->bring ? s->bring(s->context, step, false) : PS_OK;
}

ps_status run_state_load(run_state *s, int64_t *step)
{
    int64_t limit = HISTORY_MAX, generation, lowest, highest;
    *step = 0;
    ps_stop_defer();
    if (s->p->trial) return PS_OK;
    do {
        PS_TRY(ps_comm_agree(find_newest(s, limit, &generation, step)));
        lowest = highest = *step;
        PS_TRY(ps_comm_min_i64(&lowest, 1));
        PS_TRY(ps_comm_max_i64(&highest, 1));
        limit = lowest;
    } while (lowest < highest);
    if (*step > 0) PS_TRY(ps_comm_agree(load(s, generation, *step)));
    if (*step > 0)
        ps_info("continuing after iteration %lld", (long long)*step);
    else if (s->p->run->restart)
        ps_info("there is no checkpoint: starting from the first iteration");
    return PS_OK;
}

ps_status run_state_remove(run_state *s)
{
    return s->p->trial ? PS_OK : ps_checkpoint_prune(s->run, 0);
}

ps_status run_state_remove_own(run_state *s)
{
    int64_t generation, step;
    PS_TRY(find_newest(s, HISTORY_MAX, &generation, &step));
    return step > 0 ? run_state_remove(s) : PS_OK;
}
