/*
 * task_queue: sequential task flow on CPU and GPU workers.
 *
 * The caller registers data and inserts tasks in an order in which they could be run one after
 * the other, each with how it accesses which data. A task waits for the last one before it that
 * writes what it accesses, and one that writes waits for those that read (RAW, WAR, WAW). Ready
 * tasks go to runtime/heteroprio. CPU workers are threads; a GPU worker is a thread with the
 * streams of one device (a CPU device will do) that keeps a few tasks under way, side by side: it
 * moves inputs ahead, and results home at once where a task that GPU workers do not take is known
 * to want them. The queue knows which memories hold a valid copy of what; copies in a device's
 * memory are dropped, the least recently used first, when its budget is full, dirty ones going home
 * first.
 *
 * Thread-safe: tasks may be inserted from several threads, and from tasks. The order of insertion
 * is the order meant above.
 */
#ifndef PS_RUNTIME_TASK_QUEUE_H
#define PS_RUNTIME_TASK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/device.h"
#include "runtime/heteroprio.h"
#include "runtime/task_record.h"

enum { PS_TASK_LANES = 8 }; /* streams of a GPU worker on which tasks run side by side */

typedef struct ps_task_queue ps_task_queue;
typedef struct ps_task_data ps_task_data; /* a registered piece of memory */

typedef enum ps_access_mode { PS_READ = 1, PS_WRITE = 2, PS_READ_WRITE = 3 } ps_access_mode;

typedef struct ps_task_access {
    ps_task_data *data;
    ps_access_mode mode; /* PS_WRITE: all of it is written, what was there is lost */
} ps_task_access;

/* What a codelet's functions get. All pointers are borrowed until they return. */
typedef struct ps_task_call {
    void *const *data;     /* one for each access: host memory, or device memory for gpu()    */
    const void *arguments; /* a copy of the task's, 16-byte aligned; always in host memory    */
    int worker;            /* CPU workers from 0 on, then GPU workers                         */
    int lane;              /* gpu(): which of the worker's PS_TASK_LANES streams this is: tasks of
                              one lane run one after the other                                */
    ps_stream *stream;     /* gpu(): enqueue here and return; NULL for cpu()                  */
} ps_task_call;

/* cpu() returns when the work is done. gpu() enqueues it on call->stream without waiting. Either
 * may be NULL. A failure, with its message, ends the run. */
typedef struct ps_codelet {
    const char *name;
    int kind; /* the family's number, for records */
    ps_status (*cpu)(const ps_task_call *call);
    ps_status (*gpu)(const ps_task_call *call);
} ps_codelet;

typedef struct ps_task_spec {
    const ps_codelet *codelet; /* outlives the queue                                          */
    int bucket;                /* of the scheduler's table                                    */
    int place;                 /* the GPU worker that is to have it rather than another       */
    int level;                 /* for records and messages, as is group                       */
    int64_t group;
    double cpu_seconds, gpu_seconds, flop; /* forecasts for one worker; 0: unknown            */
    const ps_task_access *accesses; /* copied, as are the arguments                           */
    int access_count;
    const void *arguments;
    int64_t argument_bytes;
} ps_task_spec;

/* A fixed mapping, taken from the records of an earlier run of the same tasks. */
typedef struct ps_task_mapping {
    int64_t count;
    const ps_task_record *records; /* [count] by insertion; worker and order are used         */
} ps_task_mapping;

typedef struct ps_task_queue_config {
    ps_heteroprio_config scheduling; /* its cpus and gpus are the workers                     */
    ps_device *const *devices;       /* [gpus] borrowed, one a GPU worker                      */
    int64_t device_memory; /* bytes for copies on each device, taken at once                   */
    int lookahead;         /* tasks under way on a GPU worker at most, of long ones more than 3
                              while they take less than 3 to 6 ms together; 0: 16              */
    bool calibrate;        /* ps_heteroprio_calibrate now and then                             */
    bool keep_edges;       /* for ps_task_queue_edges                                          */
    bool own_cores;        /* if there is a core for each worker, and few more, each stays on its
                              own, and the thread that opens the queue off those of GPU workers,
                              until it closes it: a thread that drives a GPU is missed at once   */
    const ps_task_mapping *mapping; /* NULL: the scheduler decides. Each worker then runs the
                                       tasks of its records in their order: equal mapping, equal
                                       order on each worker, so equal bits                     */
} ps_task_queue_config;

/* Starts the workers. Everything in config except devices may go away. */
ps_status ps_task_queue_open(const ps_task_queue_config *config, ps_task_queue **out);
/* Ends the workers; tasks that have not begun are dropped. NULL is fine. */
void ps_task_queue_close(ps_task_queue **queue);

/* `host` (borrowed; pinned, where the copies are to overlap) holds the valid copy. It is the
 * queue's to read and write until the queue is closed or the data released. */
ps_status ps_task_data_register(ps_task_queue *queue, void *host, int64_t bytes,
                                ps_task_data **out);
/* Makes the host's copy valid. PS_USAGE while tasks that write it are not done. */
ps_status ps_task_data_fetch(ps_task_queue *queue, ps_task_data *data);
/* Forgets the data, copies in device memory unsaved; *data becomes NULL. PS_USAGE while tasks that
 * access it are not done. */
ps_status ps_task_data_release(ps_task_queue *queue, ps_task_data **data);

/* Inserts a task. PS_USAGE: no worker may take it, or one may that it has no code for; after a
 * failure that failure. */
ps_status ps_task_insert(ps_task_queue *queue, const ps_task_spec *spec);

/* Waits until all tasks inserted so far are done, or the run has failed: then the failure's code
 * and message, with the task's name, level and group, also from later calls. Data stay
 * where they are (ps_task_data_fetch). More tasks may follow. */
ps_status ps_task_queue_wait(ps_task_queue *queue);

/* Waits until other than *done tasks are done (start with -1 to learn the number), or all that were
 * inserted are, and sets it. After a failure that failure. For callers that insert a few tasks at a
 * time, as room allows. */
ps_status ps_task_queue_progress(ps_task_queue *queue, int64_t *done);

/* Waits until all tasks inserted so far are done, or for so many seconds, and sets *done. After a
 * failure that failure. Unlike ps_task_queue_progress it costs the workers nothing. */
ps_status ps_task_queue_watch(ps_task_queue *queue, double seconds, int64_t *done);

int64_t ps_task_queue_count(ps_task_queue *queue); /* tasks inserted so far */
/* The records of all tasks by insertion, after a wait: out[count]. */
void ps_task_queue_records(ps_task_queue *queue, ps_task_record *out);
/* What each task waited for, with keep_edges, after a wait: task t for
 * (*before)[(*first)[t] .. (*first)[t + 1]), ascending. Both arrays become the caller's to
 * free(). */
ps_status ps_task_queue_edges(ps_task_queue *queue, int64_t **first, int64_t **before);

/* Sums over the run so far, after a wait. */
typedef struct ps_task_queue_figures {
    int64_t to_device_bytes, to_host_bytes, evictions;
} ps_task_queue_figures;
ps_task_queue_figures ps_task_queue_measure(ps_task_queue *queue);

#endif
