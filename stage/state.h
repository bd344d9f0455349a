/*
 * state: the checkpoints of a run, so that the same command goes on to the same bits
 * (specs/stage.md): which generation counts, whose it is, what is due.
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
    const char *name;     /* generations are <name>.000042.h5; with several ranks that have states,
                             <name>.rank0003.000042.h5                                              */
    const char *identity; /* what the run is: "name=value\n" lines                               */
    const char *unit;     /* what steps are: "iteration"                                         */
    bool every_rank;      /* each rank has a state, and calls are collective; otherwise one rank
                             calls, and has it                                                   */
    int lead;             /* arrays that are read first, after which the others are asked again  */
    int64_t every_steps;  /* a checkpoint is due after so many; 0: not by steps                  */
    double every;         /* seconds; 0: not by time                                             */
    ps_state_describe *describe;
    void *context;
} ps_state_spec;

/* What a run has on the disk. */
typedef struct ps_state {
    ps_state_spec spec;
    char name[4096], uuid[PS_RUN_UUID_SIZE]; /* of this rank; of the run */
    int64_t generation, step;                /* the newest one           */
    double time;                             /* when that was, ps_clock  */
} ps_state;

/* The identity of a run: its options (ps_run.record), the inputs' content hashes and `more` lines
 * ("ranks=2\n"); the caller's to free(). */
ps_status ps_state_identity(const char *options, int input_count, const char *const *roles,
                            ps_store *const *inputs, const char *more, char **out);

/* Begins a run or continues one: *step is that of the state that was read, 0 if there is none.
 * PS_USAGE, naming what differs, if there is one of another identity; with --fresh it is removed.
 * Damaged generations are passed over, with a warning. Later stops wait for a checkpoint. The spec
 * is copied; what it points to is borrowed. */
ps_status ps_state_open(const ps_state_spec *spec, ps_state *state, int64_t *step);
/* PS_USAGE, naming what differs, if there is a run of the name and of another identity, and not
 * --fresh: for programs that have much to do before they open their state. Local. */
ps_status ps_state_check(const ps_state_spec *spec);
/* Whether a checkpoint is due after `step`. Local: ranks that have to agree reduce it. */
bool ps_state_is_due(const ps_state *state, int64_t step);
ps_status ps_state_save(ps_state *state, int64_t step);
/* Removes all generations of the name: the run is complete. */
ps_status ps_state_remove(const ps_state_spec *spec);

#endif
