/*
 * hbem_potential_device: the sums of a task on a device, as a program would take them, for the
 * check and the benchmark.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_POTENTIAL_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_POTENTIAL_DEVICE_H

#include <stdlib.h>

#include "kernels/hbem/potentials_device.h"
#include "tests/support/hbem_case.h"

typedef struct potential_place {
    ps_stream *stream;
    ps_device_potential here, there;
    void *host, *device;
} potential_place;

/* Memory on both sides, filled and copied. */
static inline void potential_place_open(potential_place *p, const ps_hbem_potential_task *task,
                                        ps_precision precision, ps_stream *stream)
{
    p->stream = stream;
    must(ps_device_potential_shape(task, precision, &p->here));
    p->there = p->here;
    int64_t bytes = ps_device_potential_bytes(&p->there, true);
    must(ps_device_alloc(ps_stream_device(stream), bytes, &p->device));
    p->host = hbem_workspace_make(ps_device_potential_bytes(&p->here, false)).base;
    ps_device_potential_attach(&p->here, false, p->host);
    ps_device_potential_attach(&p->there, true, p->device);
    ps_device_potential_fill_surface(task, &p->here);
    ps_device_potential_fill(task, &p->here);
    must(ps_copy_to_device(stream, p->there.triangles, p->here.triangles,
                           (char *)p->here.sums - (char *)p->here.triangles));
}

static inline void potential_place_run(potential_place *p, const ps_hbem_potential_task *task)
{
    must(ps_device_potential_run(&p->there, task->rule, p->stream));
}

/* Sums to the task's values. */
static inline void potential_place_fetch(potential_place *p, const ps_hbem_potential_task *task)
{
    must(ps_copy_to_host(p->stream, p->here.sums, p->there.sums,
                         8 * p->here.target_count * p->here.numbers));
    must(ps_stream_wait(p->stream));
    ps_device_potential_add(task, p->here.sums);
}

static inline void potential_place_close(potential_place *p)
{
    ps_device_free(ps_stream_device(p->stream), p->device);
    free(p->host);
}

#endif
