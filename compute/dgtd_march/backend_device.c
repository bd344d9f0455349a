/*
 * The backend on a GPU: fields and transforms live there as Bernstein coefficients
 * (kernels/dgtd/device_state.h); only halos, samples and what is asked for come to the host. All
 * work is enqueued on one stream. A state that does not fit is the host's, as coefficients too, and
 * ranges of it and of the geometry come and go through a window (runtime/device_window.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/backend.h"
#include "kernels/dgtd/device_march.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/memory.h"

enum { MEMORY_PIECES = 32, SCRATCH_BYTES = 64 << 20 };

typedef struct device_state {
    backend_setup setup;
    ps_device *device;
    ps_stream *stream;
    ps_dgtd_device_tables *tables;
    ps_dgtd_device system;
    ps_dgtd_device_border border;
    ps_dgtd_device_current *currents;
    ps_dgtd_device_march march;
    void *pieces[MEMORY_PIECES]; /* memory of the device, to be freed */
    int piece_count;
    int64_t group_bytes, own_bytes, sums_bytes, face_bytes;
    void *former, *scratch, *sums[2], *faces; /* faces: buffer of traces */
    int64_t former_groups;
    double *partial[2], *eps, *mu; /* partial: energies, as the host's terms lie */
    int64_t partial_used[2];
    ps_window *window;
    void *pinned[2]; /* tangents and links of the host, for the window */
    int64_t *slots;
    double *weights, *samples; /* samples [rows][2][probes][3] */
    double *fetched;           /* the same on the host         */
    int32_t *send, *receive;
} device_state;

static ps_status take_memory(device_state *x, int64_t bytes, void *out)
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
static ps_status take_copy(device_state *x, const void *host, int64_t bytes, void *out)
{
    PS_TRY(take_memory(x, bytes, out));
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
    x->system.windowed = s->window != NULL;
    PS_TRY(take_memory(x, ps_dgtd_device_bytes(&x->system), &memory));
    ps_dgtd_device_place(&x->system, memory);
    return ps_dgtd_device_upload(&x->system, system, x->tables, x->stream);
}

static ps_status open_whole(device_state *x)
{
    const backend_setup *s = &x->setup;
    int64_t bytes = ps_dgtd_device_field_bytes(&x->system, s->halo_slots);
    PS_TRY(take_memory(x, bytes, &x->march.electric));
    PS_TRY(take_memory(x, bytes, &x->march.magnetic));
    PS_TRY(take_memory(x, SCRATCH_BYTES, &x->scratch));
    for (int field = 0; field < 2; ++field) {
        PS_TRY(take_memory(x, x->sums_bytes, &x->sums[field]));
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
    ps_window_array arrays[6] = {{m->electric, x->group_bytes, true},
                                 {m->magnetic, x->group_bytes, true}};
    PS_TRY(pin(x, 0, m->system->tangents, 9 * PS_DGTD_ALIGN, &arrays[2]));
    PS_TRY(pin(x, 1, m->system->links, links, &arrays[3]));
    for (int k = 0; k < 2; ++k) arrays[4 + k] = (ps_window_array){s->sums[k], sums, true};
    const ps_window_request request = {.compute = x->stream,
                                       .ranges = s->window->ranges,
                                       .bounds = s->window->bounds,
                                       .arrays = s->frequencies ? 6 : 4,
                                       .array = arrays,
                                       .rows = s->window->groups,
                                       .source = s->window->source};
    PS_TRY(ps_window_open(&request, &x->window));
    x->march.electric = ps_window_array_at(x->window, 0);
    x->march.magnetic = ps_window_array_at(x->window, 1);
    x->system.tangents = ps_window_array_at(x->window, 2);
    x->system.links = ps_window_array_at(x->window, 3);
    for (int k = 0; k < 2 && s->frequencies; ++k)
        x->sums[k] = ps_window_array_at(x->window, 4 + k);
    return PS_OK;
}

static ps_status open_fields(device_state *x)
{
    const backend_setup *s = &x->setup;
    x->group_bytes = 3 * (int64_t)s->march->system->reference->nodes * PS_DGTD_ALIGN;
    x->own_bytes = x->system.groups * x->group_bytes;
    x->sums_bytes = 2 * s->frequencies * x->own_bytes;
    x->march = (ps_dgtd_device_march){.device = &x->system, .dt = s->march->dt};
    x->former_groups = s->window ? s->window->part_groups : x->system.groups;
    PS_TRY(take_memory(x, x->former_groups * x->group_bytes, &x->former));
    for (int field = 0; field < 2; ++field)
        PS_TRY(
            take_memory(x, s->term_values * (int64_t)sizeof *s->terms[0], &x->partial[field]));
    PS_TRY(take_copy(x, s->energy->eps, x->system.materials * (int64_t)sizeof(double), &x->eps));
    PS_TRY(take_copy(x, s->energy->mu, x->system.materials * (int64_t)sizeof(double), &x->mu));
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
    PS_TRY(take_memory(x, ps_dgtd_device_border_bytes(&x->border, order), &memory));
    ps_dgtd_device_border_place(&x->border, order, memory);
    x->march.border = &x->border;
    return ps_dgtd_device_border_upload(&x->border, s->border, x->stream);
}

static ps_status open_current(device_state *x, const ps_dgtd_current *current,
                              ps_dgtd_device_current *out)
{
    double *workspace;
    void *memory = NULL;
    ps_dgtd_device_current_shape(out, current);
    PS_TRY(take_memory(x, ps_dgtd_device_current_bytes(out, x->system.order), &memory));
    ps_dgtd_device_current_place(out, memory);
    PS_TRY(PS_ALLOC(&workspace, current->count * x->tables->reference.nodes, "a current"));
    ps_status status = ps_dgtd_device_current_upload(out, current, x->tables, workspace, x->stream);
    free(workspace);
    return status;
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

/* Slots and weights of the probes, close together. */
static ps_status copy_probes(device_state *x, int64_t *slots, double *weights)
{
    const backend_setup *s = &x->setup;
    int nodes = x->tables->reference.nodes;
    for (int64_t k = 0; k < s->probe_count; ++k) {
        slots[k] = s->probes[k].slot;
        ps_dgtd_device_probe_weights(x->tables, s->probes[k].weights, weights + k * nodes);
    }
    PS_TRY(take_copy(x, slots, s->probe_count * (int64_t)sizeof *slots, &x->slots));
    PS_TRY(take_copy(x, weights, s->probe_count * nodes * (int64_t)sizeof *weights, &x->weights));
    PS_TRY(take_memory(x, s->rows * s->probe_count * 6 * (int64_t)sizeof(double), &x->samples));
    return PS_ALLOC(&x->fetched, s->rows * s->probe_count * 6, "the probes");
}

static ps_status open_probes(device_state *x)
{
    int64_t *slots = NULL, count = x->setup.probe_count;
    double *weights = NULL;
    ps_status status = PS_ALLOC(&slots, count, "the probes");
    if (status == PS_OK)
        status = PS_ALLOC(&weights, count * x->tables->reference.nodes, "the probes");
    if (status == PS_OK) status = copy_probes(x, slots, weights);
    free(slots);
    free(weights);
    return status;
}

static ps_status open_faces(device_state *x)
{
    const backend_setup *s = &x->setup;
    int64_t bytes = s->faces * (int64_t)sizeof(int32_t);
    int item = x->system.precision == PS_SINGLE ? 4 : 8;
    x->face_bytes = 3 * (int64_t)x->tables->reference.face_nodes * item;
    PS_TRY(take_copy(x, s->send, bytes, &x->send));
    PS_TRY(take_copy(x, s->receive, bytes, &x->receive));
    return take_memory(x, s->faces * x->face_bytes, &x->faces);
}

static ps_status open_all(device_state *x, int ordinal)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    PS_TRY(ps_device_open(name, 0, &x->device));
    PS_TRY(ps_stream_open(x->device, &x->stream));
    PS_TRY(PS_ALLOC(&x->tables, 1, "the operators"));
    PS_TRY(open_system(x));
    PS_TRY(open_fields(x));
    PS_TRY(open_border(x));
    PS_TRY(open_currents(x));
    PS_TRY(open_probes(x));
    PS_TRY(open_faces(x));
    return ps_stream_wait(x->stream);
}

static ps_status device_open(const backend_setup *setup, int ordinal, void **out)
{
    device_state *x;
    PS_TRY(PS_ALLOC(&x, 1, "the state"));
    *out = x;
    x->setup = *setup;
    return open_all(x, ordinal);
}

static void device_close(void *opened)
{
    device_state *x = opened;
    if (!x) return;
    if (x->stream) ps_stream_wait(x->stream);
    ps_window_close(&x->window);
    for (int k = 0; k < 2; ++k) ps_device_free_pinned(x->device, x->pinned[k]);
    for (int k = 0; k < x->piece_count; ++k) ps_device_free(x->device, x->pieces[k]);
    ps_stream_close(&x->stream);
    ps_device_close(&x->device);
    free(x->tables);
    free(x->currents);
    free(x->fetched);
    free(x);
}

/* ---- the state and the host's arrays ---- */

static void *field_of(const device_state *x, ps_dgtd_field field)
{
    return field == PS_DGTD_E ? x->march.electric : x->march.magnetic;
}

static void *host_of(const device_state *x, ps_dgtd_field field)
{
    const ps_dgtd_march *m = x->setup.march;
    return field == PS_DGTD_E ? m->electric : m->magnetic;
}

static ps_status device_put(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_dgtd_device_put(&x->system, field_of(x, field), host_of(x, field), 0,
                                  x->system.groups, x->stream));
        PS_TRY(ps_fill_zero(x->stream, x->sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}

/* Sums as values at nodes, as many groups at a time as the scratch memory takes. */
static ps_status get_sums(device_state *x, int field)
{
    int64_t count = x->sums_bytes / x->group_bytes, most = SCRATCH_BYTES / x->group_bytes;
    for (int64_t at = 0; at < count; at += most) {
        int64_t some = count - at < most ? count - at : most, bytes = some * x->group_bytes;
        const char *from = (const char *)x->sums[field] + at * x->group_bytes;
        PS_TRY(ps_dgtd_device_convert(&x->system, x->system.to_nodes, from, x->scratch, 0, some,
                                      x->stream));
        PS_TRY(ps_copy_to_host(x->stream, (char *)x->setup.sums[field] + at * x->group_bytes,
                               x->scratch, bytes));
        PS_TRY(ps_stream_wait(x->stream));
    }
    return PS_OK;
}

static ps_status device_get(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_dgtd_device_get(&x->system, field_of(x, field), host_of(x, field), 0,
                                  x->system.groups, x->scratch, SCRATCH_BYTES, x->stream));
        PS_TRY(get_sums(x, field));
    }
    return ps_stream_wait(x->stream);
}

static ps_status device_save(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_copy_to_host(x->stream, host_of(x, field), field_of(x, field), x->own_bytes));
        PS_TRY(ps_copy_to_host(x->stream, x->setup.sums[field], x->sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}

static ps_status device_load(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_copy_to_device(x->stream, field_of(x, field), host_of(x, field), x->own_bytes));
        PS_TRY(ps_copy_to_device(x->stream, x->sums[field], x->setup.sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}

/* ---- marching ---- */

/* Parts whose old fields, where their energy is wanted, fit the memory for them. */
static int fitting(const device_state *x, const backend_part *parts, int count)
{
    int64_t groups = 0;
    int some = 0;
    while (some < count && some < PS_DGTD_DEVICE_PARTS) {
        const backend_part *part = parts + some;
        if (part->terms) groups += part->end - part->begin;
        if (groups > x->former_groups) break;
        ++some;
    }
    return some;
}

/* Keeps the old H of the parts whose energy is wanted, one behind the other. */
static ps_status keep_former(device_state *x, const backend_part *parts, int count)
{
    char *to = x->former;
    for (const backend_part *part = parts; part < parts + count; ++part) {
        int64_t bytes = (part->end - part->begin) * x->group_bytes;
        if (!part->terms) continue;
        PS_TRY(ps_copy_on_device(x->stream, to,
                                 (const char *)x->march.magnetic + part->begin * x->group_bytes,
                                 bytes));
        to += bytes;
    }
    return PS_OK;
}

static ps_status add_terms(device_state *x, ps_dgtd_field field, const backend_part *parts,
                           int count)
{
    const double *weights = field == PS_DGTD_E ? x->eps : x->mu;
    int64_t kept = 0; /* groups */
    for (const backend_part *part = parts; part < parts + count; ++part) {
        if (!part->terms) continue;
        const char *former = (const char *)x->former + (kept - part->begin) * x->group_bytes;
        int64_t at = part->terms - x->setup.terms[field];
        PS_TRY(ps_dgtd_device_inner(&x->system, weights,
                                    field == PS_DGTD_E ? x->march.electric : former,
                                    field_of(x, field), part->begin, part->end,
                                    x->partial[field] + at, x->stream));
        kept += part->end - part->begin;
        if (at + x->system.groups > x->partial_used[field])
            x->partial_used[field] = at + x->system.groups;
    }
    return PS_OK;
}

static ps_status halves_at_once(device_state *x, ps_dgtd_field field, const backend_part *parts,
                                int count)
{
    ps_dgtd_device_part list[PS_DGTD_DEVICE_PARTS];
    for (int k = 0; k < count; ++k)
        list[k] = (ps_dgtd_device_part){parts[k].step, parts[k].begin, parts[k].end};
    if (field == PS_DGTD_H) PS_TRY(keep_former(x, parts, count));
    PS_TRY(ps_dgtd_device_march_parts(&x->march, field, list, count, x->stream));
    return add_terms(x, field, parts, count);
}

static ps_status device_halves(void *opened, ps_dgtd_field field, const backend_part *parts,
                               int count)
{
    device_state *x = opened;
    for (int k = 0, some; k < count; k += some) {
        some = fitting(x, parts + k, count - k);
        PS_TRY(halves_at_once(x, field, parts + k, some));
    }
    return PS_OK;
}

static ps_status device_transform(void *opened, ps_dgtd_field field, double scale, double t,
                                  int64_t begin, int64_t end)
{
    device_state *x = opened;
    double factors[2 * PS_DGTD_DEVICE_FREQUENCIES];
    ps_dgtd_dft_factors(x->setup.omegas, x->setup.frequencies, scale, t, factors);
    return ps_dgtd_device_dft_add(&x->system, field_of(x, field), factors, x->setup.frequencies,
                                  begin, end, x->sums[field], x->stream);
}

static ps_status device_sample(void *opened, ps_dgtd_field field, int64_t row, int64_t first,
                               int64_t count)
{
    device_state *x = opened;
    int nodes = x->tables->reference.nodes;
    double *to = x->samples + ((2 * row + field) * x->setup.probe_count + first) * 3;
    return ps_dgtd_device_probe(&x->system, field_of(x, field), x->slots + first,
                                x->weights + first * nodes, count, to, x->stream);
}

static ps_status device_take(void *opened, int64_t count, double *values)
{
    device_state *x = opened;
    int64_t probes = x->setup.probe_count;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_copy_to_host(x->stream, x->setup.terms[field], x->partial[field],
                               x->partial_used[field] * (int64_t)sizeof(double)));
        x->partial_used[field] = 0;
    }
    PS_TRY(ps_copy_to_host(x->stream, x->fetched, x->samples,
                           count * probes * 6 * (int64_t)sizeof *values));
    PS_TRY(ps_stream_wait(x->stream));
    for (int64_t i = 0; i < 2 * count; ++i) /* rows and fields */
        for (int64_t p = 0; p < probes; ++p)
            memcpy(values + (i / 2 * probes + p) * 6 + i % 2 * 3, x->fetched + (i * probes + p) * 3,
                   3 * sizeof *values);
    return PS_OK;
}

static ps_status device_pack(void *opened, ps_dgtd_field field, int64_t first, int64_t count,
                             void *buffer)
{
    device_state *x = opened;
    PS_TRY(ps_dgtd_device_halo_pack(&x->system, field_of(x, field), x->send + first, count,
                                    x->faces, x->stream));
    PS_TRY(ps_copy_to_host(x->stream, buffer, x->faces, count * x->face_bytes));
    return ps_stream_wait(x->stream);
}

static ps_status device_unpack(void *opened, ps_dgtd_field field, int64_t first, int64_t count,
                               const void *buffer)
{
    device_state *x = opened;
    PS_TRY(ps_copy_to_device(x->stream, x->faces, buffer, count * x->face_bytes));
    PS_TRY(ps_dgtd_device_halo_unpack(&x->system, field_of(x, field), x->receive + first, count,
                                      x->faces, x->stream));
    return ps_stream_wait(x->stream); /* the buffer is the exchange's again */
}

/* ---- a window ---- */

static ps_window *device_window(void *opened) { return ((device_state *)opened)->window; }

static ps_status device_convert(void *opened, bool sums, int64_t begin, int64_t end)
{
    device_state *x = opened;
    int64_t wide = sums ? 2 * x->setup.frequencies : 1; /* groups of sums lie close together */
    const double *matrix = sums ? x->system.to_nodes : x->system.from_nodes;
    for (int field = 0; field < 2; ++field) {
        void *values = sums ? x->sums[field] : field_of(x, (ps_dgtd_field)field);
        PS_TRY(ps_dgtd_device_convert(&x->system, matrix, values, values, begin * wide, end * wide,
                                      x->stream));
    }
    return PS_OK;
}

const backend backend_device = {"cuda",           device_open,   device_close, device_put,
                                device_load,      device_get,    device_save,  device_halves,
                                device_transform, device_sample, device_take,  device_pack,
                                device_unpack,    device_window, device_convert};
