/*
 * worker_log: the interval and the seconds of each worker in each iteration of a run, and the
 * seconds of each stage; "penstock-worker-log" (specs/worker_log.md). For all families.
 *
 * It is filled in memory while the run is under way and written as a whole.
 */
#ifndef PS_FORMATS_WORKER_LOG_H
#define PS_FORMATS_WORKER_LOG_H

#include "formats/checkpoint.h"

enum { PS_WORKER_NAME_MAX = 48, PS_STAGES_MAX = 16, PS_WORKERS_MAX = 4096 };

typedef struct ps_worker_log {
    char run[PS_RUN_UUID_SIZE]; /* uuid of the run                                            */
    char items[32];             /* "tiles", "slices", ...                                     */
    int workers;
    char (*names)[PS_WORKER_NAME_MAX]; /* [workers]                                           */
    int64_t iterations;
    int64_t *steps;      /* [iterations] done after each, ascending             */
    int64_t *bounds;     /* [iterations][workers][2] first item, and one after
                            the last                                            */
    double *seconds;     /* [iterations][workers]                               */
    int64_t capacity[3]; /* of the three                                        */
    int ranks, stages;
    char stage_names[PS_STAGES_MAX][PS_WORKER_NAME_MAX];
    double *stage_seconds; /* [ranks][stages]                                                 */
} ps_worker_log;

/* An empty log of these workers, without stages. names[workers] and items are copied. PS_USAGE for
 * a number of workers outside 1 .. PS_WORKERS_MAX. Release it also after a failure. */
ps_status ps_worker_log_init(ps_worker_log *log, int workers, const char *const *names,
                             const char *items);
void ps_worker_log_release(ps_worker_log *log);

/* Adds an iteration after which `step` steps are done: bounds[workers][2], seconds[workers].
 * PS_USAGE if the step does not ascend. Amortised O(workers). */
ps_status ps_worker_log_add(ps_worker_log *log, int64_t step, const int64_t *bounds,
                            const double *seconds);

/* Sets the stages: seconds[ranks][stages], copied. */
ps_status ps_worker_log_stages(ps_worker_log *log, int stages, const char *const *names, int ranks,
                               const double *seconds);

/* Puts before the log what an earlier start of the same run left: its iterations up to `step`,
 * and its seconds of stages (of equal names and ranks) on top. Nothing happens if `earlier` is of
 * another run or of other workers. */
ps_status ps_worker_log_continue(ps_worker_log *log, const ps_worker_log *earlier, int64_t step);

/* "<run>.workers.h5". out[4096]. */
void ps_worker_log_path(const char *run, char *out);

/* Writes and commits the log at `path`. */
ps_status ps_worker_log_save(const char *path, const ps_worker_log *log,
                             const ps_store_identity *identity);
/* PS_INVALID, naming file and reason, for what is no sound log. Release it also then. */
ps_status ps_worker_log_load(const char *path, ps_worker_log *out);
/* The same from an open store, which the caller keeps. */
ps_status ps_worker_log_read(ps_store *store, ps_worker_log *out);

/* Seconds of stage s, the mean over the ranks. */
double ps_worker_log_stage(const ps_worker_log *log, int stage);

#endif
