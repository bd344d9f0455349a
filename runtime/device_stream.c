#include "runtime/device_stream.h"

#include <stdlib.h>

#include "runtime/chunk_plan.h"
#include "runtime/device_mover.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

enum { SLOTS = 3, UNPACKERS_MIN = 2, UNPACKERS_MAX = 14 };
static const int sweep_probe_count =
    sizeof((ps_device_stream *)0)->sweep_probes / sizeof((ps_device_stream *)0)->sweep_probes[0];

/* ---- configuration ---- */

static ps_status check_config(const ps_device_stream_config *config)
{
    if (!config->device || !config->read || !config->unpack)
        return ps_fail(PS_FAILED, "a device stream lacks its device or one of its callbacks");
    return PS_OK;
}

static int default_unpackers(void)
{
    int cores = ps_processor_count() - 2;
    return cores < UNPACKERS_MIN ? UNPACKERS_MIN : cores > UNPACKERS_MAX ? UNPACKERS_MAX : cores;
}

static ps_status copy_config(ps_device_stream *stream, const ps_device_stream_config *config)
{
    int64_t chunks = config->chunk_count;
    ps_device_stream_config *mine = &stream->config;
    *mine = *config;
    if (mine->count < 0) mine->count = chunks - mine->first;
    if (mine->slots <= 0) mine->slots = SLOTS;
    if (mine->host_slots <= 0) mine->host_slots = SLOTS;
    if (mine->unpackers <= 0) mine->unpackers = default_unpackers();
    if (mine->readers <= 0) mine->readers = 1;
    PS_TRY(ps_chunk_sizes_copy(chunks, config->raw_bytes, config->unpacked_bytes, &stream->sizes));
    mine->raw_bytes = stream->sizes;
    mine->unpacked_bytes = stream->sizes + chunks;
    return PS_OK;
}

static ps_status make_plan(const ps_device_stream_config *config, ps_device_plan *out)
{
    return ps_device_plan_make(
        &(ps_device_plan_request){.chunk_count = config->chunk_count,
                                  .raw_bytes = config->raw_bytes,
                                  .unpacked_bytes = config->unpacked_bytes,
                                  .first = config->first,
                                  .count = config->count,
                                  .host_memory = config->host_memory,
                                  .device_memory = config->device_memory,
                                  .batch_bytes = config->batch_bytes,
                                  .resident_batch_bytes = config->resident_batch_bytes,
                                  .slots = config->slots,
                                  .host_slots = config->host_slots,
                                  .raws = config->unpackers + config->readers},
        out);
}

/* ---- slots ---- */

static void free_pieces(ps_device_stream *stream, ps_pieces *pieces)
{
    ps_device_free_pinned(stream->config.device, pieces->memory);
    free(pieces->free);
    *pieces = (ps_pieces){0};
}

/* All pieces are free afterwards. An arena of the right size stays. */
static ps_status make_pieces(ps_device_stream *stream, ps_pieces *pieces, int count, int64_t size)
{
    if (pieces->arena != count * size) {
        free_pieces(stream, pieces);
        if (count > 0)
            PS_TRY(ps_device_alloc_pinned(stream->config.device, count * size,
                                          (void **)&pieces->memory));
        pieces->arena = count * size;
    }
    free(pieces->free);
    pieces->free = NULL;
    PS_TRY(PS_ALLOC(&pieces->free, count, "a device stream"));
    pieces->size = size;
    pieces->count = pieces->free_count = count;
    for (int i = 0; i < count; ++i) pieces->free[i] = count - 1 - i;
    return PS_OK;
}

static void free_slots(ps_device_stream *stream)
{
    for (int s = 0; s < stream->slot_count; ++s) ps_event_close(&stream->computed[s]);
    ps_device_free(stream->config.device, stream->slots);
    free(stream->computed);
    free(stream->busy);
    stream->slots = NULL;
    stream->computed = NULL;
    stream->busy = NULL;
    stream->slot_count = 0;
}

static ps_status make_slots(ps_device_stream *stream)
{
    const ps_device_plan *plan = &stream->plan;
    free_slots(stream);
    if (plan->slots > 0)
        PS_TRY(ps_device_alloc(stream->config.device, plan->slots * plan->slot_bytes,
                               (void **)&stream->slots));
    PS_TRY(PS_ALLOC(&stream->busy, plan->slots, "a device stream"));
    PS_TRY(PS_ALLOC(&stream->computed, plan->slots, "a device stream"));
    for (int s = 0; s < plan->slots; ++s) {
        PS_TRY(ps_event_open(stream->config.device, &stream->computed[s]));
        stream->slot_count += 1;
    }
    PS_TRY(make_pieces(stream, &stream->host_slots, plan->host_slots, plan->slot_bytes));
    PS_TRY(make_pieces(stream, &stream->stagings, ps_mover_gathers(stream) ? 0 : plan->stagings,
                       plan->staging_bytes));
    free(stream->flying);
    stream->flying = NULL;
    stream->flying_size = plan->host_slots + plan->stagings;
    return PS_ALLOC(&stream->flying, stream->flying_size, "a device stream");
}

/* ---- batches ---- */

static ps_status open_batch(ps_device_stream *stream, ps_moved_batch *batch)
{
    batch->slot = -1;
    if (!batch->copied) PS_TRY(ps_event_open(stream->config.device, &batch->copied));
    if (!batch->copying.start) PS_TRY(ps_probe_open(stream->config.device, &batch->copying));
    if (!batch->computing.start) PS_TRY(ps_probe_open(stream->config.device, &batch->computing));
    return PS_OK;
}

static void drop_batch(ps_device_stream *stream, ps_moved_batch *batch)
{
    ps_device *device = stream->config.device;
    if (batch->prepared && stream->config.forget)
        stream->config.forget(stream->config.context, batch->own);
    if (batch->plan.tier == PS_TIER_DEVICE)
        ps_device_free(device, batch->home);
    else
        ps_device_free_pinned(device, batch->home);
    (void)ps_probe_collect(&batch->copying, true); /* a failure shows in the next call */
    (void)ps_probe_collect(&batch->computing, true);
    ps_probe_close(&batch->copying);
    ps_probe_close(&batch->computing);
    ps_event_close(&batch->copied);
    *batch = (ps_moved_batch){0};
}

static void drop_batches(ps_device_stream *stream, ps_moved_batch *batches, int64_t count)
{
    for (int64_t b = 0; b < count; ++b) drop_batch(stream, &batches[b]);
    free(batches);
}

/* Where the chunks of the interval lie: their batches, and their offsets in these. */
static ps_status map_chunks(ps_device_stream *stream)
{
    const ps_device_plan *plan = &stream->plan;
    int64_t first = stream->config.first;
    free(stream->offsets);
    free(stream->batch_of);
    stream->offsets = stream->batch_of = NULL;
    PS_TRY(PS_ALLOC(&stream->offsets, stream->config.count, "a device stream"));
    PS_TRY(PS_ALLOC(&stream->batch_of, stream->config.count, "a device stream"));
    for (int64_t b = 0; b < plan->batch_count; ++b) {
        int64_t offset = 0, begin = plan->batches[b].first, end = begin + plan->batches[b].count;
        for (int64_t c = begin; c < end; ++c) {
            stream->offsets[c - first] = offset;
            stream->batch_of[c - first] = b;
            offset += ps_device_padded(stream->config.unpacked_bytes[c]);
        }
    }
    return PS_OK;
}

static bool is_complete(const ps_moved_batch *batch)
{
    if (!batch->prepared) return false;
    return batch->plan.tier == PS_TIER_DISK ||
           (batch->plan.tier == PS_TIER_DEVICE ? batch->base != NULL
                                               : batch->unpacked == batch->plan.count);
}

/* What an earlier interval left of a batch: the memory of resident tiers, and what the user
 * prepared. */
static void adopt(ps_moved_batch *batch, ps_moved_batch *from)
{
    *batch = *from;
    *from = (ps_moved_batch){0};
    batch->loaded = batch->plan.tier != PS_TIER_DISK;
    if (batch->plan.tier != PS_TIER_HOST) {
        batch->image = NULL;
        batch->placed = batch->unpacked = 0;
    }
    if (batch->plan.tier != PS_TIER_DEVICE) batch->base = NULL;
}

/* New batches for the plan; the same ones of old[old_count], in order, are adopted. */
static ps_status make_batches(ps_device_stream *stream, ps_moved_batch *old, int64_t old_count)
{
    const ps_device_plan *plan = &stream->plan;
    PS_TRY(PS_ALLOC(&stream->batches, plan->batch_count, "a device stream"));
    for (int64_t b = 0, o = 0; b < plan->batch_count; ++b) {
        const ps_device_batch *wanted = &plan->batches[b];
        while (o < old_count && old[o].plan.first < wanted->first) ++o;
        if (o < old_count && old[o].plan.first == wanted->first &&
            old[o].plan.count == wanted->count && old[o].plan.tier == wanted->tier &&
            is_complete(&old[o]))
            adopt(&stream->batches[b], &old[o++]);
        stream->batches[b].plan = *wanted;
    }
    return PS_OK;
}

/* ---- open, reset and close ---- */

static ps_device_stream_config narrowed(const ps_device_stream *stream, int64_t first,
                                        int64_t count)
{
    ps_device_stream_config config = stream->config;
    config.first = first;
    config.count = count;
    return config;
}

/* Everything for the interval in config, whose plan is made; takes over `plan`. */
static ps_status take_interval(ps_device_stream *stream, ps_device_plan *plan)
{
    ps_moved_batch *old = stream->batches;
    int64_t old_count = stream->plan.batch_count;
    ps_device_plan_release(&stream->plan);
    stream->plan = *plan;
    stream->batches = NULL;
    ps_status status = make_batches(stream, old, old_count);
    drop_batches(stream, old, old_count);
    PS_TRY(status);
    for (int64_t b = 0; b < stream->plan.batch_count; ++b)
        PS_TRY(open_batch(stream, &stream->batches[b]));
    PS_TRY(map_chunks(stream));
    PS_TRY(make_slots(stream));
    stream->loading = true;
    return stream->plan.batch_count > 0 ? ps_mover_start(stream) : PS_OK;
}

static ps_status open_parts(ps_device_stream *stream)
{
    PS_TRY(ps_stream_open(stream->config.device, &stream->copies));
    PS_TRY(ps_event_open(stream->config.device, &stream->last));
    for (int i = 0; i < sweep_probe_count; ++i)
        PS_TRY(ps_probe_open(stream->config.device, &stream->sweep_probes[i]));
    return PS_OK;
}

ps_status ps_device_stream_open(const ps_device_stream_config *config, ps_device_stream **out)
{
    ps_status status;
    ps_device_stream *stream;
    ps_device_plan plan;
    *out = NULL;
    PS_TRY(check_config(config));
    PS_TRY(PS_ALLOC(&stream, 1, "a device stream"));
    pthread_mutex_init(&stream->meter_lock, NULL);
    PS_GUARD(status, failed, copy_config(stream, config));
    PS_GUARD(status, failed, open_parts(stream));
    PS_GUARD(status, failed, make_plan(&stream->config, &plan));
    PS_GUARD(status, failed, take_interval(stream, &plan));
    *out = stream;
    return PS_OK;
failed:
    ps_device_stream_close(&stream);
    return status;
}

/* Adds what the feed has counted since the last time to the sums of its kind. */
static void collect_feed(ps_device_stream *stream, bool loading)
{
    if (!stream->feed) return;
    ps_chunk_feed_lock(stream->feed);
    ps_chunk_feed_stats now = ps_chunk_feed_get_stats(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    ps_chunk_feed_stats *sum = &stream->feeds[loading], *before = &stream->counted;
    sum->raw_bytes_read += now.raw_bytes_read - before->raw_bytes_read;
    sum->bytes_unpacked += now.bytes_unpacked - before->bytes_unpacked;
    sum->read_seconds += now.read_seconds - before->read_seconds;
    sum->unpack_seconds += now.unpack_seconds - before->unpack_seconds;
    *before = now;
}

static ps_status stop(ps_device_stream *stream)
{
    collect_feed(stream, stream->loading);
    stream->counted = (ps_chunk_feed_stats){0};
    PS_TRY(ps_mover_stop(stream));
    return stream->last ? ps_event_sync(stream->last) : PS_OK;
}

static ps_status failure_of(ps_device_stream *stream)
{
    if (stream->broken != PS_OK)
        return ps_fail(stream->broken, "a device stream could not go over to another interval");
    if (!stream->feed) return PS_OK;
    ps_chunk_feed_lock(stream->feed);
    ps_status status = ps_chunk_feed_failure(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    return status;
}

ps_status ps_device_stream_reset(ps_device_stream *stream, int64_t first, int64_t count)
{
    ps_device_plan plan;
    ps_device_stream_config config = narrowed(stream, first, count);
    PS_TRY(failure_of(stream));
    PS_TRY(make_plan(&config, &plan));
    ps_status status = stop(stream);
    if (status != PS_OK) {
        ps_device_plan_release(&plan);
        return status;
    }
    stream->config = config;
    stream->broken = take_interval(stream, &plan);
    return stream->broken;
}

void ps_device_stream_close(ps_device_stream **handle)
{
    ps_device_stream *stream = *handle;
    if (!stream) return;
    *handle = NULL;
    (void)stop(stream); /* what fails here has no one to tell, and nothing depends on it */
    drop_batches(stream, stream->batches, stream->batches ? stream->plan.batch_count : 0);
    free_slots(stream);
    free_pieces(stream, &stream->host_slots);
    free_pieces(stream, &stream->stagings);
    for (int i = 0; i < sweep_probe_count; ++i) ps_probe_close(&stream->sweep_probes[i]);
    ps_event_close(&stream->last);
    ps_stream_close(&stream->copies);
    ps_device_plan_release(&stream->plan);
    pthread_mutex_destroy(&stream->meter_lock);
    PS_FREE(stream->flying, stream->offsets, stream->batch_of, stream->sizes, stream);
}

/* ---- sweeping ---- */

static ps_status prepare(ps_device_stream *stream, ps_moved_batch *batch)
{
    const void **images;
    const ps_device_batch *plan = &batch->plan;
    PS_TRY(ps_mover_await_image(stream, batch));
    if (stream->config.prepare) {
        const int64_t *offsets = stream->offsets + (plan->first - stream->config.first);
        PS_TRY(PS_ALLOC(&images, plan->count, "the images of a batch"));
        for (int64_t c = 0; c < plan->count; ++c)
            images[c] = ps_mover_image(stream, batch, plan->first + c);
        ps_status status = stream->config.prepare(stream->config.context,
                                                  &(ps_batch_images){.first = plan->first,
                                                                     .count = plan->count,
                                                                     .bytes = plan->bytes,
                                                                     .images = images,
                                                                     .offsets = offsets},
                                                  &batch->own);
        free(images);
        PS_TRY(status);
    }
    ps_mover_set_prepared(stream, batch);
    return PS_OK;
}

typedef struct sweep {
    ps_batch_compute compute;
    void *context;
    ps_stream *on;
} sweep;

/* Calls compute between the two events of a probe. */
static ps_status compute_timed(ps_device_stream *stream, ps_moved_batch *batch, const sweep *how)
{
    bool timed;
    const ps_batch_work work = {.first = batch->plan.first,
                                .count = batch->plan.count,
                                .bytes = batch->plan.bytes,
                                .own = batch->own,
                                .base = batch->base,
                                .copied = batch->copied};
    pthread_mutex_lock(&stream->meter_lock);
    ps_status status = ps_probe_begin(&batch->computing, how->on, &timed);
    pthread_mutex_unlock(&stream->meter_lock);
    PS_TRY(status);
    PS_TRY(how->compute(how->context, &work, how->on));
    pthread_mutex_lock(&stream->meter_lock);
    status = ps_probe_end(&batch->computing, how->on, timed, &stream->compute[stream->loading],
                          (double)batch->plan.bytes + 1);
    pthread_mutex_unlock(&stream->meter_lock);
    return status;
}

static ps_status sweep_batch(ps_device_stream *stream, ps_moved_batch *batch, const sweep *how)
{
    if (!batch->prepared) PS_TRY(prepare(stream, batch));
    PS_TRY(ps_mover_await_base(stream, batch));
    PS_TRY(ps_event_wait(batch->copied, how->on));
    PS_TRY(compute_timed(stream, batch, how));
    if (batch->plan.tier != PS_TIER_DEVICE)
        PS_TRY(ps_event_record(stream->computed[batch->slot], how->on));
    ps_mover_done_with(stream, batch);
    return PS_OK;
}

static ps_status sweep_batches(ps_device_stream *stream, const sweep *how)
{
    int64_t number = stream->sweeps[0] + stream->sweeps[1];
    ps_probe *probe = &stream->sweep_probes[number % sweep_probe_count];
    bool timed;
    PS_TRY(ps_probe_collect(probe, true)); /* as long ago as there are probes */
    PS_TRY(ps_probe_begin(probe, how->on, &timed));
    for (int64_t b = 0; b < stream->plan.batch_count; ++b)
        PS_TRY(sweep_batch(stream, &stream->batches[b], how));
    PS_TRY(ps_probe_end(probe, how->on, timed, &stream->sweep[stream->loading], 1));
    return ps_event_record(stream->last, how->on);
}

ps_status ps_device_stream_sweep(ps_device_stream *stream, ps_batch_compute compute, void *context,
                                 ps_stream *on)
{
    PS_TRY(failure_of(stream));
    ps_status status = sweep_batches(stream, &(sweep){compute, context, on});
    if (status == PS_OK && stream->loading && stream->feed) status = ps_mover_end_loading(stream);
    if (status != PS_OK && stream->feed) {
        ps_chunk_feed_fail(stream->feed, status);
        (void)ps_stream_wait(on); /* the first failure is the one to tell */
        return failure_of(stream);
    }
    PS_TRY(status);
    if (stream->loading) collect_feed(stream, true);
    stream->sweeps[stream->loading] += 1;
    stream->loading = false;
    return PS_OK;
}

/* ---- figures ---- */

static ps_device_stream_times times_of(const ps_device_stream *stream, bool loading)
{
    const ps_chunk_feed_stats *feed = &stream->feeds[loading];
    ps_device_stream_times times = {
        .sweeps = stream->sweeps[loading],
        .raw_bytes_read = feed->raw_bytes_read,
        .bytes_unpacked = feed->bytes_unpacked,
        .bytes_copied = (int64_t)stream->copy[loading].weight,
        .read_seconds = feed->read_seconds,
        .unpack_seconds = feed->unpack_seconds,
        .copy_seconds = ps_meter_seconds(&stream->copy[loading]),
        .compute_seconds = ps_meter_seconds(&stream->compute[loading]),
        .elapsed_seconds = stream->sweep[loading].seconds,
    };
    double most = times.read_seconds;
    if (most < times.copy_seconds) most = times.copy_seconds;
    if (most < times.compute_seconds) most = times.compute_seconds;
    times.wait_seconds = times.elapsed_seconds - times.compute_seconds;
    if (times.wait_seconds < 0) times.wait_seconds = 0;
    if (times.elapsed_seconds > 0) times.fraction = most / times.elapsed_seconds;
    if (times.fraction > 1) times.fraction = 1;
    return times;
}

void ps_device_stream_get_stats(ps_device_stream *stream, ps_device_stream_stats *out)
{
    collect_feed(stream, stream->loading);
    pthread_mutex_lock(&stream->meter_lock);
    for (int64_t b = 0; b < stream->plan.batch_count; ++b) {
        (void)ps_probe_collect(&stream->batches[b].copying, false); /* a failure shows elsewhere */
        (void)ps_probe_collect(&stream->batches[b].computing, false);
    }
    for (int i = 0; i < sweep_probe_count; ++i)
        (void)ps_probe_collect(&stream->sweep_probes[i], false);
    *out = (ps_device_stream_stats){.device_bytes = stream->plan.device_bytes,
                                    .host_bytes = stream->plan.host_bytes,
                                    .loading = times_of(stream, true),
                                    .streaming = times_of(stream, false)};
    pthread_mutex_unlock(&stream->meter_lock);
    for (int t = 0; t < PS_TIERS; ++t) {
        out->batches[t] = stream->plan.tier_batches[t];
        out->bytes[t] = stream->plan.tier_bytes[t];
    }
}
