#include "runtime/task_queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/task_internal.h"

enum { POOL_BYTES = 1 << 18 };
static const double PATIENCE = 5e-4; /* s */

/* ---- tasks and their memory ---- */

task *task_of(const ps_task_queue *queue, int64_t number)
{
    return &queue->blocks[number / PS_TASK_BLOCK][number % PS_TASK_BLOCK];
}

/* The pool is a chain of blocks; what does not fit a whole one gets its own. */
ps_status task_pool_take(ps_task_queue *queue, int64_t bytes, void **out)
{
    int64_t head = 64, size = (bytes + 15) / 16 * 16;
    if (!queue->pool || queue->pool_used + size > queue->pool_bytes) {
        char *block;
        int64_t whole = head + size > POOL_BYTES ? head + size : POOL_BYTES;
        PS_TRY(ps_alloc_untouched((void **)&block, whole, "tasks"));
        *(char **)block = queue->pool;
        queue->pool = block;
        queue->pool_used = head;
        queue->pool_bytes = whole;
    }
    *out = queue->pool + queue->pool_used;
    queue->pool_used += size;
    return PS_OK;
}

static ps_status new_task(ps_task_queue *queue, task **out)
{
    int64_t number = queue->count, block = number / PS_TASK_BLOCK;
    if (number % PS_TASK_BLOCK == 0) {
        PS_TRY(ps_grow((void **)&queue->blocks, &queue->block_capacity, block + 1,
                       sizeof *queue->blocks, "tasks"));
        PS_TRY(PS_ALLOC(&queue->blocks[block], PS_TASK_BLOCK, "tasks"));
        queue->block_count = block + 1;
    }
    *out = task_of(queue, number);
    (*out)->number = number;
    (*out)->stamp = -1;
    return PS_OK;
}

/* ---- insertion ---- */

static ps_status check_spec(const ps_task_queue *queue, const ps_task_spec *spec)
{
    const ps_codelet *code = spec->codelet;
    if (spec->bucket < 0 || spec->bucket >= queue->bucket_count)
        return ps_fail(PS_USAGE, "%s: bucket %d of %d", code->name, spec->bucket,
                       queue->bucket_count);
    const ps_bucket *bucket = &queue->buckets[spec->bucket];
    bool cpu = queue->cpus && bucket->cpu >= 0, gpu = queue->gpus && bucket->gpu >= 0;
    if (!cpu && !gpu)
        return ps_fail(PS_USAGE, "%s: no worker here takes tasks of bucket %d", code->name,
                       spec->bucket);
    if ((cpu && !code->cpu) || (gpu && !code->gpu))
        return ps_fail(PS_USAGE, "%s has no code for %s workers, which may take it from bucket %d",
                       code->name, cpu && !code->cpu ? "CPU" : "GPU", spec->bucket);
    if (queue->mapped && queue->count >= queue->mapping_count)
        return ps_fail(PS_USAGE, "%s: the mapping is one of %lld tasks", code->name,
                       (long long)queue->mapping_count);
    return PS_OK;
}

static void fill_record(const ps_task_queue *queue, const ps_task_spec *spec,
                        ps_task_record *record)
{
    const ps_bucket *bucket = &queue->buckets[spec->bucket];
    bool cpu = spec->codelet->cpu && bucket->cpu >= 0, gpu = spec->codelet->gpu && bucket->gpu >= 0;
    *record = (ps_task_record){.kind = spec->codelet->kind,
                               .level = spec->level,
                               .bucket = spec->bucket,
                               .worker = -1,
                               .group = spec->group,
                               .order = -1,
                               .flop = spec->flop,
                               .cpu_seconds = cpu ? spec->cpu_seconds : INFINITY,
                               .gpu_seconds = gpu ? spec->gpu_seconds : INFINITY};
}

static ps_status copy_spec(ps_task_queue *queue, const ps_task_spec *spec, task *t)
{
    int64_t bytes = spec->access_count * (int64_t)sizeof *t->accesses;
    int64_t room = (bytes + 15) / 16 * 16;
    char *memory;
    PS_TRY(task_pool_take(queue, room + spec->argument_bytes, (void **)&memory));
    t->codelet = spec->codelet;
    t->place = spec->place;
    t->accesses = (ps_task_access *)memory;
    t->access_count = spec->access_count;
    t->arguments = memory + room;
    if (bytes) memcpy(memory, spec->accesses, (size_t)bytes);
    if (spec->argument_bytes) memcpy(t->arguments, spec->arguments, (size_t)spec->argument_bytes);
    fill_record(queue, spec, &t->record);
    return PS_OK;
}

static ps_status insert(ps_task_queue *queue, const ps_task_spec *spec)
{
    task *t;
    PS_TRY(new_task(queue, &t));
    PS_TRY(copy_spec(queue, spec, t));
    PS_TRY(task_link(queue, t));
    ++queue->count;
    ps_ready_task ready = task_forecast(t);
    ps_heteroprio_expect(queue->scheduler, t->record.bucket, &ready);
    if (t->pending) return PS_OK;
    PS_TRY(task_make_ready(queue, t));
    task_wake(queue);
    return PS_OK;
}

ps_status ps_task_insert(ps_task_queue *queue, const ps_task_spec *spec)
{
    task_lock(queue);
    ps_status status;
    if (queue->failure != PS_OK) {
        status = ps_fail(queue->failure, "%s", queue->message);
    } else {
        status = check_spec(queue, spec);
        if (status == PS_OK) {
            status = insert(queue, spec);
            if (status != PS_OK) task_fail(queue, NULL, status); /* it may be half linked */
        }
    }
    task_unlock(queue);
    return status;
}

ps_status ps_task_queue_wait(ps_task_queue *queue)
{
    task_lock(queue);
    while (queue->failure == PS_OK ? queue->done < queue->count : queue->active > 0)
        pthread_cond_wait(&queue->changed, &queue->lock);
    ps_status status = queue->failure;
    if (status != PS_OK) ps_fail(status, "%s", queue->message);
    task_unlock(queue);
    return status;
}

ps_status ps_task_queue_watch(ps_task_queue *queue, double seconds, int64_t *done)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t nanoseconds = until.tv_nsec + (int64_t)(1e9 * seconds);
    until.tv_sec += (time_t)(nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    task_lock(queue);
    for (int error = 0; queue->failure == PS_OK && queue->done < queue->count && !error;)
        error = pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    *done = queue->done;
    ps_status status = queue->failure;
    if (status != PS_OK) ps_fail(status, "%s", queue->message);
    task_unlock(queue);
    return status;
}

ps_status ps_task_queue_progress(ps_task_queue *queue, int64_t *done)
{
    task_lock(queue);
    ++queue->watchers;
    while (queue->failure == PS_OK && queue->done == *done && queue->done < queue->count)
        pthread_cond_wait(&queue->changed, &queue->lock);
    --queue->watchers;
    *done = queue->done;
    ps_status status = queue->failure;
    if (status != PS_OK) ps_fail(status, "%s", queue->message);
    task_unlock(queue);
    return status;
}

/* ---- records ---- */

int64_t ps_task_queue_count(ps_task_queue *queue)
{
    task_lock(queue);
    int64_t count = queue->count;
    task_unlock(queue);
    return count;
}

void ps_task_queue_records(ps_task_queue *queue, ps_task_record *out)
{
    task_lock(queue);
    for (int64_t t = 0; t < queue->count; ++t) out[t] = task_of(queue, t)->record;
    task_unlock(queue);
}

static void fill_edges(const ps_task_queue *queue, int64_t *first, int64_t *before)
{
    for (int64_t t = 0, n = 0; t < queue->count; ++t) {
        first[t] = n;
        for (const task_edge *e = task_of(queue, t)->before; e; e = e->next)
            before[n++] = e->other->number;
        qsort(before + first[t], (size_t)(n - first[t]), sizeof *before, ps_compare_i64);
        first[t + 1] = n;
    }
}

ps_status ps_task_queue_edges(ps_task_queue *queue, int64_t **first, int64_t **before)
{
    int64_t edges = 0;
    *first = *before = NULL;
    if (!queue->keep_edges) return ps_fail(PS_USAGE, "the task queue was not told to keep edges");
    task_lock(queue);
    for (int64_t t = 0; t < queue->count; ++t) edges += task_of(queue, t)->before_count;
    ps_status status = PS_ALLOC(first, queue->count + 1, "the edges of a run");
    if (status == PS_OK) status = PS_ALLOC(before, edges, "the edges of a run");
    if (status == PS_OK) fill_edges(queue, *first, *before);
    task_unlock(queue);
    if (status != PS_OK) free(*first);
    if (status != PS_OK) *first = NULL;
    return status;
}

ps_task_queue_figures ps_task_queue_measure(ps_task_queue *queue)
{
    task_lock(queue);
    ps_task_queue_figures figures = queue->figures;
    task_unlock(queue);
    return figures;
}

/* ---- opening ---- */

static ps_status check_config(const ps_task_queue_config *config)
{
    const ps_heteroprio_config *s = &config->scheduling;
    if (s->gpus > PS_GPUS_MAX || s->gpus < 0 || s->cpus < 0 || s->gpus + s->cpus < 1)
        return ps_fail(PS_USAGE, "a task queue with %d CPU and %d GPU workers", s->cpus, s->gpus);
    if (config->lookahead < 0 || config->lookahead > PS_LOOKAHEAD_MAX)
        return ps_fail(PS_USAGE, "a task queue with %d tasks under way on a GPU; at most %d can be",
                       config->lookahead, PS_LOOKAHEAD_MAX);
    for (int g = 0; g < s->gpus; ++g)
        if (!config->devices || !config->devices[g])
            return ps_fail(PS_USAGE, "a task queue without device %d of %d", g, s->gpus);
    if (s->gpus && config->device_memory <= 0)
        return ps_fail(PS_USAGE, "a task queue with no memory on its devices");
    return PS_OK;
}

typedef struct placed {
    int64_t order, task;
} placed;

static int by_order(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Each worker's tasks in their order. */
static ps_status fill_mapping(ps_task_queue *queue, const ps_task_mapping *mapping, placed *sorted)
{
    int workers = queue->cpus + queue->gpus;
    for (int64_t t = 0; t < mapping->count; ++t) {
        const ps_task_record *r = &mapping->records[t];
        if (r->worker < 0 || r->worker >= workers)
            return ps_fail(PS_USAGE, "task %lld of the mapping is for worker %d of %d",
                           (long long)t, r->worker, workers);
        sorted[t] = (placed){r->order, t};
    }
    qsort(sorted, (size_t)mapping->count, sizeof *sorted, by_order);
    for (int64_t i = 0; i < mapping->count; ++i) {
        int w = mapping->records[sorted[i].task].worker;
        queue->mapped[w][queue->mapped_count[w]++] = sorted[i].task;
    }
    return PS_OK;
}

static ps_status open_mapping(ps_task_queue *queue, const ps_task_mapping *mapping)
{
    static const char what[] = "a mapping";
    int workers = queue->cpus + queue->gpus;
    placed *sorted;
    PS_TRY(PS_ALLOC(&queue->mapped, workers, what));
    PS_TRY(PS_ALLOC(&queue->mapped_count, workers, what));
    PS_TRY(PS_ALLOC(&queue->mapped_next, workers, what));
    for (int w = 0; w < workers; ++w) PS_TRY(PS_ALLOC(&queue->mapped[w], mapping->count, what));
    PS_TRY(PS_ALLOC(&sorted, mapping->count, what));
    ps_status status = fill_mapping(queue, mapping, sorted);
    queue->mapping_count = mapping->count;
    free(sorted);
    return status;
}

/* Where threads are to stay on their cores: which these are. */
static ps_status choose_cores(ps_task_queue *queue)
{
    int workers = queue->cpus + queue->gpus, count = ps_processor_count();
    bool few_more = workers <= count && 4 * workers >= 3 * count;
    if (!few_more || count == 1) return PS_OK;
    PS_TRY(PS_ALLOC(&queue->cores, count, "a list of cores"));
    queue->core_count = ps_processor_list(queue->cores, count);
    if (queue->core_count < workers) queue->core_count = 0;
    ps_thread_stay(queue->cores, queue->core_count - queue->gpus);
    return PS_OK;
}

void task_begin(ps_task_queue *queue, int worker)
{
    int behind = queue->cpus + queue->gpus - worker; /* GPU workers have the last cores */
    int core = worker < queue->cpus ? worker : queue->core_count - behind;
    if (queue->core_count) ps_thread_stay(queue->cores + core, 1);
    task_lock(queue);
    if (++queue->up == queue->cpus + queue->gpus) pthread_cond_broadcast(&queue->changed);
}

static ps_status start_workers(ps_task_queue *queue)
{
    int workers = queue->cpus + queue->gpus;
    PS_TRY(PS_ALLOC(&queue->threads, workers, "workers"));
    for (int w = 0; w < workers; ++w) {
        worker_start *start;
        PS_TRY(PS_ALLOC(&start, 1, "a worker"));
        *start = (worker_start){queue, w};
        void *(*body)(void *) = w < queue->cpus ? task_cpu_worker : task_device_worker;
        if (pthread_create(&queue->threads[w], NULL, body, start) != 0) {
            free(start);
            return ps_fail(PS_EXHAUSTED, "thread %d of %d could not be started", w + 1, workers);
        }
        ++queue->thread_count;
    }
    task_lock(queue);
    while (queue->up < workers) pthread_cond_wait(&queue->changed, &queue->lock);
    task_unlock(queue);
    return PS_OK;
}

static ps_status fill_queue(ps_task_queue *queue, const ps_task_queue_config *config)
{
    PS_TRY(check_config(config));
    PS_TRY(ps_heteroprio_open(&config->scheduling, &queue->scheduler));
    queue->bucket_count = config->scheduling.bucket_count;
    memcpy(queue->buckets, config->scheduling.buckets,
           (size_t)queue->bucket_count * sizeof *queue->buckets);
    queue->cpus = config->scheduling.cpus;
    queue->lookahead = config->lookahead ? config->lookahead : 16;
    /* with a core for each nobody is kept from work */
    if (config->scheduling.cpus + config->scheduling.gpus <= ps_processor_count())
        queue->patience = PATIENCE;
    queue->calibrate = config->calibrate;
    queue->keep_edges = config->keep_edges;
    queue->opened = ps_clock();
    PS_TRY(PS_ALLOC(&queue->devices, config->scheduling.gpus, "devices"));
    for (int g = 0; g < config->scheduling.gpus; ++g) {
        ++queue->gpus;
        PS_TRY(task_device_open(queue, g, config->devices[g], config->device_memory));
    }
    if (config->mapping) PS_TRY(open_mapping(queue, config->mapping));
    if (config->own_cores) PS_TRY(choose_cores(queue));
    return start_workers(queue);
}

ps_status ps_task_queue_open(const ps_task_queue_config *config, ps_task_queue **out)
{
    ps_task_queue *queue;
    *out = NULL;
    PS_TRY(PS_ALLOC(&queue, 1, "a task queue"));
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) pthread_cond_init(&queue->wake[kind], NULL);
    ps_status status = fill_queue(queue, config);
    if (status != PS_OK) {
        char message[1024];
        snprintf(message, sizeof message, "%s", ps_message());
        ps_task_queue_close(&queue);
        return ps_fail(status, "%s", message);
    }
    *out = queue;
    return PS_OK;
}

/* ---- closing ---- */

static void stop_workers(ps_task_queue *queue)
{
    task_lock(queue);
    queue->closing = true;
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) task_wake_all(queue, kind);
    task_unlock(queue);
    for (int w = 0; w < queue->thread_count; ++w) pthread_join(queue->threads[w], NULL);
    free(queue->threads);
}

static void free_mapping(ps_task_queue *queue)
{
    for (int w = 0; queue->mapped && w < queue->cpus + queue->gpus; ++w) free(queue->mapped[w]);
    PS_FREE(queue->mapped, queue->mapped_count, queue->mapped_next);
}

void ps_task_queue_close(ps_task_queue **out)
{
    ps_task_queue *queue = *out;
    *out = NULL;
    if (!queue) return;
    stop_workers(queue);
    while (queue->data) task_data_free(queue, queue->data);
    for (int g = 0; g < queue->gpus; ++g) task_device_close(&queue->devices[g]);
    free(queue->devices);
    free_mapping(queue);
    ps_thread_stay(queue->cores, queue->core_count);
    free(queue->cores);
    for (int64_t b = 0; b < queue->block_count; ++b) free(queue->blocks[b]);
    free(queue->blocks);
    while (queue->pool) {
        char *block = queue->pool;
        queue->pool = *(char **)block;
        free(block);
    }
    free(queue->host_only);
    ps_heteroprio_close(&queue->scheduler);
    pthread_cond_destroy(&queue->changed);
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) pthread_cond_destroy(&queue->wake[kind]);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}
