/* Taking, running and finishing tasks; CPU workers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/task_internal.h"

enum { CALIBRATE_EVERY = 32 };

/* ---- what is to be run ---- */

ps_ready_task task_forecast(const task *t)
{
    return (ps_ready_task){t->number, t->record.cpu_seconds, t->record.gpu_seconds, t->place};
}

ps_status task_make_ready(ps_task_queue *queue, task *t)
{
    t->state = TASK_READY;
    t->record.ready = ps_clock() - queue->opened;
    if (queue->mapped) return PS_OK;
    ps_ready_task ready = task_forecast(t);
    return ps_heteroprio_push(queue->scheduler, t->record.bucket, &ready);
}

static ps_worker_kind kind_of(const ps_task_queue *queue, int worker)
{
    return worker < queue->cpus ? PS_WORKER_CPU : PS_WORKER_GPU;
}

/* The next task of a fixed mapping, once it is ready. */
static int64_t next_mapped(const ps_task_queue *queue, int worker)
{
    int64_t at = queue->mapped_next[worker];
    if (at == queue->mapped_count[worker]) return -1;
    int64_t number = queue->mapped[worker][at];
    return number < queue->count && task_of(queue, number)->state == TASK_READY ? number : -1;
}

static int64_t next_of_gpu(ps_task_queue *queue, int place, task_wish wish)
{
    ps_heteroprio *h = queue->scheduler;
    int64_t number = -1;
    if (wish == TASK_SHORT) return ps_heteroprio_pop_between(h, place, 0, PS_LONG_TASK);
    if (wish == TASK_RATHER_LONG)
        number = ps_heteroprio_pop_between(h, place, PS_LONG_TASK, INFINITY);
    return number >= 0 ? number : ps_heteroprio_pop(h, PS_WORKER_GPU, place);
}

static int64_t next_number(ps_task_queue *queue, int worker, task_wish wish)
{
    ps_worker_kind kind = kind_of(queue, worker);
    if (kind == PS_WORKER_CPU && queue->host_only_next < queue->host_only_count)
        return queue->host_only[queue->host_only_next++];
    if (!queue->mapped && kind == PS_WORKER_GPU)
        return next_of_gpu(queue, worker - queue->cpus, wish);
    if (!queue->mapped) return ps_heteroprio_pop(queue->scheduler, kind, -1);
    int64_t number = next_mapped(queue, worker);
    if (number >= 0) ++queue->mapped_next[worker];
    return number;
}

task *task_take(ps_task_queue *queue, int worker, task_wish wish)
{
    if (queue->failure != PS_OK || queue->closing || wish == TASK_NONE) return NULL;
    int64_t number = next_number(queue, worker, wish);
    if (number < 0) return NULL;
    task *t = task_of(queue, number);
    t->state = TASK_RUNS;
    t->record.worker = worker;
    t->record.order = queue->taken++;
    ++queue->active;
    task_wake(queue);
    return t;
}

static void rest_a_moment(void)
{
#if defined(__x86_64__)
    for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
#endif
}

void task_lock(ps_task_queue *queue)
{
    enum { TRIES = 200 };
    for (int i = 0; queue->patience > 0 && i < TRIES; ++i, rest_a_moment())
        if (pthread_mutex_trylock(&queue->lock) == 0) return;
    pthread_mutex_lock(&queue->lock);
}

void task_unlock(ps_task_queue *queue) { pthread_mutex_unlock(&queue->lock); }

/* Who looks out gets a token; a signal is for those who sleep. Locked, as all that gives tokens. */
static void wake_one(ps_task_queue *queue, int kind)
{
    if (__atomic_load_n(&queue->tokens[kind], __ATOMIC_RELAXED) < queue->looking[kind])
        __atomic_add_fetch(&queue->tokens[kind], 1, __ATOMIC_RELAXED);
    else
        pthread_cond_signal(&queue->wake[kind]);
}

void task_wake_all(ps_task_queue *queue, int kind)
{
    __atomic_store_n(&queue->tokens[kind], queue->looking[kind], __ATOMIC_RELAXED);
    pthread_cond_broadcast(&queue->wake[kind]);
}

void task_wake(ps_task_queue *queue)
{
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) {
        if (queue->sleeping[kind] == 0) continue;
        if (queue->mapped) /* only one of them has the task: all look */
            task_wake_all(queue, kind);
        else if (ps_heteroprio_has(queue->scheduler, kind) ||
                 (kind == PS_WORKER_CPU && queue->host_only_next < queue->host_only_count))
            wake_one(queue, kind);
    }
}

/* Takes a token if there is one. */
static bool take_token(ps_task_queue *queue, ps_worker_kind kind)
{
    int left = __atomic_load_n(&queue->tokens[kind], __ATOMIC_RELAXED);
    while (left > 0)
        if (__atomic_compare_exchange_n(&queue->tokens[kind], &left, left - 1, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Looks for a token. A token that was meant for this worker is not left behind. Locked, unlocks in
 * between. */
static bool look_out(ps_task_queue *queue, ps_worker_kind kind)
{
    bool found = false;
    ++queue->looking[kind];
    task_unlock(queue);
    for (double end = ps_clock() + queue->patience; !found && ps_clock() < end; rest_a_moment())
        found = take_token(queue, kind);
    task_lock(queue);
    --queue->looking[kind];
    bool left = __atomic_load_n(&queue->tokens[kind], __ATOMIC_RELAXED) > queue->looking[kind];
    return found || (left && take_token(queue, kind));
}

void task_sleep(ps_task_queue *queue, ps_worker_kind kind)
{
    ++queue->sleeping[kind];
    /* whoever has a token may have taken another's, which a mapping does not allow */
    bool woken = queue->patience > 0 && !queue->mapped && look_out(queue, kind);
    if (!woken && !queue->closing) pthread_cond_wait(&queue->wake[kind], &queue->lock);
    --queue->sleeping[kind];
}

/* ---- afterwards ---- */

void task_fail(ps_task_queue *queue, const task *t, ps_status status)
{
    if (queue->failure != PS_OK) return;
    queue->failure = status;
    if (t)
        snprintf(queue->message, sizeof queue->message, "task %lld (%s, level %d, group %lld): %s",
                 (long long)t->number, t->codelet->name, t->record.level,
                 (long long)t->record.group, ps_message());
    else
        snprintf(queue->message, sizeof queue->message, "%s", ps_message());
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) task_wake_all(queue, kind);
    pthread_cond_broadcast(&queue->changed);
}

static void observe(ps_task_queue *queue, const task *t)
{
    const ps_task_record *r = &t->record;
    ps_worker_kind kind = kind_of(queue, r->worker);
    if (!queue->calibrate) return;
    ps_heteroprio_observe(queue->scheduler, r->bucket, kind,
                          kind == PS_WORKER_GPU ? r->gpu_seconds : r->cpu_seconds,
                          r->end - r->start);
    if (++queue->since_calibration < CALIBRATE_EVERY) return;
    queue->since_calibration = 0;
    ps_heteroprio_calibrate(queue->scheduler);
}

void task_finish(ps_task_queue *queue, task *t, ps_status status, uint32_t place)
{
    t->state = TASK_DONE;
    ++queue->done;
    --queue->active;
    if (status == PS_OK) {
        task_written(queue, t, place);
        observe(queue, t);
    }
    for (task_edge *e = t->successors; e && status == PS_OK; e = e->next)
        if (--e->other->pending == 0) status = task_make_ready(queue, e->other);
    if (status != PS_OK) task_fail(queue, t, status);
    if (queue->done == queue->count || queue->failure != PS_OK || queue->watchers)
        pthread_cond_broadcast(&queue->changed);
    if (queue->done < queue->count && queue->failure == PS_OK) task_wake(queue);
}

/* ---- CPU workers ---- */

typedef struct cpu_room {
    void **pointers;
    int64_t capacity;
} cpu_room;

/* Makes the host's copies of what t reads valid. Locked, may unlock. */
static ps_status bring_inputs(ps_task_queue *queue, task *t)
{
    for (int a = 0; a < t->access_count && queue->gpus; ++a) {
        ps_task_data *data = t->accesses[a].data;
        if (!(t->accesses[a].mode & PS_READ) || (data->valid & PS_HOST_BIT)) continue;
        t->record.bytes += (double)data->bytes;
        PS_TRY(task_bring_home(queue, data));
    }
    task_claim(queue, t);
    return PS_OK;
}

static ps_status run_task(ps_task_queue *queue, task *t, cpu_room *room)
{
    PS_TRY(ps_grow((void **)&room->pointers, &room->capacity, t->access_count + 1,
                   sizeof *room->pointers, "the data of a task"));
    for (int a = 0; a < t->access_count; ++a) room->pointers[a] = t->accesses[a].data->host;
    ps_task_call call = {
        .data = room->pointers, .arguments = t->arguments, .worker = t->record.worker};
    return t->codelet->cpu(&call);
}

static void run_locked(ps_task_queue *queue, task *t, cpu_room *room)
{
    double taken = ps_clock(), start = taken;
    ps_status status = bring_inputs(queue, t);
    task_unlock(queue);
    if (t->record.bytes > 0) start = ps_clock();
    if (status == PS_OK) status = run_task(queue, t, room);
    double end = ps_clock();
    task_lock(queue);
    t->record.start = start - queue->opened;
    t->record.end = end - queue->opened;
    t->record.waited = start - taken;
    task_finish(queue, t, status, PS_HOST_BIT);
}

void *task_cpu_worker(void *argument)
{
    worker_start start = *(worker_start *)argument;
    ps_task_queue *queue = start.queue;
    cpu_room room = {0};
    free(argument);
    task_begin(queue, start.worker);
    while (!queue->closing) {
        task *t = task_take(queue, start.worker, TASK_ANY);
        if (t)
            run_locked(queue, t, &room);
        else
            task_sleep(queue, PS_WORKER_CPU);
    }
    task_unlock(queue);
    free(room.pointers);
    return NULL;
}
