/*
 * schedule_bound: no schedule of these tasks is shorter than this (fmm guide 3; Agullo et al.,
 * RR-8513, equations 8 and 9).
 *
 * Task w takes a_w seconds on a CPU worker and b_w on a GPU worker, INFINITY where there is no
 * code. The bound is the optimum T of the linear program: fractions of each task sum to 1, the load
 * of each of m CPU and k GPU workers is at most T; no dependencies, tasks may be cut. With measured
 * times it is the paper's LP, with flop over the best rate of the kernel its LP~.
 *
 * For two classes the optimum is found by sorting: tasks in descending a/b go to the GPUs until
 * (CPU sum)/m = (GPU sum)/k, one task is cut there. Its certificate are lambda, mu >= 0 with
 * m lambda + k mu = 1: sum_w min(lambda a_w, mu b_w) = T, and is at most the optimum for any such
 * pair, so that nobody need trust the search.
 */
#ifndef PS_RUNTIME_SCHEDULE_BOUND_H
#define PS_RUNTIME_SCHEDULE_BOUND_H

#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_task_times {
    int64_t count;
    const double *cpu, *gpu; /* [count] s, or INFINITY */
    int cpus, gpus;          /* m and k                */
} ps_task_times;

typedef struct ps_schedule_bound {
    double seconds;    /* T                                                                   */
    double lambda, mu; /* the certificate; mu is 0 without GPUs, lambda without CPU workers    */
    double cpu_load, gpu_load; /* seconds of all tasks on each class in the optimum, one cut   */
} ps_schedule_bound;

/* PS_INVALID: a time that is negative or NaN, or a task that no worker here has code for;
 * PS_USAGE: no workers. O(n log n); allocates 8 bytes a task. */
ps_status ps_schedule_bound_find(const ps_task_times *times, ps_schedule_bound *out);

/* sum_w min(lambda a_w, mu b_w): a lower bound of every schedule if m lambda + k mu = 1. A class
 * without workers counts as one without code. */
double ps_schedule_bound_value(const ps_task_times *times, double lambda, double mu);

/* The checker: the certificate is feasible and its value is T, and the loads of the optimum fit
 * in T, all to 1e-10 relative. PS_FAILED and which of these does not hold. */
ps_status ps_schedule_bound_check(const ps_task_times *times, const ps_schedule_bound *bound);

#endif
