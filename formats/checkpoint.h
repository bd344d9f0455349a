/*
 * checkpoint: the state of a run, so that it can be continued to the same bits;
 * "penstock-checkpoint" (specs/checkpoint.md). For all families.
 *
 * A checkpoint is an immutable generation, <run>.000042.h5, written as a whole and committed by
 * rename; at least two are kept. On restart the newest one that is complete and verifies wins.
 */
#ifndef PS_FORMATS_CHECKPOINT_H
#define PS_FORMATS_CHECKPOINT_H

#include <stdint.h>

#include "formats/append_log.h"
#include "formats/store.h"

typedef struct ps_checkpoint_array {
    const char *name; /* "/past" */
    const char *units;
    ps_type type;
    int64_t count; /* items */
    void *data;    /* borrowed */
} ps_checkpoint_array;

typedef struct ps_checkpoint {
    int64_t step;         /* steps or iterations done                                        */
    const char *uuid;     /* of the run (ps_run_uuid): tells it from an older one             */
    const char *identity; /* "name=value\n" lines: options that change results, input hashes  */
    int array_count;
    const ps_checkpoint_array *arrays;
    int64_t part; /* of a run that has several states, as of ranks: whose; 0 of one alone */
    uint64_t log; /* ps_append_log_hash of the run's log up to the step; 0: it has none   */
} ps_checkpoint;

/* "<run>.000042.h5" for generation 42. out[4096]. */
void ps_checkpoint_path(const char *run, int64_t generation, char *out);

/* Writes and commits a generation, on the calling thread. PS_EXHAUSTED when the disk is full:
 * older generations are untouched. */
ps_status ps_checkpoint_save(const char *run, int64_t generation, const ps_checkpoint *checkpoint);

/* Whether a generation is whole, every chunk of it, and of this part of the run `uuid`; its step,
 * and the hash of the log beside it (0: not recorded). PS_INVALID if the file is damaged, or of
 * another run or part. */
ps_status ps_checkpoint_check(const char *run, int64_t generation, const char *uuid, int64_t part,
                              int64_t *step, uint64_t *log);

/* Reads a generation into the arrays given (names, types and counts must be the file's) and sets
 * the step. Every chunk that is read is verified. PS_INVALID if one is damaged, or the file is not
 * of this part of the run `checkpoint->uuid`. */
ps_status ps_checkpoint_load(const char *run, int64_t generation, ps_checkpoint *checkpoint);

/* The run that a generation of this part belongs to and its identity, from the attributes alone;
 * *identity is the caller's to free(). */
ps_status ps_checkpoint_identity(const char *run, int64_t generation, int64_t part,
                                 char uuid[PS_RUN_UUID_SIZE], char **identity);

/* The numbers of all generations on the disk, newest first, good or bad; free() *generations. */
ps_status ps_checkpoint_list(const char *run, int64_t **generations, int64_t *count);

/* Removes all generations but the newest `keep`, and left-over temporary files. */
ps_status ps_checkpoint_prune(const char *run, int64_t keep);
/* Whether the file is a generation that a later version of Penstock wrote. */
bool ps_checkpoint_is_newer(const char *path);
/* Removes one file, but not if it is somebody's that only has such a name. */
ps_status ps_checkpoint_remove(const char *path);

/* Compares two identities. PS_USAGE with a message that names the first line that differs, with
 * both its values. `run` names the unfinished run in the message. */
ps_status ps_identity_check(const char *run, const char *stored, const char *now);

/* ---- written while compute goes on ---- */

typedef struct ps_checkpoint_writer ps_checkpoint_writer;

/* Starts the writer's thread. Its first generation is `next`; `keep` of them stay. If `log` is not
 * NULL, it is synced before each commit, so that it reaches at least as far as the checkpoint.
 * Borrows `log`. */
ps_status ps_checkpoint_writer_open(const char *run, int64_t next, int64_t keep, ps_append_log *log,
                                    ps_checkpoint_writer **out);

/* Hands the state over and returns; the thread writes it and prunes older generations. The arrays
 * and texts are borrowed until the writer is idle again: a caller fills a snapshot of its own
 * after ps_checkpoint_writer_wait and leaves it alone from here on. Waits if the one before is
 * still being written. Returns the failure of an earlier one, if there was one. */
ps_status ps_checkpoint_writer_submit(ps_checkpoint_writer *writer,
                                      const ps_checkpoint *checkpoint);
ps_status ps_checkpoint_writer_wait(ps_checkpoint_writer *writer); /* until all is on the disk */
/* Seconds spent writing (beside compute), and how many were written. After a wait. */
void ps_checkpoint_writer_stats(ps_checkpoint_writer *writer, double *seconds, int64_t *count);
void ps_checkpoint_writer_close(ps_checkpoint_writer **writer); /* waits; NULL is fine */

#endif
