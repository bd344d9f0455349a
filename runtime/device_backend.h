/*
 * device_backend: what a kind of device supplies to runtime/device.c. Private to it, to
 * device_cpu.c and to device_cuda.cu.
 */
#ifndef PS_RUNTIME_DEVICE_BACKEND_H
#define PS_RUNTIME_DEVICE_BACKEND_H

#include "runtime/device_copies.h"

/* Each entry does what the function of the same name in device.h documents; `release` frees
 * what a backend's open made. Releases and frees get no NULL. */
typedef struct ps_device_ops {
    void (*release)(ps_device *device);
    void (*describe)(const ps_device *device, ps_device_info *out);
    ps_status (*alloc)(ps_device *device, int64_t bytes, void **out);
    void (*free)(ps_device *device, void *memory);
    ps_status (*alloc_pinned)(ps_device *device, int64_t bytes, void **out);
    void (*free_pinned)(ps_device *device, void *memory);
    ps_status (*alloc_ring)(ps_device *device, int64_t bytes, int64_t *ring, void **out);
    void (*free_ring)(ps_device *device, void *memory, int64_t bytes, int64_t ring);
    ps_status (*stream_open)(ps_device *device, bool ahead, ps_stream **out);
    void (*stream_release)(ps_stream *stream);
    ps_status (*stream_wait)(ps_stream *stream);
    void *(*stream_handle)(ps_stream *stream);
    ps_status (*stream_enter)(ps_stream *stream);
    ps_status (*copy_to_device)(ps_stream *stream, void *to, const void *from, int64_t bytes);
    ps_status (*copy_to_host)(ps_stream *stream, void *to, const void *from, int64_t bytes);
    ps_status (*fill_zero)(ps_stream *stream, void *device, int64_t bytes);
    ps_status (*copy_on_device)(ps_stream *stream, void *to, const void *from, int64_t bytes);
    ps_status (*copy_peer)(ps_stream *stream, void *to, ps_device *source, const void *from,
                           int64_t bytes); /* another device of the same kind */
    ps_status (*copy_all)(ps_stream *stream, const ps_copies *copies);
    ps_status (*event_open)(ps_device *device, ps_event **out);
    void (*event_release)(ps_event *event);
    ps_status (*event_record)(ps_event *event, ps_stream *stream);
    ps_status (*event_wait)(ps_event *event, ps_stream *stream);
    ps_status (*event_sync)(ps_event *event);
    ps_status (*event_is_done)(ps_event *event, bool *out);
    ps_status (*event_seconds)(ps_event *start, ps_event *end, double *out);
} ps_device_ops;

/* What every backend's own structures begin with. */
struct ps_device {
    const ps_device_ops *ops;
    int ordinal;
};
struct ps_stream {
    ps_device *device;
};
struct ps_event {
    ps_device *device;
};

#ifdef __cplusplus
extern "C" {
#endif

ps_status ps_device_cpu_open(ps_device **out);

/* Only where built with CUDA (PS_WITH_CUDA). The count is 0 where the driver is missing or
 * fails; *why (static text) then says so. */
int ps_device_cuda_count(const char **why);
ps_status ps_device_cuda_open(int ordinal, ps_device **out);

#ifdef __cplusplus
}
#endif

#endif
