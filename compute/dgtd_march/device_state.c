/* Opening and closing the state on a GPU. */
#include "compute/dgtd_march/device_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status device_state_memory(device_state *x, int64_t bytes, void *out)
{
    void *memory = NULL;
    if (x->piece_count == MEMORY_PIECES)
        return ps_fail(PS_FAILED, "more pieces of memory than the device's state has room for");
    PS_TRY(ps_device_alloc(x->device, bytes > 0 ? bytes : 1, &memory));
    x->pieces[x->piece_count++] = memory;
    *(void **)out = memory;
    return PS_OK;
}

/* Memory for a copy of `bytes` of the host's. */
ps_status device_state_copy(device_state *x, const void *host, int64_t bytes, void *out)
{
    PS_TRY(device_state_memory(x, bytes, out));
    PS_TRY(ps_copy_to_device(x->stream, *(void **)out, host, bytes));
    return ps_stream_wait(x->stream);
}

/* ---- opening ---- */

static ps_status open_system(device_state *x)
{
    const backend_setup *s = &x->setup;
    const ps_dgtd_system *system = s->march->system;
    void *memory = NULL;
    ps_dgtd_device_tables_init(x->tables, system->reference);
    ps_dgtd_device_shape(&x->system, system, PS_DGTD_FUSED);
    x->system.windowed = s->window && s->window->geometry;
    PS_TRY(device_state_memory(x, ps_dgtd_device_place(&x->system, NULL), &memory));
    ps_dgtd_device_place(&x->system, memory);
    return ps_dgtd_device_upload(&x->system, system, x->tables, x->stream);
}

/* Memory that other processes reach, if there are any and the machine can do it. */
static ps_status take_fields(device_state *x, int64_t bytes, void **out)
{
    x->shared =
        x->setup.ranks > 1 && ps_share_alloc(x->device, bytes, out, &x->share.ticket) == PS_OK;
    if (!x->shared) return device_state_memory(x, bytes, out);
    x->pieces[x->piece_count++] = *out;
    return PS_OK;
}

static ps_status open_whole(device_state *x)
{
    const backend_setup *s = &x->setup;
    int64_t bytes = ps_dgtd_device_field_bytes(&x->system, s->halo_slots);
    int64_t counts = s->ranks * (int64_t)sizeof *x->peers.arrived;
    int levels = s->march->local ? s->march->local->levels : 0;
    int64_t arrays = 2 + ps_dgtd_device_local_fields(levels);
    void *memory = NULL;
    PS_TRY(take_fields(x, arrays * bytes + counts, &memory));
    x->march.electric = memory;
    x->march.magnetic = (char *)memory + bytes;
    x->increments = (char *)memory + 2 * bytes;
    x->peers.arrived = (unsigned long long *)((char *)memory + arrays * bytes);
    x->share.field_bytes = bytes;
    x->share.counts = arrays * bytes;
    PS_TRY(ps_fill_zero(x->stream, x->peers.arrived, counts));
    PS_TRY(device_state_memory(x, SCRATCH_BYTES, &x->scratch));
    for (int field = 0; field < 2; ++field) {
        PS_TRY(device_state_memory(x, x->sums_bytes, &x->sums[field]));
        PS_TRY(ps_fill_zero(x->stream, x->sums[field], x->sums_bytes));
    }
    PS_TRY(ps_fill_zero(x->stream, x->march.electric, bytes));
    return ps_fill_zero(x->stream, x->march.magnetic, bytes);
}

/* A copy of the host's geometry that the device can fetch at the full rate of the bus. */
static ps_status pin(device_state *x, int k, const void *from, int64_t row_bytes,
                     ps_window_array *out)
{
    int64_t bytes = x->system.groups * row_bytes;
    PS_TRY(ps_device_alloc_pinned(x->device, bytes, &x->pinned[k]));
    memcpy(x->pinned[k], from, (size_t)bytes);
    *out = (ps_window_array){x->pinned[k], row_bytes, false};
    return PS_OK;
}

static ps_status open_window(device_state *x)
{
    const backend_setup *s = &x->setup;
    const ps_dgtd_march *m = s->march;
    int64_t links = 4 * (int64_t)sizeof(int32_t) * ps_dgtd_lanes(x->system.precision);
    int64_t sums = 2 * s->frequencies * x->group_bytes;
    int count = 2, geometry;
    ps_window_array arrays[PS_WINDOW_ARRAYS_MAX] = {{m->electric, x->group_bytes, true},
                                                    {m->magnetic, x->group_bytes, true}};
    for (int k = 0; k < 2 && s->former[k]; ++k)
        arrays[count++] = (ps_window_array){s->former[k], x->group_bytes, true};
    int first_sums = count;
    for (int k = 0; k < 2 && s->frequencies; ++k)
        arrays[count++] = (ps_window_array){s->sums[k], sums, true};
    geometry = count;
    if (s->window->geometry) {
        PS_TRY(pin(x, 0, m->system->tangents, 9 * PS_DGTD_ALIGN, &arrays[count++]));
        PS_TRY(pin(x, 1, m->system->links, links, &arrays[count++]));
    }
    x->window_local = count; /* of no more than what is in the window */
    for (int k = 0; m->local && k < 2 * m->local->levels; ++k)
        arrays[count++] = (ps_window_array){NULL, x->group_bytes, false};
    const ps_window_request request = {.compute = x->stream,
                                       .ranges = s->window->ranges,
                                       .bounds = s->window->bounds,
                                       .arrays = count,
                                       .array = arrays,
                                       .rows = s->window->groups,
                                       .source = s->window->source};
    PS_TRY(ps_window_open(&request, &x->window));
    x->march.electric = ps_window_array_at(x->window, 0);
    x->march.magnetic = ps_window_array_at(x->window, 1);
    for (int k = 0; k < 2 && s->frequencies; ++k)
        x->sums[k] = ps_window_array_at(x->window, first_sums + k);
    for (int k = 0; k < 2 && s->former[k]; ++k)
        x->upwind.former[k] = ps_window_array_at(x->window, BACKEND_WINDOW_FORMER + k);
    if (!s->window->geometry) return PS_OK;
    x->system.tangents = ps_window_array_at(x->window, geometry);
    x->system.links = ps_window_array_at(x->window, geometry + 1);
    return PS_OK;
}

static ps_status open_fields(device_state *x)
{
    const backend_setup *s = &x->setup;
    x->group_bytes = 3 * (int64_t)s->march->system->reference->nodes * PS_DGTD_ALIGN;
    x->own_bytes = x->system.groups * x->group_bytes;
    x->sums_bytes = 2 * s->frequencies * x->own_bytes;
    x->march = (ps_dgtd_device_march){.device = &x->system, .dt = s->march->dt, .start = -1};
    x->former_groups = s->window ? s->window->part_groups : x->system.groups;
    PS_TRY(device_state_memory(x, x->former_groups * x->group_bytes, &x->former));
    for (int field = 0; field < 2; ++field)
        PS_TRY(device_state_memory(
            x, s->term_rows * x->system.groups * (int64_t)sizeof *s->terms[0], &x->partial[field]));
    PS_TRY(device_state_memory(x, s->term_rows * (int64_t)sizeof *x->term_sums, &x->term_sums));
    PS_TRY(device_state_copy(x, s->energy->eps, x->system.materials * (int64_t)sizeof(double),
                             &x->eps));
    PS_TRY(
        device_state_copy(x, s->energy->mu, x->system.materials * (int64_t)sizeof(double), &x->mu));
    return s->window ? open_window(x) : open_whole(x);
}

/* The host's border is filled anew, for coefficients. */
static ps_status open_border(device_state *x)
{
    const backend_setup *s = &x->setup;
    int order = x->system.order;
    void *memory = NULL;
    if (!s->march->border) return PS_OK;
    ps_dgtd_device_border_fill(s->border, s->march->system, x->tables, s->body, s->total,
                               s->march->dt);
    ps_dgtd_device_border_shape(&x->border, s->border);
    PS_TRY(device_state_memory(x, ps_dgtd_device_border_place(&x->border, order, NULL), &memory));
    ps_dgtd_device_border_place(&x->border, order, memory);
    x->march.border = &x->border;
    return ps_dgtd_device_border_upload(&x->border, s->border, x->stream);
}

static ps_status open_layer(device_state *x)
{
    const ps_dgtd_pml *host = x->setup.march->pml;
    ps_dgtd_pml_shape shape = host && host->turned ? PS_DGTD_PML_BALL : PS_DGTD_PML_BOX;
    void *memory = NULL;
    if (!host) return PS_OK;
    PS_TRY(device_state_memory(x, ps_dgtd_device_pml_bytes(host, shape, &x->system), &memory));
    ps_dgtd_device_pml_attach(&x->pml, host, &x->system, memory);
    x->march.pml = &x->pml;
    PS_SCOPED_MEMORY float *work = NULL;
    PS_TRY(PS_ALLOC(&work, ps_dgtd_device_pml_work(&x->pml, &x->system), "the matched layer"));
    return ps_dgtd_device_pml_upload(&x->pml, &x->system, work, x->stream);
}

static ps_status open_media(device_state *x)
{
    const ps_dgtd_dispersion *host = x->setup.march->system->dispersion;
    void *memory = NULL;
    if (!host) return PS_OK;
    PS_TRY(device_state_memory(x, ps_dgtd_device_media_bytes(host, &x->system), &memory));
    ps_dgtd_device_media_attach(&x->media, host, &x->system, memory);
    x->system.media = &x->media;
    return ps_dgtd_device_media_upload(&x->media, &x->system, x->stream);
}

static ps_status open_current(device_state *x, const ps_dgtd_current *current,
                              ps_dgtd_device_current *out)
{
    PS_SCOPED_MEMORY double *workspace = NULL;
    void *memory = NULL;
    ps_dgtd_device_current_shape(out, current);
    PS_TRY(
        device_state_memory(x, ps_dgtd_device_current_place(out, x->system.order, NULL), &memory));
    ps_dgtd_device_current_place(out, x->system.order, memory);
    PS_TRY(PS_ALLOC(&workspace, current->count * x->tables->reference.nodes, "a current"));
    return ps_dgtd_device_current_upload(out, current, x->tables, workspace, x->stream);
}

static ps_status open_currents(device_state *x)
{
    const ps_dgtd_march *m = x->setup.march;
    PS_TRY(PS_ALLOC(&x->currents, m->current_count, "the currents"));
    for (int64_t k = 0; k < m->current_count; ++k)
        if (m->currents[k].count > 0) /* of this rank's elements */
            PS_TRY(open_current(x, m->currents + k, x->currents + x->march.current_count++));
    x->march.currents = x->currents;
    return PS_OK;
}

static ps_status copy_wires(device_state *x)
{
    const ps_dgtd_march *m = x->setup.march;
    void *memory = NULL;
    PS_TRY(device_state_memory(x, ps_dgtd_device_wires_place(&x->wires, NULL), &memory));
    ps_dgtd_device_wires_place(&x->wires, memory);
    for (int64_t k = 0; k < m->wire_count; ++k) {
        PS_SCOPED_MEMORY double *work = NULL;
        PS_TRY(PS_ALLOC(&work, ps_dgtd_device_wire_work(&x->wires, k), "the wires"));
        PS_TRY(ps_dgtd_device_wire_upload(&x->wires, k, m->wires + k, m->system, x->tables, work,
                                          x->stream));
    }
    return ps_dgtd_device_wires_states(&x->wires, m->wires, false, x->stream);
}

/* Wires of which some element is here; no other rank has elements of them. */
static ps_status open_wires(device_state *x)
{
    const ps_dgtd_march *m = x->setup.march;
    x->wires = (ps_dgtd_device_wires){.count = m->wire_count,
                                      .port_count = m->port_count,
                                      .nodes = x->tables->reference.nodes,
                                      .signals = x->ports.signals};
    bool here = false;
    for (int64_t k = 0; k < m->wire_count; ++k) here |= m->wires[k].elements > 0;
    if (!here) return PS_OK;
    PS_TRY(PS_ALLOC(&x->wires.host, m->wire_count, "the wires"));
    for (int64_t k = 0; k < m->wire_count; ++k)
        ps_dgtd_device_wire_shape(&x->wires, k, m->wires + k);
    return copy_wires(x);
}

/* Lists of all ports, of which some element is here, one behind the other. */
static ps_status copy_ports(device_state *x, const ps_dgtd_device_port_work *work)
{
    const ps_dgtd_march *m = x->setup.march;
    void *memory = NULL;
    PS_TRY(device_state_memory(x, ps_dgtd_device_ports_place(&x->ports, NULL), &memory));
    ps_dgtd_device_ports_place(&x->ports, memory);
    for (int64_t k = 0; k < m->port_count; ++k)
        PS_TRY(ps_dgtd_device_port_upload(&x->ports, k, m->ports + k, &x->system, work, x->stream));
    x->march.ports = x->system.ports = &x->ports;
    return ps_dgtd_device_ports_states(&x->ports, m->ports, false, x->stream);
}

static ps_status open_ports(device_state *x)
{
    const ps_dgtd_march *m = x->setup.march;
    PS_SCOPED_MEMORY int64_t *slots = NULL;
    PS_SCOPED_MEMORY double *weights = NULL;
    int64_t entries = 0;
    if (m->port_count == 0) return PS_OK;
    x->ports = (ps_dgtd_device_ports){
        .count = m->port_count, .rows = x->setup.rows, .values = 3 * x->tables->reference.nodes};
    for (int64_t k = 0; k < m->port_count; ++k)
        if (m->ports[k].flux.count > entries) entries = m->ports[k].flux.count;
    PS_TRY(PS_ALLOC(&slots, entries, "the ports"));
    PS_TRY(PS_ALLOC(&x->ports.host, m->port_count, "the ports"));
    ps_dgtd_device_port_work work = {m->system, x->tables, slots, NULL};
    for (int64_t k = 0; k < m->port_count; ++k)
        ps_dgtd_device_port_shape(&x->ports, k, m->ports + k, &work);
    PS_TRY(PS_ALLOC(&weights, x->ports.items, "the ports"));
    work.weights = weights;
    return copy_ports(x, &work);
}

/* Slots and weights of the probes, close together. */
static ps_status copy_probes(device_state *x, int64_t *slots, double *weights)
{
    const backend_setup *s = &x->setup;
    int nodes = x->tables->reference.nodes;
    for (int64_t k = 0; k < s->probe_count; ++k) {
        slots[k] = s->probes[k].slot;
        ps_dgtd_device_probe_weights(x->tables, s->probes[k].weights, weights + k * nodes);
    }
    PS_TRY(device_state_copy(x, slots, s->probe_count * (int64_t)sizeof *slots, &x->slots));
    PS_TRY(device_state_copy(x, weights, s->probe_count * nodes * (int64_t)sizeof *weights,
                             &x->weights));
    PS_TRY(device_state_memory(x, s->rows * s->probe_count * 6 * (int64_t)sizeof(double),
                               &x->samples));
    void *fetched = NULL;
    PS_TRY(ps_device_alloc_pinned(
        x->device, s->rows * s->probe_count * 6 * (int64_t)sizeof *x->fetched, &fetched));
    x->fetched = fetched;
    return PS_OK;
}

static ps_status open_probes(device_state *x)
{
    int64_t count = x->setup.probe_count;
    PS_SCOPED_MEMORY int64_t *slots = NULL;
    PS_SCOPED_MEMORY double *weights = NULL;
    PS_TRY(PS_ALLOC(&slots, count, "the probes"));
    PS_TRY(PS_ALLOC(&weights, count * x->tables->reference.nodes, "the probes"));
    return copy_probes(x, slots, weights);
}

ps_status device_state_add_upwind(void *opened, const ps_dgtd_upwind *upwind)
{
    device_state *x = opened;
    void *memory = NULL;
    ps_dgtd_device_upwind_shape(&x->upwind, &x->system, x->setup.halo_slots, x->window != NULL);
    PS_TRY(
        device_state_memory(x, ps_dgtd_device_upwind_place(&x->upwind, &x->system, NULL), &memory));
    ps_dgtd_device_upwind_place(&x->upwind, &x->system, memory);
    x->march.upwind = &x->upwind;
    return ps_dgtd_device_upwind_upload(&x->upwind, &x->system, upwind, x->stream);
}

static ps_status open_faces(device_state *x)
{
    const backend_setup *s = &x->setup;
    int64_t bytes = s->faces * (int64_t)sizeof(int32_t);
    x->face_bytes = ps_dgtd_face_bytes(s->march->system);
    PS_TRY(ps_stream_open_ahead(x->device, &x->beside));
    PS_TRY(ps_event_open(x->device, &x->swept));
    PS_TRY(ps_event_open(x->device, &x->come));
    PS_TRY(device_state_copy(x, s->send, bytes, &x->send));
    PS_TRY(device_state_copy(x, s->receive, bytes, &x->receive));
    for (int k = 0; k < 2; ++k) {
        PS_TRY(device_state_memory(x, s->faces * x->face_bytes, &x->faces[k]));
        PS_TRY(ps_device_alloc_pinned(x->device, s->faces * x->face_bytes, &x->host_faces[k]));
    }
    return PS_OK;
}

static ps_status open_all(device_state *x, int ordinal)
{
    PS_TRY(ps_device_open_ordinal(ordinal, &x->device));
    PS_TRY(ps_stream_open(x->device, &x->stream));
    x->now = x->stream;
    PS_TRY(PS_ALLOC(&x->tables, 1, "the operators"));
    PS_TRY(open_system(x));
    PS_TRY(open_fields(x));
    PS_TRY(open_border(x));
    PS_TRY(open_layer(x));
    PS_TRY(open_media(x));
    PS_TRY(device_state_open_local(x));
    PS_TRY(open_currents(x));
    PS_TRY(open_ports(x));
    PS_TRY(open_wires(x));
    PS_TRY(open_probes(x));
    PS_TRY(open_faces(x));
    return ps_stream_wait(x->stream);
}

ps_status device_state_open(const backend_setup *setup, int ordinal, void **out)
{
    device_state *x;
    PS_TRY(PS_ALLOC(&x, 1, "the state"));
    *out = x;
    x->setup = *setup;
    return open_all(x, ordinal);
}

void device_state_close(void *opened)
{
    device_state *x = opened;
    if (!x) return;
    if (x->stream) ps_stream_wait(x->stream);
    ps_window_close(&x->window);
    if (x->beside) ps_stream_wait(x->beside);
    for (int k = 0; k < 2; ++k) ps_graph_close(&x->chains[k]);
    ps_stream_close(&x->beside);
    ps_event_close(&x->swept);
    ps_event_close(&x->come);
    for (int k = 0; k < 2; ++k) {
        ps_device_free_pinned(x->device, x->pinned[k]);
        ps_device_free_pinned(x->device, x->host_faces[k]);
    }
    ps_device_free_pinned(x->device, x->fetched);
    device_state_leave(x);
    for (int k = 0; k < x->piece_count; ++k) ps_device_free(x->device, x->pieces[k]);
    ps_stream_close(&x->stream);
    ps_device_close(&x->device);
    PS_FREE(x->tables, x->currents, x->ports.host, x->wires.host, x->host_units, x->host_pieces, x);
}
