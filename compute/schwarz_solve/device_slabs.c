/* Slabs on the devices of the ranks, in memory: traces and the vectors of the iteration live there;
 * scalars come to the host, and with several ranks the traces between them and the low modes of
 * a coarse space. */
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/device.h"
#include "compute/schwarz_solve/outer.h"
#include "kernels/schwarz/traces_device.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct slabs {
    solve_problem *p;
    ps_slab_device_plan plan;
    ps_slab_device box;
    device_base base; /* g, the next arrays, the box */
    ps_slab_box host; /* for its coarse space and its traces' numbers */
    rank_links store;
    const ps_slab_links *links;
    ps_traces_device traces;
    ps_interface_vectors vectors;
    ps_traces_modes low;    /* the coarse space; count 0: none */
    double *g;              /* device: own traces */
    double *in, *out;       /* several ranks: all traces of the box */
    double *planes;         /* of a slab */
    double *pinned, *faces; /* host: scalar products; traces to and from the ranks beside */
    double *tables, *nodes, *coarse; /* host */
    outer outer;
} slabs;

/* Vectors of the iteration beside g. */
static int64_t basis_of(const solve_problem *p)
{
    return p->options.method == METHOD_GMRES ? p->options.restart + 1 : 1;
}

static int64_t slabs_memory(const solve_problem *p)
{
    ps_slab_box_plan host = device_host_plan(p);
    int64_t face = ps_slab_box_mode_plane(&p->grid), traces = 2 * (host.end - host.first);
    ps_interface_vectors elsewhere = {0};
    ps_interface problem = {
        .size = traces * face, .all = 2 * (host.slabs - 1), .vectors = &elsewhere};
    int64_t low = p->options.coarse > 0 ? ps_slab_box_coarse_space(&host) : 0;
    return 8 *
           (ps_slab_box_size(&host) + outer_doubles(p, &problem) + 4 * face + basis_of(p) * traces +
            low + device_largest_slab(p) * p->grid.nodes[1] * p->grid.nodes[2]);
}

static void slabs_plan(solve_problem *p, ps_ledger *ledger)
{
    ps_ledger_add(ledger, PS_ROOM_HOST, "slabs", slabs_memory(p));
}

/* ---- exchanges ---- */

/* The traces that slabs here send to slabs elsewhere. */
static const double *sent_of(const slabs *s, int side)
{
    int64_t trace = side == 0 ? 2 * s->plan.first - 2 : 2 * s->plan.end - 1;
    return s->out + trace * s->box.face;
}

static bool beside(const slabs *s, int side)
{
    return side == 0 ? s->plan.first > 0 : s->plan.end < s->plan.slabs;
}

/* The exchange of the own slabs; what goes to the ranks beside comes to `faces`. */
static ps_status exchange_here(slabs *s, bool source, const double *g, double *out)
{
    int64_t face = s->box.face, base = s->host.base * face, bytes = 8 * s->host.traces * face;
    PS_TRY(ps_copy_on_device(s->base.stream, s->in + base, g, bytes));
    PS_TRY(ps_slab_device_exchange(&s->box, source, s->in, s->out, s->base.stream));
    PS_TRY(ps_copy_on_device(s->base.stream, out, s->out + base, bytes));
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(ps_copy_to_host(s->base.stream, s->faces + side * face, sent_of(s, side),
                                   8 * face));
    return ps_stream_wait(s->base.stream);
}

/* Traces of the ranks beside come to the ends of out. */
static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    slabs *s = context;
    int64_t face = s->box.face;
    double *theirs = s->faces + 2 * face;
    if (!s->links) return ps_slab_device_exchange(&s->box, source, g, out, s->base.stream);
    ps_status status = exchange_here(s, source, g, out);
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(s->links->pass(s->links->context, side, face, s->faces + side * face,
                                  theirs + side * face));
    for (int side = 0; side < 2; ++side) {
        if (!beside(s, side)) continue;
        PS_TRY(s->links->wait(s->links->context, side));
        double *end = out + (side == 0 ? 0 : s->host.traces - 1) * face;
        if (status == PS_OK)
            status = ps_copy_to_device(s->base.stream, end, theirs + side * face, 8 * face);
    }
    if (status == PS_OK) status = ps_stream_wait(s->base.stream); /* `theirs` comes again */
    return s->links->agree(s->links->context, status);
}

static ps_status copy_vectors(void *context, bool to_host, int64_t count, double *there,
                              double *here)
{
    return device_copy(((slabs *)context)->base.stream, to_host, count, there, here);
}

/* The low modes of the own traces go to the host, where all ranks' are solved for, and back. */
static ps_status correct(void *context, double *r)
{
    slabs *s = context;
    int64_t all = 2 * (s->plan.slabs - 1), own = s->host.traces, count = s->low.count;
    double *here = s->coarse, *low = here + count * own;
    ps_status status = ps_traces_device_gather(&s->low, r, s->base.stream);
    if (status == PS_OK) status = copy_vectors(s, true, count * own, s->low.low, here);
    PS_TRY(s->links ? s->links->agree(s->links->context, status) : status);
    memset(low, 0, (size_t)(count * all) * sizeof *low);
    for (int64_t m = 0; m < count; ++m)
        memcpy(low + m * all + s->host.base, here + m * own, (size_t)own * sizeof *low);
    if (s->links) PS_TRY(s->links->sum(s->links->context, low, count * all));
    ps_slab_box_solve_low(&s->host, low, low + count * all);
    for (int64_t m = 0; m < count; ++m)
        memcpy(here + m * own, low + m * all + s->host.base, (size_t)own * sizeof *low);
    PS_TRY(ps_copy_to_device(s->base.stream, s->low.low, here, 8 * count * own));
    return ps_traces_device_scatter(&s->low, r, s->base.stream);
}

static ps_status reduce(void *context, double *sums, int64_t count)
{
    const slabs *s = context;
    return s->links ? s->links->sum(s->links->context, sums, count) : PS_OK;
}

/* ---- all ---- */

static device_planes planes_of(const slabs *s)
{
    return (device_planes){s->p, &s->box, s->base.stream, s->nodes, s->planes};
}

static ps_status read_loads(slabs *s)
{
    int64_t start = ps_slab_first(s->p->grid.nodes[0], s->plan.slabs, s->plan.first);
    device_planes planes = planes_of(s);
    for (int64_t slab = s->plan.first; slab < s->plan.end; ++slab) {
        int64_t first, count;
        PS_TRY(device_read_slab(&planes, slab, &first, &count));
        PS_TRY(ps_slab_device_set_load(&s->box, first - start, count, s->planes, s->base.stream));
        PS_TRY(ps_stream_wait(s->base.stream));
    }
    return PS_OK;
}

/* Puts the arrays one behind the other from `at` on, unless that is NULL; their bytes. */
static int64_t lay_out(slabs *s, char *at)
{
    const solve_problem *p = s->p;
    int64_t face = ps_slab_box_mode_plane(&p->grid), own = 8 * s->host.traces * face;
    int64_t all = s->links ? 8 * ps_slab_device_traces(&s->plan) : 0;
    struct {
        int64_t bytes;
        void *to;
    } parts[] = {{own, &s->g},
                 {basis_of(p) * own, &s->vectors.basis},
                 {all, &s->in},
                 {all, &s->out},
                 {8 * device_largest_slab(p) * p->load.plane, &s->planes},
                 {ps_traces_device_bytes(basis_of(p), s->host.traces), &s->traces.memory},
                 {8 * s->low.count * s->host.traces, &s->low.low},
                 {4 * s->low.count, &s->low.modes}};
    int64_t bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        char *place = at + bytes;
        if (at) memcpy(parts[i].to, &place, sizeof place);
        bytes += ps_device_padded(parts[i].bytes);
    }
    return bytes;
}

static ps_status put_modes(slabs *s)
{
    int32_t *modes;
    if (s->low.count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&modes, s->low.count, "the coarse space"));
    ps_slab_box_low_modes(&s->host, modes);
    ps_status status =
        ps_copy_to_device(s->base.stream, (void *)s->low.modes, modes, 4 * s->low.count);
    if (status == PS_OK) status = ps_stream_wait(s->base.stream);
    free(modes);
    return status;
}

static ps_status open_device(slabs *s)
{
    solve_problem *p = s->p;
    int64_t arrays = lay_out(s, NULL), face = s->host.face;
    int64_t sums = basis_of(p) * s->host.traces;
    PS_TRY(device_base_open(p, arrays + ps_slab_device_bytes(&s->plan), &s->base));
    lay_out(s, s->base.memory);
    PS_TRY(ps_device_alloc_pinned(p->device, 8 * (sums + 4 * face), (void **)&s->pinned));
    s->faces = s->pinned + sums;
    s->traces.face = s->low.face = face;
    s->traces.traces = s->low.traces = s->host.traces;
    s->traces.first = s->host.base;
    s->traces.all = 2 * (s->plan.slabs - 1);
    s->traces.stream = s->base.stream;
    s->traces.sums = s->pinned;
    s->vectors = ps_traces_device_vectors(&s->traces, s->vectors.basis);
    PS_TRY(ps_slab_device_make(&s->plan, s->base.memory + arrays, s->base.stream, &s->box));
    PS_TRY(ps_fill_zero(s->base.stream, s->base.memory, arrays));
    PS_TRY(put_modes(s));
    return read_loads(s);
}

static ps_status open_host(slabs *s)
{
    solve_problem *p = s->p;
    ps_slab_box_plan host = device_host_plan(p);
    host.links = s->links;
    PS_TRY(PS_ALLOC(&s->tables, ps_slab_box_size(&host), "the coarse space"));
    PS_TRY(ps_slab_box_make(&host, s->tables, &s->host));
    s->low.count = p->options.coarse > 0 ? ps_slab_box_low_modes(&s->host, NULL) : 0;
    int64_t all = 2 * (host.slabs - 1), each = all + s->host.traces;
    PS_TRY(PS_ALLOC(&s->coarse, s->low.count * each + 10 * host.slabs, "the coarse space"));
    return PS_ALLOC(&s->nodes, device_largest_slab(p) * p->load.plane, "planes of a slab");
}

static ps_status open_outer(slabs *s)
{
    ps_interface problem = ps_slab_box_interface(&s->host, true);
    problem.context = s;
    problem.exchange = make_exchange;
    problem.correct = s->low.count > 0 ? correct : NULL;
    problem.reduce = reduce;
    problem.vectors = &s->vectors;
    PS_TRY(outer_open(s->p, &problem, s, &s->outer));
    s->outer.g = s->g;
    s->outer.copy = copy_vectors;
    return PS_OK;
}

static ps_status slabs_open(solve_problem *p, void **state)
{
    slabs *s;
    PS_TRY(PS_ALLOC(&s, 1, "slabs"));
    *state = s;
    s->p = p;
    s->plan = device_slab_plan(p);
    s->links = rank_links_open(&s->store);
    PS_TRY(open_host(s));
    PS_TRY(open_device(s));
    PS_TRY(open_outer(s));
    return PS_OK;
}

static ps_status slabs_solve(void *state) { return outer_solve(&((slabs *)state)->outer); }

static ps_status slabs_write(void *state, plane_writer *writer)
{
    slabs *s = state;
    const double *g = s->g;
    if (s->links) {
        PS_TRY(ps_copy_on_device(s->base.stream, s->in + s->host.base * s->box.face, s->g,
                                 8 * s->host.traces * s->box.face));
        g = s->in;
    }
    PS_TRY(ps_slab_device_finish(&s->box, g, s->base.stream));
    device_planes planes = planes_of(s);
    for (int64_t slab = s->plan.first; slab < s->plan.end; ++slab) {
        int64_t first, count;
        PS_TRY(device_read_slab(&planes, slab, &first, &count));
        PS_TRY(device_write_slab(&planes, slab, writer));
    }
    return PS_OK;
}

static void slabs_close(void *state)
{
    slabs *s = state;
    if (!s) return;
    if (s->pinned) ps_device_free_pinned(s->p->device, s->pinned);
    device_base_close(s->p, &s->base);
    outer_close(&s->outer);
    free(s->tables);
    free(s->nodes);
    free(s->coarse);
    free(s);
}

const solve_way solve_slabs_device = {slabs_plan, slabs_open, slabs_solve, slabs_write,
                                      slabs_close};
