/* The journal: results of finished groups in an append log beside the output (specs/fmm_run.md). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute/fmm/fmm.h"
#include "formats/append_log.h"
#include "formats/checkpoint.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

enum { SYNC_SECONDS = 30 };

struct fmm_journal {
    ps_append_log *log;
    pthread_mutex_t lock; /* guards the log and synced */
    const char *output;   /* borrowed */
    char path[4200];
    double synced;
};

/* The journal of a rank. */
static void journal_path(const char *output, int rank, char out[4200])
{
    snprintf(out, 4200, rank ? "%s.groups.part%04d" : "%s.groups", output, rank);
}

/* Those of ranks from `rank` on, which there may have been more of. */
static void remove_journals(const char *output, int rank)
{
    char path[4200];
    for (journal_path(output, rank, path); unlink(path) == 0; journal_path(output, ++rank, path)) {
    }
}

static ps_status begin(fmm_journal *j, const char *identity)
{
    char uuid[PS_RUN_UUID_SIZE];
    ps_run_uuid(uuid);
    return ps_append_log_create(j->path, uuid, identity, &j->log);
}

static ps_status begin_anew(fmm_journal *j, const char *identity, bool force)
{
    if (!force && access(j->path, F_OK) == 0)
        return ps_fail(PS_USAGE,
                       "%s holds groups of a run that was stopped: continue it with --restart, or "
                       "give --force to begin anew",
                       j->path);
    if (ps_comm_rank() == 0) remove_journals(j->output, ps_comm_size());
    return begin(j, identity);
}

static ps_status resume(fmm_journal *j, const char *identity)
{
    if (access(j->path, F_OK) != 0 && ps_comm_rank()) return begin(j, identity);
    if (access(j->path, F_OK) != 0)
        return ps_fail(PS_USAGE,
                       "there is no %s to restart from: groups are kept only with --journal",
                       j->path);
    PS_TRY(ps_append_log_open(j->path, &j->log));
    return ps_identity_check(j->path, ps_append_log_identity(j->log), identity);
}

ps_status fmm_journal_open(const char *output, const char *identity, bool restart, bool force,
                           fmm_journal **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the journal"));
    fmm_journal *j = *out;
    pthread_mutex_init(&j->lock, NULL);
    j->output = output;
    journal_path(output, ps_comm_rank(), j->path);
    j->synced = ps_clock();
    ps_status status = restart ? resume(j, identity) : begin_anew(j, identity, force);
    if (status != PS_OK) fmm_journal_close(out, false);
    return status;
}

void fmm_journal_close(fmm_journal **journal, bool done)
{
    fmm_journal *j = *journal;
    if (!j) return;
    ps_append_log_close(&j->log);
    if (done) unlink(j->path);
    if (done && ps_comm_rank() == 0) remove_journals(j->output, ps_comm_size());
    pthread_mutex_destroy(&j->lock);
    free(j);
    *journal = NULL;
}

/* A record: group, number of values, sums [FMM_PARTS][sides], values. */
static int64_t record_bytes(int sides, int64_t count)
{
    return 16 + (int64_t)sizeof(fmm_sums) * FMM_PARTS * sides + 8 * count;
}

static ps_status append(fmm_journal *j, const void *record, int64_t bytes)
{
    pthread_mutex_lock(&j->lock);
    ps_status status = ps_append_log_append(j->log, 1, record, bytes);
    double now = ps_clock();
    if (status == PS_OK && now - j->synced >= SYNC_SECONDS) {
        j->synced = now;
        status = ps_append_log_sync(j->log);
    }
    pthread_mutex_unlock(&j->lock);
    return status;
}

ps_status fmm_journal_add(fmm_journal *j, int64_t group, const fmm_sums *sums, int sides,
                          const double *values, int64_t count)
{
    char *record;
    int64_t bytes = record_bytes(sides, count), head[2] = {group, count};
    PS_TRY(ps_alloc_untouched((void **)&record, bytes, "the journal"));
    memcpy(record, head, sizeof head);
    size_t sum_bytes = sizeof *sums * FMM_PARTS * (size_t)sides;
    memcpy(record + sizeof head, sums, sum_bytes);
    memcpy(record + sizeof head + sum_bytes, values, 8 * (size_t)count);
    ps_status status = append(j, record, bytes);
    free(record);
    return status;
}

typedef struct replay {
    int sides;
    fmm_journal_take take;
    void *context;
} replay;

static ps_status take_record(void *context, int64_t step, int64_t steps, const void *payload,
                             int64_t bytes)
{
    const replay *r = context;
    int64_t head[2] = {-1, -1};
    fmm_sums sums[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX];
    size_t sum_bytes = sizeof *sums * FMM_PARTS * (size_t)r->sides;
    if (bytes >= 16) memcpy(head, payload, sizeof head);
    if (bytes != record_bytes(r->sides, head[1]))
        return ps_fail(PS_INVALID, "the journal's record %lld has the wrong size", (long long)step);
    const char *at = (const char *)payload + sizeof head;
    memcpy(sums, at, sum_bytes);
    double *values;
    PS_TRY(ps_alloc_untouched((void **)&values, 8 * head[1], "the journal"));
    memcpy(values, at + sum_bytes, 8 * (size_t)head[1]);
    ps_status status = r->take(r->context, head[0], sums, values, head[1]);
    free(values);
    return status;
}

static ps_status replay_part(const fmm_journal *j, const char *path, replay *r)
{
    ps_append_log *log;
    PS_TRY(ps_append_log_open(path, &log));
    ps_status status =
        ps_identity_check(path, ps_append_log_identity(log), ps_append_log_identity(j->log));
    if (status == PS_OK) status = ps_append_log_replay(log, take_record, r);
    ps_append_log_close(&log);
    return status;
}

ps_status fmm_journal_replay(fmm_journal *j, int sides, fmm_journal_take take, void *context)
{
    char path[4200];
    replay r = {sides, take, context};
    PS_TRY(ps_append_log_replay(j->log, take_record, &r));
    int rank = 1;
    for (journal_path(j->output, rank, path); access(path, F_OK) == 0;
         journal_path(j->output, ++rank, path))
        PS_TRY(replay_part(j, path, &r));
    return PS_OK;
}
