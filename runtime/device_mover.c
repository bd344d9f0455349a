#include "runtime/device_mover.h"

#include <stdlib.h>

/* ---- places of host images: what the feed asks, with the lock held ---- */

static char *take_piece(ps_pieces *pieces)
{
    if (pieces->free_count == 0) return NULL;
    return pieces->memory + pieces->free[--pieces->free_count] * pieces->size;
}

static void put_piece(ps_pieces *pieces, const char *piece)
{
    int index = pieces->size > 0 ? (int)((piece - pieces->memory) / pieces->size) : 0;
    pieces->free[pieces->free_count++] = index;
}

static char *take_image(ps_device_stream *stream, const ps_moved_batch *batch)
{
    switch (batch->plan.tier) {
    case PS_TIER_HOST:
        return batch->home;
    case PS_TIER_DEVICE:
        return take_piece(&stream->stagings);
    default:
        return take_piece(&stream->host_slots);
    }
}

static ps_moved_batch *batch_of(ps_device_stream *stream, int64_t chunk)
{
    return &stream->batches[stream->batch_of[chunk - stream->config.first]];
}

static bool image_is_ready(ps_device_stream *stream, const ps_moved_batch *batch)
{
    return batch->image && batch->unpacked == batch->plan.count;
}

/* While the image of the last pass is not copied yet, there is no place for the next one. */
static char *place_of_chunk(void *owner, int64_t chunk)
{
    ps_device_stream *stream = owner;
    ps_moved_batch *batch = batch_of(stream, chunk);
    if (batch->placed == batch->plan.count) return NULL;
    if (!batch->image) batch->image = take_image(stream, batch);
    if (!batch->image) return NULL;
    batch->placed += 1;
    return batch->image + stream->offsets[chunk - stream->config.first];
}

static void chunk_is_ready(void *owner, int64_t chunk, char *place)
{
    batch_of(owner, chunk)->unpacked += 1;
}

static int64_t next_chunk(void *owner)
{
    ps_device_stream *stream = owner;
    const int64_t end = stream->config.first + stream->config.count;
    for (;;) {
        if (stream->reading == end) {
            if (stream->plan.tier_batches[PS_TIER_DISK] == 0) return -1;
            stream->reading = stream->config.first;
            stream->reread = true;
        }
        int64_t chunk = stream->reading++;
        const ps_moved_batch *batch = batch_of(stream, chunk);
        if (batch->plan.tier == PS_TIER_DISK || (!stream->reread && !batch->loaded)) return chunk;
    }
}

static void release_image(ps_device_stream *stream, ps_moved_batch *batch)
{
    if (batch->plan.tier == PS_TIER_HOST) return;
    put_piece(batch->plan.tier == PS_TIER_DEVICE ? &stream->stagings : &stream->host_slots,
              batch->image);
    batch->image = NULL;
    batch->placed = batch->unpacked = 0;
    ps_chunk_feed_place_freed(stream->feed);
    ps_chunk_feed_wake(stream->feed);
}

/* ---- the allocator: homes in the order in which they are needed, beside reading ---- */

static ps_status allocate_home(ps_device_stream *stream, ps_moved_batch *batch)
{
    void *home;
    PS_TRY(batch->plan.tier == PS_TIER_DEVICE
               ? ps_device_alloc(stream->config.device, batch->plan.bytes, &home)
               : ps_device_alloc_pinned(stream->config.device, batch->plan.bytes, &home));
    ps_chunk_feed_lock(stream->feed);
    batch->home = home;
    ps_chunk_feed_place_freed(stream->feed);
    ps_chunk_feed_wake(stream->feed);
    ps_status status = ps_chunk_feed_failure(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    return status;
}

static void *allocator_main(void *argument)
{
    ps_device_stream *stream = argument;
    ps_status status = PS_OK;
    for (int64_t b = 0; b < stream->plan.batch_count && status == PS_OK; ++b) {
        ps_moved_batch *batch = &stream->batches[b];
        if (batch->plan.tier == PS_TIER_DISK || batch->loaded) continue;
        status = allocate_home(stream, batch);
    }
    if (status != PS_OK) ps_chunk_feed_fail(stream->feed, status);
    return NULL;
}

/* ---- the mover ---- */

typedef bool (*condition)(ps_device_stream *stream, const ps_moved_batch *batch);

static bool home_is_there(ps_device_stream *stream, const ps_moved_batch *batch)
{
    return batch->home != NULL;
}

static bool slot_is_free(ps_device_stream *stream, const ps_moved_batch *batch)
{
    return !stream->busy[stream->next_slot];
}

static bool nothing_flies(ps_device_stream *stream, const ps_moved_batch *batch)
{
    return stream->flying_count == 0;
}

/* Waits, without the lock, for the oldest copy from a slot or staging, and frees that. */
static void land_oldest(ps_device_stream *stream)
{
    ps_moved_batch *batch = &stream->batches[stream->flying[stream->flying_first]];
    ps_chunk_feed_unlock(stream->feed);
    ps_status status = ps_event_sync(batch->copied);
    if (status != PS_OK) ps_chunk_feed_fail(stream->feed, status);
    ps_chunk_feed_lock(stream->feed);
    stream->flying_first = (stream->flying_first + 1) % stream->flying_size;
    stream->flying_count -= 1;
    release_image(stream, batch);
}

static bool oldest_can_land(const ps_device_stream *stream)
{
    return stream->flying_count > 0 &&
           stream->batches[stream->flying[stream->flying_first]].prepared;
}

/* Waits for a condition, freeing images meanwhile; false if the stream has failed or ends. */
static bool wait_until(ps_device_stream *stream, condition holds, const ps_moved_batch *batch)
{
    while (ps_chunk_feed_failure(stream->feed) == PS_OK && !holds(stream, batch)) {
        if (oldest_can_land(stream))
            land_oldest(stream);
        else
            ps_chunk_feed_wait(stream->feed);
    }
    return ps_chunk_feed_failure(stream->feed) == PS_OK;
}

/* Where the batch goes on the device; waits for its image and for that place. */
static bool take_target(ps_device_stream *stream, ps_moved_batch *batch, char **target)
{
    bool kept = batch->plan.tier == PS_TIER_DEVICE;
    ps_chunk_feed_lock(stream->feed);
    bool taken = wait_until(stream, image_is_ready, batch) &&
                 wait_until(stream, kept ? home_is_there : slot_is_free, batch);
    if (taken && kept) {
        *target = batch->home;
    } else if (taken) {
        batch->slot = stream->next_slot;
        stream->busy[batch->slot] = true;
        stream->next_slot = (stream->next_slot + 1) % stream->slot_count;
        *target = stream->slots + batch->slot * stream->plan.slot_bytes;
    }
    ps_chunk_feed_unlock(stream->feed);
    return taken;
}

static ps_status enqueue_copy(ps_device_stream *stream, ps_moved_batch *batch, char *target)
{
    bool timed;
    double weight = (double)batch->plan.bytes;
    if (batch->slot >= 0) PS_TRY(ps_event_wait(stream->computed[batch->slot], stream->copies));
    pthread_mutex_lock(&stream->meter_lock);
    ps_status status = ps_probe_begin(&batch->copying, stream->copies, &timed);
    pthread_mutex_unlock(&stream->meter_lock);
    PS_TRY(status);
    PS_TRY(ps_copy_to_device(stream->copies, target, batch->image, batch->plan.bytes));
    pthread_mutex_lock(&stream->meter_lock);
    status = ps_probe_end(&batch->copying, stream->copies, timed,
                          &stream->copy[stream->move_loading], weight);
    pthread_mutex_unlock(&stream->meter_lock);
    PS_TRY(status);
    return ps_event_record(batch->copied, stream->copies);
}

static void hand_over(ps_device_stream *stream, ps_moved_batch *batch, char *target)
{
    ps_chunk_feed_lock(stream->feed);
    batch->base = target;
    if (batch->plan.tier != PS_TIER_HOST) {
        int place = (stream->flying_first + stream->flying_count++) % stream->flying_size;
        stream->flying[place] = batch - stream->batches;
    }
    ps_chunk_feed_wake(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
}

static bool move_batch(ps_device_stream *stream, ps_moved_batch *batch)
{
    char *target;
    if (!take_target(stream, batch, &target)) return false;
    ps_status status = enqueue_copy(stream, batch, target);
    if (status == PS_OK)
        hand_over(stream, batch, target);
    else
        ps_chunk_feed_fail(stream->feed, status);
    return status == PS_OK;
}

static bool is_on_device(ps_device_stream *stream, const ps_moved_batch *batch)
{
    ps_chunk_feed_lock(stream->feed);
    bool there = batch->plan.tier == PS_TIER_DEVICE && batch->base;
    ps_chunk_feed_unlock(stream->feed);
    return there;
}

static void *mover_main(void *argument)
{
    ps_device_stream *stream = argument;
    const ps_device_plan *plan = &stream->plan;
    bool more = true, streams = plan->tier_batches[PS_TIER_DEVICE] < plan->batch_count;
    stream->move_loading = true;
    do {
        for (int64_t b = 0; b < plan->batch_count && more; ++b)
            if (!is_on_device(stream, &stream->batches[b]))
                more = move_batch(stream, &stream->batches[b]);
        stream->move_loading = false;
        if (plan->tier_batches[PS_TIER_DISK] == 0) {
            ps_chunk_feed_lock(stream->feed);
            more = more && wait_until(stream, nothing_flies, NULL);
            ps_chunk_feed_unlock(stream->feed);
        }
    } while (more && streams);
    return NULL;
}

/* ---- chunks that lie on the device ---- */

bool ps_mover_gathers(const ps_device_stream *stream)
{
    const ps_device_plan *plan = &stream->plan;
    return stream->config.placed && plan->tier_batches[PS_TIER_DEVICE] == plan->batch_count;
}

static ps_status gather(ps_device_stream *stream, ps_moved_batch *batch)
{
    const ps_device_stream_config *config = &stream->config;
    const ps_device_batch *plan = &batch->plan;
    const int64_t *offsets = stream->offsets + (plan->first - config->first);
    PS_TRY(ps_device_alloc(config->device, plan->bytes, (void **)&batch->home));
    for (int64_t c = 0; c < plan->count; ++c) {
        const void *host, *from = config->placed(config->context, plan->first + c, &host);
        PS_TRY(ps_copy_on_device(stream->copies, batch->home + offsets[c], from,
                                 config->unpacked_bytes[plan->first + c]));
    }
    PS_TRY(ps_event_record(batch->copied, stream->copies));
    batch->base = batch->home;
    return PS_OK;
}

const void *ps_mover_image(const ps_device_stream *stream, const ps_moved_batch *batch,
                           int64_t chunk)
{
    const void *host;
    if (batch->image) return batch->image + stream->offsets[chunk - stream->config.first];
    stream->config.placed(stream->config.context, chunk, &host);
    return host;
}

/* ---- for the sweeping thread ---- */

ps_status ps_mover_await_image(ps_device_stream *stream, ps_moved_batch *batch)
{
    ps_status status;
    if (ps_mover_gathers(stream)) return gather(stream, batch);
    ps_chunk_feed_lock(stream->feed);
    while ((status = ps_chunk_feed_failure(stream->feed)) == PS_OK &&
           !image_is_ready(stream, batch))
        ps_chunk_feed_wait(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    return status;
}

ps_status ps_mover_await_base(ps_device_stream *stream, ps_moved_batch *batch)
{
    ps_status status;
    if (ps_mover_gathers(stream)) return PS_OK;
    ps_chunk_feed_lock(stream->feed);
    while ((status = ps_chunk_feed_failure(stream->feed)) == PS_OK && !batch->base)
        ps_chunk_feed_wait(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    return status;
}

void ps_mover_set_prepared(ps_device_stream *stream, ps_moved_batch *batch)
{
    bool alone = ps_mover_gathers(stream);
    if (!alone) ps_chunk_feed_lock(stream->feed);
    batch->prepared = true;
    if (alone) return;
    ps_chunk_feed_wake(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
}

void ps_mover_done_with(ps_device_stream *stream, ps_moved_batch *batch)
{
    if (batch->plan.tier == PS_TIER_DEVICE) return;
    ps_chunk_feed_lock(stream->feed);
    stream->busy[batch->slot] = false;
    batch->base = NULL;
    ps_chunk_feed_wake(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
}

ps_status ps_mover_end_loading(ps_device_stream *stream)
{
    ps_status status;
    ps_chunk_feed_lock(stream->feed);
    while ((status = ps_chunk_feed_failure(stream->feed)) == PS_OK &&
           stream->stagings.free_count < stream->stagings.count)
        ps_chunk_feed_wait(stream->feed);
    ps_chunk_feed_unlock(stream->feed);
    PS_TRY(status);
    if (stream->allocator_runs) pthread_join(stream->allocator, NULL);
    stream->allocator_runs = false;
    if (stream->plan.tier_batches[PS_TIER_DISK] == 0) ps_chunk_feed_retire(stream->feed);
    ps_device_free_pinned(stream->config.device, stream->stagings.memory);
    stream->stagings.memory = NULL;
    stream->stagings.arena = 0;
    return PS_OK;
}

/* ---- start and stop ---- */

static ps_status open_feed(ps_device_stream *stream)
{
    const ps_device_stream_config *config = &stream->config;
    return ps_chunk_feed_open(&(ps_chunk_feed_config){.raw_bytes = config->raw_bytes,
                                                      .unpacked_bytes = config->unpacked_bytes,
                                                      .raws = stream->plan.raws,
                                                      .unpackers = config->unpackers,
                                                      .readers = config->readers,
                                                      .raw_size = stream->plan.raw_bytes,
                                                      .context = config->context,
                                                      .read = config->read,
                                                      .unpack = config->unpack,
                                                      .owner = stream,
                                                      .next = next_chunk,
                                                      .place = place_of_chunk,
                                                      .ready = chunk_is_ready},
                              &stream->feed);
}

ps_status ps_mover_start(ps_device_stream *stream)
{
    stream->reading = stream->config.first;
    stream->reread = false;
    stream->next_slot = stream->flying_first = stream->flying_count = 0;
    if (ps_mover_gathers(stream)) return PS_OK;
    PS_TRY(open_feed(stream));
    PS_TRY(ps_chunk_feed_start(stream->feed));
    PS_TRY(ps_chunk_feed_thread(&stream->allocator, allocator_main, stream,
                                "the allocating thread of a device stream"));
    stream->allocator_runs = true;
    PS_TRY(ps_chunk_feed_thread(&stream->mover, mover_main, stream,
                                "the copying thread of a device stream"));
    stream->mover_runs = true;
    return PS_OK;
}

ps_status ps_mover_stop(ps_device_stream *stream)
{
    if (!stream->feed) return PS_OK;
    ps_chunk_feed_fail(stream->feed, PS_FAILED); /* nobody asks any more */
    if (stream->allocator_runs) pthread_join(stream->allocator, NULL);
    if (stream->mover_runs) pthread_join(stream->mover, NULL);
    stream->allocator_runs = stream->mover_runs = false;
    ps_chunk_feed_close(&stream->feed);
    return ps_stream_wait(stream->copies);
}
