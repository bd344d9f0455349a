#include "compute/tdbem_march/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

const char *const march_stage_names[STAGES] = {"summation", "idle",          "radiation", "load",
                                               "solve",     "communication", "output",    "other"};

/* What the ranks hand each other: blocks of equal size, one a rank. */
typedef struct joint {
    int64_t most; /* workers of a rank */
    int64_t iterations;
    int64_t *workers; /* [ranks] */
    char *names;      /* [ranks][most][PS_WORKER_NAME_MAX] */
    int64_t *bounds;  /* [ranks][iterations][most][2] */
    double *seconds;  /* [ranks][iterations][most] */
    double *stages;   /* [ranks][STAGES] */
} joint;

static void joint_release(joint *j)
{
    PS_FREE(j->workers, j->names, j->bounds, j->seconds, j->stages);
}

/* Gathers rows of own_bytes, widened to row_bytes each, into a new array of all ranks. */
static ps_status gather_rows(const void *rows, int64_t count, int64_t own_bytes, int64_t row_bytes,
                             void *out)
{
    PS_SCOPED_MEMORY char *mine = NULL;
    char *all = NULL;
    ps_status status = PS_ALLOC(&mine, count * row_bytes, "a worker log");
    if (status == PS_OK)
        status = PS_ALLOC(&all, ps_comm_size() * count * row_bytes, "a worker log");
    for (int64_t i = 0; i < count && status == PS_OK; ++i)
        memcpy(mine + i * row_bytes, (const char *)rows + i * own_bytes, (size_t)own_bytes);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = ps_comm_gather(mine, count * row_bytes, all);
    *(char **)out = all;
    return status;
}

static ps_status gather_all(const ps_worker_log *log, const double *stages, joint *j)
{
    int64_t own = log->workers, whole = sizeof(int64_t), most = own;
    PS_TRY(ps_comm_max_i64(&most, 1));
    j->most = most;
    j->iterations = log->iterations;
    PS_TRY(gather_rows(&own, 1, whole, whole, &j->workers));
    PS_TRY(
        gather_rows(log->names, 1, own * PS_WORKER_NAME_MAX, most * PS_WORKER_NAME_MAX, &j->names));
    PS_TRY(gather_rows(log->bounds, j->iterations, 2 * own * whole, 2 * most * whole, &j->bounds));
    PS_TRY(gather_rows(log->seconds, j->iterations, own * whole, most * whole, &j->seconds));
    return gather_rows(stages, 1, STAGES * whole, STAGES * whole, &j->stages);
}

/* The names of all workers, rank by rank: "gpu 0", or "rank 2 gpu 0" where there are several. */
static ps_status init_joined(const joint *j, const char *items, ps_worker_log *out)
{
    int ranks = ps_comm_size(), count = 0;
    for (int r = 0; r < ranks; ++r) count += (int)j->workers[r];
    PS_TRY(ps_worker_log_init(out, count, NULL, items));
    count = 0;
    for (int r = 0; r < ranks; ++r)
        for (int64_t w = 0; w < j->workers[r]; ++w) {
            const char *name = j->names + (r * j->most + w) * PS_WORKER_NAME_MAX;
            if (ranks == 1)
                snprintf(out->names[count++], sizeof *out->names, "%s", name);
            else
                snprintf(out->names[count++], sizeof *out->names, "rank %d %.32s", r, name);
        }
    return ps_worker_log_stages(out, STAGES, march_stage_names, ranks, j->stages);
}

static ps_status add_rows(const joint *j, const int64_t *steps, ps_worker_log *out)
{
    PS_SCOPED_MEMORY int64_t *bounds = NULL;
    PS_SCOPED_MEMORY double *seconds = NULL;
    PS_TRY(PS_ALLOC(&bounds, 2 * out->workers, "a worker log"));
    PS_TRY(PS_ALLOC(&seconds, out->workers, "a worker log"));
    for (int64_t n = 0; n < j->iterations; ++n) {
        int count = 0;
        for (int r = 0; r < ps_comm_size(); ++r)
            for (int64_t w = 0; w < j->workers[r]; ++w, ++count) {
                int64_t at = (r * j->iterations + n) * j->most + w;
                memcpy(bounds + 2 * count, j->bounds + 2 * at, 2 * sizeof *bounds);
                seconds[count] = j->seconds[at];
            }
        PS_TRY(ps_worker_log_add(out, steps[n], bounds, seconds));
    }
    return PS_OK;
}

/* An earlier log that is damaged is as good as none. */
static ps_status continue_earlier(const char *path, int64_t first_step, ps_worker_log *log)
{
    PS_SCOPED(ps_worker_log_release) ps_worker_log earlier = {0};
    if (first_step > 0 && access(path, F_OK) == 0 && ps_worker_log_load(path, &earlier) == PS_OK)
        PS_TRY(ps_worker_log_continue(log, &earlier, first_step));
    return PS_OK;
}

ps_status workers_save(const ps_worker_log *local, const double *stages, const char *run,
                       const char *uuid, int64_t first_step, const ps_store_identity *identity)
{
    char path[4096];
    joint j = {0};
    ps_worker_log joined = {0};
    ps_status gathered = gather_all(local, stages, &j), status = gathered;
    ps_worker_log_path(run, path);
    if (ps_comm_rank() == 0 && status == PS_OK) {
        PS_GUARD(status, done, init_joined(&j, local->items, &joined));
        snprintf(joined.run, sizeof joined.run, "%s", uuid);
        PS_GUARD(status, done, add_rows(&j, local->steps, &joined));
        PS_GUARD(status, done, continue_earlier(path, first_step, &joined));
        status = ps_worker_log_save(path, &joined, identity);
    }
done:
    if (gathered == PS_OK && status != PS_OK)
        ps_warning("the log of the workers is not written: %s", ps_message());
    ps_worker_log_release(&joined);
    joint_release(&j);
    return gathered;
}

void workers_remove(const char *run, const char *uuid)
{
    char path[4096];
    PS_SCOPED(ps_worker_log_release) ps_worker_log log = {0};
    ps_worker_log_path(run, path);
    if (access(path, F_OK) != 0) return;
    if (ps_worker_log_load(path, &log) == PS_OK && strcmp(log.run, uuid) == 0) unlink(path);
}
