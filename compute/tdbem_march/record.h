/*
 * record: the files of a run under way and its end. <run> is OUTPUT without its suffix.
 *
 *   <run>.log         all steps so far, a record a group (formats/append_log.h)
 *   <run>.000042.h5   checkpoints (formats/checkpoint.h)
 *   <run>.workers.h5  seconds of workers and stages (workers.h); it stays
 *   OUTPUT            the history, written from the log at the end; then the others go
 *
 * Under MPI rank 0 alone has a record; others get the state from it.
 */
#ifndef PS_TDBEM_MARCH_RECORD_H
#define PS_TDBEM_MARCH_RECORD_H

#include "compute/tdbem_march/solve.h"
#include "compute/tdbem_march/window.h"
#include "formats/checkpoint.h"
#include "formats/history.h"

/* The files that a run depends on, and what they are to it. */
enum { RECORD_INPUTS_MAX = 3 };
typedef struct record_inputs {
    int count;
    const char *roles[RECORD_INPUTS_MAX]; /* "matrix", "mesh", "far" */
    ps_store *stores[RECORD_INPUTS_MAX];  /* borrowed                */
} record_inputs;

typedef struct record {
    char run[4096], log_path[4096];
    char *identity; /* options and input hashes, as lines */
    char uuid[PS_RUN_UUID_SIZE];
    ps_append_log *log;
    ps_checkpoint_writer *writer;
    /* The state handed to the writer: left alone while it is busy. */
    void *past; /* [unknowns][kept], precision of the run */
    figures figures;
    ps_checkpoint_array arrays[2];
    int64_t checkpoint_step;         /* of the newest one handed over */
    double checkpoint_time, seconds; /* when that was; seconds spent here by the march        */
    double written_seconds;          /* by the checkpoint writer, beside the march; once closed */
    int64_t written;                 /* checkpoints; once closed                              */
} record;

/* What to do about files of an unfinished run. */
typedef enum record_mode { RECORD_NEW, RECORD_RESTART, RECORD_FRESH } record_mode;

/* Sets names and identity: `options` (ps_run.record) and the content hashes of the inputs. */
ps_status record_name(record *record, const char *output, const char *options,
                      const record_inputs *inputs);

/* Begins a run or continues one: *step is the last step that is done, and with *step > 0 the past
 * and the figures are restored. PS_USAGE if there is an unfinished run
 * of other options or inputs (named) and mode is not RECORD_FRESH. A damaged checkpoint is passed
 * over, with a warning.
 */
ps_status record_open(record *record, record_mode mode, window *past, figures *figures,
                      int64_t *step);

/* Bytes that an open record holds beside the log. */
int64_t record_bytes(const window *past);

/* Adds the steps of a group: rows[count][unknowns]. */
ps_status record_append(record *record, int64_t count, const void *rows, int64_t bytes);
/* Hands the state after `step` to the checkpoint writer. */
ps_status record_checkpoint(record *record, int64_t step, const window *past,
                            const figures *figures);
ps_status record_wait(record *record); /* until the checkpoint handed over is on the disk */

/* Writes the history from the log, commits it, removes log and checkpoints. */
ps_status record_finish(record *record, const char *output, const ps_store_identity *identity,
                        const ps_history_header *header, const record_inputs *inputs);

/* Removes the files of the run (not OUTPUT) if there are any of this identity, or all with
 * `whatever`. */
ps_status record_remove(record *record, bool whatever);
void record_close(record *record); /* keeps the files */

#endif
