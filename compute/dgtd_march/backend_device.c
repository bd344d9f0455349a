/*
 * The backend on a GPU: fields and transforms live there as Bernstein coefficients
 * (kernels/dgtd/device_state.h); only halos, samples and what is asked for come to the host. All
 * work is enqueued on one stream. A state that does not fit is the host's, as coefficients too, and
 * ranges of it and of the geometry come and go through a window (runtime/device_window.h).
 */
#include "compute/dgtd_march/device_state.h"

#include <string.h>

#include "kernels/dgtd/running_dft.h"

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

/* Where the old H of a part lies, in groups: with a window, which has room for the parts alone,
 * behind those before it, else each group has a place, as E and H may be advanced in other parts.
 */
static int64_t former_of(const device_state *x, const backend_part *part, int64_t before)
{
    return x->window ? before : part->begin;
}

/* Keeps the old H of the parts whose energy is wanted. */
static ps_status keep_former(device_state *x, const backend_part *parts, int count)
{
    int64_t before = 0;
    for (const backend_part *part = parts; part < parts + count; ++part) {
        int64_t groups = part->end - part->begin;
        if (!part->terms) continue;
        PS_TRY(ps_copy_on_device(x->now,
                                 (char *)x->former + former_of(x, part, before) * x->group_bytes,
                                 (const char *)x->march.magnetic + part->begin * x->group_bytes,
                                 groups * x->group_bytes));
        before += groups;
    }
    return PS_OK;
}

static ps_status add_terms(device_state *x, ps_dgtd_field field, const backend_part *parts,
                           int count)
{
    const double *weights = field == PS_DGTD_E ? x->eps : x->mu;
    int64_t before = 0;
    for (const backend_part *part = parts; part < parts + count; ++part) {
        if (!part->terms) continue;
        int64_t at_former = former_of(x, part, before) - part->begin;
        const char *former = (const char *)x->former + at_former * x->group_bytes;
        int64_t at = part->terms - x->setup.terms[field];
        PS_TRY(ps_dgtd_device_inner(
            &x->system, weights, field == PS_DGTD_E ? x->march.electric : former,
            field_of(x, field), part->begin, part->end, x->partial[field] + at, x->now));
        before += part->end - part->begin;
    }
    return PS_OK;
}

/* What the currents of wires do to E of the parts, none of whose elements absorbs or is in a layer.
 */
static ps_status apply_wires(device_state *x, const backend_part *parts, int count)
{
    for (int k = 0; k < count && x->wires.host; ++k) {
        const ps_dgtd_device_wires_step step = {.device = &x->system,
                                                .electric = x->march.electric,
                                                .begin = parts[k].begin,
                                                .end = parts[k].end};
        PS_TRY(ps_dgtd_device_wires_apply(&x->wires, &step, x->now));
    }
    return PS_OK;
}

static ps_status restore_parts(device_state *x, const backend_part *parts, int count)
{
    for (const backend_part *part = parts; part < parts + count; ++part)
        if (part->restore)
            PS_TRY(ps_dgtd_device_local_restore_part(&x->local, x->march.magnetic, part->begin,
                                                     part->end, x->now));
    return PS_OK;
}

static ps_status halves_at_once(device_state *x, ps_dgtd_field field, const backend_part *parts,
                                int count)
{
    ps_dgtd_device_part list[PS_DGTD_DEVICE_PARTS];
    for (int k = 0; k < count; ++k)
        list[k] = (ps_dgtd_device_part){parts[k].step, parts[k].begin, parts[k].end};
    /* With local steps it is R_1 H that the energy has: after the half step of E, or before H comes
     * back for its own. */
    bool local = x->local.host && !x->window;
    if (field == PS_DGTD_H && !local) PS_TRY(keep_former(x, parts, count));
    PS_TRY(restore_parts(x, parts, count));
    PS_TRY(ps_dgtd_device_march_parts(&x->march, field, list, count, x->now));
    if (field == PS_DGTD_E) PS_TRY(apply_wires(x, parts, count));
    if (field == PS_DGTD_E && local) PS_TRY(keep_former(x, parts, count));
    return add_terms(x, field, parts, count);
}

static ps_status device_halves(void *opened, ps_dgtd_field field, const backend_part *parts,
                               int count)
{
    device_state *x = opened;
    if (x->march.start < 0) x->march.start = parts[0].step;
    if (x->march.upwind && !x->direct)
        PS_TRY(ps_dgtd_device_upwind_halo(&x->upwind, &x->system, field,
                                          field_of(x, (ps_dgtd_field)!field), x->stream));
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
                                  begin, end, x->sums[field], x->now);
}

static ps_status device_sample(void *opened, ps_dgtd_field field, int64_t row, int64_t first,
                               int64_t count)
{
    device_state *x = opened;
    int nodes = x->tables->reference.nodes;
    double *to = x->samples + ((2 * row + field) * x->setup.probe_count + first) * 3;
    return ps_dgtd_device_probe(&x->system, field_of(x, field), x->slots + first,
                                x->weights + first * nodes, count, to, x->now);
}

/* What follows on the stream comes after all that was enqueued. */
static ps_status join(device_state *x)
{
    x->now = x->stream;
    if (!x->direct) return PS_OK;
    PS_TRY(ps_event_record(x->come, x->beside));
    return ps_event_wait(x->come, x->stream);
}

/* After a wait: did all neighbours come? */
static ps_status check_late(device_state *x)
{
    unsigned late = 0;
    if (!x->direct) return PS_OK;
    PS_TRY(ps_copy_to_host(x->stream, &late, x->peers.late, sizeof late));
    PS_TRY(ps_stream_wait(x->stream));
    if (late == 0) return PS_OK;
    return ps_fail(PS_FAILED, "the traces of a neighbouring rank did not come within %d s",
                   (int)PS_DGTD_AWAIT_SECONDS);
}

static ps_status take_sums(device_state *x, int field, int64_t rows, double *out)
{
    int64_t bytes = rows * (int64_t)sizeof *out;
    PS_TRY(ps_dgtd_device_add_groups(x->partial[field], x->system.groups, rows, x->term_sums,
                                     x->stream));
    return ps_copy_to_host(x->stream, out, x->term_sums, bytes);
}

static ps_status device_take(void *opened, int64_t count, double *values, const backend_sums *sums)
{
    device_state *x = opened;
    int64_t probes = x->setup.probe_count;
    PS_TRY(join(x));
    for (int field = 0; field < 2; ++field)
        PS_TRY(take_sums(x, field, sums->rows[field], sums->of[field]));
    if (x->march.ports)
        PS_TRY(ps_copy_to_host(x->stream, x->setup.port_rows, x->ports.signals,
                               count * x->ports.count * 2 * (int64_t)sizeof *values));
    PS_TRY(ps_copy_to_host(x->stream, x->fetched, x->samples,
                           count * probes * 6 * (int64_t)sizeof *values));
    PS_TRY(ps_stream_wait(x->stream));
    PS_TRY(check_late(x));
    for (int64_t i = 0; i < 2 * count; ++i) /* rows and fields */
        for (int64_t p = 0; p < probes; ++p)
            memcpy(values + (i / 2 * probes + p) * 6 + i % 2 * 3, x->fetched + (i * probes + p) * 3,
                   3 * sizeof *values);
    return PS_OK;
}

static ps_status advance_networks(device_state *x, int64_t step, int64_t row, ps_stream *stream)
{
    const ps_dgtd_device_wires_step wires = {.device = &x->system,
                                             .electric = x->march.electric,
                                             .row = row,
                                             .t = ((double)step + 0.5) * x->march.dt,
                                             .dt = x->march.dt};
    PS_TRY(ps_dgtd_device_march_ports(&x->march, step, row, stream));
    return x->wires.host ? ps_dgtd_device_wires_advance(&x->wires, &wires, stream) : PS_OK;
}

/* With direct halos the traces of H come on the other stream, which measures then, and both wait.
 */
static ps_status device_ports(void *opened, int64_t step, int64_t row)
{
    device_state *x = opened;
    if (!x->direct) return advance_networks(x, step, row, x->stream);
    PS_TRY(ps_event_record(x->swept, x->stream));
    PS_TRY(ps_event_wait(x->swept, x->beside));
    PS_TRY(advance_networks(x, step, row, x->beside));
    PS_TRY(ps_event_record(x->come, x->beside));
    return ps_event_wait(x->come, x->stream);
}

/* ---- the rest ---- */

static ps_status device_upwind_start(void *opened)
{
    device_state *x = opened;
    return ps_dgtd_device_upwind_start(&x->upwind, &x->system, x->march.electric, x->stream);
}

/* All work of the march is over where states of checkpoints are fetched. */
static ps_status device_states(void *opened, bool save)
{
    device_state *x = opened;
    PS_TRY(join(x));
    const ps_dgtd_march *m = x->setup.march;
    if (x->march.ports) PS_TRY(ps_dgtd_device_ports_states(&x->ports, m->ports, save, x->stream));
    if (x->wires.host) PS_TRY(ps_dgtd_device_wires_states(&x->wires, m->wires, save, x->stream));
    if (x->march.pml) PS_TRY(ps_dgtd_device_pml_states(&x->pml, &x->system, save, x->stream));
    if (!x->system.media) return PS_OK;
    return ps_dgtd_device_media_states(&x->media, &x->system, save, x->stream);
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
    if (sums || !x->setup.former[PS_DGTD_E]) return PS_OK;
    void *former = x->upwind.former[PS_DGTD_E]; /* that of H is written before it is read */
    return ps_dgtd_device_convert(&x->system, matrix, former, former, begin, end, x->stream);
}

const backend backend_device = {.name = "cuda",
                                .open = device_state_open,
                                .close = device_state_close,
                                .put = device_state_put,
                                .load = device_state_load,
                                .get = device_state_get,
                                .save = device_state_save,
                                .halves = device_halves,
                                .transform = device_transform,
                                .sample = device_sample,
                                .take = device_take,
                                .pack = device_pack,
                                .packed = device_packed,
                                .unpack = device_unpack,
                                .halo = device_halo,
                                .pack_array = device_pack_array,
                                .unpack_array = device_unpack_array,
                                .local_keep = device_local_keep,
                                .local_op = device_local_op,
                                .local_part = device_local_part,
                                .local_restore = device_local_restore,
                                .local_source = device_local_source,
                                .mark = device_mark,
                                .local_aside = device_local_aside,
                                .together = device_together,
                                .local_order = device_local_order,
                                .beside = true,
                                .share = device_share,
                                .reach = device_state_reach,
                                .leave = device_state_leave,
                                .edge = device_edge,
                                .push = device_push,
                                .local_enter = device_local_enter,
                                .local_push = device_local_push,
                                .upwind = device_state_add_upwind,
                                .upwind_start = device_upwind_start,
                                .states = device_states,
                                .ports = device_ports,
                                .window = device_window,
                                .convert = device_convert};
