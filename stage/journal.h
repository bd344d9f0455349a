/*
 * journal: finished items of a run, in an append log, so that it goes on after an end at any moment
 * (specs/stage.md).
 */
#ifndef PS_STAGE_JOURNAL_H
#define PS_STAGE_JOURNAL_H

#include "formats/append_log.h"
#include "runtime/program.h"

typedef struct ps_journal ps_journal;

/* Whether there is a journal `base` to go on from. */
bool ps_journal_is_there(const char *base);

/* Opens the journal of part 0, `base`, or of another one, `base`.part0003. One that is there is
 * continued: PS_USAGE, naming what differs, if it is of another identity ("name=value\n" lines).
 * With run->fresh it is thrown away, by part 0 those of all parts. */
ps_status ps_journal_open(const ps_run *run, const char *base, int part, const char *identity,
                          ps_journal **out);
/* done: removes it, part 0 those of all parts. NULL is fine. */
void ps_journal_close(ps_journal **journal, bool done);

/* A finished item. Thread-safe; on the disk within half a minute. */
ps_status ps_journal_add(ps_journal *journal, const void *record, int64_t bytes);

/* All items of this journal; with `all` those of the parts 1, 2, ... as well, which must not be
 * open. */
ps_status ps_journal_replay(ps_journal *journal, bool all, ps_append_log_take take, void *context);

#endif
