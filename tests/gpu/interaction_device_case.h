/*
 * interaction_device_case: a problem of tests/support/interaction_case.h on a CUDA device, with the
 * memory of one tile; for the check and the benchmark.
 */
#ifndef PS_TESTS_GPU_INTERACTION_DEVICE_CASE_H
#define PS_TESTS_GPU_INTERACTION_DEVICE_CASE_H

#include "kernels/tdbem/interaction_device.h"
#include "tests/support/interaction_case.h"

typedef struct interaction_device_case {
    ps_device *device;
    ps_stream *stream;
    ps_interaction_device work;
    void *triangles, *lined;
} interaction_device_case;

/* Memory for any tile of the problem within these ranges; `bytes` of device memory if positive. */
static inline ps_status interaction_device_open(const ps_interaction *interaction,
                                                ps_device *device, const ps_interaction_room *room,
                                                int64_t bytes, interaction_device_case *out)
{
    int64_t size = interaction->triangle_count * (int64_t)sizeof(ps_triangle);
    memset(out, 0, sizeof *out);
    out->device = device;
    out->work = (ps_interaction_device){.interaction = interaction,
                                        .precision = PS_DOUBLE,
                                        .table_bytes = room->tables,
                                        .memory_bytes = bytes > 0 ? bytes : room->whole};
    PS_TRY(ps_stream_open(device, &out->stream));
    PS_TRY(ps_event_open(device, &out->work.done));
    PS_TRY(ps_device_alloc(device, size, &out->triangles));
    PS_TRY(ps_device_alloc(device, out->work.memory_bytes, &out->work.memory));
    PS_TRY(ps_device_alloc_pinned(device, room->tables, &out->work.tables));
    out->work.triangles = out->triangles;
    PS_TRY(ps_device_alloc(device, interaction->triangle_count, &out->lined));
    out->work.lined = out->lined;
    if (interaction->lined)
        PS_TRY(ps_copy_to_device(out->stream, out->lined, interaction->lined,
                                 interaction->triangle_count));
    PS_TRY(ps_copy_to_device(out->stream, out->triangles, interaction->triangles, size));
    return ps_stream_wait(out->stream);
}

static inline void interaction_device_close(interaction_device_case *c)
{
    ps_stream_close(&c->stream);
    ps_event_close(&c->work.done);
    ps_device_free(c->device, c->triangles);
    ps_device_free(c->device, c->lined);
    ps_device_free(c->device, c->work.memory);
    ps_device_free_pinned(c->device, c->work.tables);
}

#endif
