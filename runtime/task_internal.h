/*
 * task_internal: what the files of the task queue share. Private to runtime/task_*.c.
 *
 * One mutex guards everything here but what is said to belong to one thread. Functions marked
 * "locked" are called with it held and return with it held; "may unlock" says that they release it
 * in between. Tasks are kept until the queue is closed.
 */
#ifndef PS_RUNTIME_TASK_INTERNAL_H
#define PS_RUNTIME_TASK_INTERNAL_H

#include <pthread.h>

#include "runtime/task_queue.h"

enum { PS_HOST_BIT = 1, PS_GPUS_MAX = 31, PS_TASK_BLOCK = 1024 };
enum { PS_LOOKAHEAD_MAX = 16, PS_HOMING_MAX = 64 };
enum { PS_SHORT_LANES = 2 }; /* the last lanes, for short tasks alone; they go first on a device */
#define PS_LONG_TASK 5e-5    /* s on a GPU: shorter ones take longer to start and to end         */

typedef enum task_state { TASK_WAITS, TASK_READY, TASK_RUNS, TASK_DONE } task_state;

typedef struct task task;
typedef struct task_edge {
    task *other;
    struct task_edge *next;
} task_edge;

struct task {
    const ps_codelet *codelet;
    ps_task_access *accesses;
    void *arguments;
    task_edge *successors, *before; /* before: only with keep_edges */
    int access_count, before_count;
    int place;   /* ps_ready_task */
    int pending; /* predecessors that are not done                               */
    task_state state;
    int64_t number; /* by insertion                                                 */
    int64_t stamp;  /* the last task that was given an edge from this one           */
    ps_task_record record;
};

/* ---- memory of a device (task_arena.c) ---- */

typedef struct arena_block {
    int64_t offset, bytes;
    bool used;
    struct arena_block *lower, *upper; /* neighbours by address */
} arena_block;

typedef struct task_arena {
    arena_block *first;
    int64_t bytes;
} task_arena;

ps_status task_arena_open(task_arena *arena, int64_t bytes);
void task_arena_close(task_arena *arena);
/* The first free piece that is large enough, cut to size; *out is NULL if there is none. */
ps_status task_arena_take(task_arena *arena, int64_t bytes, arena_block **out);
void task_arena_give(arena_block *block); /* joins free neighbours */

/* ---- data (task_data.c) ---- */

/* A copy in the memory of one device. */
typedef struct device_copy {
    ps_task_data *data;
    arena_block *block; /* NULL: none                                                          */
    int pins;           /* tasks under way, and transfers, that use it                          */
    bool present;       /* holds the data, once all that the upload stream has been given is done */
    struct device_copy *older, *newer; /* by last use, of those with a block                   */
} device_copy;

struct ps_task_data {
    char *host;
    int64_t bytes;
    uint32_t valid;      /* PS_HOST_BIT, and 2 << g: device g, for all to read                 */
    bool busy;           /* someone brings it home                                              */
    device_copy *copies; /* [gpus]                                                             */
    task *writer;        /* the last one inserted                                              */
    task **readers;      /* those inserted since                                               */
    int64_t reader_count, reader_capacity;
    ps_task_data *next, *last; /* in the queue's list */
};

typedef struct device_worker device_worker;

struct ps_task_queue {
    pthread_mutex_t lock;
    pthread_cond_t wake[PS_WORKER_KINDS]; /* workers without a task                          */
    pthread_cond_t changed;               /* who waits for all tasks; data that came home     */
    ps_heteroprio *scheduler;
    ps_bucket buckets[PS_BUCKETS_MAX];
    int bucket_count, cpus, gpus, lookahead;
    bool calibrate, keep_edges, closing;
    int watchers;  /* threads that want to know of every task that is done */
    double opened; /* ps_clock */
    /* tasks */
    task **blocks;
    int64_t block_capacity, block_count, count, done, active, taken, since_calibration;
    char *pool; /* for edges, accesses, arguments; each block begins with the one before */
    int64_t pool_used, pool_bytes;
    ps_task_data *data;
    /* a fixed mapping: mapped[w][0 .. mapped_count[w]) are worker w's tasks, in order */
    int64_t **mapped, *mapped_count, *mapped_next;
    int64_t mapping_count;
    /* tasks that no device has room for: a ring of numbers for CPU workers */
    int64_t *host_only;
    int64_t host_only_count, host_only_next, host_only_capacity;
    /* workers */
    int *cores,
        core_count; /* all that the process has, GPU workers' last; 0: workers go anywhere */
    pthread_t *threads;
    int up;                                      /* workers that have begun */
    int thread_count, sleeping[PS_WORKER_KINDS]; /* workers without a task, of them       */
    int looking[PS_WORKER_KINDS]; /* those that look for a token before they wait for a signal */
    int tokens[PS_WORKER_KINDS];  /* atomic: for one of these each; at most as many           */
    double patience;              /* s for which they look; 0: not at all                     */
    device_worker *devices;       /* [gpus] */
    ps_status failure;
    char message[1024];
    ps_task_queue_figures figures;
};

/* Links a new task to those it must wait for, and registers it with its data. Locked. */
ps_status task_link(ps_task_queue *queue, task *t);
/* Makes the host's copy valid. Locked, may unlock. */
ps_status task_bring_home(ps_task_queue *queue, ps_task_data *data);
/* Before a task, with what it reads where it is wanted: no transfer of what it writes is under
 * way, and what it will overwrite whole is valid nowhere, so that none begins. Locked, may
 * unlock. */
void task_claim(ps_task_queue *queue, task *t);
/* After a task: what it wrote is valid in `place` alone (a mask). Locked. */
void task_written(ps_task_queue *queue, task *t, uint32_t place);
void task_data_free(ps_task_queue *queue, ps_task_data *data); /* locked, or alone */
/* Gives the memory of a copy back and takes it off the list of its device. Locked. */
void task_copy_drop(device_worker *device, device_copy *copy);

/* ---- tasks and workers (task_queue.c, task_worker.c) ---- */

/* The lock is held for a microsecond or so: with a core for each worker, who waits tries again
 * before it sleeps. */
void task_lock(ps_task_queue *queue);
void task_unlock(ps_task_queue *queue);

task *task_of(const ps_task_queue *queue, int64_t number);
/* `bytes` that live as long as the queue. Locked. */
ps_status task_pool_take(ps_task_queue *queue, int64_t bytes, void **out);
ps_ready_task task_forecast(const task *t); /* as the scheduler wants it */
/* All that a task waited for is done. Locked. */
ps_status task_make_ready(ps_task_queue *queue, task *t);
/* What a worker asks for: a GPU worker for a short task alone, or for a long one, whatever its
 * priority, if there is one for it (PS_LONG_TASK). */
typedef enum task_wish { TASK_NONE, TASK_ANY, TASK_RATHER_LONG, TASK_SHORT } task_wish;
/* The task that worker w is to run now; NULL: none. Locked. */
task *task_take(ps_task_queue *queue, int worker, task_wish wish);
/* Wakes a worker of each kind if there is something for it; that one wakes the next. Locked. */
void task_wake(ps_task_queue *queue);
void task_wake_all(ps_task_queue *queue, int kind); /* locked */
/* Waits to be woken: looks out for a while, as a signal takes longer than many a task, then sleeps.
 * Locked, unlocks in between. */
void task_sleep(ps_task_queue *queue, ps_worker_kind kind);
/* Keeps the first failure, with the task's name (t may be NULL). Locked. */
void task_fail(ps_task_queue *queue, const task *t, ps_status status);
/* A task has run, or failed: its records, successors, data (valid in `place`). Locked. */
void task_finish(ps_task_queue *queue, task *t, ps_status status, uint32_t place);

/* The thread of a worker is up, on its core, if it has one. Returns locked. */
void task_begin(ps_task_queue *queue, int worker);
void *task_cpu_worker(void *worker);    /* argument: worker_start, freed by the thread */
void *task_device_worker(void *worker); /* likewise */
typedef struct worker_start {
    ps_task_queue *queue;
    int worker;
} worker_start;

/* ---- devices (task_device.c, task_land.c, task_device_open.c) ---- */

typedef struct task_flight {
    task *t;
    void **pointers; /* [capacity] device memory of each access                               */
    bool *home;      /* [capacity] accesses whose results go home at once                     */
    bool *goes_up;   /* [capacity] accesses whose data are copied up before the task          */
    int capacity, lane;
    bool any_home;
    double taken, bytes; /* s; moved                                                          */
    ps_event *uploaded, *started, *ended, *done;
} task_flight;

struct device_worker {
    ps_device *device;
    int number;                                          /* g */
    ps_stream *upload, *download, *lanes[PS_TASK_LANES]; /* the worker's own                    */
    ps_stream *fetch; /* of whoever brings data home, one at a time       */
    pthread_mutex_t fetching;
    void *memory;
    task_arena arena;
    device_copy *oldest, *newest;
    ps_event *base;
    double base_clock, last_end;
    task_flight flights[PS_LOOKAHEAD_MAX]; /* the worker's own: a ring of those under way       */
    int first, count;
    task_flight homing[PS_HOMING_MAX]; /* likewise: of those that have run, whose results are yet
                                          to be home                                           */
    int homing_first, homing_count;
};

ps_status task_device_open(ps_task_queue *queue, int number, ps_device *device, int64_t bytes);
void task_device_close(device_worker *device);
/* Of the tasks under way, 0 the oldest. */
task_flight *task_flight_of(const ps_task_queue *queue, device_worker *device, int number);
bool task_is_short(const task *t); /* by its forecast; not where that is unknown */
/* The first so many accesses of a task no longer use their copies. Locked. */
void task_unpin(device_worker *device, task *t, int accesses);
/* Waits for the oldest task under way, a short one or one whose results go home, whichever is done
 * first, and finishes it; the second one only for results. Locked, unlock in between. */
void task_land(ps_task_queue *queue, device_worker *device);
void task_land_home(ps_task_queue *queue, device_worker *device);
/* Where a copy that has a block is. */
void *task_copy_address(const device_worker *device, const device_copy *copy);
/* Device memory -> host memory, at once. Not locked. */
ps_status task_device_fetch(device_worker *device, ps_task_data *data);

#endif
