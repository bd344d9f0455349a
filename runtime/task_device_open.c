/* The device of a GPU worker: streams, events and memory; and copies from it for whoever asks. */

#include "runtime/memory.h"
#include "runtime/task_internal.h"

static ps_status open_flight(ps_device *device, task_flight *flight)
{
    PS_TRY(ps_event_open(device, &flight->uploaded));
    PS_TRY(ps_event_open(device, &flight->started));
    PS_TRY(ps_event_open(device, &flight->ended));
    return ps_event_open(device, &flight->done);
}

ps_status task_device_open(ps_task_queue *queue, int number, ps_device *device, int64_t bytes)
{
    device_worker *d = &queue->devices[number];
    d->device = device;
    d->number = number;
    pthread_mutex_init(&d->fetching, NULL);
    PS_TRY(ps_device_alloc(device, bytes, &d->memory));
    PS_TRY(task_arena_open(&d->arena, bytes));
    PS_TRY(ps_stream_open(device, &d->upload));
    for (int l = 0; l < PS_TASK_LANES; ++l)
        PS_TRY((l < PS_TASK_LANES - PS_SHORT_LANES ? ps_stream_open
                                                   : ps_stream_open_ahead)(device, &d->lanes[l]));
    PS_TRY(ps_stream_open(device, &d->download));
    PS_TRY(ps_stream_open(device, &d->fetch));
    PS_TRY(ps_event_open(device, &d->base));
    for (int f = 0; f < queue->lookahead; ++f) PS_TRY(open_flight(device, &d->flights[f]));
    for (int f = 0; f < PS_HOMING_MAX; ++f) PS_TRY(open_flight(device, &d->homing[f]));
    PS_TRY(ps_event_record(d->base, d->upload));
    PS_TRY(ps_event_sync(d->base));
    d->base_clock = ps_clock() - queue->opened;
    return PS_OK;
}

static void close_event(ps_event **event)
{
    if (*event) ps_event_close(event);
}

static void close_flight(task_flight *flight)
{
    close_event(&flight->uploaded);
    close_event(&flight->started);
    close_event(&flight->ended);
    close_event(&flight->done);
    PS_FREE(flight->pointers, flight->home, flight->goes_up);
}

void task_device_close(device_worker *d)
{
    ps_stream **streams[] = {&d->upload, &d->download, &d->fetch};
    for (int f = 0; f < PS_LOOKAHEAD_MAX; ++f) close_flight(&d->flights[f]);
    for (int f = 0; f < PS_HOMING_MAX; ++f) close_flight(&d->homing[f]);
    close_event(&d->base);
    for (int s = 0; s < 3; ++s)
        if (*streams[s]) ps_stream_close(streams[s]);
    for (int l = 0; l < PS_TASK_LANES; ++l)
        if (d->lanes[l]) ps_stream_close(&d->lanes[l]);
    task_arena_close(&d->arena);
    ps_device_free(d->device, d->memory);
    pthread_mutex_destroy(&d->fetching);
}

void *task_copy_address(const device_worker *d, const device_copy *copy)
{
    return (char *)d->memory + copy->block->offset;
}

ps_status task_device_fetch(device_worker *d, ps_task_data *data)
{
    pthread_mutex_lock(&d->fetching);
    ps_status status = ps_copy_to_host(d->fetch, data->host,
                                       task_copy_address(d, &data->copies[d->number]), data->bytes);
    if (status == PS_OK) status = ps_stream_wait(d->fetch);
    pthread_mutex_unlock(&d->fetching);
    return status;
}
