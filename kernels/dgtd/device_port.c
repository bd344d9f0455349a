#include "kernels/dgtd/device_port.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/device_kernels.h"
#include "runtime/sizes.h"

/* ---- lists ---- */

/* The slot of a place of a field, and which of its 3 nodes values it is. */
static int64_t slot_of(const ps_dgtd_system *s, int64_t place, int64_t *value)
{
    int64_t lanes = ps_dgtd_lanes(s->precision), wide = 3 * (int64_t)s->reference->nodes * lanes;
    *value = place % wide / lanes;
    return place / wide * lanes + place % lanes;
}

static int ascending(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) -
           (*(const int64_t *)a < *(const int64_t *)b);
}

/* Elements whose H a port takes: slots[port->flux.count] gets them. */
static int64_t find_sources(const ps_dgtd_port *port, const ps_dgtd_system *s, int64_t *slots)
{
    int64_t count = 0, value;
    for (int64_t i = 0; i < port->flux.count; ++i)
        slots[i] = slot_of(s, port->flux.places[i], &value);
    qsort(slots, (size_t)port->flux.count, sizeof *slots, ascending);
    for (int64_t i = 0; i < port->flux.count; ++i)
        if (i == 0 || slots[i] != slots[count - 1]) slots[count++] = slots[i];
    return count;
}

void ps_dgtd_device_port_shape(ps_dgtd_device_ports *out, int64_t k, const ps_dgtd_port *port,
                               const ps_dgtd_device_port_work *work)
{
    ps_dgtd_device_port *x = out->host + k;
    *x = (ps_dgtd_device_port){.network = port->network,
                               .rise = port->rise,
                               .states = ps_dgtd_line_states(&port->network.line),
                               .elements = port->elements,
                               .sources = find_sources(port, work->system, work->slots)};
    int64_t items = (x->elements + x->sources) * out->values;
    if (items > out->items) out->items = items;
}

int64_t ps_dgtd_device_ports_place(ps_dgtd_device_ports *x, void *memory)
{
    int64_t used = 0, count = x->count, wide = x->values * (int64_t)sizeof(double);
    x->there = ps_device_part(memory, &used, count * (int64_t)sizeof *x->there);
    x->partial = ps_device_part(memory, &used,
                                count * 2 * PS_DGTD_PORT_BLOCKS * (int64_t)sizeof *x->partial);
    x->done = ps_device_part(memory, &used, count * (int64_t)sizeof *x->done);
    x->signals = ps_device_part(memory, &used, x->rows * count * 2 * (int64_t)sizeof *x->signals);
    for (int64_t k = 0; k < count; ++k) {
        ps_dgtd_device_port p = x->host[k];
        p.line = ps_device_part(memory, &used, p.states * (int64_t)sizeof *p.line);
        p.slots = ps_device_part(memory, &used, p.elements * (int64_t)sizeof *p.slots);
        p.source_slots = ps_device_part(memory, &used, p.sources * (int64_t)sizeof *p.slots);
        p.volts = ps_device_part(memory, &used, p.elements * wide);
        p.kept = ps_device_part(memory, &used, p.elements * wide);
        p.loads = ps_device_part(memory, &used, p.elements * wide);
        p.flux = ps_device_part(memory, &used, p.sources * wide);
        x->host[k] = p;
    }
    return used;
}

/* ---- the copy ---- */

/* What a sum takes of values at nodes, [count][3][nodes], becomes what it takes of coefficients. */
static void turn_sums(const ps_dgtd_device_tables *tables, int64_t count, double *weights)
{
    int nodes = tables->reference.nodes;
    for (int64_t i = 0; i < 3 * count; ++i) {
        double turned[PS_DGTD_MAX_NODES];
        ps_dgtd_device_probe_weights(tables, weights + i * nodes, turned);
        memcpy(weights + i * nodes, turned, (size_t)nodes * sizeof *turned);
    }
}

/* The flux of an element after the other. */
static void gather_flux(const ps_dgtd_port *port, int64_t sources,
                        const ps_dgtd_device_port_work *work)
{
    int64_t values = 3 * (int64_t)work->system->reference->nodes, value;
    memset(work->weights, 0, (size_t)(sources * values) * sizeof *work->weights);
    for (int64_t i = 0; i < port->flux.count; ++i) {
        int64_t slot = slot_of(work->system, port->flux.places[i], &value);
        const int64_t *at =
            bsearch(&slot, work->slots, (size_t)sources, sizeof *work->slots, ascending);
        work->weights[(at - work->slots) * values + value] += port->flux.factors[i];
    }
}

static ps_status mark_groups(const ps_dgtd_port *port, const ps_dgtd_device *device,
                             const ps_dgtd_system *system, ps_stream *stream)
{
    int64_t lanes = ps_dgtd_lanes(device->precision), last = -1;
    for (int64_t i = 0; i < port->elements; ++i) {
        int64_t group = port->slots[i] / lanes;
        uint8_t marked = (uint8_t)(system->bordered[group] | PS_DGTD_PORTED);
        if (group == last) continue;
        PS_TRY(ps_copy_to_device(stream, device->bordered + group, &marked, 1));
        PS_TRY(ps_stream_wait(stream)); /* `marked` is used again */
        last = group;
    }
    return PS_OK;
}

static ps_status copy_sums(const ps_dgtd_device_port_work *work, const double *from, int64_t count,
                           double *to, ps_stream *stream)
{
    int64_t bytes = count * 3 * work->tables->reference.nodes * (int64_t)sizeof *to;
    if (from != work->weights) memcpy(work->weights, from, (size_t)bytes);
    turn_sums(work->tables, count, work->weights);
    PS_TRY(ps_copy_to_device(stream, to, work->weights, bytes));
    return ps_stream_wait(stream);
}

ps_status ps_dgtd_device_port_upload(const ps_dgtd_device_ports *out, int64_t k,
                                     const ps_dgtd_port *port, const ps_dgtd_device *device,
                                     const ps_dgtd_device_port_work *work, ps_stream *stream)
{
    const ps_dgtd_device_port *x = out->host + k;
    int64_t n = x->elements, item = (int64_t)sizeof *x->slots;
    int64_t sources = find_sources(port, work->system, work->slots);
    PS_TRY(mark_groups(port, device, work->system, stream));
    PS_TRY(ps_copy_to_device(stream, x->slots, port->slots, n * item));
    PS_TRY(ps_copy_to_device(stream, x->source_slots, work->slots, sources * item));
    PS_TRY(copy_sums(work, port->volts, n, x->volts, stream));
    PS_TRY(copy_sums(work, port->kept, n, x->kept, stream));
    ps_dgtd_device_coefficients(work->tables, port->loads, 3 * n, work->weights);
    PS_TRY(ps_copy_to_device(stream, x->loads, work->weights,
                             n * out->values * (int64_t)sizeof *x->loads));
    PS_TRY(ps_stream_wait(stream));
    gather_flux(port, sources, work);
    return copy_sums(work, work->weights, sources, x->flux, stream);
}

ps_status ps_dgtd_device_ports_states(const ps_dgtd_device_ports *x, const ps_dgtd_port *ports,
                                      bool back, ps_stream *stream)
{
    int64_t all = x->count * (int64_t)sizeof *x->there;
    if (back) PS_TRY(ps_copy_to_host(stream, x->host, x->there, all));
    if (back) PS_TRY(ps_stream_wait(stream));
    for (int64_t k = 0; k < x->count; ++k) {
        ps_dgtd_device_port *p = x->host + k;
        int64_t bytes = p->states * (int64_t)sizeof *p->line;
        double *from = back ? p->state : ports[k].state, *to = back ? ports[k].state : p->state;
        if (bytes > 0) PS_TRY(ps_dgtd_device_move(p->line, ports[k].state, bytes, back, stream));
        if (bytes == 0) memcpy(to, from, sizeof p->state);
    }
    if (!back) {
        PS_TRY(ps_copy_to_device(stream, x->there, x->host, all));
        PS_TRY(ps_fill_zero(stream, x->done, x->count * (int64_t)sizeof *x->done));
        PS_TRY(
            ps_fill_zero(stream, x->signals, x->rows * x->count * 2 * (int64_t)sizeof *x->signals));
    }
    return ps_stream_wait(stream);
}

/* ---- steps ---- */

ps_status ps_dgtd_device_ports_advance(const ps_dgtd_device_ports *x,
                                       const ps_dgtd_device_ports_step *step, ps_stream *stream)
{
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "ports of a device need CUDA; the CPU has its own");
    return x->items > 0 ? ps_dgtd_ports_cuda(x, step, stream) : PS_OK;
}
