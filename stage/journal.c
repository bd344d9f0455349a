#include "stage/journal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/checkpoint.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/stop.h"
#include "stage/run_log.h"

enum { SYNC_SECONDS = 30, NAME_SIZE = 4200, PARTS_MISSING = 256, ROOM_SHARE = 4 };
static const double time_share = 0.03;

struct ps_journal {
    const ps_run *run;
    char *identity;
    char base[NAME_SIZE], path[NAME_SIZE + 16];
    int part;
    ps_interval every;
    double opened;
    pthread_mutex_t lock; /* guards what follows */
    ps_append_log *log;   /* NULL: not begun yet */
    bool full;            /* nothing more is kept */
    double synced, measured, seconds;
    int64_t room; /* bytes that may be written before it is measured again */
};

static void part_path(const char *base, int part, char out[NAME_SIZE + 16])
{
    snprintf(out, NAME_SIZE + 16, part ? "%.4180s.part%04d" : "%.4180s", base, part);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* The first part that is there. */
static bool find_part(const char *base, char path[NAME_SIZE + 16])
{
    int part = 0;
    do part_path(base, part, path);
    while (!is_there(path) && ++part < PARTS_MISSING);
    return part < PARTS_MISSING;
}

bool ps_journal_is_there(const char *base)
{
    char path[NAME_SIZE + 16];
    return find_part(base, path);
}

bool ps_journal_value(const char *base, const char *name, char value[64])
{
    ps_append_log *log;
    char line[80], path[NAME_SIZE + 16];
    bool found = false;
    if (!find_part(base, path) || ps_append_log_open(path, &log) != PS_OK) return false;
    int length = snprintf(line, sizeof line, "\n%.70s=", name);
    const char *at = strstr(ps_append_log_identity(log), line);
    if (at) {
        at += length;
        int size = (int)strcspn(at, "\n");
        found = size < 64;
        if (found) snprintf(value, 64, "%.*s", size, at);
    }
    ps_append_log_close(&log);
    return found;
}

/* Those of all parts: there may have been more than now, and others remove theirs meanwhile. */
void ps_journal_remove(const char *base)
{
    char path[NAME_SIZE + 16];
    unlink(base);
    for (int part = 1, missing = 0; missing < PARTS_MISSING; ++part) {
        part_path(base, part, path);
        missing = unlink(path) == 0 ? 0 : missing + 1;
    }
}

ps_status ps_journal_tidy(const char *base, const ps_product *product)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    PS_SCOPED_MEMORY char *identity = NULL;
    char path[NAME_SIZE + 16];
    if (ps_comm_rank() != 0 || !find_part(base, path)) return PS_OK;
    PS_TRY(ps_product_identity(product, "", &identity));
    ps_status status = ps_append_log_open(path, &log);
    bool ours = status == PS_INVALID;
    if (status == PS_OK)
        ours = strncmp(ps_append_log_identity(log), identity, strlen(identity)) == 0;
    if (ours) ps_journal_remove(base);
    return PS_OK;
}

static ps_status begin(ps_journal *j)
{
    char uuid[PS_RUN_UUID_SIZE];
    if (j->run->output) PS_TRY(ps_path_check_output(j->run->output)); /* before days of work */
    ps_run_uuid(uuid);
    PS_TRY(ps_append_log_create(j->path, uuid, j->identity, &j->log));
    ps_stop_keeps("what is done so far is kept; the same command continues");
    return PS_OK;
}

static ps_status continue_or_begin(ps_journal *j)
{
    PS_TRY(ps_run_log_open(j->run, j->path, j->path, j->identity, &j->log));
    if (j->log) {
        ps_stop_keeps("what is done so far is kept; the same command continues");
        return PS_OK;
    }
    if (j->part == 0 && j->run->fresh) ps_journal_remove(j->base);
    if (j->part == 0 && j->run->restart && !ps_journal_is_there(j->base))
        ps_info("there is no %s to continue from: beginning", j->path);
    return j->every.steps > 0 ? begin(j) : PS_OK;
}

ps_status ps_journal_open(const ps_run *run, const char *base, int part, const char *identity,
                          ps_interval every, ps_journal **out)
{
    *out = NULL;
    PS_TRY(PS_ALLOC(out, 1, "the journal"));
    ps_journal *j = *out;
    pthread_mutex_init(&j->lock, NULL);
    snprintf(j->base, sizeof j->base, "%s", base);
    part_path(base, part, j->path);
    j->run = run;
    j->part = part;
    j->every = every;
    j->opened = j->synced = ps_clock();
    j->identity = strdup(identity);
    ps_status status = j->identity ? continue_or_begin(j)
                                   : ps_fail(PS_EXHAUSTED, "%s: no memory for its head", base);
    bool never = !j->log && every.steps == 0 && every.seconds == 0;
    if (status != PS_OK || never) ps_journal_close(out, false);
    return status;
}

void ps_journal_close(ps_journal **journal, bool done)
{
    ps_journal *j = *journal;
    if (!j) return;
    ps_append_log_close(&j->log);
    if (done) unlink(j->path);
    if (done && j->part == 0) ps_journal_remove(j->base);
    pthread_mutex_destroy(&j->lock);
    free(j->identity);
    free(j);
    *journal = NULL;
}

/* The lock is held. */
static bool wants(ps_journal *j, int64_t bytes)
{
    double now = ps_clock(), since = now - j->opened;
    if (j->every.steps > 0) return true;
    if (j->full || (!j->log && since < j->every.seconds)) return false;
    if (j->seconds > time_share * since) return false;
    if (bytes > j->room && now - j->measured > 1) {
        j->room = ps_path_room(j->path) / ROOM_SHARE;
        j->measured = now;
    }
    return bytes <= j->room;
}

bool ps_journal_wants(ps_journal *j, int64_t bytes)
{
    if (!j) return false;
    pthread_mutex_lock(&j->lock);
    bool wanted = wants(j, bytes);
    pthread_mutex_unlock(&j->lock);
    return wanted;
}

static ps_status add(ps_journal *j, const void *record, int64_t bytes)
{
    double every = j->every.seconds;
    PS_TRY(j->log ? PS_OK : begin(j));
    PS_TRY(ps_append_log_append(j->log, 1, record, bytes));
    double now = ps_clock();
    if (now - j->synced < (every > 0 && every < SYNC_SECONDS ? every : SYNC_SECONDS)) return PS_OK;
    j->synced = now;
    return ps_append_log_sync(j->log);
}

ps_status ps_journal_add(ps_journal *j, const void *record, int64_t bytes)
{
    pthread_mutex_lock(&j->lock);
    double start = ps_clock();
    ps_status status = PS_OK;
    if (wants(j, bytes)) {
        status = add(j, record, bytes);
        j->room -= bytes;
        j->seconds += ps_clock() - start;
    }
    if (status != PS_OK && j->every.steps == 0) {
        ps_warning("%s; what is finished from here on is not kept", ps_message());
        j->full = true;
        status = PS_OK;
    }
    pthread_mutex_unlock(&j->lock);
    return status;
}

static ps_status replay_part(const ps_journal *j, const char *path, ps_append_log_take take,
                             void *context)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    PS_TRY(ps_append_log_open(path, &log));
    PS_TRY(ps_identity_check(path, ps_append_log_identity(log), j->identity));
    return ps_append_log_replay(log, 0, take, context);
}

ps_status ps_journal_replay(ps_journal *j, bool all, ps_append_log_take take, void *context)
{
    char path[NAME_SIZE + 16];
    if (!j) return PS_OK;
    if (j->log) PS_TRY(ps_append_log_replay(j->log, 0, take, context));
    for (int part = 1, missing = 0; all && missing < PARTS_MISSING; ++part) {
        part_path(j->base, part, path);
        missing = is_there(path) ? 0 : missing + 1;
        if (missing == 0) PS_TRY(replay_part(j, path, take, context));
    }
    return PS_OK;
}
