/*
 * state: the checkpoints of a run and its log, so that the same command goes on to the same bits
 * (specs/stage.md): which generation counts, whose it is, what is due.
 *
 *   <name>.000042.h5   generations; with several ranks that have states, <name>.rank0003.000042.h5
 *   <name>.log         a series: samples of all steps so far, of the first rank
 */
#ifndef PS_STAGE_STATE_H
#define PS_STAGE_STATE_H

#include "formats/checkpoint.h"
#include "runtime/program.h"

enum { PS_STATE_ARRAYS_MAX = 12 };

/* The arrays that make up the state after `step`: their number. They are where they are read to,
 * too. Arrays whose size others tell come behind those (ps_state_spec.lead). */
typedef int ps_state_describe(void *context, int64_t step, ps_checkpoint_array *arrays);

typedef struct ps_state_spec {
    const ps_run *run;
    const char *name;
    const char *identity; /* what the run is: "name=value\n" lines                               */
    const char *unit;     /* what steps are: "iteration"                                         */
    bool every_rank;      /* each rank has a state, and calls are collective; otherwise one rank
                             calls, and has it                                                   */
    bool series;          /* there is a log, which tells the run, and which reaches as far as any
                             generation that counts                                              */
    bool beside;          /* generations are written by a thread of their own as the run goes on */
    int64_t part;         /* of several states of one run that have names of their own: which; those
                             of ranks are told apart without                                     */
    int lead;             /* arrays that are read first, after which the others are asked again  */
    ps_interval every;    /* a checkpoint is due so often                                        */
    ps_state_describe *describe;
    /* Of a generation that was read: fails if what lies beside it is damaged. NULL: nothing does */
    ps_status (*adopt)(void *context);
    const char *const *others; /* endings of such files, to be removed with it: ".state0", NULL  */
    void *context;
} ps_state_spec;

/* What a run has on the disk. */
typedef struct ps_state {
    ps_state_spec spec;
    char name[4096], log_path[4112]; /* of this rank; of the run */
    char uuid[PS_RUN_UUID_SIZE];
    ps_append_log *log; /* of the first rank */
    ps_checkpoint_writer *writer;
    ps_checkpoint_array arrays[PS_STATE_ARRAYS_MAX]; /* that the writer has */
    bool resumes, begun;      /* a run that is there is continued; it has gone on, or begun  */
    int64_t generation, step; /* the newest one                                              */
    uint64_t log_hash;        /* of the log up to there, as a generation that was read tells */
    double time, seconds;     /* when that was, ps_clock; spent in these calls by the run    */
    double beside_seconds;    /* by the thread; once closed                                  */
    int64_t written;          /* generations                                                 */
} ps_state;

/* The name of a run: the output's without its suffix. PS_USAGE if it cannot be written. */
ps_status ps_state_name(const char *output, char out[4096]);

/* Finds out whether the run begins or is continued; where it begins, what is left of another one
 * goes. PS_USAGE, naming what differs, if there is an unfinished one of another identity. The spec
 * is copied; what it points to is borrowed. */
ps_status ps_state_begin(const ps_state_spec *spec, ps_state *state);
/* Begins the run or continues it: *step is that of the state that was read, 0 if there is none.
 * Damaged generations are passed over, with a warning. Later stops wait for a checkpoint. */
ps_status ps_state_load(ps_state *state, int64_t *step);
ps_status ps_state_open(const ps_state_spec *spec, ps_state *state, int64_t *step); /* both */
/* PS_USAGE as ps_state_begin, and nothing else: for programs that have much to do before. Local. */
ps_status ps_state_check(const ps_state_spec *spec);

/* Adds samples of `count` steps to the log. */
ps_status ps_state_append(ps_state *state, int64_t count, const void *samples, int64_t bytes);
/* Whether a checkpoint is due after `step`; on all ranks alike if each has a state. */
bool ps_state_is_due(const ps_state *state, int64_t step);
/* Writes the state. With `beside` it is only handed over: arrays stay as they are until
 * ps_state_wait, which comes before they are filled again, too. */
ps_status ps_state_save(ps_state *state, int64_t step);
ps_status ps_state_wait(ps_state *state);

void ps_state_close(ps_state *state); /* keeps the files; to be called once more does no harm */
/* Removes all files of the name: the run is complete. */
ps_status ps_state_remove(const ps_state_spec *spec);
/* Removes them if they are of this identity: of a run whose output was committed. */
ps_status ps_state_tidy(const ps_state_spec *spec);
/* After a failure: removes the files if the run failed by itself (`hopeless`), as it would again,
 * or had not begun; otherwise tells that it can be continued. Keeps status and message. Closes. */
void ps_state_fail(ps_state *state, ps_status status, bool hopeless);

#endif
