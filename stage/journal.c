#include "stage/journal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/checkpoint.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/stop.h"
#include "stage/run_log.h"

enum { SYNC_SECONDS = 30, NAME_SIZE = 4200, PARTS_MISSING = 256 };

struct ps_journal {
    ps_append_log *log;
    pthread_mutex_t lock; /* guards the log and synced */
    char base[NAME_SIZE], path[NAME_SIZE + 16];
    int part;
    double synced;
};

static void part_path(const char *base, int part, char out[NAME_SIZE + 16])
{
    snprintf(out, NAME_SIZE + 16, part ? "%.4180s.part%04d" : "%.4180s", base, part);
}

bool ps_journal_is_there(const char *base) { return access(base, F_OK) == 0; }

/* Those of all parts: there may have been more than now, and others remove theirs meanwhile. */
static void remove_parts(const char *base)
{
    char path[NAME_SIZE + 16];
    unlink(base);
    for (int part = 1, missing = 0; missing < PARTS_MISSING; ++part) {
        part_path(base, part, path);
        missing = unlink(path) == 0 ? 0 : missing + 1;
    }
}

static ps_status begin(ps_journal *j, const ps_run *run, const char *identity)
{
    char uuid[PS_RUN_UUID_SIZE];
    if (j->part == 0) {
        remove_parts(j->base);
        if (run->restart) ps_info("there is no %s to continue from: beginning", j->path);
    }
    ps_run_uuid(uuid);
    return ps_append_log_create(j->path, uuid, identity, &j->log);
}

ps_status ps_journal_open(const ps_run *run, const char *base, int part, const char *identity,
                          ps_journal **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the journal"));
    ps_journal *j = *out;
    pthread_mutex_init(&j->lock, NULL);
    snprintf(j->base, sizeof j->base, "%s", base);
    part_path(base, part, j->path);
    j->part = part;
    j->synced = ps_clock();
    ps_status status = ps_run_log_open(run, j->path, j->path, identity, &j->log);
    if (status == PS_OK && !j->log) status = begin(j, run, identity);
    if (status == PS_OK) ps_stop_keeps("what is done so far is kept; the same command continues");
    if (status != PS_OK) ps_journal_close(out, false);
    return status;
}

void ps_journal_close(ps_journal **journal, bool done)
{
    ps_journal *j = *journal;
    if (!j) return;
    ps_append_log_close(&j->log);
    if (done) unlink(j->path);
    if (done && j->part == 0) remove_parts(j->base);
    pthread_mutex_destroy(&j->lock);
    free(j);
    *journal = NULL;
}

ps_status ps_journal_add(ps_journal *j, const void *record, int64_t bytes)
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

static ps_status replay_part(const ps_journal *j, const char *path, ps_append_log_take take,
                             void *context)
{
    ps_append_log *log;
    PS_TRY(ps_append_log_open(path, &log));
    ps_status status =
        ps_identity_check(path, ps_append_log_identity(log), ps_append_log_identity(j->log));
    if (status == PS_OK) status = ps_append_log_replay(log, take, context);
    ps_append_log_close(&log);
    return status;
}

ps_status ps_journal_replay(ps_journal *j, bool all, ps_append_log_take take, void *context)
{
    char path[NAME_SIZE + 16];
    int part = 1;
    PS_TRY(ps_append_log_replay(j->log, take, context));
    for (part_path(j->base, part, path); all && ps_journal_is_there(path);
         part_path(j->base, ++part, path))
        PS_TRY(replay_part(j, path, take, context));
    return PS_OK;
}
