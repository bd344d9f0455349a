/*
 * dgtd_device: a dgtd_case on a device, with the memory that goes with it.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_DEVICE_H
#define PS_TESTS_SUPPORT_DGTD_DEVICE_H

#include "kernels/dgtd/device_local.h"
#include "kernels/dgtd/device_march.h"
#include "kernels/dgtd/device_media.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/dgtd_case.h"

typedef struct dgtd_device {
    ps_device *device;
    ps_stream *stream;
    ps_dgtd_device_tables *tables;
    ps_dgtd_device system;
    ps_dgtd_device_border border;
    ps_dgtd_device_current current;
    ps_dgtd_device_upwind upwind;
    ps_dgtd_device_pml pml;
    ps_dgtd_device_media media;
    ps_dgtd_device_ports ports;
    ps_dgtd_device_local local; /* host NULL: none */
    ps_dgtd_device_march march;
    void *local_memory, *memory, *border_memory, *current_memory, *upwind_memory, *pml_memory,
        *media_memory, *ports_memory, *field[2], *scratch;
    int64_t field_bytes, scratch_bytes;
} dgtd_device;

static inline void dgtd_device_release(dgtd_device *x)
{
    void *there[] = {x->memory,     x->border_memory, x->current_memory, x->upwind_memory,
                     x->pml_memory, x->media_memory,  x->ports_memory,   x->local_memory,
                     x->field[0],   x->field[1],      x->scratch};
    for (size_t i = 0; i < sizeof there / sizeof *there; ++i) ps_device_free(x->device, there[i]);
    free(x->ports.host);
    ps_stream_close(&x->stream);
    free(x->tables);
}

/* The system of a case, its steps set for dt, and zeroed fields with `halo` slots behind them. */
static inline ps_status dgtd_device_init(dgtd_device *x, ps_device *device, const dgtd_case *c,
                                         ps_dgtd_device_mode mode, double dt, int64_t halo)
{
    memset(x, 0, sizeof *x);
    x->device = device;
    PS_TRY(PS_ALLOC(&x->tables, 1, "tables"));
    PS_TRY(ps_stream_open(device, &x->stream));
    ps_dgtd_device_tables_init(x->tables, &c->reference);
    ps_dgtd_device_shape(&x->system, &c->system, mode);
    PS_TRY(ps_device_alloc(device, ps_dgtd_device_place(&x->system, NULL), &x->memory));
    ps_dgtd_device_place(&x->system, x->memory);
    PS_TRY(ps_dgtd_device_upload(&x->system, &c->system, x->tables, x->stream));
    x->field_bytes = ps_dgtd_device_field_bytes(&x->system, halo);
    for (int f = 0; f < 2; ++f) {
        PS_TRY(ps_device_alloc(device, x->field_bytes, &x->field[f]));
        PS_TRY(ps_fill_zero(x->stream, x->field[f], x->field_bytes));
    }
    x->scratch_bytes = x->field_bytes < (64 << 20) ? x->field_bytes / 3 + 65536 : 64 << 20;
    PS_TRY(ps_device_alloc(device, x->scratch_bytes, &x->scratch));
    x->march = (ps_dgtd_device_march){
        .device = &x->system, .dt = dt, .electric = x->field[0], .magnetic = x->field[1]};
    return PS_OK;
}

/* A border of the host that was counted and has its memory; its contents are overwritten. */
static inline ps_status dgtd_device_add_border(dgtd_device *x, const dgtd_case *c,
                                               ps_dgtd_border *border, const uint8_t *total)
{
    int order = c->system.order;
    ps_dgtd_device_border_fill(border, &c->system, x->tables, &c->body, total, x->march.dt);
    ps_dgtd_device_border_shape(&x->border, border);
    PS_TRY(ps_device_alloc(x->device, ps_dgtd_device_border_place(&x->border, order, NULL),
                           &x->border_memory));
    ps_dgtd_device_border_place(&x->border, order, x->border_memory);
    x->march.border = &x->border;
    return ps_dgtd_device_border_upload(&x->border, border, x->stream);
}

static inline ps_status dgtd_device_add_current(dgtd_device *x, const dgtd_case *c,
                                                const ps_dgtd_current *current)
{
    int order = c->system.order;
    PS_SCOPED_MEMORY double *workspace = NULL;
    ps_dgtd_device_current_shape(&x->current, current);
    PS_TRY(ps_device_alloc(x->device, ps_dgtd_device_current_place(&x->current, order, NULL),
                           &x->current_memory));
    ps_dgtd_device_current_place(&x->current, order, x->current_memory);
    x->march.currents = &x->current;
    x->march.current_count = 1;
    PS_TRY(PS_ALLOC(&workspace, current->count * c->reference.nodes, "loads"));
    ps_status status =
        ps_dgtd_device_current_upload(&x->current, current, x->tables, workspace, x->stream);
    return status;
}

/* The upwind flux, from a host's that was filled, once the fields are there. */
static inline ps_status dgtd_device_add_upwind(dgtd_device *x, const ps_dgtd_upwind *host)
{
    ps_dgtd_device_upwind_shape(&x->upwind, &x->system, 0, 0);
    PS_TRY(ps_device_alloc(x->device, ps_dgtd_device_upwind_place(&x->upwind, &x->system, NULL),
                           &x->upwind_memory));
    ps_dgtd_device_upwind_place(&x->upwind, &x->system, x->upwind_memory);
    PS_TRY(ps_dgtd_device_upwind_upload(&x->upwind, &x->system, host, x->stream));
    x->march.upwind = &x->upwind;
    return ps_dgtd_device_upwind_start(&x->upwind, &x->system, x->field[0], x->stream);
}

/* A layer of the host's that was filled, with its states. */
static inline ps_status dgtd_device_add_pml(dgtd_device *x, const ps_dgtd_pml *host)
{
    ps_dgtd_pml_shape shape = host->turned ? PS_DGTD_PML_BALL : PS_DGTD_PML_BOX;
    PS_TRY(ps_device_alloc(x->device, ps_dgtd_device_pml_bytes(host, shape, &x->system),
                           &x->pml_memory));
    ps_dgtd_device_pml_attach(&x->pml, host, &x->system, x->pml_memory);
    x->march.pml = &x->pml;
    PS_SCOPED_MEMORY float *work =
        calloc((size_t)ps_dgtd_device_pml_work(&x->pml, &x->system) + 1, sizeof *work);
    ps_status status = ps_dgtd_device_pml_upload(&x->pml, &x->system, work, x->stream);
    return status;
}

/* Media of the host's that were filled, with their states; before local steps. */
static inline ps_status dgtd_device_add_media(dgtd_device *x, const ps_dgtd_dispersion *host)
{
    PS_TRY(
        ps_device_alloc(x->device, ps_dgtd_device_media_bytes(host, &x->system), &x->media_memory));
    ps_dgtd_device_media_attach(&x->media, host, &x->system, x->media_memory);
    x->system.media = &x->media;
    return ps_dgtd_device_media_upload(&x->media, &x->system, x->stream);
}

/* Ports of the host's, filled for the system of the device, and their states. */
static inline ps_status dgtd_device_add_ports(dgtd_device *x, const dgtd_case *c,
                                              const ps_dgtd_port *ports, int64_t count)
{
    ps_dgtd_device_port_work work = {.system = &c->system, .tables = x->tables};
    int64_t entries = 1;
    for (int64_t k = 0; k < count; ++k) entries += ports[k].flux.count;
    work.slots = dgtd_array((size_t)entries * sizeof *work.slots);
    x->ports = (ps_dgtd_device_ports){.count = count, .rows = 1, .values = 3 * c->reference.nodes};
    x->ports.host = dgtd_array((size_t)count * sizeof *x->ports.host);
    for (int64_t k = 0; k < count; ++k) ps_dgtd_device_port_shape(&x->ports, k, ports + k, &work);
    work.weights = dgtd_array((size_t)x->ports.items * sizeof *work.weights);
    PS_TRY(
        ps_device_alloc(x->device, ps_dgtd_device_ports_place(&x->ports, NULL), &x->ports_memory));
    ps_dgtd_device_ports_place(&x->ports, x->ports_memory);
    for (int64_t k = 0; k < count; ++k)
        PS_TRY(ps_dgtd_device_port_upload(&x->ports, k, ports + k, &x->system, &work, x->stream));
    PS_FREE(work.slots, work.weights);
    x->march.ports = x->system.ports = &x->ports;
    return ps_dgtd_device_ports_states(&x->ports, ports, false, x->stream);
}

/* Local steps of the host's, which were filled for the system of the device. */
static inline ps_status dgtd_device_add_local(dgtd_device *x, const dgtd_case *c,
                                              const ps_dgtd_local *host, const uint8_t *reach)
{
    int64_t units = ps_dgtd_device_local_shape(&x->local, host, &x->system, &c->system, reach);
    int64_t bytes = ps_dgtd_device_local_bytes(&x->system, host->levels, 0);
    ps_dgtd_device_local_work work = {
        .units = dgtd_array((size_t)units * sizeof *work.units),
        .pieces = dgtd_array((size_t)c->system.groups * sizeof *work.pieces),
        .factors = dgtd_array(4 * (size_t)c->system.materials * sizeof *work.factors)};
    PS_TRY(ps_device_alloc(x->device,
                           bytes + ps_dgtd_device_local_fields(host->levels) * x->field_bytes,
                           &x->local_memory));
    ps_dgtd_device_local_attach(&x->local, 0, x->local_memory, (char *)x->local_memory + bytes);
    ps_status status = ps_dgtd_device_local_upload(&x->local, &c->system, reach, c->body.material,
                                                   x->march.dt, &work, x->stream);
    PS_FREE(work.units, work.pieces, work.factors);
    return status;
}

/* Fields of the host to the device and back, in the host's layout and basis. */
static inline ps_status dgtd_device_put(dgtd_device *x, void *const host[2])
{
    for (int f = 0; f < 2; ++f)
        PS_TRY(
            ps_dgtd_device_put(&x->system, x->field[f], host[f], 0, x->system.groups, x->stream));
    return ps_stream_wait(x->stream);
}

static inline ps_status dgtd_device_get(dgtd_device *x, void *const host[2])
{
    for (int f = 0; f < 2; ++f)
        PS_TRY(ps_dgtd_device_get(&x->system, x->field[f], host[f], 0, x->system.groups, x->scratch,
                                  x->scratch_bytes, x->stream));
    return ps_stream_wait(x->stream);
}

/* Random coefficients in -1/2 .. 1/2 in both fields, halo included: one pool, time and again. */
static inline ps_status dgtd_device_fill_random(dgtd_device *x)
{
    enum { POOL = 16 << 20 };
    PS_SCOPED_MEMORY char *pool = NULL;
    uint64_t state = 5;
    PS_TRY(PS_ALLOC(&pool, POOL, "random values"));
    for (int64_t i = 0; i < POOL / 8; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double wide = (double)(state >> 33) * 0x1p-31 - .5;
        float values[2] = {(float)wide, (float)(-wide / 3)};
        memcpy(pool + 8 * i, x->system.precision == PS_SINGLE ? (void *)values : &wide, 8);
    }
    for (int f = 0; f < 2; ++f)
        for (int64_t at = 0; at < x->field_bytes; at += POOL)
            PS_TRY(ps_copy_to_device(x->stream, (char *)x->field[f] + at, pool,
                                     x->field_bytes - at < POOL ? x->field_bytes - at : POOL));
    PS_TRY(ps_stream_wait(x->stream));
    return PS_OK;
}

/* `steps` whole steps from step n on, enqueued. */
static inline ps_status dgtd_device_steps(dgtd_device *x, int64_t n, int64_t steps)
{
    const ps_dgtd_local *local = x->local.host;
    void *magnetic = x->march.magnetic;
    int64_t groups = x->system.groups;
    for (int64_t s = n; s < n + steps; ++s) {
        for (int k = 0; local && k < 2; ++k)
            PS_TRY(ps_dgtd_device_local_keep(&x->local, (ps_dgtd_kept)k, magnetic, x->stream));
        for (int i = 0; local && i < local->op_count; ++i)
            PS_TRY(ps_dgtd_device_local_op(&x->local, local->ops + i, magnetic, x->stream));
        PS_TRY(ps_dgtd_device_march_ports(&x->march, s, 0, x->stream));
        PS_TRY(ps_dgtd_device_march_half(&x->march, PS_DGTD_E, s, 0, groups, x->stream));
        if (local) PS_TRY(ps_dgtd_device_local_restore(&x->local, magnetic, x->stream));
        PS_TRY(ps_dgtd_device_march_half(&x->march, PS_DGTD_H, s, 0, groups, x->stream));
    }
    return PS_OK;
}

#endif
