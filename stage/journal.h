/*
 * journal: finished items of a run, in an append log, so that it goes on after an end at any moment
 * (specs/stage.md).
 */
#ifndef PS_STAGE_JOURNAL_H
#define PS_STAGE_JOURNAL_H

#include "formats/append_log.h"
#include "stage/product.h"

typedef struct ps_journal ps_journal;

/* Whether there is a journal `base` to go on from. */
bool ps_journal_is_there(const char *base);
/* The value of the line `name` of its identity; false if there is none. */
bool ps_journal_value(const char *base, const char *name, char value[64]);

/* Removes a journal, all parts. */
void ps_journal_remove(const char *base);
/* The same of one that was for the output that is there, since its identity begins
 * with that of the product; also one whose head is lost, of which nothing can be used. */
ps_status ps_journal_tidy(const char *base, const ps_product *product);

/* Opens the journal of part 0, `base`, or of another one, `base`.part0003. One that is there is
 * continued: PS_USAGE, naming what differs, if it is of another identity ("name=value\n" lines).
 * With run->fresh it is thrown away, by part 0 those of all parts.
 *
 * every.steps > 0: all items are kept, or adding them fails. every.seconds: items are kept from so
 * many seconds on, and synced so often; as many as take 3 % of the time and a quarter of the disk's
 * room, and no more once the disk is full: an item that is not kept is only computed again. 0:
 * none, unless there is a journal; *out is NULL then. */
ps_status ps_journal_open(const ps_run *run, const char *base, int part, const char *identity,
                          ps_interval every, ps_journal **out);
/* done: removes it, part 0 those of all parts. NULL is fine. */
void ps_journal_close(ps_journal **journal, bool done);

/* Whether an item of so many bytes would be kept now. Thread-safe; false for NULL. */
bool ps_journal_wants(ps_journal *journal, int64_t bytes);
/* A finished item. Thread-safe. */
ps_status ps_journal_add(ps_journal *journal, const void *record, int64_t bytes);

/* All items of this journal; with `all` those of the parts 1, 2, ... as well, which must not be
 * open. NULL has none. */
ps_status ps_journal_replay(ps_journal *journal, bool all, ps_append_log_take take, void *context);

#endif
