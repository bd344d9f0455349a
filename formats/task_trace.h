/*
 * task_trace: what became of every task of a run, "penstock-task-trace" (specs/task_trace.md).
 * For all families that use the task queue.
 */
#ifndef PS_FORMATS_TASK_TRACE_H
#define PS_FORMATS_TASK_TRACE_H

#include "formats/store.h"
#include "runtime/schedule_bound.h"
#include "runtime/task_record.h"

enum { PS_TASK_KINDS_MAX = 32, PS_TASK_KIND_NAME_MAX = 32 };

typedef struct ps_task_kind {
    char name[PS_TASK_KIND_NAME_MAX];
    int64_t colour;            /* 0xRRGGBB in pictures                                        */
    double cpu_rate, gpu_rate; /* flop/s of the kernel at its best on one worker; 0: unknown  */
} ps_task_kind;

typedef struct ps_task_trace {
    char run[40]; /* uuid, or "" */
    int cpus, gpus, kind_count;
    ps_task_kind kinds[PS_TASK_KINDS_MAX];
    int64_t count;
    ps_task_record *records; /* [count] by insertion                                         */
    int64_t *first, *before; /* [count + 1], [first[count]]; NULL: not known                 */
} ps_task_trace;

void ps_task_trace_release(ps_task_trace *trace); /* frees records, first, before */

/* Writes and commits the trace at `path`. */
ps_status ps_task_trace_save(const char *path, const ps_task_trace *trace,
                             const ps_store_identity *identity);
/* PS_INVALID, naming file and reason, for what is no sound trace. Release it also then. */
ps_status ps_task_trace_load(const char *path, ps_task_trace *out);
/* The same from an open store, which the caller keeps. */
ps_status ps_task_trace_read(ps_store *store, ps_task_trace *out);

/* Times of all tasks on both classes for a bound (the page says how): cpu[count], gpu[count],
 * INFINITY where there is no code. best: for LP~, otherwise for LP. */
void ps_task_trace_times(const ps_task_trace *trace, bool best, double *cpu, double *gpu);

typedef struct ps_task_summary {
    double begin, makespan; /* s: first ready, and from there to the last end                  */
    ps_schedule_bound lp, lp_best; /* LP and LP~ */
} ps_task_summary;
ps_status ps_task_trace_summarise(const ps_task_trace *trace, ps_task_summary *out);

/* Of one worker. Overhead is the time from when it was free and its next task ready until it took
 * that task; not for a CPU worker with a task that has GPU code, which it may have had to leave.
 * Idle is what is left of the makespan. */
typedef struct ps_worker_times {
    int64_t tasks;
    double busy, waited, overhead, idle, bytes; /* s, s, s, s, B */
} ps_worker_times;
/* out[cpus + gpus]. */
ps_status ps_task_trace_workers(const ps_task_trace *trace, const ps_task_summary *summary,
                                ps_worker_times *out);

/* Could it have been? No task of a worker before the former one ended, none before those it waited
 * for, the bound's certificate holds and LP is not above the makespan. PS_INVALID and which is
 * violated by which task. */
ps_status ps_task_trace_verify(const ps_task_trace *trace);

#endif
