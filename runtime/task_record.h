/*
 * task_record: what became of a task. Filled by the task queue, kept by formats/task_trace.
 */
#ifndef PS_RUNTIME_TASK_RECORD_H
#define PS_RUNTIME_TASK_RECORD_H

#include <stdint.h>

typedef struct ps_task_record {
    int kind, level, bucket;  /* the family's numbers; level -1: none                          */
    int worker;               /* CPU workers from 0 on, then GPU workers                       */
    int64_t group;            /* -1: none                                                      */
    int64_t order;            /* of all tasks by the time they were taken, from 0              */
    double ready, start, end; /* s since the queue was opened                                 */
    double waited;            /* s right before start in which its worker waited for its data  */
    double bytes;             /* moved between memories for it                                 */
    double flop;
    double cpu_seconds, gpu_seconds; /* forecasts for one worker; INFINITY: no code           */
} ps_task_record;

#endif
