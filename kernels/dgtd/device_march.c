#include "kernels/dgtd/device_march.h"

#include "kernels/dgtd/device_kernels.h"
#include "runtime/search.h"
#include "runtime/sizes.h"

void ps_dgtd_device_border_fill(ps_dgtd_border *border, const ps_dgtd_system *system,
                                const ps_dgtd_device_tables *tables, const ps_dgtd_body *body,
                                const uint8_t *total, double dt)
{
    ps_dgtd_system turned = *system;
    turned.reference = &tables->reference;
    ps_dgtd_border_fill(border, &turned, body, total, dt);
}

void ps_dgtd_device_border_shape(ps_dgtd_device_border *out, const ps_dgtd_border *border)
{
    *out = (ps_dgtd_device_border){.averaged = border->averaged,
                                   .has_incident = border->incident != NULL,
                                   .count = border->count,
                                   .matrix_count = border->matrix_count,
                                   .host = border->elements};
    if (border->incident) out->incident = *border->incident;
}

int64_t ps_dgtd_device_border_place(ps_dgtd_device_border *x, int order, void *memory)
{
    int64_t used = 0, traces = 2 * 8 * (order + 1) * (order + 2) / 2; /* of both fields */
    x->elements = ps_device_part(memory, &used, x->count * (int64_t)sizeof *x->elements);
    x->matrices = ps_device_part(memory, &used, x->matrix_count * (int64_t)sizeof *x->matrices);
    x->former = ps_device_part(memory, &used, x->count * traces * (int64_t)sizeof *x->former);
    return used;
}

ps_status ps_dgtd_device_border_upload(const ps_dgtd_device_border *out,
                                       const ps_dgtd_border *border, ps_stream *stream)
{
    PS_TRY(ps_copy_to_device(stream, out->elements, border->elements,
                             border->count * (int64_t)sizeof *out->elements));
    PS_TRY(ps_copy_to_device(stream, out->matrices, border->matrices,
                             border->matrix_count * (int64_t)sizeof *out->matrices));
    return ps_stream_wait(stream);
}

void ps_dgtd_device_current_shape(ps_dgtd_device_current *out, const ps_dgtd_current *current)
{
    *out = (ps_dgtd_device_current){.moment = current->moment, .count = current->count};
    for (int c = 0; c < 3; ++c) out->axis[c] = current->axis[c];
    for (int64_t k = 0; k < current->count; ++k) {
        int64_t slot = current->slots[k];
        if (k == 0 || slot < out->first) out->first = slot;
        if (k == 0 || slot > out->last) out->last = slot;
    }
}

int64_t ps_dgtd_device_current_place(ps_dgtd_device_current *x, int order, void *memory)
{
    int64_t used = 0, nodes = (order + 1) * (order + 2) * (order + 3) / 6;
    x->slots = ps_device_part(memory, &used, x->count * (int64_t)sizeof *x->slots);
    x->loads = ps_device_part(memory, &used, x->count * nodes * (int64_t)sizeof *x->loads);
    return used;
}

ps_status ps_dgtd_device_current_upload(const ps_dgtd_device_current *out,
                                        const ps_dgtd_current *current,
                                        const ps_dgtd_device_tables *tables, double *workspace,
                                        ps_stream *stream)
{
    int64_t n = tables->reference.nodes;
    ps_dgtd_device_coefficients(tables, current->loads, current->count, workspace);
    PS_TRY(ps_copy_to_device(stream, out->slots, current->slots,
                             current->count * (int64_t)sizeof *out->slots));
    PS_TRY(ps_copy_to_device(stream, out->loads, workspace,
                             current->count * n * (int64_t)sizeof *out->loads));
    return ps_stream_wait(stream);
}

/* The first element of the border at or behind a group. */
static int64_t first_at(const ps_dgtd_device_march *x, int64_t group)
{
    int64_t slot = group * ps_dgtd_lanes(x->device->precision), low;
    PS_LOWER_BOUND(low, 0, x->border->count, at, x->border->host[at].slot < slot);
    return low;
}

static double time_of(const ps_dgtd_device_march *x, ps_dgtd_field field, int64_t n)
{
    return ((double)n + (field == PS_DGTD_E ? 0.5 : 1)) * x->dt;
}

/* The elements of the border in the parts, or in those of the first step; 0: none. */
static int find_border(const ps_dgtd_device_march *x, ps_dgtd_field field,
                       const ps_dgtd_device_part *parts, int count, int of_start,
                       ps_dgtd_border_parts *out)
{
    out->count = 0;
    for (int k = 0; k < count && x->border; ++k) {
        if (of_start && parts[k].n != x->start) continue;
        int64_t first = first_at(x, parts[k].begin), last = first_at(x, parts[k].end);
        if (first == last) continue;
        out->begin[out->count] = first;
        out->end[out->count] = last;
        out->t[out->count++] = time_of(x, field, parts[k].n);
    }
    return out->count > 0;
}

static ps_status add_currents(const ps_dgtd_device_march *x, const ps_dgtd_device_part *part,
                              ps_stream *stream)
{
    int64_t lanes = ps_dgtd_lanes(x->device->precision);
    for (int64_t k = 0; k < x->current_count; ++k) {
        const ps_dgtd_device_current *current = x->currents + k;
        double p[3];
        if (current->count == 0 || current->last < part->begin * lanes ||
            current->first >= part->end * lanes)
            continue;
        ps_dgtd_pulse_at(&current->moment, time_of(x, PS_DGTD_E, part->n), p);
        PS_TRY(ps_dgtd_current_cuda(x->device, current, x->electric, p[1], part->begin, part->end,
                                    stream));
    }
    return PS_OK;
}

ps_status ps_dgtd_device_march_ports(const ps_dgtd_device_march *x, int64_t n, int64_t row,
                                     ps_stream *stream)
{
    const ps_dgtd_device_ports_step step = {.device = x->device,
                                            .electric = x->electric,
                                            .magnetic = x->magnetic,
                                            .row = row,
                                            .t = time_of(x, PS_DGTD_E, n),
                                            .dt = x->dt};
    return x->ports ? ps_dgtd_device_ports_advance(x->ports, &step, stream) : PS_OK;
}

static ps_status split_half_step(const ps_dgtd_device_march *x, ps_dgtd_field field, void *target,
                                 const void *source, ps_stream *stream)
{
    const ps_dgtd_device_split *s = x->split;
    PS_TRY(
        ps_dgtd_device_half_units(x->device, field, target, source, s->units[0], s->kept, stream));
    PS_TRY(s->waits ? ps_event_wait(s->between, stream) : ps_event_record(s->between, stream));
    return ps_dgtd_device_half_units(x->device, field, target, source, s->units[1], s->kept,
                                     stream);
}

ps_status ps_dgtd_device_march_parts(const ps_dgtd_device_march *x, ps_dgtd_field field,
                                     const ps_dgtd_device_part *parts, int count, ps_stream *stream)
{
    void *target = field == PS_DGTD_E ? x->electric : x->magnetic;
    const void *source = field == PS_DGTD_E ? x->magnetic : x->electric;
    ps_dgtd_border_parts border;
    if (find_border(x, field, parts, count, 1, &border))
        PS_TRY(ps_dgtd_border_keep_cuda(x->device, x->border, field, target, &border, stream));
    if (x->pml) PS_TRY(ps_dgtd_device_pml_keep(x->pml, x->device, target, parts, count, stream));
    PS_TRY(x->split
               ? split_half_step(x, field, target, source, stream)
               : ps_dgtd_device_half_step(x->device, field, target, source, parts, count, stream));
    if (x->upwind)
        PS_TRY(ps_dgtd_device_upwind_apply(x->upwind, x->device, field, target, source, parts,
                                           count, stream));
    for (int k = 0; k < count && field == PS_DGTD_E; ++k)
        PS_TRY(add_currents(x, parts + k, stream));
    if (find_border(x, field, parts, count, 0, &border))
        PS_TRY(ps_dgtd_border_apply_cuda(x->device, x->border, field, target, &border, stream));
    return x->pml ? ps_dgtd_device_pml_apply(x->pml, x->device, field, target, parts, count, stream)
                  : PS_OK;
}

ps_status ps_dgtd_device_march_half(const ps_dgtd_device_march *x, ps_dgtd_field field, int64_t n,
                                    int64_t begin, int64_t end, ps_stream *stream)
{
    const ps_dgtd_device_part part = {n, begin, end};
    return ps_dgtd_device_march_parts(x, field, &part, 1, stream);
}
