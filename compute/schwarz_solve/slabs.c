/* Optimised Schwarz without overlap over slabs, in memory or streamed from the load's file; over
 * ranks, consecutive slabs each. */
#include <omp.h>
#include <stdlib.h>

#include "compute/schwarz_solve/outer.h"
#include "compute/schwarz_solve/slab_load.h"
#include "runtime/memory.h"

typedef struct slabs {
    solve_problem *p;
    ps_slab_box_plan plan;
    ps_slab_box box;
    outer outer;
    rank_links links;
    slab_load load;
    inner_solver inner;
    double *memory;
    double *nodes, *scratch; /* some planes as nodes, scratch for each thread */
    plane_writer *writer;    /* borrowed, while the field is written */
} slabs;

/* ---- the plan ---- */

static ps_status walk(void *context, ps_slab_order order, ps_slab_step *step, void *argument)
{
    return slab_load_walk(&((slabs *)context)->load, order, step, argument);
}

static ps_status solve_one(void *context, int64_t slab, const ps_slab *geometry, const double *b,
                           double *u)
{
    return inner_solve(&((slabs *)context)->inner, slab, geometry, b, u);
}

static ps_slab_box_plan plan_of(const solve_problem *p)
{
    const solve_options *o = &p->options;
    int64_t ranks = ps_comm_size(), rank = ps_comm_rank();
    return (ps_slab_box_plan){.grid = p->grid,
                              .slabs = o->slabs,
                              .first = o->slabs * rank / ranks,
                              .end = o->slabs * (rank + 1) / ranks,
                              .transmission = o->transmission,
                              .modes = o->inner == METHOD_DIRECT,
                              .threads = (int)p->run->threads,
                              .coarse = o->coarse,
                              .walk = o->streamed ? walk : NULL,
                              .solve = o->inner == METHOD_DIRECT ? NULL : solve_one};
}

/* Planes that are made nodes at a time: as many as lie in a chunk of the load, a few a thread. */
static int64_t some_planes(const solve_problem *p)
{
    int64_t chunk = p->load.chunk_planes, threads = p->run->threads;
    int64_t planes = chunk > threads ? chunk : threads, most = largest_slab(p);
    return planes < most ? planes : most;
}

/* A problem of the size of the traces here, for the sizes of workspaces. */
static ps_interface measure_of(const ps_slab_box_plan *plan)
{
    int64_t traces =
        2 * (plan->end - plan->first) - (plan->first == 0) - (plan->end == plan->slabs);
    int64_t plane = plan->modes ? ps_slab_box_mode_plane(&plan->grid)
                                : plan->grid.nodes[1] * plan->grid.nodes[2];
    return (ps_interface){.size = traces * plane, .traces = traces, .all = 2 * (plan->slabs - 1)};
}

/* Doubles beside the loads. */
static int64_t other_doubles(const solve_problem *p)
{
    ps_slab_box_plan plan = plan_of(p);
    ps_interface problem = measure_of(&plan);
    int64_t planes = largest_slab(p), face = p->grid.nodes[1] * p->grid.nodes[2];
    int64_t inner = plan.solve ? inner_doubles(p, planes) : 0;
    return ps_slab_box_size(&plan) + outer_doubles(p, &problem) + inner + some_planes(p) * face +
           p->run->threads * ps_slab_box_mode_plane(&p->grid);
}

static void slabs_plan(solve_problem *p, ps_ledger *ledger)
{
    ps_slab_box_plan plan = plan_of(p);
    int64_t others = 8 * other_doubles(p);
    ps_ledger_add(ledger, PS_ROOM_HOST, "slabs", others);
    ps_ledger_add(ledger, PS_ROOM_HOST, "loads", slab_load_memory(p, &plan, p->room - others));
    plan.first = 0, plan.end = plan.slabs;
    outer_plan_states(p, measure_of(&plan).size, ledger);
}

/* ---- the field ---- */

/* Planes of a slab as nodes: fixed ones hold what the load's fixed rows say. */
static ps_status to_nodes(slabs *s, int64_t first, int64_t count, const double *modes)
{
    int64_t nx = s->p->grid.nodes[0], face = s->p->load.plane, size = s->box.plane;
    PS_TRY(ps_box_field_read(&s->p->load, first, count, s->nodes));
#pragma omp parallel for schedule(static) num_threads((int)s->p->run->threads)
    for (int64_t i = 0; i < count; ++i)
        if (first + i > 0 && first + i < nx - 1)
            ps_fast_to_nodes(&s->box.tables, modes + i * size, s->nodes + i * face,
                             s->scratch + omp_get_thread_num() * size);
    return PS_OK;
}

/* Some planes at a time; an interface plane is written with the slab on its left. */
static ps_status deliver(void *context, int64_t slab, const double *planes)
{
    slabs *s = context;
    int64_t nx = s->p->grid.nodes[0], first = ps_slab_first(nx, s->plan.slabs, slab);
    int64_t end = ps_slab_first(nx, s->plan.slabs, slab + 1) + 1, step = some_planes(s->p);
    int64_t skip = slab > 0;
    for (int64_t at = first + skip; at < end; at += step) {
        int64_t count = end - at < step ? end - at : step;
        const double *from = planes + (at - first) * s->box.plane;
        if (s->plan.modes) PS_TRY(to_nodes(s, at, count, from));
        if (s->plan.modes) from = s->nodes;
        for (int64_t i = 0; i < count; ++i)
            PS_TRY(plane_writer_add(s->writer, from + i * s->p->load.plane));
    }
    return PS_OK;
}

static ps_status write_field(void *state, plane_writer *writer)
{
    slabs *s = state;
    s->writer = writer;
    return ps_slab_box_finish(&s->box, s->outer.g);
}

/* ---- iterations ---- */

static int further_arrays(void *context, ps_checkpoint_array *arrays)
{
    slabs *s = context;
    const solve_options *o = &s->p->options;
    if (o->inner == METHOD_DIRECT || o->streamed || o->method == METHOD_GMRES) return 0;
    arrays[0] =
        (ps_checkpoint_array){"/field", "m2/s2", PS_F64, s->box.faces - s->box.field, s->box.field};
    return 1;
}

static ps_status sweep(void *context, double *change)
{
    slabs *s = context;
    return ps_slab_box_sweep(&s->box, s->outer.g, change);
}

static ps_status solve(void *state)
{
    slabs *s = state;
    ps_status status = outer_solve(&s->outer);
    slab_load_rest(&s->load);
    return status;
}

/* ---- all ---- */

static ps_status allocate(slabs *s)
{
    solve_problem *p = s->p;
    PS_TRY(PS_ALLOC(&s->memory, ps_slab_box_size(&s->plan), "slabs"));
    PS_TRY(ps_slab_box_make(&s->plan, s->memory, &s->box));
    ps_interface problem = ps_slab_box_interface(&s->box, true);
    PS_TRY(outer_open(p, &problem, s, &s->outer));
    s->outer.advance = p->options.method == METHOD_SWEEPS ? sweep : NULL;
    s->outer.further = further_arrays;
    PS_TRY(PS_ALLOC(&s->nodes, some_planes(p) * p->load.plane, "planes"));
    return PS_ALLOC(&s->scratch, p->run->threads * ps_slab_box_mode_plane(&p->grid), "transforms");
}

static ps_status open(solve_problem *p, void *state)
{
    slabs *s = state;
    s->p = p;
    s->plan = plan_of(p);
    s->plan.context = s;
    s->plan.deliver = deliver;
    s->plan.links = rank_links_open(&s->links);
    PS_TRY(allocate(s));
    if (s->plan.solve) PS_TRY(inner_open(p, largest_slab(p), &s->inner));
    int64_t most = p->room - 8 * other_doubles(p);
    PS_TRY(slab_load_open(p, &s->box.plan, &s->box.tables, most, &s->load));
    s->box.plan.load = s->load.planes;
    return PS_OK;
}

static void close(void *state)
{
    slabs *s = state;
    slab_load_close(&s->load);
    free(s->memory);
    outer_close(&s->outer);
    PS_FREE(s->inner.workspace, s->nodes, s->scratch);
}

const solve_way solve_slabs = {sizeof(slabs), slabs_plan, open, solve, write_field, close};
