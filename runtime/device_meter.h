/*
 * device_meter: how long work on a device's streams took, without waiting for it. Part of
 * device_stream.
 *
 * A probe is a pair of events around a piece of work. While the last use of a probe is still under
 * way its next piece is not timed but only weighed: a meter's seconds are those of the timed
 * pieces, times all weight over timed weight.
 */
#ifndef PS_RUNTIME_DEVICE_METER_H
#define PS_RUNTIME_DEVICE_METER_H

#include "runtime/device.h"

typedef struct ps_meter {
    double seconds, timed, weight; /* seconds and weight of timed pieces, weight of all */
} ps_meter;

typedef struct ps_probe {
    ps_event *start, *end;
    ps_meter *meter; /* of the piece under way; NULL: none */
    double weight;
} ps_probe;

ps_status ps_probe_open(ps_device *device, ps_probe *out);
void ps_probe_close(ps_probe *probe);
/* Around a piece of work of `weight` on a stream: begin says in *timed whether end is to record. */
ps_status ps_probe_begin(ps_probe *probe, ps_stream *stream, bool *timed);
ps_status ps_probe_end(ps_probe *probe, ps_stream *stream, bool timed, ps_meter *meter,
                       double weight);
/* Adds a timed piece to its meter if it is done, or waits for it. */
ps_status ps_probe_collect(ps_probe *probe, bool wait);

double ps_meter_seconds(const ps_meter *meter);

#endif
