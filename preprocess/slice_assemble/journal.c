/*
 * The journal: squares that were computed, in an append log beside the output, so that an assembly
 * that was stopped or killed goes on where it was (specs/tdbem_assembly.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble.h"
#include "runtime/memory.h"

enum { SYNC_SECONDS = 30, NAME_SIZE = 4200 };

struct assemble_journal {
    ps_append_log *log;
    char path[NAME_SIZE];
    double synced;
};

/* A record: this, then the arrays of the tile. */
typedef struct square_head {
    int64_t unit, rows, slices, value_count, near_count, pairs;
} square_head;

/* ---- opening ---- */

static ps_status begin(assemble_journal *journal, const char *identity, bool force)
{
    char uuid[PS_RUN_UUID_SIZE];
    if (!force && access(journal->path, F_OK) == 0)
        return ps_fail(
            PS_USAGE,
            "%s holds squares of an assembly that was stopped: continue it with --restart, "
            "or give --force to begin anew",
            journal->path);
    ps_run_uuid(uuid);
    return ps_append_log_create(journal->path, uuid, identity, &journal->log);
}

static ps_status resume(assemble_journal *journal, const char *identity)
{
    if (access(journal->path, F_OK) != 0)
        return ps_fail(PS_USAGE,
                       "there is no %s to restart from: squares are kept only with --journal",
                       journal->path);
    PS_TRY(ps_append_log_open(journal->path, &journal->log));
    if (strcmp(ps_append_log_identity(journal->log), identity) == 0) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s was begun with other options, another mesh, other tiles or another number of "
        "ranks; repeat those, or begin anew without --restart and with --force",
        journal->path);
}

ps_status assemble_journal_open(const char *path, const char *identity, bool restart, bool force,
                                assemble_journal **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the journal"));
    snprintf((*out)->path, NAME_SIZE, "%s.squares", path);
    (*out)->synced = ps_clock();
    ps_status status = restart ? resume(*out, identity) : begin(*out, identity, force);
    if (status != PS_OK) assemble_journal_close(out, false);
    return status;
}

void assemble_journal_close(assemble_journal **journal, bool done)
{
    if (!*journal) return;
    ps_append_log_close(&(*journal)->log);
    if (done) unlink((*journal)->path);
    free(*journal);
    *journal = NULL;
}

/* ---- records ---- */

int64_t assemble_journal_bytes(int64_t entries, int64_t values, ps_precision precision)
{
    return (int64_t)sizeof(square_head) + entries * 20 + values * (precision == PS_SINGLE ? 4 : 8);
}

static char *put(char *at, const void *from, int64_t bytes)
{
    memcpy(at, from, (size_t)bytes);
    return at + bytes;
}

static const char *get(const char *at, void *to, int64_t bytes)
{
    memcpy(to, at, (size_t)bytes);
    return at + bytes;
}

int64_t assemble_journal_pack(int64_t unit, const ps_interaction_tile *tile, ps_precision precision,
                              void *out)
{
    int64_t entries = tile->rows * tile->slices;
    square_head head = {unit,       tile->rows, tile->slices, tile->value_count, tile->near_count,
                        tile->pairs};
    char *at = put(out, &head, sizeof head);
    at = put(at, tile->starts, 2 * entries);
    at = put(at, tile->lengths, 2 * entries);
    at = put(at, tile->near_rows, 4 * tile->near_count);
    at = put(at, tile->near_columns, 4 * tile->near_count);
    at = put(at, tile->near_values, 8 * tile->near_count);
    if (precision == PS_DOUBLE) return put(at, tile->values, 8 * tile->value_count) - (char *)out;
    for (int64_t i = 0; i < tile->value_count; ++i, at += sizeof(float)) {
        float value = (float)tile->values[i];
        memcpy(at, &value, sizeof value);
    }
    return at - (char *)out;
}

int64_t assemble_journal_unit(const void *record, int64_t bytes)
{
    square_head head = {.unit = -1};
    if (bytes >= (int64_t)sizeof head) memcpy(&head, record, sizeof head);
    return head.unit;
}

ps_status assemble_journal_unpack(const void *record, int64_t bytes, ps_precision precision,
                                  ps_interaction_tile *tile)
{
    square_head head;
    const char *at = get(record, &head, sizeof head);
    int64_t entries = tile->rows * tile->slices, item = precision == PS_SINGLE ? 4 : 8;
    if (head.rows != tile->rows || head.slices != tile->slices || head.value_count < 0 ||
        head.value_count > tile->value_capacity || head.near_count < 0 ||
        head.near_count > entries ||
        bytes !=
            (int64_t)sizeof head + 4 * entries + 16 * head.near_count + item * head.value_count)
        return ps_fail(PS_INVALID, "the journal's square %lld has the wrong size",
                       (long long)head.unit);
    at = get(at, tile->starts, 2 * entries);
    at = get(at, tile->lengths, 2 * entries);
    at = get(at, tile->near_rows, 4 * head.near_count);
    at = get(at, tile->near_columns, 4 * head.near_count);
    at = get(at, tile->near_values, 8 * head.near_count);
    tile->value_count = head.value_count;
    tile->near_count = head.near_count;
    tile->pairs = 0; /* not evaluated this time */
    if (precision == PS_DOUBLE) get(at, tile->values, 8 * head.value_count);
    for (int64_t i = 0; precision == PS_SINGLE && i < head.value_count; ++i) {
        float value;
        at = get(at, &value, sizeof value);
        tile->values[i] = value; /* rounds to the same again */
    }
    return PS_OK;
}

ps_status assemble_journal_add(assemble_journal *journal, const void *record, int64_t bytes)
{
    PS_TRY(ps_append_log_append(journal->log, 1, record, bytes));
    double now = ps_clock();
    if (now - journal->synced < SYNC_SECONDS) return PS_OK;
    journal->synced = now;
    return ps_append_log_sync(journal->log);
}

ps_status assemble_journal_replay(assemble_journal *journal, ps_append_log_take take, void *context)
{
    return ps_append_log_replay(journal->log, take, context);
}
