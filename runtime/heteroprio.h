/*
 * heteroprio: which ready task a worker takes next (Agullo, Bramas, Coulaud, Darve, Messner,
 * Takahashi, RR-8513, 2013, section 3.2), for two kinds of worker.
 *
 * Ready tasks wait in buckets, first in first out. A bucket has a priority for CPU workers and one
 * for GPU workers; a worker polls the buckets in the order of its own kind and takes the first task
 * found; buckets of equal priority are one queue, whose oldest task is taken first. Near the end a
 * CPU worker leaves a task that has GPU code to the GPUs (ps_termination). With a table of CPU
 * priorities alone this is the paper's MultiPrio. The structure knows neither threads nor clocks:
 * the task queue and the simulator use the same code. Not thread-safe.
 */
#ifndef PS_RUNTIME_HETEROPRIO_H
#define PS_RUNTIME_HETEROPRIO_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_worker_kind { PS_WORKER_CPU, PS_WORKER_GPU, PS_WORKER_KINDS } ps_worker_kind;

typedef enum ps_schedule_policy {
    PS_SCHEDULE_HETEROPRIO, /* by priority                                                    */
    PS_SCHEDULE_EAGER       /* the oldest ready task that the worker has code for; no rule     */
} ps_schedule_policy;

/* When a CPU worker may take a task of a bucket that GPU workers poll too, with k GPUs and the
 * speedup s = t_CPU / t_GPU of the bucket. */
typedef enum ps_termination {
    PS_TERMINATION_NONE,    /* always                                                          */
    PS_TERMINATION_BUCKET,  /* if the bucket holds at least s k tasks (StarPU)                  */
    PS_TERMINATION_KIND,    /* if all buckets of its kind hold at least s k tasks               */
    PS_TERMINATION_TIME,    /* unless the GPUs would finish what waits of its kind before it    */
    PS_TERMINATION_BACKLOG, /* likewise, with all that GPUs poll no later than this bucket, and
                               twice the time of the task, for what waits for it               */
    PS_TERMINATION_BALANCE  /* likewise, with all that GPUs poll, and if all that only CPU workers
                               can do, and what they took beside it, takes each of them no longer
                               than the rest takes a GPU. GPU workers in turn leave a task to them
                               if by the same measure they have time for all that is left of its
                               kind, and take what waits of a kind with a larger speedup */
} ps_termination;

enum { PS_BUCKETS_MAX = 256 };

typedef struct ps_bucket {
    int kind;     /* what the tasks are; buckets of one kind are counted and calibrated together */
    int cpu, gpu; /* priorities, 0 first; -1: workers of this kind never take them          */
    double speedup; /* s; 0: from the forecasts of the tasks                                   */
} ps_bucket;

typedef struct ps_heteroprio_config {
    const ps_bucket *buckets; /* [bucket_count]; copied                                        */
    int bucket_count;
    int cpus, gpus; /* workers of each kind                                          */
    ps_schedule_policy policy;
    ps_termination termination;
    bool keep_order; /* calibration leaves the order in which GPU workers poll as it is        */
} ps_heteroprio_config;

/* A ready task; the forecasts are for one worker, s. */
typedef struct ps_ready_task {
    int64_t task; /* the caller's number, >= 0                                                */
    double cpu_seconds, gpu_seconds;
    int place; /* the GPU worker, from 0 on, that has its data or is to have them: that one takes
                  others' tasks only while there are none for it                             */
} ps_ready_task;

typedef struct ps_heteroprio ps_heteroprio;

/* PS_USAGE: no worker, or a bad number of buckets. */
ps_status ps_heteroprio_open(const ps_heteroprio_config *config, ps_heteroprio **out);
void ps_heteroprio_close(ps_heteroprio **scheduler); /* NULL is fine */

/* A task that will be pushed to this bucket, for PS_TERMINATION_BALANCE: tasks that were not
 * expected do not count there. */
void ps_heteroprio_expect(ps_heteroprio *scheduler, int bucket, const ps_ready_task *task);
/* PS_USAGE if no worker that is there takes tasks of this bucket; PS_EXHAUSTED. O(1). */
ps_status ps_heteroprio_push(ps_heteroprio *scheduler, int bucket, const ps_ready_task *task);
/* The task that a worker of this kind is to run; -1: none for now. place: of a GPU worker, 0 ..
 * gpus - 1; -1: of others. O(buckets). */
int64_t ps_heteroprio_pop(ps_heteroprio *scheduler, ps_worker_kind kind, int place);
/* The same for GPU worker `place`, of tasks for it alone that are forecast to take it [least, most)
 * seconds. */
int64_t ps_heteroprio_pop_between(ps_heteroprio *scheduler, int place, double least, double most);
/* Forecast of what waits that GPU workers poll. O(buckets). */
double ps_heteroprio_gpu_backlog(const ps_heteroprio *scheduler);
/* Whether pop would give one. */
bool ps_heteroprio_has(const ps_heteroprio *scheduler, ps_worker_kind kind);
int64_t ps_heteroprio_waiting(const ps_heteroprio *scheduler); /* tasks in all buckets */

/* A task of this bucket, forecast to take `forecast` seconds on this kind of worker, took
 * `seconds`. */
void ps_heteroprio_observe(ps_heteroprio *scheduler, int bucket, ps_worker_kind kind,
                           double forecast, double seconds);
/* Takes the observations into account: forecasts are multiplied by sum(seconds) / sum(forecast) of
 * their kind and worker, the speedups with them, and GPU workers poll the kinds in descending
 * order of speedup (within a kind and for equal ones as in the table) unless keep_order. Kinds that
 * were not observed on both sides keep their speedup. */
void ps_heteroprio_calibrate(ps_heteroprio *scheduler);
double ps_heteroprio_speedup(const ps_heteroprio *scheduler, int bucket); /* s as it is now */
/* The buckets in the order in which workers of this kind poll them: out[PS_BUCKETS_MAX]. */
int ps_heteroprio_order(const ps_heteroprio *scheduler, ps_worker_kind kind, int *out);

#endif
