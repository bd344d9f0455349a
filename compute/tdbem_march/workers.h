/*
 * workers: what a run records of its workers and stages, <run>.workers.h5 (formats/worker_log.h).
 * Each rank keeps the iterations of its own workers; rank 0 joins them at the end or at a stop.
 */
#ifndef PS_TDBEM_MARCH_WORKERS_H
#define PS_TDBEM_MARCH_WORKERS_H

#include "formats/worker_log.h"

/* Stages of a rank's wall time; they sum up to all of it. */
typedef enum march_stage {
    STAGE_SUMMATION, /* the sweeps                                                        */
    STAGE_IDLE,      /* after them, until the slowest rank has swept                      */
    STAGE_RADIATION,
    STAGE_LOAD,
    STAGE_SOLVE,
    STAGE_COMMUNICATION, /* sums over ranks                                                   */
    STAGE_OUTPUT,        /* log and checkpoints, as far as the march waits for them           */
    STAGE_OTHER,         /* opening, and what is left                                         */
    STAGES
} march_stage;
extern const char *const march_stage_names[STAGES];

/* Joins the logs of all ranks, local, each with its own workers (as many iterations on each), and
 * writes them for the run `run` (OUTPUT without its suffix) and its uuid, which rank 0 knows. What
 * an earlier start left is continued from `first_step` on. stages[STAGES] of this rank. A log that
 * cannot be written is a warning and no failure. Collective. */
ps_status workers_save(const ps_worker_log *local, const double *stages, const char *run,
                       const char *uuid, int64_t first_step, const ps_store_identity *identity);

/* Removes the file if it is of the run `uuid`. Rank 0. */
void workers_remove(const char *run, const char *uuid);

#endif
