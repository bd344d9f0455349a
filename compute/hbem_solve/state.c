/* Checkpoints of a batch: on rank 0, which all read. */
#include <stdio.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"
#include "runtime/stop.h"

enum { SMALL, VECTORS, ARRAYS };

/* Counters first, which tell how many vectors there are. */
static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    const batch_state *s = context;
    const ps_lockstep *solver = s->solver;
    arrays[SMALL] = (ps_checkpoint_array){"/small", "1", PS_U8, s->small_bytes,
                                          solver->memory[PS_LOCKSTEP_SMALL]};
    arrays[VECTORS] = (ps_checkpoint_array){"/vectors", "1", PS_F64, ps_lockstep_used(solver),
                                            solver->memory[PS_LOCKSTEP_VECTORS]};
    return ARRAYS;
}

/* `name` has room for 4096 characters, and is borrowed. */
static ps_state_spec spec_of(const solve_problem *p, int64_t batch, char *name, batch_state *state)
{
    snprintf(name, 4096, "%.4000s.batch%04lld", p->run->output, (long long)batch);
    return (ps_state_spec){.run = p->run,
                           .name = name,
                           .identity = p->options.identity,
                           .unit = "product",
                           .part = batch,
                           .lead = 1,
                           .every = p->options.checkpoint_every,
                           .describe = describe,
                           .context = state};
}

static int64_t batch_count(const solve_problem *p)
{
    return (p->load_count + p->batch - 1) / p->batch * p->group_count;
}

ps_status state_open(const solve_problem *p, int64_t batch, ps_lockstep *solver, batch_state *s,
                     bool *found)
{
    int64_t doubles[PS_LOCKSTEP_PIECES], step = 0;
    ps_status status = PS_OK;
    ps_lockstep_memory(solver->system, &solver->options, doubles);
    s->solver = solver;
    s->small_bytes = 8 * doubles[PS_LOCKSTEP_SMALL];
    ps_state_spec spec = spec_of(p, batch, s->name, s);
    if (ps_comm_rank() == 0) status = ps_state_open(&spec, &s->state, &step);
    PS_TRY(ps_comm_agree(status));
    ps_stop_defer();
    PS_TRY(ps_comm_broadcast(&step, sizeof step, 0));
    *found = step > 0;
    if (!*found) return PS_OK;
    PS_TRY(ps_comm_broadcast(solver->memory[PS_LOCKSTEP_SMALL], s->small_bytes, 0));
    if (!ps_lockstep_sound(solver))
        return ps_fail(PS_INVALID,
                       "%.4000s: a checkpoint with counters that no run has; --fresh begins anew",
                       s->name);
    return ps_comm_broadcast(solver->memory[PS_LOCKSTEP_VECTORS], 8 * ps_lockstep_used(solver), 0);
}

ps_status state_save(batch_state *s)
{
    ps_status status = PS_OK;
    if (ps_comm_rank() == 0) status = ps_state_save(&s->state, s->solver->progress->products);
    ps_stop_defer();
    return ps_comm_agree(status);
}

bool state_is_due(const batch_state *s)
{
    return ps_comm_any(ps_comm_rank() == 0 &&
                       ps_state_is_due(&s->state, s->solver->progress->products));
}

ps_status check_states(const solve_problem *p)
{
    char name[4096];
    ps_status status = PS_OK;
    for (int64_t b = 0; b < batch_count(p) && status == PS_OK && ps_comm_rank() == 0; ++b) {
        ps_state_spec spec = spec_of(p, b, name, NULL);
        status = ps_state_check(&spec);
    }
    return ps_comm_agree(status);
}

ps_status remove_checkpoints(const solve_problem *p)
{
    char name[4096];
    for (int64_t b = 0; b < batch_count(p) && ps_comm_rank() == 0; ++b) {
        ps_state_spec spec = spec_of(p, b, name, NULL);
        PS_TRY(ps_state_remove(&spec));
    }
    return PS_OK;
}
