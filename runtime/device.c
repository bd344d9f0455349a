#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device_backend.h"
#include "runtime/device_name.h"

#ifndef PS_WITH_CUDA
int ps_device_cuda_count(const char **why)
{
    *why = "this build has no CUDA (nvcc was not found; see `make info`)";
    return 0;
}
ps_status ps_device_cuda_open(int ordinal, ps_device **out)
{
    return ps_fail(PS_FAILED, "this build has no CUDA");
}
#endif

int ps_device_count(void)
{
    const char *why;
    return ps_device_cuda_count(&why);
}

void ps_device_expect_tasks(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

static ps_status open_cuda(const char *name, int ordinal, int rank, ps_device **out)
{
    const char *why = "no device";
    int count = ps_device_cuda_count(&why);
    if (count == 0)
        return ps_fail(PS_FAILED, "--device %s: there is no CUDA device: %s; use --device cpu",
                       name, why);
    if (ordinal >= count)
        return ps_fail(PS_FAILED, "--device %s: there are only devices 0 to %d here", name,
                       count - 1);
    return ps_device_cuda_open(ordinal >= 0 ? ordinal : rank % count, out);
}

ps_status ps_device_open(const char *name, int rank, ps_device **out)
{
    int ordinal;
    *out = NULL;
    if (strcmp(name, "cpu") == 0) return ps_device_cpu_open(out);
    if (strcmp(name, "auto") == 0)
        return ps_device_count() > 0 ? open_cuda(name, -1, rank, out) : ps_device_cpu_open(out);
    if (ps_device_name_is_cuda(name, &ordinal)) return open_cuda(name, ordinal, rank, out);
    return ps_device_name_check(name);
}

ps_status ps_device_open_ordinal(int ordinal, ps_device **out)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    return ps_device_open(ordinal < 0 ? "cpu" : name, 0, out);
}

ps_status ps_device_list(const char *name, int local_rank, int local_size, int *out, int capacity,
                         int *count)
{
    int ordinal = -1, all = ps_device_count();
    *count = 0;
    if (strcmp(name, "cpu") == 0) return PS_OK;
    if (strcmp(name, "auto") == 0 && all == 0) return PS_OK;
    if (strcmp(name, "auto") != 0 &&
        (!ps_device_name_is_cuda(name, &ordinal) || ordinal >= all || all == 0)) {
        ps_device *none; /* for its message */
        ps_status status = ps_device_open(name, local_rank, &none);
        return status == PS_OK ? ps_fail(PS_FAILED, "--device %s came and went", name) : status;
    }
    if (ordinal >= 0) {
        out[(*count)++] = ordinal;
        return PS_OK;
    }
    for (int d = local_rank % all; d < all && *count < capacity; d += local_size)
        out[(*count)++] = d;
    return PS_OK;
}

void ps_device_close(ps_device **device)
{
    if (*device) (*device)->ops->release(*device);
    *device = NULL;
}

ps_device_info ps_device_describe(const ps_device *device)
{
    ps_device_info info = {.ordinal = device->ordinal};
    device->ops->describe(device, &info);
    return info;
}

/* ---- memory ---- */

ps_status ps_device_alloc(ps_device *device, int64_t bytes, void **out)
{
    *out = NULL;
    return device->ops->alloc(device, bytes, out);
}

void ps_device_free(ps_device *device, void *memory)
{
    if (memory) device->ops->free(device, memory);
}

ps_status ps_device_alloc_pinned(ps_device *device, int64_t bytes, void **out)
{
    *out = NULL;
    return device->ops->alloc_pinned(device, bytes, out);
}

void ps_device_free_pinned(ps_device *device, void *memory)
{
    if (memory) device->ops->free_pinned(device, memory);
}

ps_status ps_device_alloc_ring(ps_device *device, int64_t bytes, int64_t *ring, void **out)
{
    *out = NULL;
    return device->ops->alloc_ring(device, bytes, ring, out);
}

void ps_device_free_ring(ps_device *device, void *memory, int64_t bytes, int64_t ring)
{
    if (memory) device->ops->free_ring(device, memory, bytes, ring);
}

/* ---- streams ---- */

static ps_status open_stream(ps_device *device, bool ahead, ps_stream **out)
{
    *out = NULL;
    PS_TRY(device->ops->stream_open(device, ahead, out));
    (*out)->device = device;
    return PS_OK;
}

ps_status ps_stream_open(ps_device *device, ps_stream **out)
{
    return open_stream(device, false, out);
}

ps_status ps_stream_open_ahead(ps_device *device, ps_stream **out)
{
    return open_stream(device, true, out);
}

void ps_stream_close(ps_stream **stream)
{
    if (*stream) (*stream)->device->ops->stream_release(*stream);
    *stream = NULL;
}

ps_status ps_stream_wait(ps_stream *stream) { return stream->device->ops->stream_wait(stream); }

void *ps_stream_handle(ps_stream *stream) { return stream->device->ops->stream_handle(stream); }

ps_device *ps_stream_device(ps_stream *stream) { return stream->device; }

ps_status ps_stream_enter(ps_stream *stream) { return stream->device->ops->stream_enter(stream); }

ps_status ps_copy_to_device(ps_stream *stream, void *device, const void *host, int64_t bytes)
{
    return bytes > 0 ? stream->device->ops->copy_to_device(stream, device, host, bytes) : PS_OK;
}

ps_status ps_copy_all(ps_stream *stream, const ps_copies *copies)
{
    return copies->count > 0 ? stream->device->ops->copy_all(stream, copies) : PS_OK;
}

ps_status ps_copy_to_new(ps_stream *stream, const void *host, int64_t bytes, void **device)
{
    PS_TRY(ps_device_alloc(ps_stream_device(stream), bytes, device));
    PS_TRY(ps_copy_to_device(stream, *device, host, bytes));
    return ps_stream_wait(stream);
}

ps_status ps_copy_to_host(ps_stream *stream, void *host, const void *device, int64_t bytes)
{
    return bytes > 0 ? stream->device->ops->copy_to_host(stream, host, device, bytes) : PS_OK;
}

ps_status ps_fill_zero(ps_stream *stream, void *device, int64_t bytes)
{
    return bytes > 0 ? stream->device->ops->fill_zero(stream, device, bytes) : PS_OK;
}

ps_status ps_copy_on_device(ps_stream *stream, void *to, const void *from, int64_t bytes)
{
    return bytes > 0 ? stream->device->ops->copy_on_device(stream, to, from, bytes) : PS_OK;
}

ps_status ps_copy_peer(ps_stream *stream, void *to, ps_device *source, const void *from,
                       int64_t bytes)
{
    const ps_device_ops *ops = stream->device->ops;
    if (source->ops != ops)
        return ps_fail(PS_FAILED, "a copy between devices was asked for devices of two kinds");
    if (source->ordinal == stream->device->ordinal)
        return ps_copy_on_device(stream, to, from, bytes);
    return bytes > 0 ? ops->copy_peer(stream, to, source, from, bytes) : PS_OK;
}

/* ---- events ---- */

ps_status ps_event_open(ps_device *device, ps_event **out)
{
    *out = NULL;
    PS_TRY(device->ops->event_open(device, out));
    (*out)->device = device;
    return PS_OK;
}

void ps_event_close(ps_event **event)
{
    if (*event) (*event)->device->ops->event_release(*event);
    *event = NULL;
}

ps_status ps_event_record(ps_event *event, ps_stream *stream)
{
    return event->device->ops->event_record(event, stream);
}

ps_status ps_event_wait(ps_event *event, ps_stream *stream)
{
    return event->device->ops->event_wait(event, stream);
}

ps_status ps_event_sync(ps_event *event) { return event->device->ops->event_sync(event); }

ps_status ps_event_is_done(ps_event *event, bool *out)
{
    return event->device->ops->event_is_done(event, out);
}

ps_status ps_event_seconds(ps_event *start, ps_event *end, double *out)
{
    return start->device->ops->event_seconds(start, end, out);
}
