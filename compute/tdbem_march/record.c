#include "compute/tdbem_march/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/stop.h"

/* ---- names ---- */

/* The lines of the options, and one an input. */
static ps_status write_identity(record *r, const char *options, const record_inputs *inputs)
{
    size_t size = strlen(options) + RECORD_INPUTS_MAX * 64, at;
    PS_TRY(PS_ALLOC(&r->identity, size, "the identity of the run"));
    at = (size_t)snprintf(r->identity, size, "%s", options);
    for (int i = 0; i < inputs->count; ++i) {
        char hash[17];
        PS_TRY(ps_store_content_hash(inputs->stores[i], hash));
        at +=
            (size_t)snprintf(r->identity + at, size - at, "input-%s=%s\n", inputs->roles[i], hash);
    }
    return PS_OK;
}

ps_status record_name(record *r, const char *output, const char *options,
                      const record_inputs *inputs)
{
    memset(r, 0, sizeof *r);
    if (strlen(output) > sizeof r->run - 64)
        return ps_fail(PS_USAGE, "the name of the output is too long: %.60s...", output);
    PS_TRY(ps_path_check_output(output));
    snprintf(r->run, sizeof r->run, "%.*s", (int)ps_path_stem(output), output);
    snprintf(r->log_path, sizeof r->log_path, "%.4080s.log", r->run);
    return write_identity(r, options, inputs);
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static ps_status remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return PS_OK;
    return ps_fail(PS_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
}

/* The log goes last, so that what a crash leaves behind is still a run. */
static ps_status remove_all(record *r)
{
    PS_TRY(ps_checkpoint_prune(r->run, 0));
    return remove_file(r->log_path);
}

ps_status record_remove(record *r, bool whatever)
{
    if (!exists(r->log_path)) return PS_OK;
    if (!r->log) {
        ps_append_log *log;
        if (ps_append_log_open(r->log_path, &log) != PS_OK) return PS_OK;
        bool same = strcmp(ps_append_log_identity(log), r->identity) == 0;
        ps_append_log_close(&log);
        if (!same && !whatever) return PS_OK;
    }
    record_close(r);
    return remove_all(r);
}

/* ---- beginning and continuing ---- */

static void set_arrays(record *r, const window *past)
{
    r->arrays[0] =
        (ps_checkpoint_array){"/past", "1", past->precision == PS_SINGLE ? PS_F32 : PS_F64,
                              past->unknowns * past->kept, r->past};
    r->arrays[1] = (ps_checkpoint_array){"/figures", "1", PS_F64, FIGURES, &r->figures};
}

static ps_checkpoint state_of(record *r, int64_t step)
{
    return (ps_checkpoint){step, r->uuid, r->identity, 2, r->arrays};
}

int64_t record_bytes(const window *past)
{
    int64_t state = past->unknowns * past->kept * (past->precision == PS_SINGLE ? 4 : 8);
    int64_t chunk = state < 4 << 20 ? state : 4 << 20;
    return state + 4 * chunk; /* and what writing it takes */
}

/* Loads the newest good checkpoint that the log reaches; *step 0 if there is none. Those passed
 * over are removed: they must not push good ones out later. */
static ps_status load_newest(record *r, int64_t *step, int64_t *newest)
{
    int64_t *generations, count;
    *step = *newest = 0;
    PS_TRY(ps_checkpoint_list(r->run, &generations, &count));
    ps_status status = PS_OK;
    if (count) *newest = generations[0];
    for (int64_t i = 0; i < count && status == PS_OK && *step == 0; ++i) {
        char path[4096];
        ps_checkpoint state = state_of(r, 0);
        ps_checkpoint_path(r->run, generations[i], path);
        if (ps_checkpoint_load(r->run, generations[i], &state) != PS_OK) {
            ps_warning("passing over a checkpoint: %s", ps_message());
            status = remove_file(path);
        } else if (!ps_append_log_ends_at(r->log, state.step)) {
            ps_warning("passing over %s: %s does not reach its step %lld", path, r->log_path,
                       (long long)state.step);
            status = remove_file(path);
        } else {
            *step = state.step;
        }
    }
    free(generations);
    return status;
}

static ps_status begin(record *r)
{
    PS_TRY(remove_all(r));
    ps_run_uuid(r->uuid);
    PS_TRY(ps_append_log_create(r->log_path, r->uuid, r->identity, &r->log));
    return ps_checkpoint_writer_open(r->run, 1, r->log, &r->writer);
}

static ps_status resume(record *r, window *past, figures *f, int64_t *step)
{
    int64_t newest;
    PS_TRY(ps_identity_check(r->run, ps_append_log_identity(r->log), r->identity));
    snprintf(r->uuid, sizeof r->uuid, "%s", ps_append_log_uuid(r->log));
    PS_TRY(load_newest(r, step, &newest));
    PS_TRY(ps_append_log_truncate(r->log, *step));
    if (*step > 0) {
        window_restore(past, r->past);
        *f = r->figures;
        ps_info("continuing after step %lld", (long long)*step);
    } else {
        ps_info("there is no checkpoint yet: starting from the first step");
    }
    r->checkpoint_step = *step;
    return ps_checkpoint_writer_open(r->run, newest + 1, r->log, &r->writer);
}

ps_status record_open(record *r, record_mode mode, window *past, figures *f, int64_t *step)
{
    *step = 0;
    r->checkpoint_time = ps_clock();
    PS_TRY(ps_alloc(&r->past, past->unknowns * past->kept, past->precision == PS_SINGLE ? 4 : 8,
                    "the state for checkpoints"));
    set_arrays(r, past);
    if (!exists(r->log_path) || mode == RECORD_FRESH) {
        if (mode == RECORD_RESTART) ps_info("there is no run to continue: starting a new one");
        return begin(r);
    }
    ps_status status = ps_append_log_open(r->log_path, &r->log);
    if (status == PS_INVALID) { /* without its log nothing of a run is left to continue */
        ps_warning("%s; starting from the first step", ps_message());
        return begin(r);
    }
    PS_TRY(status);
    return resume(r, past, f, step);
}

/* ---- under way ---- */

ps_status record_append(record *r, int64_t count, const void *rows, int64_t bytes)
{
    double start = ps_clock();
    ps_status status = ps_append_log_append(r->log, count, rows, bytes);
    r->seconds += ps_clock() - start;
    return status;
}

ps_status record_checkpoint(record *r, int64_t step, const window *past, const figures *f)
{
    double start = ps_clock();
    ps_status status = ps_checkpoint_writer_wait(r->writer);
    if (status == PS_OK) {
        window_save(past, r->past);
        r->figures = *f;
        ps_checkpoint state = state_of(r, step);
        status = ps_checkpoint_writer_submit(r->writer, &state);
    }
    r->checkpoint_step = step;
    r->checkpoint_time = ps_clock();
    ps_stop_defer();
    r->seconds += r->checkpoint_time - start;
    return status;
}

ps_status record_wait(record *r) { return ps_checkpoint_writer_wait(r->writer); }

void record_close(record *r)
{
    if (r->writer) ps_checkpoint_writer_stats(r->writer, &r->written_seconds, &r->written);
    ps_checkpoint_writer_close(&r->writer);
    ps_append_log_close(&r->log);
    free(r->past);
    free(r->identity);
    r->past = NULL;
    r->identity = NULL;
}

/* ---- the end ---- */

static ps_status take_record(void *context, int64_t first_step, int64_t count, const void *payload,
                             int64_t bytes)
{
    return ps_history_append(context, count, payload);
}

static ps_status fill_history(record *r, ps_history *history, const record_inputs *inputs)
{
    for (int i = 0; i < inputs->count; ++i)
        PS_TRY(ps_store_add_input(ps_history_store(history), inputs->roles[i], inputs->stores[i]));
    return ps_append_log_replay(r->log, take_record, history);
}

ps_status record_finish(record *r, const char *output, const ps_store_identity *identity,
                        const ps_history_header *header, const record_inputs *inputs)
{
    ps_history *history;
    PS_TRY(ps_checkpoint_writer_wait(r->writer));
    PS_TRY(ps_history_create(output, identity, header, &history));
    ps_status status = fill_history(r, history, inputs);
    if (status == PS_OK)
        status = ps_history_commit(&history);
    else
        ps_history_close(&history);
    PS_TRY(status);
    record_close(r);
    return remove_all(r);
}
