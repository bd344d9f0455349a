/* Checkpoints of a batch. */
#include <stdio.h>
#include <stdlib.h>

#include "compute/hbem_solve/solve.h"
#include "formats/checkpoint.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/stop.h"

static void name_run(const solve_problem *p, int64_t batch, char out[4096])
{
    snprintf(out, 4096, "%.4000s.batch%04lld", p->run->operands[p->run->operand_count - 1],
             (long long)batch);
}

ps_status state_open(const solve_problem *p, int64_t batch, const ps_lockstep *solver, state *out)
{
    int64_t doubles[PS_LOCKSTEP_PIECES], *generations = NULL, count = 0;
    ps_lockstep_memory(solver->system, &solver->options, doubles);
    *out = (state){.identity = p->options.identity,
                   .small_bytes = 8 * doubles[PS_LOCKSTEP_SMALL],
                   .written = ps_clock()};
    name_run(p, batch, out->run);
    ps_stop_defer();
    if (ps_comm_rank() > 0) return PS_OK;
    PS_TRY(ps_checkpoint_list(out->run, &generations, &count));
    if (count > 0) out->generation = generations[0];
    free(generations);
    return PS_OK;
}

enum { SMALL, VECTORS, ARRAYS };

static ps_checkpoint describe(const state *s, const ps_lockstep *solver, int64_t vectors,
                              ps_checkpoint_array arrays[ARRAYS])
{
    arrays[SMALL] = (ps_checkpoint_array){"/small", "1", PS_U8, s->small_bytes,
                                          solver->memory[PS_LOCKSTEP_SMALL]};
    arrays[VECTORS] = (ps_checkpoint_array){"/vectors", "1", PS_F64, vectors,
                                            solver->memory[PS_LOCKSTEP_VECTORS]};
    return (ps_checkpoint){solver->progress->products, s->identity, s->identity, ARRAYS, arrays};
}

ps_status state_save(state *s, const ps_lockstep *solver)
{
    ps_checkpoint_array arrays[ARRAYS];
    ps_checkpoint now = describe(s, solver, ps_lockstep_used(solver), arrays);
    ps_status status = PS_OK;
    if (ps_comm_rank() == 0) {
        status = ps_checkpoint_save(s->run, ++s->generation, &now);
        if (status == PS_OK) status = ps_checkpoint_prune(s->run, PS_CHECKPOINTS_KEPT);
    }
    s->written = ps_clock();
    ps_stop_defer();
    return ps_comm_agree(status);
}

/* Counters first, which tell how many vectors there are. */
static ps_status load_one(const state *s, int64_t generation, ps_lockstep *solver)
{
    ps_checkpoint_array arrays[ARRAYS];
    ps_checkpoint small = describe(s, solver, 0, arrays);
    small.array_count = 1;
    PS_TRY(ps_checkpoint_load(s->run, generation, &small));
    ps_checkpoint all = describe(s, solver, ps_lockstep_used(solver), arrays);
    return ps_checkpoint_load(s->run, generation, &all);
}

static bool load_newest(const state *s, ps_lockstep *solver)
{
    int64_t *generations = NULL, count = 0;
    bool found = false;
    if (ps_checkpoint_list(s->run, &generations, &count) != PS_OK) count = 0;
    for (int64_t i = 0; i < count && !found; ++i) {
        found = load_one(s, generations[i], solver) == PS_OK;
        if (!found) ps_warning("passing over a checkpoint: %s", ps_message());
    }
    free(generations);
    return found;
}

ps_status state_load(state *s, ps_lockstep *solver, bool *found)
{
    int64_t count[1] = {0};
    if (ps_comm_rank() == 0) count[0] = load_newest(s, solver);
    PS_TRY(ps_comm_broadcast(count, sizeof count, 0));
    *found = count[0] != 0;
    if (!*found || ps_comm_size() == 1) return PS_OK;
    PS_TRY(ps_comm_broadcast(solver->memory[PS_LOCKSTEP_SMALL], s->small_bytes, 0));
    return ps_comm_broadcast(solver->memory[PS_LOCKSTEP_VECTORS], 8 * ps_lockstep_used(solver), 0);
}

ps_status remove_checkpoints(const solve_problem *p)
{
    char run[4096];
    int64_t batches = (p->load_count + p->batch - 1) / p->batch * p->group_count;
    if (ps_comm_rank() > 0) return PS_OK;
    for (int64_t b = 0; b < batches; ++b) {
        name_run(p, b, run);
        PS_TRY(ps_checkpoint_prune(run, 0));
    }
    return PS_OK;
}
