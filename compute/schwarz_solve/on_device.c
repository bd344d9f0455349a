/* The box as one on a CUDA device, and slabs on the devices of the ranks. Traces stay with the
 * host, which runs the iteration: they are what moves. */
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/outer.h"
#include "kernels/schwarz/krylov_device.h"
#include "kernels/schwarz/slab_device.h"
#include "runtime/memory.h"

/* Takes device memory out of what is allowed. */
static ps_status take(solve_problem *p, int64_t bytes, void **out)
{
    int64_t most = p->run->device_memory > 0 ? p->run->device_memory
                                             : ps_device_describe(p->device).memory_free;
    if (bytes > most)
        return ps_fail(
            PS_EXHAUSTED,
            "this takes %lld MiB of device memory, there are %lld MiB: more ranks with a "
            "device each, or --device cpu",
            (long long)(bytes >> 20), (long long)(most >> 20));
    return ps_device_alloc(p->device, bytes, out);
}

static int64_t padded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* ---- the box as one ---- */

typedef struct whole {
    solve_problem *p;
    ps_slab slab;
    ps_slab_stencil stencil;
    ps_stream *stream;
    double *nodes; /* host */
    char *memory;  /* device: b, x, workspace */
    double *x;
} whole;

static ps_krylov_method krylov_of(const solve_problem *p)
{
    return (ps_krylov_method)(p->options.method - METHOD_CG + PS_KRYLOV_CG);
}

static int64_t whole_memory(const solve_problem *p) { return 8 * ps_q1_grid_size(&p->grid); }

static ps_krylov_device_system system_of(const whole *w)
{
    return (ps_krylov_device_system){
        .precision = PS_DOUBLE, .stencil = &w->stencil, .b = w->memory, .x = w->x};
}

static int64_t workspace_of(const whole *w)
{
    ps_krylov_device_system system = system_of(w);
    if (w->p->options.method != METHOD_DIRECT)
        return ps_krylov_device_workspace(krylov_of(w->p), &system);
    return padded(ps_fast_device_bytes(PS_DOUBLE, &w->slab)) +
           ps_fast_device_workspace(PS_DOUBLE, &w->slab);
}

static ps_status whole_read(whole *w)
{
    int64_t bytes = 8 * ps_q1_grid_size(&w->p->grid);
    PS_TRY(ps_box_field_read(&w->p->load, 0, w->p->grid.nodes[0], w->nodes));
    PS_TRY(ps_copy_to_device(w->stream, w->memory, w->nodes, bytes));
    PS_TRY(ps_fill_zero(w->stream, w->x, bytes));
    return ps_stream_wait(w->stream);
}

static ps_status whole_open(solve_problem *p, void **state)
{
    whole *w;
    double start = ps_clock();
    int64_t vector = padded(8 * ps_q1_grid_size(&p->grid));
    PS_TRY(PS_ALLOC(&w, 1, "solving"));
    *state = w;
    *w = (whole){.p = p, .slab = ps_slab_whole(&p->grid)};
    ps_slab_stencil_make(&w->slab, &w->stencil);
    PS_TRY(PS_ALLOC(&w->nodes, ps_q1_grid_size(&p->grid), "loads"));
    PS_TRY(ps_stream_open(p->device, &w->stream));
    PS_TRY(take(p, 2 * vector + workspace_of(w), (void **)&w->memory));
    w->x = (double *)(w->memory + vector);
    PS_TRY(whole_read(w));
    p->seconds[SECONDS_READ] = ps_clock() - start;
    return PS_OK;
}

static ps_status watch(void *context, int64_t iteration, double residual)
{
    solve_problem *p = context;
    bool stop;
    note_iteration(p, iteration, residual, &stop);
    return stop ? stop_here(p) : PS_OK;
}

static ps_status whole_direct(whole *w, char *workspace)
{
    ps_fast_device solver;
    int64_t tables = padded(ps_fast_device_bytes(PS_DOUBLE, &w->slab));
    PS_TRY(ps_fast_device_make(PS_DOUBLE, &w->slab, workspace, w->stream, &solver));
    PS_TRY(ps_fast_device_solve(&solver, w->memory, w->x, workspace + tables, w->stream));
    w->p->result = (ps_krylov_result){.iterations = 0, .converged = true};
    return ps_stream_wait(w->stream);
}

static ps_status whole_krylov(whole *w, char *workspace)
{
    solve_problem *p = w->p;
    ps_krylov_device_system system = system_of(w);
    ps_krylov_device_control control = {
        .tolerance = p->options.tolerance, .limit = p->options.limit, .watch = watch, .context = p};
    ps_status status =
        ps_krylov_device_solve(krylov_of(p), &system, &control, workspace, w->stream, &p->result);
    bool limit = status == PS_FAILED && p->result.iterations >= p->options.limit && !p->stopped;
    return limit ? not_converged(p) : status;
}

static ps_status whole_solve(void *state)
{
    whole *w = state;
    char *workspace = (char *)w->x + padded(8 * ps_q1_grid_size(&w->p->grid));
    double start = ps_clock();
    ps_status status = w->p->options.method == METHOD_DIRECT ? whole_direct(w, workspace)
                                                             : whole_krylov(w, workspace);
    w->p->seconds[SECONDS_SOLVE] = ps_clock() - start;
    return status;
}

static ps_status whole_write(void *state)
{
    whole *w = state;
    plane_writer writer;
    double start = ps_clock();
    PS_TRY(ps_copy_to_host(w->stream, w->nodes, w->x, 8 * ps_q1_grid_size(&w->p->grid)));
    PS_TRY(ps_stream_wait(w->stream));
    ps_status status = plane_writer_open(&w->p->out, &writer);
    for (int64_t i = 0; i < w->p->grid.nodes[0] && status == PS_OK; ++i)
        status = plane_writer_add(&writer, w->nodes + i * w->p->out.plane);
    plane_writer_close(&writer);
    w->p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

static void whole_close(void *state)
{
    whole *w = state;
    if (!w) return;
    if (w->memory) ps_device_free(w->p->device, w->memory);
    ps_stream_close(&w->stream);
    free(w->nodes);
    free(w);
}

const solve_way solve_whole_device = {whole_memory, whole_open, whole_solve, whole_write,
                                      whole_close};

/* ---- slabs ---- */

typedef struct slabs {
    solve_problem *p;
    ps_slab_device_plan plan;
    ps_slab_device box;
    ps_slab_box host; /* for its coarse correction and its traces' numbers */
    ps_stream *stream;
    rank_links store;
    const ps_slab_links *links;
    char *memory; /* device: the box, g, out, planes of a slab */
    double *g, *out, *planes;
    double *tables, *nodes, *faces; /* host */
    outer outer;
} slabs;

static ps_slab_device_plan plan_of(const solve_problem *p)
{
    int64_t ranks = ps_comm_size(), rank = ps_comm_rank(), count = p->options.slabs;
    return (ps_slab_device_plan){.precision = PS_DOUBLE,
                                 .grid = p->grid,
                                 .slabs = count,
                                 .first = count * rank / ranks,
                                 .end = count * (rank + 1) / ranks,
                                 .transmission = p->options.transmission};
}

static ps_status no_walk(void *context, ps_slab_order order, ps_slab_step *step, void *argument)
{
    return ps_fail(PS_FAILED, "slabs of a device are not visited one by one");
}

/* A host box that keeps one slab, which is not used. */
static ps_slab_box_plan host_plan(const solve_problem *p)
{
    ps_slab_device_plan plan = plan_of(p);
    return (ps_slab_box_plan){.grid = p->grid,
                              .slabs = plan.slabs,
                              .first = plan.first,
                              .end = plan.end,
                              .transmission = plan.transmission,
                              .modes = true,
                              .threads = (int)p->run->threads,
                              .coarse = p->options.coarse,
                              .walk = no_walk};
}

static int64_t largest_slab(const solve_problem *p)
{
    return ps_slab_first(p->grid.nodes[0], p->options.slabs, 1) + 1;
}

static int64_t slabs_memory(const solve_problem *p)
{
    ps_slab_box_plan host = host_plan(p);
    int64_t face = ps_slab_box_mode_plane(&p->grid), traces = 2 * (host.end - host.first);
    ps_interface problem = {.size = traces * face, .all = 2 * (host.slabs - 1)};
    return 8 * (ps_slab_box_size(&host) + outer_doubles(p, &problem) + 2 * face +
                largest_slab(p) * p->grid.nodes[1] * p->grid.nodes[2]);
}

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

/* The exchange of the own slabs; theirs come from the ranks beside to the ends of out. */
static ps_status exchange_here(slabs *s, bool source, const double *g, double *out)
{
    int64_t face = s->box.face, base = s->host.base * face, bytes = 8 * s->host.traces * face;
    PS_TRY(ps_copy_to_device(s->stream, s->g + base, g, bytes));
    PS_TRY(ps_slab_device_exchange(&s->box, source, s->g, s->out, s->stream));
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(ps_copy_to_host(s->stream, s->faces + side * face, sent_of(s, side), 8 * face));
    PS_TRY(ps_copy_to_host(s->stream, out, s->out + base, bytes));
    return ps_stream_wait(s->stream);
}

static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    slabs *s = context;
    int64_t face = s->box.face;
    ps_status status = exchange_here(s, source, g, out);
    if (!s->links) return status;
    for (int side = 0; side < 2; ++side)
        if (beside(s, side))
            PS_TRY(s->links->pass(s->links->context, side, face, s->faces + side * face,
                                  out + (side == 0 ? 0 : s->host.traces - 1) * face));
    for (int side = 0; side < 2; ++side)
        if (beside(s, side)) PS_TRY(s->links->wait(s->links->context, side));
    return s->links->agree(s->links->context, status);
}

static ps_status correct(void *context, double *r)
{
    return ps_slab_box_correct(&((slabs *)context)->host, r);
}

static ps_status reduce(void *context, double *sums, int64_t count)
{
    const slabs *s = context;
    return s->links ? s->links->sum(s->links->context, sums, count) : PS_OK;
}

/* Planes of a slab of the load: on the host, and on the device. */
static ps_status read_slab(slabs *s, int64_t slab, int64_t *first, int64_t *count)
{
    int64_t nx = s->p->grid.nodes[0];
    *first = ps_slab_first(nx, s->plan.slabs, slab);
    *count = ps_slab_first(nx, s->plan.slabs, slab + 1) - *first + 1;
    PS_TRY(ps_box_field_read(&s->p->load, *first, *count, s->nodes));
    return ps_copy_to_device(s->stream, s->planes, s->nodes, 8 * *count * s->p->load.plane);
}

static ps_status read_loads(slabs *s)
{
    int64_t start = ps_slab_first(s->p->grid.nodes[0], s->plan.slabs, s->plan.first);
    for (int64_t slab = s->plan.first; slab < s->plan.end; ++slab) {
        int64_t first, count;
        PS_TRY(read_slab(s, slab, &first, &count));
        PS_TRY(ps_slab_device_set_load(&s->box, first - start, count, s->planes, s->stream));
        PS_TRY(ps_stream_wait(s->stream));
    }
    return PS_OK;
}

static ps_status open_device(slabs *s)
{
    solve_problem *p = s->p;
    int64_t box = padded(ps_slab_device_bytes(&s->plan));
    int64_t traces = padded(8 * ps_slab_device_traces(&s->plan));
    int64_t planes = 8 * largest_slab(p) * p->load.plane;
    PS_TRY(ps_stream_open(p->device, &s->stream));
    PS_TRY(take(p, box + 2 * traces + planes, (void **)&s->memory));
    s->g = (double *)(s->memory + box);
    s->out = (double *)(s->memory + box + traces);
    s->planes = (double *)(s->memory + box + 2 * traces);
    PS_TRY(ps_slab_device_make(&s->plan, s->memory, s->stream, &s->box));
    PS_TRY(ps_fill_zero(s->stream, s->g, 2 * traces));
    return read_loads(s);
}

static ps_status open_host(slabs *s)
{
    solve_problem *p = s->p;
    ps_slab_box_plan host = host_plan(p);
    host.links = s->links;
    PS_TRY(PS_ALLOC(&s->tables, ps_slab_box_size(&host), "the coarse space"));
    PS_TRY(ps_slab_box_make(&host, s->tables, &s->host));
    ps_interface problem = ps_slab_box_interface(&s->host, true);
    problem.context = s;
    problem.exchange = make_exchange;
    problem.correct = p->options.coarse > 0 ? correct : NULL;
    problem.reduce = reduce;
    PS_TRY(PS_ALLOC(&s->faces, 2 * s->host.face, "traces"));
    PS_TRY(PS_ALLOC(&s->nodes, largest_slab(p) * p->load.plane, "planes of a slab"));
    return outer_open(p, &problem, s, &s->outer);
}

static ps_status slabs_open(solve_problem *p, void **state)
{
    slabs *s;
    double start = ps_clock();
    PS_TRY(PS_ALLOC(&s, 1, "slabs"));
    *state = s;
    s->p = p;
    s->plan = plan_of(p);
    s->links = rank_links_open(&s->store);
    PS_TRY(open_host(s));
    PS_TRY(open_device(s));
    p->seconds[SECONDS_READ] = ps_clock() - start;
    return PS_OK;
}

static ps_status slabs_solve(void *state)
{
    slabs *s = state;
    double start = ps_clock();
    ps_status status = outer_solve(&s->outer);
    s->p->seconds[SECONDS_SOLVE] = ps_clock() - start;
    return status;
}

/* An interface plane is written with the slab on its left. */
static ps_status write_slab(slabs *s, int64_t slab, plane_writer *writer)
{
    int64_t first, count, nx = s->p->grid.nodes[0], plane = s->p->load.plane;
    PS_TRY(read_slab(s, slab, &first, &count));
    PS_TRY(ps_slab_device_field(&s->box, slab, 0, count, s->planes, s->stream));
    /* the outermost planes of the box are fixed: the load's values stay */
    int64_t from = first == 0, to = first + count == nx ? count - 1 : count;
    PS_TRY(ps_copy_to_host(s->stream, s->nodes + from * plane, s->planes + from * plane,
                           8 * (to - from) * plane));
    PS_TRY(ps_stream_wait(s->stream));
    for (int64_t i = slab > 0; i < count; ++i)
        PS_TRY(plane_writer_add(writer, s->nodes + i * plane));
    return PS_OK;
}

static ps_status slabs_write(void *state)
{
    slabs *s = state;
    plane_writer writer;
    double start = ps_clock();
    int64_t face = s->box.face;
    PS_TRY(ps_copy_to_device(s->stream, s->g + s->host.base * face, s->outer.g,
                             8 * s->host.traces * face));
    PS_TRY(ps_slab_device_finish(&s->box, s->g, s->stream));
    ps_status status = plane_writer_open(&s->p->out, &writer);
    for (int64_t slab = s->plan.first; slab < s->plan.end && status == PS_OK; ++slab)
        status = write_slab(s, slab, &writer);
    plane_writer_close(&writer);
    s->p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

static void slabs_close(void *state)
{
    slabs *s = state;
    if (!s) return;
    if (s->memory) ps_device_free(s->p->device, s->memory);
    ps_stream_close(&s->stream);
    outer_close(&s->outer);
    free(s->tables);
    free(s->nodes);
    free(s->faces);
    free(s);
}

const solve_way solve_slabs_device = {slabs_memory, slabs_open, slabs_solve, slabs_write,
                                      slabs_close};
