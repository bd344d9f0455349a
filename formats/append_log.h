/*
 * append_log: a time series that grows while a run goes on (specs/append_log.md).
 *
 * A record holds the values of `count` consecutive steps and an XXH3 over all of it. A record
 * torn by a crash, and all that follows it, is as if never written. Step numbers start at 1 and
 * have no gaps. The file is locked while open: a second process is refused.
 *
 * One thread appends; ps_append_log_sync may run in another one at the same time.
 */
#ifndef PS_FORMATS_APPEND_LOG_H
#define PS_FORMATS_APPEND_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_append_log ps_append_log;

enum { PS_RUN_UUID_SIZE = 40 };
/* A new random identifier for a run, as text. */
void ps_run_uuid(char out[PS_RUN_UUID_SIZE]);

/* Starts an empty log, over whatever is at path. `uuid` names the run, `identity` says what it
 * computes ("name=value\n" lines); both are kept in the file and durable on return.
 * PS_EXHAUSTED: disk full; PS_FAILED: cannot be written, or another process has it. */
ps_status ps_append_log_create(const char *path, const char *uuid, const char *identity,
                               ps_append_log **out);

/* Opens an existing log for reading and appending: reads it through and keeps every record up
 * to the first one that is not whole. PS_INVALID: no log, or its head is broken; PS_USAGE:
 * somebody else's file, or from a future version; PS_FAILED: another process has it. */
ps_status ps_append_log_open(const char *path, ps_append_log **out);
void ps_append_log_close(ps_append_log **log); /* NULL is fine */

const char *ps_append_log_uuid(const ps_append_log *log);     /* borrowed */
const char *ps_append_log_identity(const ps_append_log *log); /* borrowed */
int64_t ps_append_log_last(const ps_append_log *log);         /* last step held; 0: none */

/* Appends the steps last+1 .. last+count. PS_EXHAUSTED when the disk is full: the log then ends
 * with the record before. */
ps_status ps_append_log_append(ps_append_log *log, int64_t count, const void *payload,
                               int64_t bytes);
/* True if a record ends with this step (0 always does), so that the log can be cut there. */
bool ps_append_log_ends_at(const ps_append_log *log, int64_t step);
/* A hash of all records up to the one that ends with or before `step`; 0: there are none. */
uint64_t ps_append_log_hash(const ps_append_log *log, int64_t step);
/* Cuts everything after `step`. PS_INVALID unless a record ends there. */
ps_status ps_append_log_truncate(ps_append_log *log, int64_t step);
ps_status ps_append_log_sync(ps_append_log *log); /* all appended so far is on the disk */

/* Whether `count` numbers of a record, of `item` bytes (4: float, 8: double), are finite. */
bool ps_append_log_is_finite(const void *payload, int64_t count, int64_t item);

/* Hands all records that end after step `from` in order to `take`, hashes checked again; stops at
 * its first failure. */
typedef ps_status (*ps_append_log_take)(void *context, int64_t first_step, int64_t count,
                                        const void *payload, int64_t bytes);
ps_status ps_append_log_replay(ps_append_log *log, int64_t from, ps_append_log_take take,
                               void *context);

#endif
