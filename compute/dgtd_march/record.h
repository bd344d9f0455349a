/*
 * record: the files of a run under way. <run> is OUTPUT without its suffix.
 *
 *   <run>.log               samples of all steps so far (formats/append_log.h); rank 0
 *   <run>.000042.h5         checkpoints (formats/checkpoint.h); with several ranks <run>.rank0003.*
 *   <run>.state0, .state1   the state of a run out of core (tiles.h)
 *
 * All functions but record_name, record_abandon and record_close are collective.
 */
#ifndef PS_DGTD_MARCH_RECORD_H
#define PS_DGTD_MARCH_RECORD_H

#include "formats/checkpoint.h"
#include "kernels/common/growth_watch.h"

/* Running figures of a run; doubles, as checkpoints hold them. */
typedef struct figures {
    double largest, latest; /* 1/2 E' M E, over eps0: its largest and its last value */
    ps_growth_watch growth;
    /* With --balance, over eps0: W^1, what was conducted away, lost through absorbing faces and
     * supplied since, and what the next step takes over from the last one. */
    double first, conducted, lost, supplied, next_lost, next_supplied;
    double mode_error; /* the largest so far                                    */
    double file;       /* out of core: which state file this checkpoint is in   */
} figures;
enum { FIGURES = sizeof(figures) / sizeof(double), RECORD_ARRAYS_MAX = 6 };

typedef struct record {
    char run[4096], log_path[4096], state_name[4096];
    char *identity;
    char uuid[PS_RUN_UUID_SIZE];
    ps_append_log *log; /* rank 0 */
    ps_checkpoint_writer *writer;
    figures figures; /* those of the checkpoint under way */
    ps_checkpoint_array arrays[RECORD_ARRAYS_MAX];
    int array_count;
    bool resumes; /* a run that is there is continued */
    int64_t checkpoint_step;
    double checkpoint_time;
} record;

typedef enum record_mode { RECORD_NEW, RECORD_RESTART, RECORD_FRESH } record_mode;

/* Sets names and identity: `options` (ps_run.record), the model's hash, the number of ranks and
 * where the state is. */
ps_status record_name(record *record, const char *output, const char *options,
                      const ps_store *model, const char *state);
/* The arrays that make up the state of this rank, beside the figures. Before record_open. */
void record_state(record *record, const ps_checkpoint_array *arrays, int count);

typedef ps_status record_verify(void *context, const figures *f);

/* Says whether a run begins or one is continued, and refuses to begin over an unfinished one. Where
 * one begins, the files of an earlier run go here, before the arrays of the state are opened: those
 * of a state out of core are among them, and what was removed later would be this run's. */
ps_status record_prepare(record *record, record_mode mode);
/* Removes the files of a state whose run failed before it began. */
void record_abandon(record *record);
/* Begins the run or continues it, as prepared. *step: the last step that is done; if it is > 0 the
 * arrays and figures are restored. `verify` (or NULL) may refuse a checkpoint by failing. */
ps_status record_open(record *record, figures *f, int64_t *step, record_verify *verify,
                      void *context);

/* Adds the samples of steps to the log (rank 0 has them). */
ps_status record_append(record *record, int64_t count, const void *samples, int64_t bytes);
/* Writes the state after `step`; the arrays may change again on return. */
ps_status record_checkpoint(record *record, int64_t step, const figures *f);

/* Removes the files of the run (not OUTPUT); of another identity only with `whatever`. */
ps_status record_remove(record *record, bool whatever);
void record_close(record *record); /* keeps the files */

#endif
