#include "runtime/chunk_stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/chunk_plan.h"
#include "runtime/memory.h"

enum { BUFFERS = 3, UNPACKERS = 2, MESSAGE_SIZE = 2048 };

/* Stored bytes of a chunk that wait for a worker. */
typedef struct loaded {
    int64_t chunk;
    int raw;
} loaded;

/*
 * A chunk goes: free raw buffer -> reader -> queue -> worker, who takes its place (its own if
 * resident, else a free slot) -> data[chunk] -> sweep -> the slot is free again.
 *
 * The queue is first in, first out, and only its head may take a slot; so all chunks that hold
 * slots come before all that wait for one, the sweep gets to them, and nothing can lock up
 * whatever the numbers of buffers and workers.
 */
struct ps_chunk_stream {
    ps_chunk_stream_config config;   /* the arrays of sizes are copies, owned   */
    ps_chunk_plan plan;
    int64_t *sizes;                  /* [2][chunk_count], behind config's arrays */
    char *raws, *slots, *kept;       /* arenas: raw buffers, slots, resident chunks */
    char **home;                     /* [chunk_count] place of a resident chunk, or NULL */
    pthread_t *threads;              /* [0] the reader, then the workers */
    int thread_count;
    bool swept;

    pthread_mutex_t mutex;           /* guards everything below */
    pthread_cond_t raw_freed, work_changed, chunk_ready;
    int *free_raws, *free_slots;     /* stacks of indices */
    int free_raw_count, free_slot_count;
    loaded *queue;                   /* ring of plan.raws */
    int queue_first, queue_count;
    char **data;                     /* [chunk_count] unpacked and ready, or NULL */
    bool read_all, stopping;
    ps_status failure;
    char message[MESSAGE_SIZE];
    ps_chunk_stream_stats stats;
};

/* ---- failure ---- */

/* Keeps the first failure, with this thread's message, and stops all threads. */
static void record_failure(ps_chunk_stream *stream, ps_status status)
{
    pthread_mutex_lock(&stream->mutex);
    if (stream->failure == PS_OK) {
        stream->failure = status;
        strncpy(stream->message, ps_message(), MESSAGE_SIZE - 1);
    }
    stream->stopping = true;
    pthread_cond_broadcast(&stream->raw_freed);
    pthread_cond_broadcast(&stream->work_changed);
    pthread_cond_broadcast(&stream->chunk_ready);
    pthread_mutex_unlock(&stream->mutex);
}

/* ---- the reader ---- */

static bool take_raw(ps_chunk_stream *stream, int *raw)
{
    pthread_mutex_lock(&stream->mutex);
    while (!stream->stopping && stream->free_raw_count == 0)
        pthread_cond_wait(&stream->raw_freed, &stream->mutex);
    bool taken = !stream->stopping;
    if (taken) *raw = stream->free_raws[--stream->free_raw_count];
    pthread_mutex_unlock(&stream->mutex);
    return taken;
}

static char *raw_at(const ps_chunk_stream *stream, int raw)
{
    return stream->raws + raw * stream->plan.raw_size;
}

static void enqueue(ps_chunk_stream *stream, loaded item, double seconds)
{
    pthread_mutex_lock(&stream->mutex);
    int place = (stream->queue_first + stream->queue_count++) % stream->plan.raws;
    stream->queue[place] = item;
    stream->stats.read_seconds += seconds;
    stream->stats.raw_bytes_read += stream->config.raw_bytes[item.chunk];
    pthread_cond_broadcast(&stream->work_changed);
    pthread_mutex_unlock(&stream->mutex);
}

static bool read_chunk(ps_chunk_stream *stream, int64_t chunk)
{
    loaded item = {.chunk = chunk};
    if (!take_raw(stream, &item.raw)) return false;
    double start = ps_clock();
    ps_status status = stream->config.read(stream->config.context, chunk, raw_at(stream, item.raw));
    if (status != PS_OK) {
        record_failure(stream, status);
        return false;
    }
    enqueue(stream, item, ps_clock() - start);
    return true;
}

/* Nothing is to be read after the first sweep. */
static bool reads_once(const ps_chunk_stream *stream)
{
    return stream->config.one_pass || stream->plan.resident_count == stream->config.chunk_count;
}

static void *reader_main(void *argument)
{
    ps_chunk_stream *stream = argument;
    bool once = reads_once(stream);
    for (bool first = true; first || !once; first = false)
        for (int64_t c = 0; c < stream->config.chunk_count; ++c)
            if ((first || !stream->home[c]) && !read_chunk(stream, c)) return NULL;
    pthread_mutex_lock(&stream->mutex);
    stream->read_all = true;
    pthread_cond_broadcast(&stream->work_changed);
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

/* ---- the workers ---- */

static bool head_has_place(const ps_chunk_stream *stream)
{
    if (stream->queue_count == 0) return false;
    return stream->free_slot_count > 0 || stream->home[stream->queue[stream->queue_first].chunk];
}

/* Takes the head of the queue and a place for it; false when there will be no more work. */
static bool take_work(ps_chunk_stream *stream, loaded *item, char **place)
{
    pthread_mutex_lock(&stream->mutex);
    while (!stream->stopping && !head_has_place(stream) &&
           !(stream->read_all && stream->queue_count == 0))
        pthread_cond_wait(&stream->work_changed, &stream->mutex);
    bool taken = !stream->stopping && stream->queue_count > 0;
    if (taken) {
        *item = stream->queue[stream->queue_first];
        stream->queue_first = (stream->queue_first + 1) % stream->plan.raws;
        stream->queue_count -= 1;
        *place = stream->home[item->chunk];
        if (!*place)
            *place = stream->slots +
                     stream->free_slots[--stream->free_slot_count] * stream->plan.slot_size;
    }
    pthread_mutex_unlock(&stream->mutex);
    return taken;
}

static void finish_work(ps_chunk_stream *stream, loaded item, char *place, double seconds)
{
    pthread_mutex_lock(&stream->mutex);
    stream->data[item.chunk] = place;
    stream->free_raws[stream->free_raw_count++] = item.raw;
    stream->stats.unpack_seconds += seconds;
    stream->stats.bytes_unpacked += stream->config.unpacked_bytes[item.chunk];
    pthread_cond_signal(&stream->raw_freed);
    pthread_cond_signal(&stream->chunk_ready);
    pthread_mutex_unlock(&stream->mutex);
}

static void *worker_main(void *argument)
{
    ps_chunk_stream *stream = argument;
    loaded item;
    char *place;
    while (take_work(stream, &item, &place)) {
        double start = ps_clock();
        ps_status status = stream->config.unpack(stream->config.context, item.chunk,
                                                 raw_at(stream, item.raw), place);
        if (status != PS_OK) {
            record_failure(stream, status);
            break;
        }
        finish_work(stream, item, place, ps_clock() - start);
    }
    return NULL;
}

/* ---- threads ---- */

/* Signals stay with the program's own threads: the mask is inherited. */
static ps_status start_threads(ps_chunk_stream *stream)
{
    int wanted = 1 + stream->config.unpackers, error = 0;
    PS_TRY(PS_ALLOC(&stream->threads, wanted, "the threads of a chunk stream"));
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int t = 0; t < wanted && !error; ++t) {
        error = pthread_create(&stream->threads[t], NULL, t == 0 ? reader_main : worker_main,
                               stream);
        if (!error) stream->thread_count += 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return ps_fail(PS_EXHAUSTED, "thread %d of %d of a chunk stream cannot be started: %s",
                       stream->thread_count + 1, wanted, strerror(error));
    return PS_OK;
}

static void join_threads(ps_chunk_stream *stream)
{
    for (int t = 0; t < stream->thread_count; ++t) pthread_join(stream->threads[t], NULL);
    stream->thread_count = 0;
}

/* After the first sweep of a stream that has all it will ever read. */
static void retire(ps_chunk_stream *stream)
{
    join_threads(stream);
    free(stream->raws);
    stream->raws = NULL;
    stream->stats.buffer_bytes -= stream->plan.raws * stream->plan.raw_size;
}

/* ---- open and close ---- */

static ps_status allocate_host(void *context, int64_t bytes, void **out)
{
    return ps_alloc_untouched(out, bytes, "the chunks of a stream");
}

static void release_host(void *context, void *memory) { free(memory); }

static ps_status check_config(const ps_chunk_stream_config *config)
{
    if (!config->read || !config->unpack || !config->allocate != !config->release)
        return ps_fail(PS_FAILED, "a chunk stream lacks one of its callbacks");
    for (int64_t c = 0; c < config->chunk_count; ++c)
        if (config->raw_bytes[c] < 0 || config->unpacked_bytes[c] < 0)
            return ps_fail(PS_INVALID, "chunk %lld has a negative size", (long long)c);
    return PS_OK;
}

static ps_status copy_config(ps_chunk_stream *stream, const ps_chunk_stream_config *config)
{
    int64_t chunks = config->chunk_count > 0 ? config->chunk_count : 0;
    ps_chunk_stream_config *mine = &stream->config;
    *mine = *config;
    mine->chunk_count = chunks;
    if (mine->buffers <= 0) mine->buffers = BUFFERS;
    if (mine->unpackers <= 0) mine->unpackers = UNPACKERS;
    if (!mine->allocate) {
        mine->allocate = allocate_host;
        mine->release = release_host;
    }
    PS_TRY(PS_ALLOC(&stream->sizes, 2 * chunks, "the sizes of a chunk stream"));
    if (chunks > 0) {
        memcpy(stream->sizes, config->raw_bytes, (size_t)chunks * sizeof *stream->sizes);
        memcpy(stream->sizes + chunks, config->unpacked_bytes,
               (size_t)chunks * sizeof *stream->sizes);
    }
    mine->raw_bytes = stream->sizes;
    mine->unpacked_bytes = stream->sizes + chunks;
    return PS_OK;
}

static ps_status make_plan(ps_chunk_stream *stream)
{
    const ps_chunk_stream_config *config = &stream->config;
    ps_chunk_plan *plan = &stream->plan;
    PS_TRY(ps_chunk_plan_make(&(ps_chunk_plan_request){.chunk_count = config->chunk_count,
                                                       .raw_bytes = config->raw_bytes,
                                                       .unpacked_bytes = config->unpacked_bytes,
                                                       .host_memory = config->host_memory,
                                                       .raws = config->unpackers + 1,
                                                       .slots = config->buffers,
                                                       .one_pass = config->one_pass},
                              plan));
    stream->stats.chunks = config->chunk_count;
    stream->stats.resident_chunks = plan->resident_count;
    stream->stats.resident_bytes = plan->resident_bytes;
    stream->stats.buffer_bytes = ps_chunk_plan_bytes(plan) - plan->resident_bytes;
    return PS_OK;
}

static ps_status allocate(ps_chunk_stream *stream, int64_t bytes, char **out)
{
    if (bytes == 0) return PS_OK;
    return stream->config.allocate(stream->config.context, bytes, (void **)out);
}

static int stack_all(int *stack, int count)
{
    for (int i = 0; i < count; ++i) stack[i] = i;
    return count;
}

static ps_status allocate_buffers(ps_chunk_stream *stream)
{
    const ps_chunk_plan *plan = &stream->plan;
    int64_t chunks = stream->config.chunk_count;
    PS_TRY(allocate_host(NULL, ps_chunk_padded(plan->raws * plan->raw_size),
                         (void **)&stream->raws));
    PS_TRY(allocate(stream, plan->slots * plan->slot_size, &stream->slots));
    PS_TRY(allocate(stream, plan->resident_bytes, &stream->kept));
    PS_TRY(PS_ALLOC(&stream->home, chunks, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->data, chunks, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->queue, plan->raws, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->free_raws, plan->raws, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->free_slots, plan->slots, "a chunk stream"));
    stream->free_raw_count = stack_all(stream->free_raws, plan->raws);
    stream->free_slot_count = stack_all(stream->free_slots, plan->slots);
    char *place = stream->kept;
    for (int64_t c = 0; c < chunks; ++c) {
        if (!plan->resident[c]) continue;
        stream->home[c] = place;
        place += ps_chunk_padded(stream->config.unpacked_bytes[c]);
    }
    return PS_OK;
}

ps_status ps_chunk_stream_open(const ps_chunk_stream_config *config, ps_chunk_stream **out)
{
    ps_status status;
    ps_chunk_stream *stream;
    *out = NULL;
    PS_TRY(check_config(config));
    PS_TRY(PS_ALLOC(&stream, 1, "a chunk stream"));
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->raw_freed, NULL);
    pthread_cond_init(&stream->work_changed, NULL);
    pthread_cond_init(&stream->chunk_ready, NULL);
    PS_GUARD(status, failed, copy_config(stream, config));
    PS_GUARD(status, failed, make_plan(stream));
    PS_GUARD(status, failed, allocate_buffers(stream));
    if (stream->config.chunk_count > 0) PS_GUARD(status, failed, start_threads(stream));
    *out = stream;
    return PS_OK;
failed:
    ps_chunk_stream_close(&stream);
    return status;
}

void ps_chunk_stream_close(ps_chunk_stream **handle)
{
    ps_chunk_stream *stream = *handle;
    if (!stream) return;
    *handle = NULL;
    record_failure(stream, PS_FAILED); /* stops the threads; nobody asks any more */
    join_threads(stream);
    if (stream->slots) stream->config.release(stream->config.context, stream->slots);
    if (stream->kept) stream->config.release(stream->config.context, stream->kept);
    free(stream->raws);
    free(stream->home);
    free(stream->data);
    free(stream->queue);
    free(stream->free_raws);
    free(stream->free_slots);
    free(stream->threads);
    free(stream->sizes);
    ps_chunk_plan_release(&stream->plan);
    pthread_cond_destroy(&stream->raw_freed);
    pthread_cond_destroy(&stream->work_changed);
    pthread_cond_destroy(&stream->chunk_ready);
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
}

/* ---- sweeping ---- */

static ps_status recorded_failure(const ps_chunk_stream *stream)
{
    return ps_fail(stream->failure, "%s", stream->message);
}

static ps_status await(ps_chunk_stream *stream, int64_t chunk, const void **out)
{
    ps_status status = PS_OK;
    pthread_mutex_lock(&stream->mutex);
    while (stream->failure == PS_OK && !stream->data[chunk])
        pthread_cond_wait(&stream->chunk_ready, &stream->mutex);
    *out = stream->data[chunk];
    if (stream->failure != PS_OK) status = recorded_failure(stream);
    pthread_mutex_unlock(&stream->mutex);
    return status;
}

/* A computed chunk: its slot, unless it is resident, is free for another. */
static void done_with(ps_chunk_stream *stream, int64_t chunk)
{
    pthread_mutex_lock(&stream->mutex);
    if (!stream->home[chunk]) {
        int slot = (int)((stream->data[chunk] - stream->slots) / stream->plan.slot_size);
        stream->free_slots[stream->free_slot_count++] = slot;
        stream->data[chunk] = NULL;
        pthread_cond_broadcast(&stream->work_changed);
    }
    pthread_mutex_unlock(&stream->mutex);
}

/* Adds the time inside compute to *seconds. */
static ps_status sweep_chunk(ps_chunk_stream *stream, int64_t chunk, ps_chunk_compute compute,
                             void *context, double *seconds)
{
    const void *unpacked;
    PS_TRY(await(stream, chunk, &unpacked));
    double start = ps_clock();
    ps_status status = compute(context, chunk, unpacked);
    *seconds += ps_clock() - start;
    if (status == PS_OK)
        done_with(stream, chunk);
    else
        record_failure(stream, status);
    return status;
}

ps_status ps_chunk_stream_sweep(ps_chunk_stream *stream, ps_chunk_compute compute, void *context)
{
    if (stream->config.one_pass && stream->swept)
        return ps_fail(PS_FAILED, "a chunk stream opened for one pass was swept twice");
    stream->swept = true;
    ps_status status = PS_OK;
    double start = ps_clock(), computing = 0, processor = ps_processor_seconds();
    for (int64_t c = 0; c < stream->config.chunk_count && status == PS_OK; ++c)
        status = sweep_chunk(stream, c, compute, context, &computing);
    if (status == PS_OK && reads_once(stream) && stream->raws) retire(stream);
    double elapsed = ps_clock() - start;
    pthread_mutex_lock(&stream->mutex);
    stream->stats.sweep_seconds += elapsed;
    stream->stats.compute_seconds += computing;
    stream->stats.processor_seconds += ps_processor_seconds() - processor;
    stream->stats.wait_seconds += elapsed - computing;
    stream->stats.sweeps += 1;
    pthread_mutex_unlock(&stream->mutex);
    return status;
}

void ps_chunk_stream_get_stats(const ps_chunk_stream *stream, ps_chunk_stream_stats *out)
{
    pthread_mutex_t *mutex = (pthread_mutex_t *)&stream->mutex;
    pthread_mutex_lock(mutex);
    *out = stream->stats;
    pthread_mutex_unlock(mutex);
    double bound = out->processor_seconds / ps_processor_count();
    if (bound < out->read_seconds) bound = out->read_seconds;
    if (bound < out->compute_seconds) bound = out->compute_seconds;
    out->fraction = out->sweep_seconds > bound ? bound / out->sweep_seconds
                    : out->sweep_seconds > 0   ? 1
                                               : 0;
}
