#include "formats/worker_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { LOG_VERSION = 1 };
static const char log_format[] = "penstock-worker-log";

/* ---- in memory ---- */

ps_status ps_worker_log_init(ps_worker_log *log, int workers, const char *const *names,
                             const char *items)
{
    memset(log, 0, sizeof *log);
    if (workers < 1 || workers > PS_WORKERS_MAX)
        return ps_fail(PS_USAGE, "a log of %d workers; from 1 to %d can be", workers,
                       PS_WORKERS_MAX);
    PS_TRY(PS_ALLOC(&log->names, workers, "a worker log"));
    log->workers = workers;
    snprintf(log->items, sizeof log->items, "%s", items);
    for (int i = 0; i < workers; ++i)
        snprintf(log->names[i], sizeof log->names[i], "%s", names ? names[i] : "");
    return PS_OK;
}

void ps_worker_log_release(ps_worker_log *log)
{
    PS_FREE(log->names, log->steps, log->bounds, log->seconds, log->stage_seconds);
    memset(log, 0, sizeof *log);
}

/* Room for `iterations` in all. */
static ps_status make_room(ps_worker_log *log, int64_t iterations)
{
    static const char what[] = "a worker log";
    int64_t shares = iterations * log->workers;
    PS_TRY(ps_grow((void **)&log->steps, &log->capacity[0], iterations, sizeof *log->steps, what));
    PS_TRY(
        ps_grow((void **)&log->bounds, &log->capacity[1], 2 * shares, sizeof *log->bounds, what));
    return ps_grow((void **)&log->seconds, &log->capacity[2], shares, sizeof *log->seconds, what);
}

ps_status ps_worker_log_add(ps_worker_log *log, int64_t step, const int64_t *bounds,
                            const double *seconds)
{
    int64_t n = log->iterations, workers = log->workers;
    if (n > 0 && step <= log->steps[n - 1])
        return ps_fail(PS_USAGE, "a worker log at step %lld is given step %lld",
                       (long long)log->steps[n - 1], (long long)step);
    PS_TRY(make_room(log, n + 1));
    log->steps[n] = step;
    memcpy(log->bounds + 2 * n * workers, bounds, (size_t)(2 * workers) * sizeof *bounds);
    memcpy(log->seconds + n * workers, seconds, (size_t)workers * sizeof *seconds);
    ++log->iterations;
    return PS_OK;
}

ps_status ps_worker_log_stages(ps_worker_log *log, int stages, const char *const *names, int ranks,
                               const double *seconds)
{
    if (stages < 0 || stages > PS_STAGES_MAX || ranks < 1)
        return ps_fail(PS_USAGE, "%d stages of %d ranks; at most %d stages can be", stages, ranks,
                       PS_STAGES_MAX);
    free(log->stage_seconds);
    PS_TRY(PS_ALLOC(&log->stage_seconds, (int64_t)ranks * stages, "the stages of a worker log"));
    log->ranks = ranks;
    log->stages = stages;
    if (seconds && stages)
        memcpy(log->stage_seconds, seconds, (size_t)(ranks * stages) * sizeof *seconds);
    for (int s = 0; s < stages; ++s)
        snprintf(log->stage_names[s], sizeof log->stage_names[s], "%s", names ? names[s] : "");
    return PS_OK;
}

double ps_worker_log_stage(const ps_worker_log *log, int stage)
{
    double sum = 0;
    for (int r = 0; r < log->ranks; ++r) sum += log->stage_seconds[r * log->stages + stage];
    return log->ranks ? sum / log->ranks : 0;
}

/* ---- several starts of a run ---- */

static bool same_workers(const ps_worker_log *a, const ps_worker_log *b)
{
    bool same =
        strcmp(a->run, b->run) == 0 && strcmp(a->items, b->items) == 0 && a->workers == b->workers;
    for (int i = 0; i < a->workers && same; ++i) same = strcmp(a->names[i], b->names[i]) == 0;
    return same;
}

static void add_stages(ps_worker_log *log, const ps_worker_log *earlier)
{
    if (log->ranks != earlier->ranks) return;
    for (int s = 0; s < log->stages; ++s)
        for (int e = 0; e < earlier->stages; ++e) {
            if (strcmp(log->stage_names[s], earlier->stage_names[e]) != 0) continue;
            for (int r = 0; r < log->ranks; ++r)
                log->stage_seconds[r * log->stages + s] +=
                    earlier->stage_seconds[r * earlier->stages + e];
        }
}

/* Puts `count` rows of `bytes` before the `present` ones of an array with room for all. */
static void put_before(void *array, const void *rows, int64_t count, int64_t present, size_t bytes)
{
    if (count == 0) return;
    memmove((char *)array + (size_t)count * bytes, array, (size_t)present * bytes);
    memcpy(array, rows, (size_t)count * bytes);
}

ps_status ps_worker_log_continue(ps_worker_log *log, const ps_worker_log *earlier, int64_t step)
{
    int64_t count = 0, present = log->iterations;
    size_t workers = (size_t)log->workers;
    if (!same_workers(log, earlier)) return PS_OK;
    while (count < earlier->iterations && earlier->steps[count] <= step) ++count;
    if (present > 0 && count > 0 && earlier->steps[count - 1] >= log->steps[0])
        return ps_fail(PS_USAGE, "a worker log that begins with step %lld continues step %lld",
                       (long long)log->steps[0], (long long)step);
    PS_TRY(make_room(log, present + count));
    put_before(log->steps, earlier->steps, count, present, sizeof *log->steps);
    put_before(log->bounds, earlier->bounds, count, present, 2 * workers * sizeof *log->bounds);
    put_before(log->seconds, earlier->seconds, count, present, workers * sizeof *log->seconds);
    log->iterations = present + count;
    add_stages(log, earlier);
    return PS_OK;
}

/* ---- writing ---- */

void ps_worker_log_path(const char *run, char *out)
{
    snprintf(out, 4096, "%.4080s.workers.h5", run);
}

static ps_status write_log(ps_store *store, const ps_worker_log *log)
{
    int64_t n = log->iterations, workers = log->workers;
    ps_dataset_spec steps = {.name = "/iterations/step",
                             .type = PS_I64,
                             .rank = 1,
                             .dims = {n},
                             .units = "1",
                             .description = "steps done after the iteration"};
    ps_dataset_spec bounds = {.name = "/iterations/bounds",
                              .type = PS_I64,
                              .rank = 3,
                              .dims = {n, workers, 2},
                              .units = "1",
                              .description = "first item of each worker, and one after its last"};
    ps_dataset_spec seconds = {.name = "/iterations/seconds",
                               .type = PS_F64,
                               .rank = 2,
                               .dims = {n, workers},
                               .units = "s",
                               .description = "what each worker took for its items"};
    ps_dataset_spec stages = {.name = "/stages/seconds",
                              .type = PS_F64,
                              .rank = 2,
                              .dims = {log->ranks, log->stages},
                              .units = "s",
                              .description = "wall time of each rank by stage"};
    PS_TRY(ps_store_put_text(store, "/", "run", log->run));
    PS_TRY(ps_store_put_text(store, "/", "items", log->items));
    PS_TRY(ps_store_put_int(store, "/", "workers", log->workers));
    PS_TRY(ps_store_put_texts(store, "worker", log->workers, log->names[0], PS_WORKER_NAME_MAX));
    PS_TRY(ps_store_put_int(store, "/", "stages", log->stages));
    PS_TRY(
        ps_store_put_texts(store, "stage", log->stages, log->stage_names[0], PS_WORKER_NAME_MAX));
    PS_TRY(ps_store_write_array(store, &steps, log->steps));
    PS_TRY(ps_store_write_array(store, &bounds, log->bounds));
    PS_TRY(ps_store_write_array(store, &seconds, log->seconds));
    return ps_store_write_array(store, &stages, log->stage_seconds);
}

ps_status ps_worker_log_save(const char *path, const ps_worker_log *log,
                             const ps_store_identity *identity)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create_as(path, identity, log_format, LOG_VERSION, &store));
    PS_TRY(write_log(store, log));
    return ps_store_commit(&store);
}

/* ---- reading ---- */

/* Checks type and shape; dims[0] is only asked for if it is not -1. *rows: the file's. */
static ps_status find_array(ps_store *store, const ps_dataset_spec *want, int64_t *rows)
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, want->name, &info));
    bool good = info.type == want->type && info.rank == want->rank;
    for (int d = 1; d < want->rank && good; ++d) good = info.dims[d] == want->dims[d];
    if (want->dims[0] >= 0 && info.dims[0] != want->dims[0]) good = false;
    if (!good)
        return ps_fail(PS_INVALID, "%s is not of the shape that its page asks for", want->name);
    *rows = info.dims[0];
    return PS_OK;
}

static ps_status read_iterations(ps_store *store, ps_worker_log *log)
{
    int64_t n = 0, w = log->workers;
    ps_dataset_spec steps = {.name = "/iterations/step", .type = PS_I64, .rank = 1, .dims = {-1}};
    PS_TRY(find_array(store, &steps, &n));
    ps_dataset_spec bounds = {
        .name = "/iterations/bounds", .type = PS_I64, .rank = 3, .dims = {n, w, 2}};
    ps_dataset_spec seconds = {
        .name = "/iterations/seconds", .type = PS_F64, .rank = 2, .dims = {n, w}};
    PS_TRY(find_array(store, &bounds, &n));
    PS_TRY(find_array(store, &seconds, &n));
    PS_TRY(make_room(log, n));
    log->iterations = n;
    PS_TRY(
        ps_store_read_array(store, steps.name, PS_I64, 0, n, PS_ROOM(log->steps, n), log->steps));
    PS_TRY(ps_store_read_array(store, bounds.name, PS_I64, 0, n, PS_ROOM(log->bounds, 2 * n * w),
                               log->bounds));
    return ps_store_read_array(store, seconds.name, PS_F64, 0, n, PS_ROOM(log->seconds, n * w),
                               log->seconds);
}

static ps_status read_stages(ps_store *store, ps_worker_log *log)
{
    int stages = 0;
    int64_t ranks = 0;
    PS_TRY(ps_store_get_count(store, "stages", 0, PS_STAGES_MAX, &stages));
    ps_dataset_spec spec = {
        .name = "/stages/seconds", .type = PS_F64, .rank = 2, .dims = {-1, stages}};
    PS_TRY(find_array(store, &spec, &ranks));
    if (ranks == 0) return PS_OK;
    if (ranks > INT32_MAX / PS_STAGES_MAX) return ps_fail(PS_INVALID, "/stages: too many ranks");
    PS_TRY(ps_worker_log_stages(log, stages, NULL, (int)ranks, NULL));
    PS_TRY(ps_store_get_texts(store, "stage", stages, log->stage_names[0], PS_WORKER_NAME_MAX));
    return ps_store_read_array(store, spec.name, PS_F64, 0, ranks,
                               PS_ROOM(log->stage_seconds, ranks * stages), log->stage_seconds);
}

static ps_status check_seconds(const char *what, const double *seconds, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        if (!(seconds[i] >= 0 && isfinite(seconds[i])))
            return ps_fail(PS_INVALID, "%s: %g is no time", what, seconds[i]);
    return PS_OK;
}

static ps_status check_log(const ps_worker_log *log)
{
    int64_t shares = log->iterations * log->workers;
    for (int64_t i = 1; i < log->iterations; ++i)
        if (log->steps[i] <= log->steps[i - 1])
            return ps_fail(PS_INVALID, "/iterations/step does not ascend at iteration %lld",
                           (long long)i);
    for (int64_t i = 0; i < shares; ++i)
        if (log->bounds[2 * i] < 0 || log->bounds[2 * i + 1] < log->bounds[2 * i])
            return ps_fail(PS_INVALID, "/iterations/bounds: an interval ends before it begins");
    PS_TRY(check_seconds("/iterations/seconds", log->seconds, shares));
    return check_seconds("/stages/seconds", log->stage_seconds, (int64_t)log->ranks * log->stages);
}

ps_status ps_worker_log_read(ps_store *store, ps_worker_log *out)
{
    int workers = 0;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_get_count(store, "workers", 1, PS_WORKERS_MAX, &workers));
    PS_TRY(ps_worker_log_init(out, workers, NULL, ""));
    PS_TRY(ps_store_get_text(store, "/", "run", out->run, sizeof out->run));
    PS_TRY(ps_store_get_text(store, "/", "items", out->items, sizeof out->items));
    PS_TRY(ps_store_get_texts(store, "worker", workers, out->names[0], PS_WORKER_NAME_MAX));
    PS_TRY(read_iterations(store, out));
    PS_TRY(read_stages(store, out));
    return check_log(out);
}

ps_status ps_worker_log_load(const char *path, ps_worker_log *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, log_format, LOG_VERSION, &store));
    PS_TRY_IN(ps_worker_log_read(store, out), "%s", path);
    return PS_OK;
}
