/* What the ways to solve on CUDA devices share: memory, plans of slabs, their planes. */
#include "compute/schwarz_solve/device.h"

int64_t device_allowed(const solve_problem *p)
{
    return p->run->device_memory > 0 ? p->run->device_memory
                                     : ps_device_describe(p->device).memory_free;
}

ps_status device_base_open(const solve_problem *p, int64_t bytes, device_base *out)
{
    int64_t most = device_allowed(p);
    if (bytes > most)
        return ps_fail(
            PS_EXHAUSTED,
            "this takes %lld MiB of device memory, there are %lld MiB: more ranks with a "
            "device each, slabs by --method sweeps, a smaller --gmres-restart, or --device cpu",
            (long long)(bytes >> 20), (long long)(most >> 20));
    PS_TRY(ps_stream_open(p->device, &out->stream));
    return ps_device_alloc(p->device, bytes, (void **)&out->memory);
}

void device_base_close(const solve_problem *p, device_base *base)
{
    if (base->memory) ps_device_free(p->device, base->memory);
    ps_stream_close(&base->stream);
}

ps_status device_copy(ps_stream *stream, bool to_host, int64_t count, double *there, double *here)
{
    PS_TRY(to_host ? ps_copy_to_host(stream, here, there, 8 * count)
                   : ps_copy_to_device(stream, there, here, 8 * count));
    return ps_stream_wait(stream);
}

/* ---- plans ---- */

ps_slab_device_plan device_slab_plan(const solve_problem *p)
{
    int64_t ranks = ps_comm_size(), rank = ps_comm_rank(), count = p->options.slabs;
    return (ps_slab_device_plan){.precision = PS_DOUBLE,
                                 .grid = p->grid,
                                 .slabs = count,
                                 .first = count * rank / ranks,
                                 .end = count * (rank + 1) / ranks,
                                 .transmission = p->options.transmission,
                                 .single = p->options.method == METHOD_SWEEPS};
}

static ps_status no_walk(void *context, ps_slab_order order, ps_slab_step *step, void *argument)
{
    return ps_fail(PS_FAILED, "slabs of a device are not visited by the host");
}

ps_slab_box_plan device_host_plan(const solve_problem *p)
{
    ps_slab_device_plan plan = device_slab_plan(p);
    return (ps_slab_box_plan){.grid = p->grid,
                              .slabs = plan.slabs,
                              .first = plan.first,
                              .end = plan.end,
                              .transmission = plan.transmission,
                              .modes = true,
                              .threads = (int)p->run->threads,
                              .coarse = p->options.coarse,
                              .walk = no_walk};
}

/* ---- planes ---- */

ps_status device_read_slab(const device_planes *d, int64_t slab, int64_t *first, int64_t *count)
{
    int64_t nx = d->p->grid.nodes[0], slabs = d->p->options.slabs;
    *first = ps_slab_first(nx, slabs, slab);
    *count = ps_slab_first(nx, slabs, slab + 1) - *first + 1;
    PS_TRY(ps_box_field_read(&d->p->load, *first, *count, d->here));
    return ps_copy_to_device(d->stream, d->there, d->here, 8 * *count * d->p->load.plane);
}

ps_status device_write_slab(const device_planes *d, int64_t slab, plane_writer *writer)
{
    int64_t nx = d->p->grid.nodes[0], slabs = d->p->options.slabs, plane = d->p->load.plane;
    int64_t first = ps_slab_first(nx, slabs, slab);
    int64_t count = ps_slab_first(nx, slabs, slab + 1) - first + 1;
    PS_TRY(ps_slab_device_field(d->box, slab, 0, count, d->there, d->stream));
    /* the outermost planes of the box are fixed: the load's values stay */
    int64_t from = first == 0, to = first + count == nx ? count - 1 : count;
    PS_TRY(ps_copy_to_host(d->stream, d->here + from * plane, d->there + from * plane,
                           8 * (to - from) * plane));
    PS_TRY(ps_stream_wait(d->stream));
    for (int64_t i = slab > 0; i < count; ++i)
        PS_TRY(plane_writer_add(writer, d->here + i * plane));
    return PS_OK;
}
