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

static ps_checkpoint checkpoint_of(const run_state *s, ps_checkpoint_array *arrays, int64_t step)
{
    const char *identity = s->p->options.identity;
    return (ps_checkpoint){step, identity, identity, s->arrays(s->context, step, arrays), arrays};
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

/* The newest state here of at most `limit` iterations; 0: none. */
static ps_status load_newest(run_state *s, int64_t limit, int64_t *step)
{
    int64_t *generations = NULL, count = 0;
    *step = 0;
    PS_TRY(ps_checkpoint_list(s->run, &generations, &count));
    if (count) s->generation = generations[0];
    for (int64_t i = 0; i < count && !s->p->run->fresh && *step == 0; ++i) {
        ps_checkpoint_array arrays[STATE_ARRAYS];
        int64_t at;
        ps_status status = ps_checkpoint_step(s->run, generations[i], &at);
        if (status == PS_OK && (at < 1 || at > limit)) continue;
        ps_checkpoint state;
        if (status == PS_OK) {
            state = checkpoint_of(s, arrays, at);
            status = ps_checkpoint_load(s->run, generations[i], &state);
        }
        if (status == PS_OK)
            *step = at;
        else
            ps_warning("passing over a checkpoint: %s", ps_message());
    }
    free(generations);
    return PS_OK;
}

ps_status run_state_load(run_state *s, int64_t *step)
{
    int64_t limit = HISTORY_MAX, lowest, highest;
    *step = 0;
    ps_stop_defer();
    if (s->p->trial) return PS_OK;
    do {
        ps_status status = load_newest(s, limit, step);
        PS_TRY(ps_comm_agree(status));
        lowest = highest = *step;
        PS_TRY(ps_comm_min_i64(&lowest, 1));
        PS_TRY(ps_comm_max_i64(&highest, 1));
        limit = lowest;
    } while (lowest < highest);
    if (*step > 0 && s->bring) PS_TRY(ps_comm_agree(s->bring(s->context, *step, false)));
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
