#include "compute/dgtd_march/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/stop.h"

/* ---- names ---- */

ps_status record_name(record *r, const char *output, const char *options, const ps_store *model,
                      const char *state)
{
    char hash[17];
    memset(r, 0, sizeof *r);
    if (strlen(output) > sizeof r->run - 64)
        return ps_fail(PS_USAGE, "the name of the output is too long: %.60s...", output);
    PS_TRY(ps_path_check_output(output));
    snprintf(r->run, sizeof r->run, "%.*s", (int)ps_path_stem(output), output);
    snprintf(r->log_path, sizeof r->log_path, "%.4080s.log", r->run);
    snprintf(r->state_name, sizeof r->state_name, "%.4080s", r->run);
    if (ps_comm_size() > 1)
        snprintf(r->state_name, sizeof r->state_name, "%.4080s.rank%04d", r->run, ps_comm_rank());
    PS_TRY(ps_store_content_hash(model, hash));
    size_t size = strlen(options) + 128;
    PS_TRY(PS_ALLOC(&r->identity, size, "the identity of the run"));
    snprintf(r->identity, size, "%sinput-model=%s\nranks=%d\nstate=%s\n", options, hash,
             ps_comm_size(), state);
    return PS_OK;
}

void record_state(record *r, const ps_checkpoint_array *arrays, int count)
{
    r->arrays[0] = (ps_checkpoint_array){"/figures", "1", PS_F64, FIGURES, &r->figures};
    memcpy(r->arrays + 1, arrays, (size_t)count * sizeof *arrays);
    r->array_count = 1 + count;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static ps_status remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return PS_OK;
    return ps_fail(PS_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
}

static ps_status remove_state(const record *r)
{
    PS_TRY(ps_checkpoint_prune(r->state_name, 0));
    for (int k = 0; k < 2; ++k) {
        char path[4200];
        snprintf(path, sizeof path, "%s.state%d", r->state_name, k);
        PS_TRY(remove_file(path));
    }
    return PS_OK;
}

/* The log goes last, so that what a crash leaves behind is still a run. */
static ps_status remove_all(record *r)
{
    PS_TRY(ps_comm_agree(remove_state(r)));
    return ps_comm_agree(ps_comm_rank() == 0 ? remove_file(r->log_path) : PS_OK);
}

/* Is there a run of this identity? On rank 0. */
static bool log_is_ours(const record *r)
{
    ps_append_log *log;
    if (ps_append_log_open(r->log_path, &log) != PS_OK) return false;
    bool same = strcmp(ps_append_log_identity(log), r->identity) == 0;
    ps_append_log_close(&log);
    return same;
}

ps_status record_remove(record *r, bool whatever)
{
    bool remove =
        ps_comm_rank() == 0 && exists(r->log_path) && (whatever || r->log || log_is_ours(r));
    if (!ps_comm_any(remove)) return PS_OK;
    record_close(r);
    return remove_all(r);
}

/* ---- beginning and continuing ---- */

static ps_checkpoint state_of(record *r, int64_t step)
{
    return (ps_checkpoint){step, r->uuid, r->identity, r->array_count, r->arrays};
}

/* One generation on this rank: loaded, verified, reached by the log. */
static ps_status load_generation(record *r, int64_t generation, int64_t *step,
                                 record_verify *verify, void *context)
{
    ps_checkpoint state = state_of(r, 0);
    PS_TRY(ps_checkpoint_load(r->state_name, generation, &state));
    if (r->log && !ps_append_log_ends_at(r->log, state.step))
        return ps_fail(PS_INVALID, "%s does not reach its step %lld", r->log_path,
                       (long long)state.step);
    if (verify) PS_TRY(verify(context, &r->figures));
    *step = state.step;
    return PS_OK;
}

/* The newest generation that is good on all ranks; *step 0 if there is none. Those passed over are
 * removed: they must not push good ones out later. */
static ps_status load_newest(record *r, int64_t *step, int64_t *newest, record_verify *verify,
                             void *context)
{
    int64_t *list, count, oldest;
    PS_TRY(ps_comm_agree(ps_checkpoint_list(r->state_name, &list, &count)));
    *newest = count ? list[0] : 0;
    oldest = count ? list[count - 1] : INT64_MAX;
    free(list);
    PS_TRY(ps_comm_max_i64(newest, 1));
    PS_TRY(ps_comm_min_i64(&oldest, 1));
    *step = 0;
    for (int64_t g = *newest; g >= oldest && *newest > 0; --g) {
        int64_t found = 0, least;
        char path[4096];
        bool bad = load_generation(r, g, &found, verify, context) != PS_OK;
        ps_checkpoint_path(r->state_name, g, path);
        if (bad && exists(path)) ps_warning("passing over a checkpoint: %s", ps_message());
        least = bad ? 0 : found;
        PS_TRY(ps_comm_min_i64(&least, 1));
        PS_TRY(ps_comm_max_i64(&found, 1));
        if (least > 0 && least == found) {
            *step = found;
            return PS_OK;
        }
        PS_TRY(ps_comm_agree(remove_file(path)));
    }
    return PS_OK;
}

static ps_status begin(record *r)
{
    ps_status status = PS_OK;
    if (ps_comm_rank() == 0) {
        ps_run_uuid(r->uuid);
        status = ps_append_log_create(r->log_path, r->uuid, r->identity, &r->log);
    }
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_broadcast(r->uuid, sizeof r->uuid, 0));
    return ps_checkpoint_writer_open(r->state_name, 1, r->log, &r->writer);
}

static ps_status resume(record *r, figures *f, int64_t *step, record_verify *verify, void *context)
{
    int64_t newest;
    if (r->log) snprintf(r->uuid, sizeof r->uuid, "%s", ps_append_log_uuid(r->log));
    PS_TRY(ps_comm_broadcast(r->uuid, sizeof r->uuid, 0));
    PS_TRY(load_newest(r, step, &newest, verify, context));
    PS_TRY(ps_comm_agree(r->log ? ps_append_log_truncate(r->log, *step) : PS_OK));
    if (*step > 0) {
        *f = r->figures;
        ps_info("continuing after step %lld", (long long)*step);
    } else {
        ps_info("there is no checkpoint yet: starting from the first step");
    }
    r->checkpoint_step = *step;
    return ps_checkpoint_writer_open(r->state_name, newest + 1, r->log, &r->writer);
}

/* What to do about files that are there; opens the log to continue. On rank 0. */
static ps_status choose(record *r, record_mode mode)
{
    r->resumes = false;
    if (!exists(r->log_path) || mode == RECORD_FRESH) {
        if (mode == RECORD_RESTART) ps_info("there is no run to continue: starting a new one");
        return PS_OK;
    }
    ps_status status = ps_append_log_open(r->log_path, &r->log);
    if (status == PS_INVALID) { /* without its log nothing of a run is left to continue */
        ps_warning("%s; starting from the first step", ps_message());
        return PS_OK;
    }
    PS_TRY(status);
    r->resumes = true;
    return ps_identity_check(r->run, ps_append_log_identity(r->log), r->identity);
}

ps_status record_prepare(record *r, record_mode mode)
{
    PS_TRY(ps_comm_agree(ps_comm_rank() == 0 ? choose(r, mode) : PS_OK));
    PS_TRY(ps_comm_broadcast(&r->resumes, sizeof r->resumes, 0));
    return r->resumes ? PS_OK : remove_all(r);
}

void record_abandon(record *r)
{
    if (!r->resumes && !r->writer) remove_state(r);
}

ps_status record_open(record *r, figures *f, int64_t *step, record_verify *verify, void *context)
{
    *step = 0;
    r->checkpoint_time = ps_clock();
    PS_TRY(ps_comm_agree(r->resumes ? resume(r, f, step, verify, context) : begin(r)));
    ps_stop_defer();
    return PS_OK;
}

/* ---- under way ---- */

ps_status record_append(record *r, int64_t count, const void *samples, int64_t bytes)
{
    ps_status status = r->log ? ps_append_log_append(r->log, count, samples, bytes) : PS_OK;
    return ps_comm_agree(status);
}

/* The state is written where it lies, with no copy, so the march waits. All ranks have the
 * generation before any begins the next: two kept generations then always share one. */
ps_status record_checkpoint(record *r, int64_t step, const figures *f)
{
    r->figures = *f;
    ps_checkpoint state = state_of(r, step);
    ps_status status = ps_checkpoint_writer_submit(r->writer, &state);
    if (status == PS_OK) status = ps_checkpoint_writer_wait(r->writer);
    r->checkpoint_step = step;
    r->checkpoint_time = ps_clock();
    ps_stop_defer();
    return ps_comm_agree(status);
}

void record_close(record *r)
{
    ps_checkpoint_writer_close(&r->writer);
    ps_append_log_close(&r->log);
    free(r->identity);
    r->identity = NULL;
}
