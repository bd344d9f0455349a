#include "stage/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/stop.h"
#include "stage/run_log.h"

static ps_status agree(const ps_state_spec *spec, ps_status status)
{
    return spec->every_rank ? ps_comm_agree(status) : status;
}

static bool is_first(const ps_state_spec *spec) { return !spec->every_rank || ps_comm_rank() == 0; }

enum { NAME_SIZE = sizeof((ps_state){0}.name) };

/* Of this rank; -1: of a run on one rank. */
static void name_of(const ps_state_spec *spec, int rank, char out[NAME_SIZE])
{
    int length = snprintf(out, NAME_SIZE, "%.4050s", spec->name);
    if (rank >= 0) snprintf(out + length, NAME_SIZE - (size_t)length, ".rank%04d", rank);
}

/* An empty state with its names. */
static void name_files(const ps_state_spec *spec, ps_state *s)
{
    *s = (ps_state){.spec = *spec};
    bool several = spec->every_rank && ps_comm_size() > 1;
    if (several) s->spec.part = ps_comm_rank();
    name_of(spec, several ? ps_comm_rank() : -1, s->name);
    snprintf(s->log_path, sizeof s->log_path, "%.4080s.log", spec->name);
}

ps_status ps_state_name(const char *output, char out[4096])
{
    if (strlen(output) > 4096 - 64)
        return ps_fail(PS_USAGE, "the name of the output is too long: %.60s...", output);
    PS_TRY(ps_path_check_output(output));
    snprintf(out, 4096, "%.*s", (int)ps_path_stem(output), output);
    return PS_OK;
}

/* ---- what is there ---- */

static ps_status remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return PS_OK;
    return ps_fail(PS_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
}

/* What this rank has beside the log. */
static ps_status remove_own(const ps_state *s)
{
    char path[4200];
    PS_TRY(ps_checkpoint_prune(s->name, 0));
    for (const char *const *ending = s->spec.others; ending && *ending; ++ending) {
        snprintf(path, sizeof path, "%s%s", s->name, *ending);
        PS_TRY(remove_file(path));
    }
    return PS_OK;
}

/* What a run on other ranks has: those that are not of this one, by the first. */
static ps_status remove_others(const ps_state *s)
{
    int rank = ps_comm_size() > 1 ? ps_comm_size() : 0;
    ps_state other = *s;
    for (int64_t count = 1; count > 0; ++rank) {
        int64_t *list;
        name_of(&s->spec, rank, other.name);
        PS_TRY(ps_checkpoint_list(other.name, &list, &count));
        free(list);
        if (count > 0) PS_TRY(remove_own(&other));
    }
    name_of(&s->spec, -1, other.name);
    return ps_comm_size() > 1 ? remove_own(&other) : PS_OK;
}

/* The log goes last, and once the others are gone for good, so that what a crash leaves behind is
 * still a run. */
static ps_status remove_all(const ps_state *s)
{
    PS_TRY(agree(&s->spec, remove_own(s)));
    if (s->spec.every_rank) PS_TRY(agree(&s->spec, is_first(&s->spec) ? remove_others(s) : PS_OK));
    if (s->spec.series) ps_path_sync_folder(s->name); /* some file systems cannot: let pass */
    bool has_log = s->spec.series && is_first(&s->spec);
    return agree(&s->spec, has_log ? remove_file(s->log_path) : PS_OK);
}

/* A generation that could not be opened: what nobody lets us read, or a later version wrote, is no
 * damaged one, and stays. */
static ps_status may_pass_over(const char *name, int64_t generation)
{
    char path[4096];
    ps_checkpoint_path(name, generation, path);
    bool there = access(path, R_OK) == 0;
    if (there && ps_checkpoint_is_newer(path))
        return ps_fail(PS_USAGE,
                       "%s: is of a newer penstock: continue with that, or begin anew with --fresh",
                       path);
    if (there || errno == ENOENT) return PS_OK;
    return ps_fail(
        PS_FAILED,
        "%s: cannot be read: %s; let it be read, move it away, or begin anew with --fresh", path,
        strerror(errno));
}

/* The run that the newest readable generation of this name belongs to. */
static ps_status find_generations(ps_state *s, const char *name)
{
    int64_t *generations = NULL, count = 0;
    char *identity = NULL;
    ps_status status = ps_checkpoint_list(name, &generations, &count);
    for (int64_t i = 0; i < count && status == PS_OK && !s->resumes; ++i) {
        if (ps_checkpoint_identity(name, generations[i], s->spec.part, s->uuid, &identity) !=
            PS_OK) {
            status = may_pass_over(name, generations[i]);
            continue;
        }
        s->resumes = true;
        status = ps_identity_check(s->spec.name, identity, s->spec.identity);
        free(identity);
    }
    if (status == PS_OK && !s->resumes && count > 0)
        ps_warning("passing over all %lld checkpoints of %s: %s", (long long)count, name,
                   ps_message());
    free(generations);
    return status;
}

/* Those of this run, or, as names tell one rank from several, of what is refused. */
static ps_status find_any_ranks(ps_state *s)
{
    char other[NAME_SIZE];
    PS_TRY(find_generations(s, s->name));
    if (!s->spec.every_rank || s->resumes) return PS_OK;
    name_of(&s->spec, ps_comm_size() > 1 ? -1 : 0, other);
    PS_TRY(find_generations(s, other));
    s->resumes = false;
    return PS_OK;
}

/* Is there a run to continue? By the log, if there is one in such runs. */
static ps_status find_run(ps_state *s)
{
    const ps_state_spec *spec = &s->spec;
    if (!spec->series) return spec->run->fresh ? PS_OK : find_any_ranks(s);
    PS_TRY(ps_run_log_open(spec->run, s->log_path, spec->name, spec->identity, &s->log));
    s->resumes = s->log != NULL;
    if (s->log) snprintf(s->uuid, sizeof s->uuid, "%s", ps_append_log_uuid(s->log));
    return PS_OK;
}

/* ---- reading ---- */

static ps_status read_generation(ps_state *s, int64_t generation, int64_t step)
{
    const ps_state_spec *spec = &s->spec;
    int count = spec->describe(spec->context, step, s->arrays);
    ps_checkpoint state = {step, s->uuid, spec->identity, spec->lead, s->arrays, spec->part, 0};
    if (spec->lead > 0) PS_TRY(ps_checkpoint_load(s->name, generation, &state));
    if (spec->lead > 0) count = spec->describe(spec->context, step, s->arrays);
    state.array_count = count;
    return ps_checkpoint_load(s->name, generation, &state);
}

/* A generation on this rank: whole, of the run and reached by the log. */
static ps_status check_generation(ps_state *s, int64_t generation, int64_t *step)
{
    const ps_state_spec *spec = &s->spec;
    PS_TRY(ps_checkpoint_check(s->name, generation, s->uuid, spec->part, step, &s->log_hash));
    if (s->log && !ps_append_log_ends_at(s->log, *step))
        return ps_fail(PS_INVALID, "%s does not reach step %lld of generation %lld", s->log_path,
                       (long long)*step, (long long)generation);
    if (!spec->adopt) return PS_OK;
    PS_TRY(read_generation(s, generation, *step)); /* it tells what lies beside it */
    return spec->adopt(spec->context);
}

/* The step of a generation that is sound on all ranks; 0: it is not. */
static ps_status agree_on(ps_state *s, int64_t generation, int64_t *step)
{
    char path[4096];
    int64_t found = 0;
    bool bad = check_generation(s, generation, &found) != PS_OK;
    ps_checkpoint_path(s->name, generation, path);
    bool there = access(path, F_OK) == 0;
    PS_TRY(agree(&s->spec, bad ? may_pass_over(s->name, generation) : PS_OK));
    if (bad && there) ps_warning("passing over a checkpoint: %s", ps_message());
    int64_t most = bad ? 0 : found, least = most;
    if (s->spec.every_rank) {
        PS_TRY(ps_comm_min_i64(&least, 1));
        PS_TRY(ps_comm_max_i64(&most, 1));
    }
    *step = least == most ? most : 0;
    return *step == 0 && there ? ps_checkpoint_remove(path)
                               : PS_OK; /* else it may push good ones out */
}

/* The log is the one that the state was written beside: no crash and no power loss changes records
 * before a state, so that an older one would be no better. */
static ps_status check_log(const ps_state *s, int64_t generation, int64_t step)
{
    char path[4096];
    if (!s->log || !s->log_hash || s->log_hash == ps_append_log_hash(s->log, step)) return PS_OK;
    ps_checkpoint_path(s->name, generation, path);
    return ps_fail(PS_INVALID,
                   "%s: the state after step %lld was written beside another log than %s is now: "
                   "its records up to there have hash %016llx, not %016llx. One of both was edited "
                   "or is of a copy of the run; --fresh begins anew",
                   path, (long long)step, s->log_path,
                   (unsigned long long)ps_append_log_hash(s->log, step),
                   (unsigned long long)s->log_hash);
}

/* The numbers that are taken: none, by *newest 0. */
static ps_status span(const ps_state *s, int64_t *oldest, int64_t *newest)
{
    int64_t *list = NULL, count = 0;
    PS_TRY(agree(&s->spec, ps_checkpoint_list(s->name, &list, &count)));
    *newest = count ? list[0] : 0;
    *oldest = count ? list[count - 1] : INT64_MAX;
    free(list);
    if (!s->spec.every_rank) return PS_OK;
    PS_TRY(ps_comm_max_i64(newest, 1));
    return ps_comm_min_i64(oldest, 1);
}

/* Nothing is read into the arrays before all ranks know that it is sound, unless it has to be. */
static ps_status read_newest(ps_state *s, int64_t *step)
{
    int64_t oldest;
    PS_TRY(span(s, &oldest, &s->generation));
    int64_t g = s->generation;
    for (; g >= oldest && g > 0; --g) {
        PS_TRY(agree_on(s, g, step));
        if (*step > 0) break;
    }
    if (*step == 0) return PS_OK;
    PS_TRY(agree(&s->spec, check_log(s, g, *step)));
    if (s->spec.adopt) return PS_OK;
    return agree(&s->spec, read_generation(s, g, *step));
}

/* ---- the calls ---- */

ps_status ps_state_check(const ps_state_spec *spec)
{
    PS_SCOPED(ps_state_close) ps_state s = {0};
    name_files(spec, &s);
    return is_first(spec) ? find_run(&s) : PS_OK;
}

ps_status ps_state_begin(const ps_state_spec *spec, ps_state *s)
{
    name_files(spec, s);
    PS_TRY(agree(spec, is_first(spec) ? find_run(s) : PS_OK));
    if (spec->every_rank) PS_TRY(ps_comm_broadcast(&s->resumes, sizeof s->resumes, 0));
    return s->resumes ? PS_OK : remove_all(s);
}

static ps_status begin(ps_state *s)
{
    if (!is_first(&s->spec)) return PS_OK;
    if (s->spec.run->restart) ps_info("there is no run to continue: starting a new one");
    ps_run_uuid(s->uuid);
    if (!s->spec.series) return PS_OK;
    return ps_append_log_create(s->log_path, s->uuid, s->spec.identity, &s->log);
}

ps_status ps_state_load(ps_state *s, int64_t *step)
{
    const ps_state_spec *spec = &s->spec;
    *step = 0;
    s->time = ps_clock();
    int64_t oldest; /* what others have there keeps its number */
    if (!s->resumes) PS_TRY(span(s, &oldest, &s->generation));
    if (!s->resumes) PS_TRY(agree(spec, begin(s)));
    if (spec->every_rank) PS_TRY(ps_comm_broadcast(s->uuid, sizeof s->uuid, 0));
    if (s->resumes) {
        PS_TRY(read_newest(s, step));
        PS_TRY(agree(spec, s->log ? ps_append_log_truncate(s->log, *step) : PS_OK));
        if (*step > 0)
            ps_info("continuing after %s %lld", spec->unit, (long long)*step);
        else
            ps_info("there is no checkpoint: starting from the first %s", spec->unit);
    }
    s->step = *step;
    if (spec->beside)
        PS_TRY(agree(spec, ps_checkpoint_writer_open(s->name, s->generation + 1, spec->run->keep,
                                                     s->log, &s->writer)));
    s->begun = true;
    ps_stop_defer();
    return PS_OK;
}

ps_status ps_state_open(const ps_state_spec *spec, ps_state *s, int64_t *step)
{
    *step = 0;
    PS_TRY(ps_state_begin(spec, s));
    return ps_state_load(s, step);
}

ps_status ps_state_append(ps_state *s, int64_t count, const void *samples, int64_t bytes)
{
    double start = ps_clock();
    ps_status status = s->log ? ps_append_log_append(s->log, count, samples, bytes) : PS_OK;
    s->seconds += ps_clock() - start;
    return agree(&s->spec, status);
}

bool ps_state_is_due(const ps_state *s, int64_t step)
{
    const ps_interval every = s->spec.every;
    bool due = (every.steps > 0 && step - s->step >= every.steps) ||
               (every.seconds > 0 && ps_clock() - s->time >= every.seconds);
    return s->spec.every_rank && every.seconds > 0 ? ps_comm_any(due) : due;
}

ps_status ps_state_wait(ps_state *s)
{
    if (!s->writer) return PS_OK;
    ps_status status = ps_checkpoint_writer_wait(s->writer);
    ps_checkpoint_writer_stats(s->writer, &s->beside_seconds, &s->written);
    return status;
}

/* All ranks have a generation before an older one goes: two kept ones then always share one. */
static ps_status write_generation(ps_state *s, const ps_checkpoint *state)
{
    ps_status status = s->log ? ps_append_log_sync(s->log) : PS_OK;
    if (status == PS_OK) status = ps_checkpoint_save(s->name, s->generation + 1, state);
    ++s->generation;
    PS_TRY(agree(&s->spec, status));
    return ps_checkpoint_prune(s->name, s->spec.run->keep);
}

ps_status ps_state_save(ps_state *s, int64_t step)
{
    const ps_state_spec *spec = &s->spec;
    double start = ps_clock();
    ps_status status = ps_state_wait(s);
    if (status == PS_OK) {
        int count = spec->describe(spec->context, step, s->arrays);
        uint64_t log = s->log ? ps_append_log_hash(s->log, step) : 0;
        ps_checkpoint state = {step, s->uuid, spec->identity, count, s->arrays, spec->part, log};
        status = s->writer ? ps_checkpoint_writer_submit(s->writer, &state)
                           : write_generation(s, &state);
    }
    s->step = step;
    s->time = ps_clock();
    s->seconds += s->time - start;
    ps_stop_defer();
    return status;
}

/* ---- the end ---- */

void ps_state_close(ps_state *s)
{
    ps_state_wait(s);
    ps_checkpoint_writer_close(&s->writer);
    ps_append_log_close(&s->log);
}

ps_status ps_state_remove(const ps_state_spec *spec)
{
    ps_state s;
    name_files(spec, &s);
    return remove_all(&s);
}

ps_status ps_state_tidy(const ps_state_spec *spec)
{
    ps_state s;
    name_files(spec, &s);
    bool ours = is_first(spec) && find_run(&s) == PS_OK && s.resumes;
    ps_state_close(&s);
    if (!(spec->every_rank ? ps_comm_any(ours) : ours)) return PS_OK;
    return remove_all(&s);
}

void ps_state_fail(ps_state *s, ps_status status, bool hopeless)
{
    char text[2048];
    snprintf(text, sizeof text, "%s", ps_message());
    ps_state_close(s);
    if (!s->begun) {
        if (!s->resumes && *s->name) remove_own(s);
    } else if (s->spec.every_rank ? ps_comm_any(hopeless) : hopeless) {
        remove_all(s);
    } else if (is_first(&s->spec)) {
        ps_info("what is done so far is kept; once that is mended, the same command continues");
    }
    ps_fail(status, "%s", text);
}
