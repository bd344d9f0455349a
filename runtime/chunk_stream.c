#include "runtime/chunk_stream.h"

#include <stdlib.h>

#include "runtime/chunk_feed.h"
#include "runtime/chunk_plan.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { BUFFERS = 3, UNPACKERS = 2 };

/* A chunk goes: feed (runtime/chunk_feed.h) -> its place (its own if resident, else a free slot)
 * -> data[chunk] -> sweep -> the slot is free again. */
struct ps_chunk_stream {
    ps_chunk_stream_config config; /* the arrays of sizes are copies, owned   */
    ps_chunk_plan plan;
    ps_chunk_feed *feed; /* its lock guards what is marked below     */
    int64_t *sizes;      /* [2][chunk_count], behind config's arrays */
    char *slots, *kept;  /* arenas: slots, resident chunks */
    char **home;         /* [chunk_count] place of a resident chunk, or NULL */
    bool swept, retired;

    int64_t reading;                  /* locked: next chunk of the reader's sweep */
    bool reread;                      /* locked: that sweep is not the first */
    int *free_slots, free_slot_count; /* locked: a stack of indices */
    char **data;                      /* locked: [chunk_count] unpacked and ready, or NULL */
    ps_chunk_stream_stats stats;      /* of the sweeping thread; the feed counts its own */
};

/* ---- what the feed asks ---- */

/* Nothing is to be read after the first sweep. */
static bool reads_once(const ps_chunk_stream *stream)
{
    return stream->config.one_pass || stream->plan.resident_count == stream->config.chunk_count;
}

static int64_t next_chunk(void *owner)
{
    ps_chunk_stream *stream = owner;
    for (;;) {
        if (stream->reading == stream->config.chunk_count) {
            if (reads_once(stream)) return -1;
            stream->reading = 0;
            stream->reread = true;
        }
        int64_t chunk = stream->reading++;
        if (!stream->reread || !stream->home[chunk]) return chunk;
    }
}

static char *place_of_chunk(void *owner, int64_t chunk)
{
    ps_chunk_stream *stream = owner;
    if (stream->home[chunk]) return stream->home[chunk];
    if (stream->free_slot_count == 0) return NULL;
    return stream->slots + stream->free_slots[--stream->free_slot_count] * stream->plan.slot_size;
}

static void chunk_is_ready(void *owner, int64_t chunk, char *place)
{
    ((ps_chunk_stream *)owner)->data[chunk] = place;
}

static ps_status open_feed(ps_chunk_stream *stream)
{
    const ps_chunk_stream_config *config = &stream->config;
    return ps_chunk_feed_open(&(ps_chunk_feed_config){.raw_bytes = config->raw_bytes,
                                                      .unpacked_bytes = config->unpacked_bytes,
                                                      .raws = stream->plan.raws,
                                                      .unpackers = config->unpackers,
                                                      .raw_size = stream->plan.raw_size,
                                                      .context = config->context,
                                                      .read = config->read,
                                                      .unpack = config->unpack,
                                                      .owner = stream,
                                                      .next = next_chunk,
                                                      .place = place_of_chunk,
                                                      .ready = chunk_is_ready},
                              &stream->feed);
}

/* After the first sweep of a stream that has all it will ever read. */
static void retire(ps_chunk_stream *stream)
{
    ps_chunk_feed_retire(stream->feed);
    stream->stats.buffer_bytes -= stream->plan.raws * stream->plan.raw_size;
    stream->retired = true;
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
    return PS_OK;
}

static void fill_defaults(ps_chunk_stream_config *config)
{
    if (config->chunk_count < 0) config->chunk_count = 0;
    if (config->buffers <= 0) config->buffers = BUFFERS;
    if (config->unpackers <= 0) config->unpackers = UNPACKERS;
}

static ps_status copy_config(ps_chunk_stream *stream, const ps_chunk_stream_config *config)
{
    ps_chunk_stream_config *mine = &stream->config;
    *mine = *config;
    fill_defaults(mine);
    int64_t chunks = mine->chunk_count;
    if (!mine->allocate) {
        mine->allocate = allocate_host;
        mine->release = release_host;
    }
    PS_TRY(ps_chunk_sizes_copy(chunks, config->raw_bytes, config->unpacked_bytes, &stream->sizes));
    mine->raw_bytes = stream->sizes;
    mine->unpacked_bytes = stream->sizes + chunks;
    return PS_OK;
}

static ps_chunk_plan_request request_of(const ps_chunk_stream_config *config)
{
    return (ps_chunk_plan_request){.chunk_count = config->chunk_count,
                                   .raw_bytes = config->raw_bytes,
                                   .unpacked_bytes = config->unpacked_bytes,
                                   .host_memory = config->host_memory,
                                   .raws = config->unpackers + 1,
                                   .slots = config->buffers,
                                   .one_pass = config->one_pass};
}

static ps_status make_plan(ps_chunk_stream *stream)
{
    ps_chunk_plan *plan = &stream->plan;
    ps_chunk_plan_request request = request_of(&stream->config);
    PS_TRY(ps_chunk_plan_make(&request, plan));
    stream->stats.chunks = request.chunk_count;
    stream->stats.resident_chunks = plan->resident_count;
    stream->stats.resident_bytes = plan->resident_bytes;
    stream->stats.buffer_bytes = ps_chunk_plan_bytes(plan) - plan->resident_bytes;
    return PS_OK;
}

ps_status ps_chunk_stream_memory(const ps_chunk_stream_config *config, int64_t *bytes)
{
    ps_chunk_stream_config own = *config;
    PS_SCOPED(ps_chunk_plan_release) ps_chunk_plan plan = {0};
    fill_defaults(&own);
    ps_chunk_plan_request request = request_of(&own);
    PS_TRY(ps_chunk_plan_make(&request, &plan));
    *bytes = ps_chunk_plan_bytes(&plan);
    return PS_OK;
}

static ps_status allocate(ps_chunk_stream *stream, int64_t bytes, char **out)
{
    if (bytes == 0) return PS_OK;
    return stream->config.allocate(stream->config.context, bytes, (void **)out);
}

static ps_status allocate_buffers(ps_chunk_stream *stream)
{
    const ps_chunk_plan *plan = &stream->plan;
    int64_t chunks = stream->config.chunk_count;
    PS_TRY(allocate(stream, plan->slots * plan->slot_size, &stream->slots));
    PS_TRY(allocate(stream, plan->resident_bytes, &stream->kept));
    PS_TRY(PS_ALLOC(&stream->home, chunks, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->data, chunks, "a chunk stream"));
    PS_TRY(PS_ALLOC(&stream->free_slots, plan->slots, "a chunk stream"));
    stream->free_slot_count = plan->slots;
    for (int i = 0; i < plan->slots; ++i) stream->free_slots[i] = i;
    char *place = stream->kept;
    for (int64_t c = 0; c < chunks; ++c) {
        if (!plan->resident[c]) continue;
        stream->home[c] = place;
        place += ps_chunk_padded(stream->config.unpacked_bytes[c]);
    }
    return PS_OK;
}

/* Chunks that are in memory are handed over where they lie. */
static ps_status find_chunks(ps_chunk_stream *stream)
{
    const ps_chunk_stream_config *config = &stream->config;
    PS_TRY(PS_ALLOC(&stream->data, config->chunk_count, "a chunk stream"));
    for (int64_t c = 0; c < config->chunk_count; ++c)
        stream->data[c] = (char *)config->in_place(config->context, c);
    stream->stats.chunks = stream->stats.resident_chunks = config->chunk_count;
    return PS_OK;
}

ps_status ps_chunk_stream_open(const ps_chunk_stream_config *config, ps_chunk_stream **out)
{
    ps_status status;
    ps_chunk_stream *stream;
    *out = NULL;
    PS_TRY(check_config(config));
    PS_TRY(PS_ALLOC(&stream, 1, "a chunk stream"));
    PS_GUARD(status, failed, copy_config(stream, config));
    if (config->in_place) {
        PS_GUARD(status, failed, find_chunks(stream));
    } else {
        PS_GUARD(status, failed, make_plan(stream));
        PS_GUARD(status, failed, allocate_buffers(stream));
    }
    if (stream->config.chunk_count > 0 && !config->in_place) {
        PS_GUARD(status, failed, open_feed(stream));
        PS_GUARD(status, failed, ps_chunk_feed_start(stream->feed));
    }
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
    ps_chunk_feed_close(&stream->feed);
    if (stream->slots) stream->config.release(stream->config.context, stream->slots);
    if (stream->kept) stream->config.release(stream->config.context, stream->kept);
    PS_FREE(stream->home, stream->data, stream->free_slots, stream->sizes);
    ps_chunk_plan_release(&stream->plan);
    free(stream);
}

/* ---- sweeping ---- */

/* Waits for `first`; *count is how many, at most `most`, lie ready from there on. */
static ps_status await(ps_chunk_stream *stream, int64_t first, int64_t most, int64_t *count)
{
    ps_status status;
    int64_t end = first + most;
    if (end > stream->config.chunk_count) end = stream->config.chunk_count;
    *count = end - first;
    if (!stream->feed) return PS_OK;
    ps_chunk_feed_lock(stream->feed);
    while ((status = ps_chunk_feed_failure(stream->feed)) == PS_OK && !stream->data[first])
        ps_chunk_feed_wait(stream->feed);
    for (*count = 0; first + *count < end && stream->data[first + *count]; ++*count) continue;
    ps_chunk_feed_unlock(stream->feed);
    return status;
}

/* Computed chunks: the slots of those that are not resident are free for others. */
static void done_with(ps_chunk_stream *stream, int64_t first, int64_t count)
{
    ps_chunk_feed_lock(stream->feed);
    for (int64_t chunk = first; chunk < first + count; ++chunk) {
        if (stream->home[chunk]) continue;
        int slot = (int)((stream->data[chunk] - stream->slots) / stream->plan.slot_size);
        stream->free_slots[stream->free_slot_count++] = slot;
        stream->data[chunk] = NULL;
        ps_chunk_feed_place_freed(stream->feed);
    }
    ps_chunk_feed_unlock(stream->feed);
}

/* Computes a run from chunk *next on and moves it behind; adds the time inside compute to
 * *seconds. */
static ps_status sweep_run(ps_chunk_stream *stream, int64_t most, int64_t *next,
                           ps_chunk_compute_run compute, void *context, double *seconds)
{
    int64_t first = *next, count;
    PS_TRY(await(stream, first, most, &count));
    double start = ps_clock();
    ps_status status = compute(context, first, count, (const void *const *)(stream->data + first));
    *seconds += ps_clock() - start;
    *next += count;
    if (!stream->feed) return status;
    if (status == PS_OK)
        done_with(stream, first, count);
    else
        ps_chunk_feed_fail(stream->feed, status);
    return status;
}

typedef struct one_by_one {
    ps_chunk_compute compute;
    void *context;
} one_by_one;

static ps_status compute_one(void *context, int64_t first, int64_t count,
                             const void *const *unpacked)
{
    const one_by_one *one = context;
    return one->compute(one->context, first, unpacked[0]);
}

ps_status ps_chunk_stream_sweep(ps_chunk_stream *stream, ps_chunk_compute compute, void *context)
{
    one_by_one one = {compute, context};
    return ps_chunk_stream_sweep_runs(stream, 1, compute_one, &one);
}

ps_status ps_chunk_stream_sweep_runs(ps_chunk_stream *stream, int64_t most,
                                     ps_chunk_compute_run compute, void *context)
{
    if (stream->config.one_pass && stream->swept)
        return ps_fail(PS_FAILED, "a chunk stream opened for one pass was swept twice");
    stream->swept = true;
    ps_status status = PS_OK;
    double start = ps_clock(), computing = 0, processor = ps_processor_seconds();
    for (int64_t c = 0; c < stream->config.chunk_count && status == PS_OK;)
        status = sweep_run(stream, most, &c, compute, context, &computing);
    if (status == PS_OK && stream->feed && reads_once(stream) && !stream->retired) retire(stream);
    double elapsed = ps_clock() - start;
    stream->stats.sweep_seconds += elapsed;
    stream->stats.compute_seconds += computing;
    stream->stats.processor_seconds += ps_processor_seconds() - processor;
    stream->stats.wait_seconds += elapsed - computing;
    stream->stats.sweeps += 1;
    return status;
}

void ps_chunk_stream_get_stats(const ps_chunk_stream *stream, ps_chunk_stream_stats *out)
{
    ps_chunk_feed_stats feed = {0};
    *out = stream->stats;
    if (stream->feed) {
        ps_chunk_feed_lock(stream->feed);
        feed = ps_chunk_feed_get_stats(stream->feed);
        ps_chunk_feed_unlock(stream->feed);
    }
    out->raw_bytes_read = feed.raw_bytes_read;
    out->bytes_unpacked = feed.bytes_unpacked;
    out->read_seconds = feed.read_seconds;
    out->unpack_seconds = feed.unpack_seconds;
    double bound = out->processor_seconds / ps_processor_count();
    if (bound < out->read_seconds) bound = out->read_seconds;
    if (bound < out->compute_seconds) bound = out->compute_seconds;
    out->fraction = out->sweep_seconds > bound ? bound / out->sweep_seconds
                    : out->sweep_seconds > 0   ? 1
                                               : 0;
}
