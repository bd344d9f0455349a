#include "compute/tdbem_march/record.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

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
    if (r->lining_states == 0) return 2;
    arrays[2] = (ps_checkpoint_array){"/linings", "1", PS_F64, r->lining_states, r->linings_saved};
    return 3;
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
    int64_t state = past->unknowns * past->kept * ps_real_bytes(past->precision);
    int64_t chunk = state < 4 << 20 ? state : 4 << 20;
    return state + 4 * chunk; /* and what writing it takes */
}

ps_status record_linings(record *r, double *state, int64_t states)
{
    r->linings = state;
    r->lining_states = states;
    return states > 0 ? PS_ALLOC(&r->linings_saved, states, "the state for checkpoints") : PS_OK;
}

/* Whether a record of the log is rows of the history. */
static ps_status check_rows(const record *r, int64_t first, int64_t count, const void *payload,
                            int64_t bytes)
{
    int64_t item = r->past->precision == PS_SINGLE ? 4 : 8, values = count * r->past->unknowns;
    if (bytes == values * item && ps_append_log_is_finite(payload, values, item)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: the steps from %lld on are no %lld rows of finite numbers: no run has "
                   "written them; --fresh begins anew",
                   r->state.log_path, (long long)first, (long long)count);
}

/* The past is what the log holds of its last steps, which are both read. */
static ps_status compare_past(void *context, int64_t first, int64_t count, const void *payload,
                              int64_t bytes)
{
    const record *r = context;
    const int64_t kept = r->past->kept, unknowns = r->past->unknowns;
    size_t item = r->past->precision == PS_SINGLE ? 4 : 8;
    PS_TRY(check_rows(r, first, count, payload, bytes));
    for (int64_t n = 0; n < count; ++n) {
        int64_t age = r->state.step - first - n;
        for (int64_t j = 0; j < unknowns && age < kept; ++j)
            if (memcmp((const char *)payload + (size_t)(n * unknowns + j) * item,
                       (const char *)r->saved + (size_t)(j * kept + kept - 1 - age) * item, item))
                return ps_fail(PS_INVALID,
                               "%s: the checkpoint of step %lld has another step %lld than its "
                               "log: no run has that; --fresh begins anew",
                               r->run, (long long)r->state.step, (long long)(first + n));
    }
    return PS_OK;
}

/* With --project-mean the past is not what was logged. */
static ps_status check_past(record *r)
{
    if (r->figures.projected != 0) return PS_OK;
    return ps_append_log_replay(r->state.log, r->state.step - r->past->kept, compare_past, r);
}

ps_status record_open(record *r, const ps_state_spec *spec, window *past, figures *f, int64_t *step)
{
    r->past = past;
    PS_TRY(ps_alloc(&r->saved, past->unknowns * past->kept, ps_real_bytes(past->precision),
                    "the state for checkpoints"));
    PS_TRY(ps_state_open(spec, &r->state, step));
    if (*step == 0) return PS_OK;
    PS_TRY(check_past(r));
    window_restore(past, r->saved);
    *f = r->figures;
    if (r->lining_states > 0)
        memcpy(r->linings, r->linings_saved, (size_t)r->lining_states * sizeof(double));
    return PS_OK;
}

ps_status record_checkpoint(record *r, int64_t step, const figures *f)
{
    double start = ps_clock();
    PS_TRY(ps_state_wait(&r->state));
    window_save(r->past, r->saved);
    r->figures = *f;
    if (r->lining_states > 0)
        memcpy(r->linings_saved, r->linings, (size_t)r->lining_states * sizeof(double));
    r->state.seconds += ps_clock() - start;
    return ps_state_save(&r->state, step);
}

void record_close(record *r)
{
    ps_state_close(&r->state);
    ps_background_wait(&r->hand); /* of a run that has failed already */
    ps_history_close(&r->history);
    PS_FREE(r->pages[0], r->pages[1]);
    r->pages[0] = r->pages[1] = NULL;
    PS_FREE(r->saved, r->linings_saved, r->identity);
    r->saved = NULL;
    r->linings_saved = NULL;
    r->identity = NULL;
}

/* ---- the history, written behind the march ---- */

enum { PAGE_BYTES = 64 << 20, PAGES_LEAST = 8 };

/* Some pages of any run, so that little is left at the end. */
static int64_t rows_of_page(int64_t row_bytes, int64_t steps)
{
    int64_t rows = ps_smaller(PAGE_BYTES / row_bytes, steps / PAGES_LEAST);
    return rows > 1 ? rows : 1;
}

int64_t record_behind_bytes(int64_t row_bytes, int64_t steps)
{
    return 3 * row_bytes * rows_of_page(row_bytes, steps); /* and what writing holds */
}

static ps_status create_history(const ps_product *product, const ps_history_header *header,
                                const ps_surface_velocity *velocity, ps_history **out)
{
    PS_TRY(ps_history_create(product->path, &product->identity, header, out));
    PS_TRY(ps_product_record(product, ps_history_store(*out)));
    return ps_surface_velocity_put(velocity, ps_history_store(*out));
}

ps_status record_write_behind(record *r, const ps_product *product, const ps_history_header *header,
                              const ps_surface_velocity *velocity)
{
    r->row_bytes = r->past->unknowns * ps_real_bytes(r->past->precision);
    r->page_rows = rows_of_page(r->row_bytes, header->steps);
    for (int page = 0; page < 2; ++page)
        PS_TRY(ps_alloc_untouched((void **)&r->pages[page], r->page_rows * r->row_bytes,
                                  "the history"));
    return create_history(product, header, velocity, &r->history);
}

static ps_status write_page(void *context)
{
    record *r = context;
    return ps_history_append(r->history, r->handed, r->pages[1 - r->page]);
}

/* Has the page at hand written, once the one before it is. */
static ps_status hand_page(record *r)
{
    PS_TRY(ps_background_wait(&r->hand));
    r->page = 1 - r->page;
    r->handed = r->filled;
    r->filled = 0;
    return ps_background_start(&r->hand, write_page, r, "the thread that writes the history");
}

ps_status record_note(record *r, int64_t count, const void *rows)
{
    const char *from = rows;
    if (!r->history) return PS_OK;
    for (int64_t fit; count > 0; count -= fit, from += fit * r->row_bytes) {
        fit = ps_smaller(count, r->page_rows - r->filled);
        memcpy(r->pages[r->page] + r->filled * r->row_bytes, from, (size_t)(fit * r->row_bytes));
        r->filled += fit;
        if (r->filled == r->page_rows) PS_TRY(hand_page(r));
    }
    return PS_OK;
}

/* ---- the end ---- */

static ps_status take_record(void *context, int64_t first_step, int64_t count, const void *payload,
                             int64_t bytes)
{
    const record *r = context;
    PS_TRY(check_rows(r, first_step, count, payload, bytes));
    return ps_history_append(r->history, count, payload);
}

ps_status record_finish(record *r, const ps_product *product, const ps_history_header *header,
                        const ps_surface_velocity *velocity)
{
    PS_TRY(ps_state_wait(&r->state));
    if (r->history) {
        PS_TRY(hand_page(r));
        PS_TRY(ps_background_wait(&r->hand));
    } else {
        PS_TRY(create_history(product, header, velocity, &r->history));
        PS_TRY(ps_append_log_replay(r->state.log, 0, take_record, r));
    }
    PS_TRY(ps_history_commit(&r->history));
    ps_state_close(&r->state);
    return ps_state_remove(&r->state.spec);
}
