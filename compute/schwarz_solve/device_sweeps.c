/* Double sweeps over slabs that pass through a device one by one: their loads, as sine modes, stay
 * there as far as they fit; the others are kept in pinned memory of the host, or read again in
 * every sweep, and copied ahead while slabs before are solved (runtime/device_stream.h). On the
 * device are the traces and one slab. Bits do not depend on what fits where. */
#include <stdlib.h>

#include "compute/schwarz_solve/device.h"
#include "compute/schwarz_solve/outer.h"
#include "compute/schwarz_solve/slab_load.h"
#include "kernels/linear/vectors_device.h"
#include "runtime/device_stream.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct sweeps {
    solve_problem *p;
    ps_slab_device box;
    ps_slab_box_plan plan;
    ps_slab_box host; /* its tables transform loads */
    slab_load load;
    ps_device_stream *feed;
    device_base base;               /* the next arrays, then the box */
    ps_interface_vectors vectors;   /* only says that g lives elsewhere */
    double *g, *sent;               /* device: all traces; what slabs send */
    double *sums, *squares;         /* a sum and its workspace; one a trace */
    double *planes;                 /* of a slab, as nodes */
    double *tables, *nodes, *parts; /* host */
    outer outer;
} sweeps;

/* ---- the plan ---- */

static int64_t traces_of(const solve_problem *p) { return 2 * (p->options.slabs - 1); }

static int64_t visits_bytes(const solve_problem *p, const ps_slab_box_plan *plan)
{
    slab_load load = {.plan = plan, .order = PS_SLAB_SWEEP};
    int64_t bytes = 0;
    for (int64_t v = 0; v < ps_slab_visits(plan, PS_SLAB_SWEEP); ++v)
        bytes += ps_device_padded(slab_load_visit_bytes(&load, v));
    return bytes;
}

/* Bytes of the host beside the loads. */
static int64_t other_bytes(const solve_problem *p, const ps_slab_box_plan *plan)
{
    ps_interface_vectors elsewhere = {0};
    ps_interface problem = {.size = traces_of(p) * ps_slab_box_mode_plane(&p->grid),
                            .all = traces_of(p),
                            .vectors = &elsewhere};
    return slab_load_workers(p, plan) +
           8 * (ps_slab_box_size(plan) + outer_doubles(p, &problem) + traces_of(p) +
                largest_slab(p) * p->grid.nodes[1] * p->grid.nodes[2]);
}

/* At least three slabs; more where there is room. */
static int64_t sweeps_memory(const solve_problem *p)
{
    ps_slab_box_plan plan = device_host_plan(p);
    int64_t others = other_bytes(p, &plan), loads = visits_bytes(p, &plan);
    int64_t least = 3 * 8 * largest_slab(p) * ps_slab_box_mode_plane(&p->grid);
    int64_t room = p->room - others;
    return others + (room < least ? least : room < loads ? room : loads);
}

static void sweeps_plan(solve_problem *p, ps_ledger *ledger)
{
    ps_ledger_add(ledger, PS_ROOM_HOST, "slabs", sweeps_memory(p));
    outer_plan_states(p, 2 * (p->options.slabs - 1) * p->load.plane, ledger);
}

/* ---- sweeps ---- */

/* What a slab sends out of a side replaces a trace; the square of the change is kept. */
static ps_status renew(sweeps *s, int64_t trace, ps_stream *on)
{
    int64_t face = s->box.face;
    double *from = s->sent + trace * face, *to = s->g + trace * face;
    PS_TRY(ps_vector_device_difference(PS_DOUBLE, face, from, to, s->sums, on));
    PS_TRY(ps_copy_on_device(on, s->squares + trace, s->sums, sizeof(double)));
    return ps_copy_on_device(on, to, from, 8 * face);
}

/* Forward to the last slab but one, a slab renews the trace on its right; backward on its left. */
static ps_status visit(void *context, const ps_batch_work *work, ps_stream *on)
{
    sweeps *s = context;
    const char *load = work->base;
    for (int64_t v = work->first; v < work->first + work->count; ++v) {
        int64_t slab = ps_slab_visited(&s->plan, PS_SLAB_SWEEP, v);
        bool forward = v < s->plan.slabs - 1;
        PS_TRY(ps_slab_device_visit(&s->box, slab, load, s->g, s->sent, on));
        PS_TRY(renew(s, forward ? 2 * slab + 1 : 2 * slab - 2, on));
        load += ps_device_padded(slab_load_visit_bytes(&s->load, v));
    }
    return PS_OK;
}

static ps_status sweep(void *context, double *change)
{
    sweeps *s = context;
    PS_TRY(ps_device_stream_sweep(s->feed, visit, s, s->base.stream));
    PS_TRY(ps_copy_to_host(s->base.stream, s->parts, s->squares, 8 * traces_of(s->p)));
    PS_TRY(ps_stream_wait(s->base.stream));
    return ps_interface_norm(&s->outer.problem, s->parts, change);
}

static ps_status copy_traces(void *context, bool to_host, int64_t count, double *there,
                             double *here)
{
    return device_copy(((sweeps *)context)->base.stream, to_host, count, there, here);
}

/* ---- loads ---- */

static ps_status read_nothing(void *context, int64_t visit, void *raw) { return PS_OK; }

static ps_status fill(void *context, int64_t visit, const void *raw, void *unpacked)
{
    return slab_load_visit(&((sweeps *)context)->load, visit, unpacked);
}

/* A batch is a slab: those of the last slabs are the smallest. */
static ps_status open_feed(sweeps *s, int64_t host_memory, int64_t device_memory)
{
    int64_t visits = ps_slab_visits(&s->plan, PS_SLAB_SWEEP), *bytes;
    PS_TRY(PS_ALLOC(&bytes, 2 * visits, "a stream"));
    for (int64_t v = 0; v < visits; ++v) bytes[visits + v] = slab_load_visit_bytes(&s->load, v);
    ps_device_stream_config config = {.device = s->p->device,
                                      .chunk_count = visits,
                                      .raw_bytes = bytes,
                                      .unpacked_bytes = bytes + visits,
                                      .count = -1,
                                      .host_memory = host_memory,
                                      .device_memory = device_memory,
                                      .batch_bytes = ps_device_padded(bytes[2 * visits - 1]),
                                      .unpackers = (int)s->p->run->threads,
                                      .context = s,
                                      .read = read_nothing,
                                      .unpack = fill};
    for (int64_t v = 0; v < visits; ++v)
        if (ps_device_padded(bytes[visits + v]) < config.batch_bytes)
            config.batch_bytes = ps_device_padded(bytes[visits + v]);
    ps_status status = ps_device_stream_open(&config, &s->feed);
    free(bytes);
    return status;
}

/* ---- all ---- */

static ps_status open_host(sweeps *s)
{
    solve_problem *p = s->p;
    PS_TRY(PS_ALLOC(&s->tables, ps_slab_box_size(&s->plan), "tables"));
    PS_TRY(ps_slab_box_make(&s->plan, s->tables, &s->host));
    PS_TRY(PS_ALLOC(&s->parts, traces_of(p), "changes"));
    PS_TRY(PS_ALLOC(&s->nodes, largest_slab(p) * p->load.plane, "planes of a slab"));
    s->load =
        (slab_load){.p = p, .plan = &s->plan, .tables = &s->host.tables, .order = PS_SLAB_SWEEP};
    ps_interface problem = {.context = s,
                            .size = traces_of(p) * s->host.face,
                            .traces = traces_of(p),
                            .all = traces_of(p),
                            .vectors = &s->vectors};
    PS_TRY(outer_open(p, &problem, s, &s->outer));
    s->outer.advance = sweep;
    s->outer.copy = copy_traces;
    return PS_OK;
}

static ps_status open_device(sweeps *s)
{
    solve_problem *p = s->p;
    ps_slab_device_plan plan = device_slab_plan(p);
    int64_t traces = ps_device_padded(8 * traces_of(p) * s->host.face);
    int64_t sums = ps_device_padded(PS_DOT_BYTES), squares = ps_device_padded(8 * traces_of(p));
    int64_t planes = ps_device_padded(8 * largest_slab(p) * p->load.plane);
    int64_t arrays = 2 * traces + sums + squares + planes;
    int64_t bytes = arrays + ps_slab_device_bytes(&plan), most = device_allowed(p);
    PS_TRY(device_base_open(p, bytes, &s->base));
    s->outer.g = s->g = (double *)s->base.memory;
    s->sent = (double *)(s->base.memory + traces);
    s->sums = (double *)(s->base.memory + 2 * traces);
    s->squares = (double *)(s->base.memory + 2 * traces + sums);
    s->planes = (double *)(s->base.memory + 2 * traces + sums + squares);
    PS_TRY(ps_slab_device_make(&plan, s->base.memory + arrays, s->base.stream, &s->box));
    PS_TRY(ps_fill_zero(s->base.stream, s->base.memory, arrays));
    return open_feed(s, p->room - other_bytes(p, &s->plan), most - bytes);
}

static ps_status sweeps_open(solve_problem *p, void *state)
{
    sweeps *s = state;
    s->p = p;
    s->plan = device_host_plan(p);
    PS_TRY(open_host(s));
    return open_device(s);
}

/* The first sweep reads: what it takes beyond the others' time is counted as reading. */
static void note_stream(sweeps *s)
{
    solve_problem *p = s->p;
    ps_device_stream_stats stats;
    ps_device_stream_get_stats(s->feed, &stats);
    const ps_device_stream_times *t = &stats.streaming;
    double each = t->sweeps > 0 ? t->elapsed_seconds / (double)t->sweeps : 0;
    double reading = stats.loading.elapsed_seconds - each * (double)stats.loading.sweeps;
    if (reading > 0) p->seconds[SECONDS_READ] += reading;
    p->copied = (double)t->bytes_copied;
    p->copying = t->elapsed_seconds;
    ps_debug("on the device %lld visits, in pinned memory %lld, read again %lld; a sweep after the "
             "first takes %.3f ms, %.2f of which is the slowest of reading, copying and computing",
             (long long)stats.batches[PS_TIER_DEVICE], (long long)stats.batches[PS_TIER_HOST],
             (long long)stats.batches[PS_TIER_DISK], 1e3 * each, t->fraction);
}

static ps_status sweeps_solve(void *state)
{
    sweeps *s = state;
    ps_status status = outer_solve(&s->outer);
    note_stream(s);
    return status;
}

/* Every slab once more, with the traces that were found. */
static ps_status sweeps_write(void *state, plane_writer *writer)
{
    sweeps *s = state;
    device_planes planes = {s->p, &s->box, s->base.stream, s->nodes, s->planes};
    ps_device_stream_close(&s->feed);
    for (int64_t slab = 0; slab < s->p->options.slabs; ++slab) {
        int64_t first, count;
        PS_TRY(device_read_slab(&planes, slab, &first, &count));
        PS_TRY(ps_slab_device_set_load(&s->box, 0, count, s->planes, s->base.stream));
        PS_TRY(ps_slab_device_visit(&s->box, slab, s->box.load, s->g, NULL, s->base.stream));
        PS_TRY(device_write_slab(&planes, slab, writer));
    }
    return PS_OK;
}

static void sweeps_close(void *state)
{
    sweeps *s = state;
    ps_device_stream_close(&s->feed);
    device_base_close(s->p, &s->base);
    outer_close(&s->outer);
    PS_FREE(s->tables, s->nodes, s->parts);
}

const solve_way solve_sweeps_device = {sizeof(sweeps), sweeps_plan,  sweeps_open,
                                       sweeps_solve,   sweeps_write, sweeps_close};
