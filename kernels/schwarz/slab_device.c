#include "kernels/schwarz/slab_device.h"

#include "kernels/common/reals.h"
#include "kernels/schwarz/device_kernels.h"
#include "runtime/sizes.h"

enum { SLABS = 64 /* entries that are copied at a time */ };

/* The slab that the tables are made for: any one with free faces. */
static ps_slab table_slab(const ps_slab_device_plan *plan)
{
    const ps_transmission *t = &plan->transmission;
    return (ps_slab){
        .grid = plan->grid, .free = {true, true}, .p = {t->p[1], t->p[0]}, .q = {t->q[1], t->q[0]}};
}

static int64_t first_plane(const ps_slab_device_plan *plan, int64_t slab)
{
    return ps_slab_first(plan->grid.nodes[0], plan->slabs, slab);
}

static int64_t planes_of(const ps_slab_device_plan *plan)
{
    if (plan->single) return first_plane(plan, 1) + 1; /* the first slab is the largest */
    return first_plane(plan, plan->end) - first_plane(plan, plan->first) + 1;
}

int64_t ps_slab_device_traces(const ps_slab_device_plan *plan)
{
    return 2 * (plan->slabs - 1) * ps_slab_box_mode_plane(&plan->grid);
}

/* Puts the parts into memory, unless that is NULL; their bytes. */
static int64_t lay_out(ps_slab_device *box, char *memory)
{
    const ps_slab_device_plan *plan = &box->plan;
    ps_slab slab = table_slab(plan);
    int64_t tables = ps_fast_device_bytes(plan->precision, &slab), count = plan->end - plan->first;
    int64_t entries = ps_device_padded(count * (int64_t)sizeof(ps_slab_entry));
    int64_t load = ps_device_padded(box->planes * box->face * ps_real_bytes(plan->precision));
    int64_t kept = plan->single ? box->planes : box->planes + count - 1;
    int64_t field = ps_device_padded(kept * box->face * ps_real_bytes(plan->precision));
    if (memory) {
        memory += tables;
        box->entries = memory;
        box->load = memory + entries;
        box->field = memory + entries + load;
        box->factor = memory + entries + load + field;
    }
    return tables + entries + load + 2 * field;
}

static ps_slab_device shape_of(const ps_slab_device_plan *plan)
{
    return (ps_slab_device){
        .plan = *plan, .face = ps_slab_box_mode_plane(&plan->grid), .planes = planes_of(plan)};
}

int64_t ps_slab_device_bytes(const ps_slab_device_plan *plan)
{
    ps_slab_device box = shape_of(plan);
    return lay_out(&box, NULL);
}

static ps_slab_entry entry_of(const ps_slab_device_plan *plan, int64_t slab)
{
    const ps_transmission *t = &plan->transmission;
    int64_t first = first_plane(plan, slab), start = first_plane(plan, plan->first);
    ps_slab_entry e = {.planes = first_plane(plan, slab + 1) - first + 1,
                       .load = first - start,
                       .field = first - start + slab - plan->first,
                       .free = {slab > 0, slab < plan->slabs - 1},
                       .trace = {-1, -1},
                       .sent = {-1, -1},
                       .p = {t->p[1], t->p[0]}, /* right: S1 */
                       .q = {t->q[1], t->q[0]}};
    if (plan->single) e.load = e.field = 0;
    if (e.free[0]) e.trace[0] = 2 * slab - 1, e.sent[0] = 2 * slab - 2;
    if (e.free[1]) e.trace[1] = 2 * slab, e.sent[1] = 2 * slab + 1;
    return e;
}

ps_status ps_slab_device_make(const ps_slab_device_plan *plan, void *memory, ps_stream *stream,
                              ps_slab_device *out)
{
    ps_slab_entry entries[SLABS];
    ps_slab slab = table_slab(plan);
    if (plan->slabs < 2 || plan->slabs > plan->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "%lld planes make 2..%lld slabs, not %lld",
                       (long long)plan->grid.nodes[0], (long long)plan->grid.nodes[0] - 1,
                       (long long)plan->slabs);
    if (plan->first < 0 || plan->first >= plan->end || plan->end > plan->slabs)
        return ps_fail(PS_USAGE, "slabs %lld .. %lld of %lld cannot be on a device",
                       (long long)plan->first, (long long)plan->end - 1, (long long)plan->slabs);
    *out = shape_of(plan);
    lay_out(out, memory);
    PS_TRY(ps_fast_device_make(plan->precision, &slab, memory, stream, &out->tables));
    for (int64_t at = plan->first; at < plan->end; at += SLABS) {
        int64_t count = plan->end - at < SLABS ? plan->end - at : SLABS;
        for (int64_t i = 0; i < count; ++i) entries[i] = entry_of(plan, at + i);
        PS_TRY(ps_copy_to_device(stream, (ps_slab_entry *)out->entries + at - plan->first, entries,
                                 count * (int64_t)sizeof *entries));
        PS_TRY(ps_stream_wait(stream));
    }
    return PS_OK;
}

static char *plane_at(const ps_slab_device *box, void *planes, int64_t at)
{
    return (char *)planes + at * box->face * ps_real_bytes(box->plan.precision);
}

ps_status ps_slab_device_set_load(const ps_slab_device *box, int64_t at, int64_t count,
                                  const void *nodes, ps_stream *stream)
{
    return ps_fast_device_to_modes(&box->tables, count, nodes, plane_at(box, box->load, at),
                                   box->factor, stream);
}

static ps_slab_sweep sweep_of(const ps_slab_device *box, const void *load, const void *g, void *out)
{
    const ps_transmission *t = &box->plan.transmission;
    return (ps_slab_sweep){.tables = &box->tables,
                           .entries = box->entries,
                           .slabs = box->plan.end - box->plan.first,
                           .rows = first_plane(&box->plan, 1) + 1,
                           .load = load,
                           .g = g,
                           .field = box->field,
                           .factor = box->factor,
                           .out = out,
                           .p = t->p[0] + t->p[1],
                           .q = t->q[0] + t->q[1]};
}

ps_status ps_slab_device_exchange(const ps_slab_device *box, bool source, const void *g, void *out,
                                  ps_stream *stream)
{
    ps_slab_sweep sweep = sweep_of(box, source ? box->load : NULL, g, out);
    if (box->plan.single)
        return ps_fail(PS_USAGE, "slabs that are visited one by one make no exchange");
    return ps_slab_sweep_cuda(&sweep, stream);
}

ps_status ps_slab_device_visit(const ps_slab_device *box, int64_t slab, const void *load,
                               const void *g, void *out, ps_stream *stream)
{
    ps_slab_sweep sweep = sweep_of(box, load, g, out);
    if (!box->plan.single || slab < box->plan.first || slab >= box->plan.end)
        return ps_fail(PS_USAGE, "slab %lld is not one of those visited here", (long long)slab);
    sweep.entries += slab - box->plan.first;
    sweep.slabs = 1;
    return ps_slab_sweep_cuda(&sweep, stream);
}

ps_status ps_slab_device_finish(const ps_slab_device *box, const void *g, ps_stream *stream)
{
    return ps_slab_device_exchange(box, true, g, NULL, stream);
}

ps_status ps_slab_device_field(const ps_slab_device *box, int64_t slab, int64_t at, int64_t count,
                               void *nodes, ps_stream *stream)
{
    ps_slab_entry e = entry_of(&box->plan, slab);
    return ps_fast_device_to_nodes(&box->tables, count, plane_at(box, box->field, e.field + at),
                                   nodes, box->factor, stream);
}
