/*
 * device_stream_checks: a source of chunks that can delay and fail each callback, and sweeps that
 * fetch what is on the device and compare it byte by byte. Run by
 * tests/runtime/test_device_stream.c on the CPU and by tests/gpu/check_device_stream.c on CUDA
 * devices. A failure is a status with a message.
 */
#ifndef PS_TESTS_DEVICE_STREAM_CHECKS_H
#define PS_TESTS_DEVICE_STREAM_CHECKS_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device_stream.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

enum { STREAMED_MAX = 96 };

typedef struct streamed {
    ps_device *device;
    ps_stream *on;
    int64_t chunks, raw[STREAMED_MAX], unpacked[STREAMED_MAX], place[STREAMED_MAX], total;
    int64_t least;          /* bytes that the largest batch or chunk can take */
    unsigned char *fetched; /* pinned: chunk c of the last sweep at place[c] */
    int rounds;             /* how often compute fetches a batch: slows the device down */
    double read_delay, unpack_delay, compute_delay;
    int fail_read, fail_unpack, fail_prepare, fail_compute; /* chunk, or batch that begins there */
    int readers; /* at once, at most */
    int fail_after;                                         /* so many times it still works */
    atomic_int reading, wrong, prepared, reads;
    int64_t next, end; /* of the sweep: first chunk expected, end of the interval */
    int64_t bad_chunk;
} streamed;

static inline unsigned char streamed_byte(int64_t chunk, int64_t i)
{
    return (unsigned char)(chunk * 37 + i * 11 + (i >> 8));
}

static inline void streamed_pause(double seconds)
{
    if (seconds > 0) usleep((useconds_t)(1e6 * seconds));
}

static inline ps_status streamed_read(void *context, int64_t chunk, void *raw)
{
    streamed *s = context;
    unsigned char *bytes = raw;
    if (atomic_fetch_add(&s->reading, 1) >= s->readers) atomic_store(&s->wrong, 1);
    streamed_pause(s->read_delay);
    for (int64_t i = 0; i < s->raw[chunk]; ++i) bytes[i] = streamed_byte(chunk, i);
    atomic_fetch_add(&s->reads, 1);
    atomic_fetch_sub(&s->reading, 1);
    if (chunk == s->fail_read && s->fail_after-- == 0)
        return ps_fail(PS_INVALID, "read broke at %d", (int)chunk);
    return PS_OK;
}

static inline unsigned char streamed_image(const streamed *s, int64_t chunk, int64_t i)
{
    return (unsigned char)(s->raw[chunk] ? streamed_byte(chunk, i % s->raw[chunk]) + 1 : 7);
}

static inline ps_status streamed_unpack(void *context, int64_t chunk, const void *raw,
                                        void *unpacked)
{
    streamed *s = context;
    const unsigned char *from = raw;
    unsigned char *to = unpacked;
    streamed_pause(s->unpack_delay);
    for (int64_t i = 0; i < s->unpacked[chunk]; ++i)
        to[i] = (unsigned char)(s->raw[chunk] ? from[i % s->raw[chunk]] + 1 : 7);
    if (chunk == s->fail_unpack) return ps_fail(PS_INVALID, "unpack broke at %d", (int)chunk);
    return PS_OK;
}

static inline bool streamed_is_image(const streamed *s, int64_t chunk, const unsigned char *bytes)
{
    for (int64_t i = 0; i < s->unpacked[chunk]; ++i)
        if (bytes[i] != streamed_image(s, chunk, i)) return false;
    return true;
}

/* Leaves a note of the first chunk, for compute to find. */
static inline ps_status streamed_prepare(void *context, const ps_batch_images *images, void **own)
{
    streamed *s = context;
    int64_t *note;
    if (images->first == s->fail_prepare)
        return ps_fail(PS_INVALID, "prepare broke at %d", (int)images->first);
    for (int64_t c = 0; c < images->count; ++c)
        if (!streamed_is_image(s, images->first + c, images->images[c]) ||
            images->offsets[c] != s->place[images->first + c] - s->place[images->first])
            atomic_store(&s->wrong, 1);
    PS_TRY(PS_ALLOC(&note, 1, "a note"));
    *note = images->first;
    *own = note;
    atomic_fetch_add(&s->prepared, 1);
    return PS_OK;
}

static inline void streamed_forget(void *context, void *own)
{
    atomic_fetch_sub(&((streamed *)context)->prepared, 1);
    free(own);
}

static inline ps_status streamed_compute(void *context, const ps_batch_work *work,
                                         ps_stream *stream)
{
    streamed *s = context;
    if (work->first != s->next || *(int64_t *)work->own != work->first) atomic_store(&s->wrong, 1);
    s->next = work->first + work->count;
    streamed_pause(s->compute_delay);
    for (int round = 0; round < s->rounds; ++round)
        PS_TRY(
            ps_copy_to_host(stream, s->fetched + s->place[work->first], work->base, work->bytes));
    if (work->first <= s->fail_compute && s->fail_compute < s->next && s->fail_after-- == 0)
        return ps_fail(PS_FAILED, "compute broke at %d", s->fail_compute);
    return PS_OK;
}

/* Sizes are random up to raw and unpacked bytes; some are 0. */
static inline ps_status streamed_open(streamed *s, ps_device *device, int64_t chunks, int64_t raw,
                                      int64_t unpacked)
{
    *s = (streamed){.device = device,
                    .chunks = chunks,
                    .rounds = 1,
                    .readers = 1,
                    .fail_read = -1,
                    .fail_unpack = -1,
                    .fail_prepare = -1,
                    .fail_compute = -1};
    uint64_t seed = (uint64_t)chunks;
    for (int64_t c = 0; c < chunks; ++c) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        s->raw[c] = c % 9 == 4 ? 0 : (int64_t)(seed >> 33) % raw;
        s->unpacked[c] = c % 11 == 5 ? 0 : (int64_t)(seed >> 20) % unpacked;
        s->place[c] = s->total;
        s->total += ps_device_padded(s->unpacked[c]);
    }
    s->end = chunks;
    s->least = s->total / 12 + raw + unpacked + 512;
    PS_TRY(ps_stream_open(device, &s->on));
    return ps_device_alloc_pinned(device, s->total, (void **)&s->fetched);
}

static inline void streamed_close(streamed *s)
{
    ps_stream_close(&s->on);
    ps_device_free_pinned(s->device, s->fetched);
}

static inline ps_device_stream_config streamed_config(streamed *s, int64_t host, int64_t device)
{
    return (ps_device_stream_config){.device = s->device,
                                     .chunk_count = s->chunks,
                                     .raw_bytes = s->raw,
                                     .unpacked_bytes = s->unpacked,
                                     .count = -1,
                                     .host_memory = host,
                                     .device_memory = device,
                                     .batch_bytes = s->total / 12 + 1,
                                     .context = s,
                                     .read = streamed_read,
                                     .unpack = streamed_unpack,
                                     .prepare = streamed_prepare,
                                     .forget = streamed_forget};
}

/* One sweep over chunks [first, end) whose result is fetched and compared. */
static inline ps_status streamed_sweep(streamed *s, ps_device_stream *stream, int64_t first)
{
    memset(s->fetched, 0x5a, (size_t)s->total);
    s->next = first;
    PS_TRY(ps_device_stream_sweep(stream, streamed_compute, s, s->on));
    PS_TRY(ps_stream_wait(s->on));
    if (s->next != s->end || atomic_load(&s->wrong))
        return ps_fail(PS_FAILED, "the sweep ended at chunk %lld of %lld, wrong %d",
                       (long long)s->next, (long long)s->end, atomic_load(&s->wrong));
    for (int64_t c = first; c < s->end; ++c)
        if (!streamed_is_image(s, c, s->fetched + s->place[c]))
            return ps_fail(PS_FAILED, "chunk %lld is wrong on the device", (long long)c);
    return PS_OK;
}

/* Opens, sweeps, asks for the figures and closes; nothing that was prepared is left over. */
static inline ps_status streamed_run(streamed *s, const ps_device_stream_config *config, int sweeps,
                                     ps_device_stream_stats *stats)
{
    ps_device_stream *stream;
    char message[512];
    PS_TRY(ps_device_stream_open(config, &stream));
    ps_status status = PS_OK;
    for (int i = 0; i < sweeps && status == PS_OK; ++i) status = streamed_sweep(s, stream, 0);
    strncpy(message, ps_message(), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    ps_device_stream_get_stats(stream, stats);
    ps_device_stream_close(&stream);
    if (atomic_load(&s->prepared) != 0)
        return ps_fail(PS_FAILED, "prepared batches were left over");
    return status == PS_OK ? PS_OK : ps_fail(status, "%s", message);
}

/* Budgets from nearly nothing to all, on the device and in the host: four sweeps each. */
static inline ps_status streamed_check_budgets(streamed *s, int steps)
{
    for (int step = 0; step < steps * steps; ++step) {
        double device = 1.0 * (step % steps) / (steps - 1);
        double host = 1.2 * (step / steps) / (steps - 1);
        ps_device_stream_config config =
            streamed_config(s, 3 * s->least + (int64_t)(host * (double)s->total),
                            s->least + (int64_t)(device * (double)s->total));
        ps_device_stream_stats stats;
        config.slots = step % 4;
        config.host_slots = (step / 2) % 3;
        config.unpackers = 1 + step % 3;
        s->readers = config.readers = 1 + step % 4;
        config.resident_batch_bytes = step % 5 == 0 ? s->total / 4 : 0;
        s->rounds = step % 3 == 1 ? 5 : 1;
        PS_TRY(streamed_run(s, &config, 4, &stats));
        if (stats.device_bytes > config.device_memory || stats.host_bytes > config.host_memory ||
            stats.loading.sweeps != 1 || stats.streaming.sweeps != 3)
            return ps_fail(PS_FAILED, "step %d: %lld and %lld bytes held", step,
                           (long long)stats.device_bytes, (long long)stats.host_bytes);
    }
    s->readers = 1;
    return PS_OK;
}

/* Intervals as a balancer moves them: what is swept, and that nothing that stays is read again. */
static inline ps_status streamed_check_resets(streamed *s, int64_t host, int64_t device)
{
    const int64_t n = s->chunks;
    const int64_t intervals[][2] = {
        {0, n},     {0, n - 1}, {0, n / 2}, {0, n / 2}, {n / 3, n - n / 3},
        {n / 3, 1}, {n - 1, 1}, {0, n},     {7, 0},     {2, n - 4}};
    ps_device_stream *stream;
    ps_device_stream_config config = streamed_config(s, host, device);
    PS_TRY(ps_device_stream_open(&config, &stream));
    ps_status status = PS_OK;
    for (int i = 0; i < 10 && status == PS_OK; ++i) {
        s->end = intervals[i][0] + intervals[i][1];
        if (i > 0) status = ps_device_stream_reset(stream, intervals[i][0], intervals[i][1]);
        if (s->end == intervals[i][0]) s->next = s->end;
        for (int sweep = 0; sweep <= i % 3 && status == PS_OK; ++sweep)
            status = streamed_sweep(s, stream, intervals[i][0]);
    }
    if (status != PS_OK) ps_context(status, "reset");
    ps_device_stream_close(&stream);
    s->end = n;
    if (status == PS_OK && atomic_load(&s->prepared) != 0)
        status = ps_fail(PS_FAILED, "prepared batches were left over by resets");
    return status;
}

#endif
