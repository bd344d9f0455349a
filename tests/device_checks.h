/*
 * device_checks: what must hold on every device; run by tests/runtime/test_device.c on the CPU
 * and by tests/gpu/check_device.c on CUDA devices. A failure is a status with a message.
 */
#ifndef PS_TESTS_DEVICE_CHECKS_H
#define PS_TESTS_DEVICE_CHECKS_H

#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/memory.h"

static inline unsigned char device_check_byte(int64_t i)
{
    return (unsigned char)(i * 131 + (i >> 9));
}

static inline ps_status device_check_compare(const unsigned char *data, int64_t first, int64_t end,
                                             bool zero, const char *what)
{
    for (int64_t i = first; i < end; ++i)
        if (data[i] != (zero ? 0 : device_check_byte(i)))
            return ps_fail(PS_FAILED, "%s: byte %lld is %d", what, (long long)i, data[i]);
    return PS_OK;
}

/* Host to device, a zeroed part, back to other host memory: in the order of the stream. */
static inline ps_status device_check_copies(ps_device *device, ps_stream *stream, int64_t bytes,
                                            bool pinned)
{
    void *there = NULL, *from = NULL, *to = NULL;
    ps_status status;
    int64_t third = bytes / 3;
    PS_GUARD(status, done, ps_device_alloc(device, bytes, &there));
    PS_GUARD(status, done,
             pinned ? ps_device_alloc_pinned(device, bytes, &from)
                    : ps_alloc(&from, bytes, 1, "a test"));
    PS_GUARD(status, done,
             pinned ? ps_device_alloc_pinned(device, bytes, &to)
                    : ps_alloc(&to, bytes, 1, "a test"));
    for (int64_t i = 0; i < bytes; ++i) ((unsigned char *)from)[i] = device_check_byte(i);
    if (bytes > 0) memset(to, 0x5a, (size_t)bytes);
    PS_GUARD(status, done, ps_copy_to_device(stream, there, from, bytes));
    PS_GUARD(status, done, ps_fill_zero(stream, (char *)there + third, third));
    PS_GUARD(status, done, ps_copy_to_host(stream, to, there, bytes));
    PS_GUARD(status, done, ps_stream_wait(stream));
    PS_GUARD(status, done, device_check_compare(to, 0, third, false, "the first third"));
    PS_GUARD(status, done, device_check_compare(to, third, 2 * third, true, "the zeroed third"));
    PS_GUARD(status, done, device_check_compare(to, 2 * third, bytes, false, "the last third"));
done:
    ps_device_free(device, there);
    if (pinned) {
        ps_device_free_pinned(device, from);
        ps_device_free_pinned(device, to);
    } else {
        PS_FREE(from, to);
    }
    return status;
}

/* One stream fills a buffer many times over, another fetches it after an event. */
static inline ps_status device_check_events(ps_device *device)
{
    enum { BYTES = 3000001, ROUNDS = 20 };
    ps_stream *filler = NULL, *fetcher = NULL;
    ps_event *start = NULL, *filled = NULL;
    void *there = NULL, *from = NULL, *to = NULL;
    double seconds = -1;
    bool filled_done = false;
    ps_status status;
    PS_GUARD(status, done, ps_stream_open(device, &filler));
    PS_GUARD(status, done, ps_stream_open_ahead(device, &fetcher));
    PS_GUARD(status, done, ps_event_open(device, &start));
    PS_GUARD(status, done, ps_event_open(device, &filled));
    PS_GUARD(status, done, ps_device_alloc(device, BYTES, &there));
    PS_GUARD(status, done, ps_device_alloc_pinned(device, BYTES, &from));
    PS_GUARD(status, done, ps_device_alloc_pinned(device, BYTES, &to));
    for (int64_t i = 0; i < BYTES; ++i) ((unsigned char *)from)[i] = device_check_byte(i);
    memset(to, 0x5a, BYTES);
    PS_GUARD(status, done, ps_event_record(start, filler));
    for (int round = 0; round < ROUNDS; ++round) {
        PS_GUARD(status, done, ps_fill_zero(filler, there, BYTES));
        PS_GUARD(status, done, ps_copy_to_device(filler, there, from, BYTES));
    }
    PS_GUARD(status, done, ps_event_record(filled, filler));
    PS_GUARD(status, done, ps_event_wait(filled, fetcher));
    PS_GUARD(status, done, ps_copy_to_host(fetcher, to, there, BYTES));
    PS_GUARD(status, done, ps_stream_wait(fetcher));
    PS_GUARD(status, done, device_check_compare(to, 0, BYTES, false, "after the event"));
    PS_GUARD(status, done, ps_event_is_done(filled, &filled_done));
    if (!filled_done) PS_GUARD(status, done, ps_fail(PS_FAILED, "a passed event is not done"));
    PS_GUARD(status, done, ps_event_seconds(start, filled, &seconds));
    if (!(seconds > 0 && seconds < 60))
        status = ps_fail(PS_FAILED, "%d copies took %g s by events", ROUNDS, seconds);
done:
    ps_device_free(device, there);
    ps_device_free_pinned(device, from);
    ps_device_free_pinned(device, to);
    ps_event_close(&start);
    ps_event_close(&filled);
    ps_stream_close(&filler);
    ps_stream_close(&fetcher);
    return status;
}

/* Host -> `source` -> device -> another place there -> host; the host waits by an event. */
static inline ps_status device_check_peer(ps_device *device, ps_device *source, int64_t bytes)
{
    ps_stream *stream = NULL, *source_stream = NULL;
    ps_event *event = NULL;
    void *far = NULL, *near = NULL, *twin = NULL, *host = NULL;
    bool passed = false;
    ps_status status;
    PS_GUARD(status, done, ps_stream_open(device, &stream));
    PS_GUARD(status, done, ps_stream_open(source, &source_stream));
    PS_GUARD(status, done, ps_event_open(device, &event));
    PS_GUARD(status, done, ps_event_sync(event)); /* never recorded: nothing to wait for */
    PS_GUARD(status, done, ps_event_is_done(event, &passed));
    if (!passed)
        PS_GUARD(status, done, ps_fail(PS_FAILED, "an event is open before it is recorded"));
    PS_GUARD(status, done, ps_device_alloc(source, bytes, &far));
    PS_GUARD(status, done, ps_device_alloc(device, bytes, &near));
    PS_GUARD(status, done, ps_device_alloc(device, bytes, &twin));
    PS_GUARD(status, done, ps_device_alloc_pinned(device, bytes, &host));
    for (int64_t i = 0; i < bytes; ++i) ((unsigned char *)host)[i] = device_check_byte(i);
    PS_GUARD(status, done, ps_copy_to_device(source_stream, far, host, bytes));
    PS_GUARD(status, done, ps_stream_wait(source_stream));
    PS_GUARD(status, done, ps_copy_peer(stream, near, source, far, bytes));
    PS_GUARD(status, done, ps_copy_on_device(stream, twin, near, bytes));
    PS_GUARD(status, done, ps_event_record(event, stream));
    PS_GUARD(status, done, ps_event_sync(event));
    memset(host, 0x5a, (size_t)bytes);
    PS_GUARD(status, done, ps_stream_enter(stream));
    PS_GUARD(status, done, ps_copy_to_host(stream, host, twin, bytes));
    PS_GUARD(status, done, ps_stream_wait(stream));
    PS_GUARD(status, done, device_check_compare(host, 0, bytes, false, "between devices"));
    if (ps_stream_device(stream) != device)
        status = ps_fail(PS_FAILED, "a stream forgot its device");
done:
    ps_device_free(source, far);
    ps_device_free(device, near);
    ps_device_free(device, twin);
    ps_device_free_pinned(device, host);
    ps_event_close(&event);
    ps_stream_close(&stream);
    ps_stream_close(&source_stream);
    return status;
}

static inline ps_status device_check_description(ps_device *device)
{
    ps_device_info info = ps_device_describe(device);
    if (!info.name[0] || info.multiprocessors < 1 || info.memory_free < 1 ||
        info.memory_free > info.memory_total)
        return ps_fail(PS_FAILED, "described as \"%s\": %d processors, %lld of %lld bytes free",
                       info.name, info.multiprocessors, (long long)info.memory_free,
                       (long long)info.memory_total);
    return PS_OK;
}

/* More than there is: refused with a message, and the device still works afterwards. */
static inline ps_status device_check_exhaustion(ps_device *device)
{
    void *memory;
    ps_status status = ps_device_alloc(device, (int64_t)1 << 60, &memory);
    if (status != PS_EXHAUSTED || memory)
        return ps_fail(PS_FAILED, "2^60 bytes were given, or refused as %d", status);
    PS_TRY(ps_device_alloc(device, 100, &memory));
    ps_device_free(device, memory);
    return PS_OK;
}

static inline ps_status device_check_all(ps_device *device)
{
    const int64_t sizes[] = {0, 1, 3, 63, 4097, 1000003, 9437187};
    ps_stream *stream;
    PS_TRY(ps_stream_open(device, &stream));
    ps_status status = PS_OK;
    for (int i = 0; i < 14 && status == PS_OK; ++i)
        status = device_check_copies(device, stream, sizes[i / 2], i % 2);
    ps_stream_close(&stream);
    PS_TRY(status);
    PS_TRY(device_check_events(device));
    PS_TRY(device_check_peer(device, device, 5000003));
    PS_TRY(device_check_description(device));
    PS_TRY(device_check_exhaustion(device));
    ps_device_free(device, NULL);
    ps_device_free_pinned(device, NULL);
    return PS_OK;
}

#endif
