/*
 * schedule_simulate: the course of a run without running it. Discrete events over tasks with
 * known times and dependencies, scheduled by the very code of runtime/heteroprio; moving data
 * costs nothing.
 */
#ifndef PS_RUNTIME_SCHEDULE_SIMULATE_H
#define PS_RUNTIME_SCHEDULE_SIMULATE_H

#include "runtime/heteroprio.h"
#include "runtime/schedule_bound.h"

typedef struct ps_schedule_problem {
    ps_task_times times;
    const int *buckets;    /* [count] of the scheduler's table                                */
    const int64_t *first;  /* [count + 1] NULL: no dependencies                               */
    const int64_t *before; /* before[first[t] .. first[t + 1]): what t waits for, all < t      */
} ps_schedule_problem;

/* What became of a task. Workers are numbered CPU workers first. */
typedef struct ps_schedule_slot {
    int worker;
    int64_t order;            /* of all tasks by the time they were taken, from 0             */
    double ready, start, end; /* s                                                            */
} ps_schedule_slot;

/* Fills slots[count] and the makespan (s). At equal times GPU workers poll first. Workers and
 * times of problem->times are used; cpus and gpus of `config` must be the same. PS_USAGE: they are
 * not, or a task that its worker has no code for; PS_INVALID: before[] does not precede;
 * PS_FAILED: a task finds no taker. O((n + edges) log n). */
ps_status ps_schedule_simulate(const ps_schedule_problem *problem,
                               const ps_heteroprio_config *config, ps_schedule_slot *slots,
                               double *makespan);

#endif
