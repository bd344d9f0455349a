#include "runtime/device_meter.h"

#include <stddef.h>

ps_status ps_probe_open(ps_device *device, ps_probe *out)
{
    *out = (ps_probe){0};
    PS_TRY(ps_event_open(device, &out->start));
    return ps_event_open(device, &out->end);
}

void ps_probe_close(ps_probe *probe)
{
    ps_event_close(&probe->start);
    ps_event_close(&probe->end);
    probe->meter = NULL;
}

ps_status ps_probe_collect(ps_probe *probe, bool wait)
{
    bool done = true;
    double seconds;
    if (!probe->meter) return PS_OK;
    if (!wait) PS_TRY(ps_event_is_done(probe->end, &done));
    if (!done) return PS_OK;
    PS_TRY(ps_event_seconds(probe->start, probe->end, &seconds));
    probe->meter->seconds += seconds;
    probe->meter->timed += probe->weight;
    probe->meter = NULL;
    return PS_OK;
}

ps_status ps_probe_begin(ps_probe *probe, ps_stream *stream, bool *timed)
{
    PS_TRY(ps_probe_collect(probe, false));
    *timed = probe->meter == NULL;
    return *timed ? ps_event_record(probe->start, stream) : PS_OK;
}

ps_status ps_probe_end(ps_probe *probe, ps_stream *stream, bool timed, ps_meter *meter,
                       double weight)
{
    meter->weight += weight;
    if (!timed) return PS_OK;
    PS_TRY(ps_event_record(probe->end, stream));
    probe->meter = meter;
    probe->weight = weight;
    return PS_OK;
}

double ps_meter_seconds(const ps_meter *meter)
{
    return meter->timed > 0 ? meter->seconds * meter->weight / meter->timed : meter->seconds;
}
