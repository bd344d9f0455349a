#include "compute/tdbem_march/record.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status record_name(record *r, const ps_product *product)
{
    memset(r, 0, sizeof *r);
    PS_TRY(ps_state_name(product->path, r->run));
    return ps_product_identity(product, "", &r->identity);
}

/* ---- the state ---- */

static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    record *r = context;
    arrays[0] =
        (ps_checkpoint_array){"/past", "1", r->past->precision == PS_SINGLE ? PS_F32 : PS_F64,
                              r->past->unknowns * r->past->kept, r->saved};
    arrays[1] = (ps_checkpoint_array){"/figures", "1", PS_F64, FIGURES, &r->figures};
    return 2;
}

ps_state_spec record_spec(record *r, const ps_run *run, ps_interval every)
{
    return (ps_state_spec){.run = run,
                           .name = r->run,
                           .identity = r->identity,
                           .unit = "step",
                           .series = true,
                           .beside = true,
                           .every = every,
                           .describe = describe,
                           .context = r};
}

int64_t record_bytes(const window *past)
{
    int64_t state = past->unknowns * past->kept * (past->precision == PS_SINGLE ? 4 : 8);
    int64_t chunk = state < 4 << 20 ? state : 4 << 20;
    return state + 4 * chunk; /* and what writing it takes */
}

ps_status record_open(record *r, const ps_state_spec *spec, window *past, figures *f, int64_t *step)
{
    r->past = past;
    PS_TRY(ps_alloc(&r->saved, past->unknowns * past->kept, past->precision == PS_SINGLE ? 4 : 8,
                    "the state for checkpoints"));
    PS_TRY(ps_state_open(spec, &r->state, step));
    if (*step == 0) return PS_OK;
    window_restore(past, r->saved);
    *f = r->figures;
    return PS_OK;
}

ps_status record_checkpoint(record *r, int64_t step, const figures *f)
{
    double start = ps_clock();
    PS_TRY(ps_state_wait(&r->state));
    window_save(r->past, r->saved);
    r->figures = *f;
    r->state.seconds += ps_clock() - start;
    return ps_state_save(&r->state, step);
}

void record_close(record *r)
{
    ps_state_close(&r->state);
    free(r->saved);
    free(r->identity);
    r->saved = NULL;
    r->identity = NULL;
}

/* ---- the end ---- */

static ps_status take_record(void *context, int64_t first_step, int64_t count, const void *payload,
                             int64_t bytes)
{
    return ps_history_append(context, count, payload);
}

ps_status record_finish(record *r, const ps_product *product, const ps_history_header *header,
                        const ps_surface_velocity *velocity)
{
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    PS_TRY(ps_state_wait(&r->state));
    PS_TRY(ps_history_create(product->path, &product->identity, header, &history));
    PS_TRY(ps_product_record(product, ps_history_store(history)));
    PS_TRY(ps_surface_velocity_put(velocity, ps_history_store(history)));
    PS_TRY(ps_append_log_replay(r->state.log, take_record, history));
    PS_TRY(ps_history_commit(&history));
    ps_state_close(&r->state);
    return ps_state_remove(&r->state.spec);
}
