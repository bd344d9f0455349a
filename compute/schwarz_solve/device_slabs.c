/* Slabs on the devices of the ranks, in memory: traces, the vectors of the iteration and the coarse
 * space live there; scalars come to the host. Ranks write traces and low modes into each other's
 * memory (device_board.h), or send them through the hosts. */
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/device_board.h"
#include "compute/schwarz_solve/outer.h"
#include "kernels/schwarz/traces_device.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
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
    ps_traces_modes low;   /* the coarse space, own traces; count 0: none */
    ps_traces_low all_low; /* of all traces */
    board board;
    double *g;              /* device: own traces */
    double *in, *out;       /* several ranks: all traces of the box */
    double *planes;         /* of a slab */
    double *pinned, *faces; /* host: scalar products; traces to and from the ranks beside */
    double *tables, *nodes, *coarse; /* host; coarse: where low modes are sent through it */
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
    int64_t low = p->options.coarse > 0 && ps_comm_size() > 1 ? ps_slab_box_coarse_space(&host) : 0;
    return 8 * (ps_slab_box_size(&host) + outer_doubles(p, &problem) + 4 * face +
                basis_of(p) * traces + low + largest_slab(p) * p->grid.nodes[1] * p->grid.nodes[2]);
}

static void slabs_plan(solve_problem *p, ps_ledger *ledger)
{
    ps_ledger_add(ledger, PS_ROOM_HOST, "slabs", slabs_memory(p));
    outer_plan_states(p, 2 * (p->options.slabs - 1) * p->load.plane, ledger);
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

/* The exchange of the own slabs; what goes to the ranks beside comes to their boards, or to
 * `faces`. */
static ps_status exchange_here(slabs *s, bool source, const double *g, double *out)
{
    int64_t face = s->box.face, base = s->host.base * face, bytes = 8 * s->host.traces * face;
    PS_TRY(ps_copy_on_device(s->base.stream, s->in + base, g, bytes));
    PS_TRY(ps_slab_device_exchange(&s->box, source, s->in, s->out, s->base.stream));
    for (int side = 0; side < 2; ++side) {
        const double *sent = sent_of(s, side);
        if (!beside(s, side)) continue;
        if (s->board.own)
            PS_TRY(ps_copy_on_device(
                s->base.stream,
                board_landing(&s->board, ps_comm_rank() + (side == 0 ? -1 : 1), 1 - side), sent,
                8 * face));
        else
            PS_TRY(ps_copy_to_host(s->base.stream, s->faces + side * face, sent, 8 * face));
    }
    PS_TRY(ps_copy_on_device(s->base.stream, out, s->out + base, bytes));
    return ps_stream_wait(s->base.stream);
}

/* Where the trace for an end of the own ones lies on the device. */
static double *end_of(const slabs *s, int side, double *out)
{
    return out + (side == 0 ? 0 : s->host.traces - 1) * s->box.face;
}

static ps_status exchange_boards(slabs *s, bool source, const double *g, double *out)
{
    int64_t bytes = 8 * s->box.face;
    PS_TRY(s->links->agree(s->links->context, exchange_here(s, source, g, out)));
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(ps_copy_on_device(s->base.stream, end_of(s, side, out),
                                     board_landing(&s->board, ps_comm_rank(), side), bytes));
    s->board.turn ^= 1;
    return PS_OK;
}

/* Traces of the ranks beside come to the ends of out. */
static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    slabs *s = context;
    int64_t face = s->box.face;
    double *theirs = s->faces + 2 * face;
    if (!s->links) return ps_slab_device_exchange(&s->box, source, g, out, s->base.stream);
    if (s->board.own) return exchange_boards(s, source, g, out);
    ps_status status = exchange_here(s, source, g, out);
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(s->links->pass(s->links->context, side, face, s->faces + side * face,
                                  theirs + side * face));
    for (int side = 0; side < 2; ++side) {
        if (!beside(s, side)) continue;
        PS_TRY(s->links->wait(s->links->context, side));
        if (status == PS_OK)
            status = ps_copy_to_device(s->base.stream, end_of(s, side, out), theirs + side * face,
                                       8 * face);
    }
    if (status == PS_OK) status = ps_stream_wait(s->base.stream); /* `theirs` comes again */
    return s->links->agree(s->links->context, status);
}

static ps_status copy_vectors(void *context, bool to_host, int64_t count, double *there,
                              double *here)
{
    return device_copy(((slabs *)context)->base.stream, to_host, count, there, here);
}

/* The own rows of the low modes come to the boards of the others, unless something has failed. */
static ps_status spread_low(slabs *s, ps_status status)
{
    int64_t at = s->host.base * s->low.count, bytes = 8 * s->host.traces * s->low.count;
    for (int r = 0; r < ps_comm_size() && status == PS_OK; ++r)
        if (r != ps_comm_rank())
            status =
                ps_copy_on_device(s->base.stream, board_low(&s->board, r) + at, s->low.low, bytes);
    if (status == PS_OK) status = ps_stream_wait(s->base.stream);
    return s->links->agree(s->links->context, status);
}

/* The same through the hosts, by a sum over ranks. */
static ps_status sum_low(slabs *s, ps_status status)
{
    int64_t count = s->low.count, all = 2 * (s->plan.slabs - 1) * count;
    double *own = s->coarse + s->host.base * count;
    memset(s->coarse, 0, (size_t)all * sizeof *s->coarse);
    if (status == PS_OK) status = copy_vectors(s, true, count * s->host.traces, s->low.low, own);
    PS_TRY(s->links->agree(s->links->context, status));
    PS_TRY(s->links->sum(s->links->context, s->coarse, all));
    return copy_vectors(s, false, all, s->all_low.low, s->coarse);
}

/* The low modes of all traces are solved for on each rank. */
static ps_status correct(void *context, double *r)
{
    slabs *s = context;
    ps_status status = ps_traces_device_gather(&s->low, r, s->base.stream);
    if (s->links) status = s->board.own ? spread_low(s, status) : sum_low(s, status);
    PS_TRY(status);
    PS_TRY(ps_traces_device_solve_low(&s->all_low, s->base.stream));
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
                 {8 * largest_slab(p) * p->load.plane, &s->planes},
                 {ps_traces_device_bytes(basis_of(p), s->host.traces), &s->traces.memory},
                 {s->board.own ? 0 : 16 * s->low.count * (s->plan.slabs - 1), &s->all_low.low},
                 {8 * s->low.count * s->plan.slabs, &s->all_low.space},
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
    PS_SCOPED_MEMORY int32_t *modes = NULL;
    if (s->low.count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&modes, s->low.count, "the coarse space"));
    ps_slab_box_low_modes(&s->host, modes);
    PS_TRY(ps_copy_to_device(s->base.stream, (void *)s->low.modes, modes, 4 * s->low.count));
    return ps_stream_wait(s->base.stream);
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
    if (s->board.own) s->all_low.low = board_low(&s->board, ps_comm_rank());
    s->low.low = s->all_low.low + s->host.base * s->low.count;
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
    s->all_low.system = ps_slab_box_low_system(&s->host.plan);
    s->all_low.count = s->low.count;
    s->all_low.modes = s->low.modes;
    s->all_low.mu = s->box.tables.mu;
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
    return PS_ALLOC(&s->nodes, largest_slab(p) * p->load.plane, "planes of a slab");
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

static ps_status slabs_open(solve_problem *p, void *state)
{
    slabs *s = state;
    s->p = p;
    s->plan = device_slab_plan(p);
    s->links = rank_links_open(&s->store);
    ps_status status = open_host(s);
    int64_t low = 2 * (s->plan.slabs - 1) * s->low.count;
    PS_TRY(board_open(p, status, s->host.face, low, &s->board));
    if (s->links && !s->board.own) PS_TRY(PS_ALLOC(&s->coarse, low, "the coarse space"));
    PS_TRY(open_device(s));
    return open_outer(s);
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
    if (s->pinned) ps_device_free_pinned(s->p->device, s->pinned);
    device_base_close(s->p, &s->base);
    board_close(s->p, &s->board);
    outer_close(&s->outer);
    PS_FREE(s->tables, s->nodes, s->coarse);
}

const solve_way solve_slabs_device = {sizeof(slabs), slabs_plan,  slabs_open,
                                      slabs_solve,   slabs_write, slabs_close};
