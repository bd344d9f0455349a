/*
 * device_clock: seconds of what is enqueued on a stream, by the device's own clock.
 */
#ifndef PS_TESTS_SUPPORT_DEVICE_CLOCK_H
#define PS_TESTS_SUPPORT_DEVICE_CLOCK_H

#include "runtime/device.h"
#include "runtime/scope.h"

typedef struct device_clock {
    ps_stream *stream;
    ps_event *start, *end;
} device_clock;

static inline void device_clock_close(device_clock *clock)
{
    ps_event_close(&clock->start);
    ps_event_close(&clock->end);
}

static inline ps_status device_clock_open(device_clock *clock, ps_stream *stream)
{
    clock->stream = stream;
    PS_TRY(ps_event_open(ps_stream_device(stream), &clock->start));
    return ps_event_open(ps_stream_device(stream), &clock->end);
}

static inline ps_status device_clock_start(device_clock *clock)
{
    return ps_event_record(clock->start, clock->stream);
}

/* Waits for what was enqueued. */
static inline ps_status device_clock_stop(device_clock *clock, double *seconds)
{
    PS_TRY(ps_event_record(clock->end, clock->stream));
    return ps_event_seconds(clock->start, clock->end, seconds);
}

#endif
