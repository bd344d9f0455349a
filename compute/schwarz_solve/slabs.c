/* Optimised Schwarz without overlap over slabs, in memory or streamed from the load's file; over
 * ranks, consecutive slabs each. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/slab_load.h"
#include "runtime/log.h"
#include "runtime/memory.h"

typedef struct slabs {
    solve_problem *p;
    ps_slab_box_plan plan;
    ps_slab_box box;
    ps_interface problem;
    rank_links links;
    slab_load load;
    inner_solver *inner;
    run_state state;
    double *memory, *g, *space;
    double *nodes, *scratch; /* planes of a slab as nodes, scratch for each thread */
    plane_writer writer;
    double measure[2]; /* change of the first iteration; the last residual */
} slabs;

/* ---- the plan ---- */

static ps_status walk(void *context, ps_slab_order order, ps_slab_step *step, void *argument)
{
    return slab_load_walk(&((slabs *)context)->load, order, step, argument);
}

static ps_status solve_one(void *context, int64_t slab, const ps_slab *geometry, const double *b,
                           double *u)
{
    return inner_solve(((slabs *)context)->inner, slab, geometry, b, u);
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

static int64_t largest_slab(const solve_problem *p)
{
    return ps_slab_first(p->grid.nodes[0], p->options.slabs, 1) + 1;
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

static int64_t interface_space(const solve_problem *p, const ps_interface *problem)
{
    return p->options.method == METHOD_GMRES
               ? ps_interface_gmres_workspace(problem, p->options.restart)
               : ps_interface_workspace(problem);
}

/* Doubles beside the loads. */
static int64_t other_doubles(const solve_problem *p)
{
    ps_slab_box_plan plan = plan_of(p);
    ps_interface problem = measure_of(&plan);
    int64_t planes = largest_slab(p), face = p->grid.nodes[1] * p->grid.nodes[2];
    int64_t inner = plan.solve ? inner_doubles(p, planes) : 0;
    return ps_slab_box_size(&plan) + problem.size + interface_space(p, &problem) + inner +
           planes * face + p->run->threads * ps_slab_box_mode_plane(&p->grid);
}

static int64_t slabs_memory(const solve_problem *p)
{
    ps_slab_box_plan plan = plan_of(p);
    int64_t most = p->run->host_memory - 8 * other_doubles(p);
    return 8 * other_doubles(p) + slab_load_memory(p, &plan, most);
}

/* ---- the field ---- */

/* Modes become nodes; fixed nodes hold what the load's fixed rows say. An interface plane is
 * written with the slab on its left. */
static ps_status deliver(void *context, int64_t slab, const double *planes)
{
    slabs *s = context;
    int64_t nx = s->p->grid.nodes[0], first = ps_slab_first(nx, s->plan.slabs, slab);
    int64_t count = ps_slab_first(nx, s->plan.slabs, slab + 1) - first + 1;
    int64_t face = s->p->load.plane, size = s->box.plane, skip = slab > 0;
    double start = ps_clock();
    if (s->plan.modes) {
        PS_TRY(ps_box_field_read(&s->p->load, first, count, s->nodes));
#pragma omp parallel for schedule(static) num_threads((int)s->p->run->threads)
        for (int64_t i = 0; i < count; ++i)
            if (first + i > 0 && first + i < nx - 1)
                ps_fast_to_nodes(&s->box.tables, planes + i * size, s->nodes + i * face,
                                 s->scratch + omp_get_thread_num() * size);
        planes = s->nodes;
    }
    ps_status status = PS_OK;
    for (int64_t i = skip; i < count && status == PS_OK; ++i)
        status = plane_writer_add(&s->writer, planes + i * face);
    s->p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

static ps_status write_field(void *state)
{
    slabs *s = state;
    plane_writer_close(&s->writer);
    PS_TRY(plane_writer_open(&s->p->out, &s->writer));
    return ps_slab_box_finish(&s->box, s->g);
}

/* ---- the state: traces; for GMRES its basis; first guesses of Krylov methods ---- */

static int state_arrays(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    slabs *s = context;
    const solve_options *o = &s->p->options;
    int count = 0;
    arrays[count++] =
        (ps_checkpoint_array){"/traces", "1", PS_F64, ps_slab_box_traces(&s->box), s->g};
    arrays[count++] = (ps_checkpoint_array){"/measure", "1", PS_F64, 2, s->measure};
    if (o->method == METHOD_GMRES) {
        int64_t vectors = (step - 1) % o->restart + 2;
        double *small = (double *)ps_interface_gmres_state(&s->problem, o->restart, s->space);
        arrays[count++] =
            (ps_checkpoint_array){"/basis", "1", PS_F64, vectors * s->problem.size, s->space};
        arrays[count++] = (ps_checkpoint_array){
            "/gmres", "1", PS_F64, (int64_t)(sizeof(ps_gmres_state) / sizeof(double)), small};
    } else if (o->inner != METHOD_DIRECT && !o->streamed)
        arrays[count++] = (ps_checkpoint_array){"/field", "m2/s2", PS_F64,
                                                s->box.faces - s->box.field, s->box.field};
    return count;
}

static ps_status end_iteration(slabs *s, int64_t iteration, double residual)
{
    bool stop;
    note_iteration(s->p, iteration, residual, &stop);
    PS_TRY(run_state_save(&s->state, iteration, stop));
    return stop ? stop_here(s->p) : PS_OK;
}

/* ---- iterations ---- */

/* One iteration of fixed point or double sweeps; *change: of the traces. */
static ps_status advance(slabs *s, double *change)
{
    if (s->p->options.method == METHOD_SWEEPS) return ps_slab_box_sweep(&s->box, s->g, change);
    return ps_interface_step(&s->problem, s->g, s->space, change);
}

static ps_status iterate(slabs *s)
{
    const solve_options *o = &s->p->options;
    ps_krylov_result *r = &s->p->result;
    double change;
    PS_TRY(run_state_load(&s->state, &r->iterations));
    r->residual = r->iterations > 0 ? s->measure[1] : 1;
    while (!r->converged) {
        if (r->iterations >= o->limit) return not_converged(s->p);
        PS_TRY(advance(s, &change));
        if (r->iterations++ == 0) s->measure[0] = change;
        s->measure[1] = r->residual = change == 0 ? 0 : change / s->measure[0];
        r->converged = r->residual <= o->tolerance;
        if (!isfinite(r->residual))
            return ps_fail(PS_FAILED, "the interface residual is not finite after %lld iterations",
                           (long long)r->iterations);
        PS_TRY(end_iteration(s, r->iterations, r->residual));
    }
    return PS_OK;
}

/* At the start of a cycle nothing is kept that the step before has not kept. */
static ps_status watch(void *context, int64_t iteration, double residual)
{
    slabs *s = ((ps_slab_box *)context)->plan.context;
    const ps_gmres_state *g =
        ps_interface_gmres_state(&s->problem, s->p->options.restart, s->space);
    return g->count > 0 ? end_iteration(s, iteration, residual) : PS_OK;
}

static ps_status run_gmres(slabs *s)
{
    const solve_options *o = &s->p->options;
    int64_t done;
    s->problem.watch = watch;
    PS_TRY(run_state_load(&s->state, &done));
    ps_status status =
        ps_interface_gmres(&s->problem, &(ps_gmres){o->tolerance, o->limit, o->restart, done > 0},
                           s->g, s->space, &s->p->result);
    bool limit = status == PS_FAILED && s->p->result.iterations >= o->limit && !s->p->stopped;
    return limit ? not_converged(s->p) : status;
}

static ps_status solve(void *state)
{
    slabs *s = state;
    double start = ps_clock(), read = s->p->seconds[SECONDS_READ];
    ps_status status = s->p->options.method == METHOD_GMRES ? run_gmres(s) : iterate(s);
    s->p->seconds[SECONDS_SOLVE] =
        ps_clock() - start - (s->p->seconds[SECONDS_READ] - read); /* reading is counted apart */
    return status;
}

/* ---- all ---- */

static ps_status allocate(slabs *s)
{
    solve_problem *p = s->p;
    PS_TRY(PS_ALLOC(&s->memory, ps_slab_box_size(&s->plan), "slabs"));
    PS_TRY(ps_slab_box_make(&s->plan, s->memory, &s->box));
    s->problem = ps_slab_box_interface(&s->box, true);
    PS_TRY(PS_ALLOC(&s->g, s->problem.size, "traces"));
    PS_TRY(PS_ALLOC(&s->space, interface_space(p, &s->problem), "the iteration"));
    PS_TRY(PS_ALLOC(&s->nodes, largest_slab(p) * p->load.plane, "planes of a slab"));
    return PS_ALLOC(&s->scratch, p->run->threads * ps_slab_box_mode_plane(&p->grid), "transforms");
}

static ps_status open(solve_problem *p, void **state)
{
    slabs *s;
    PS_TRY(PS_ALLOC(&s, 1, "slabs"));
    *state = s;
    s->p = p;
    s->plan = plan_of(p);
    s->plan.context = s;
    s->plan.deliver = deliver;
    s->plan.links = rank_links_open(&s->links);
    run_state_open(p, &s->state);
    s->state.arrays = state_arrays;
    s->state.context = s;
    PS_TRY(allocate(s));
    if (s->plan.solve) PS_TRY(inner_open(p, largest_slab(p), &s->inner));
    int64_t most = p->run->host_memory - 8 * other_doubles(p);
    PS_TRY(slab_load_open(p, &s->box.plan, &s->box.tables, most, &s->load));
    s->box.plan.load = s->load.planes;
    return PS_OK;
}

static void close(void *state)
{
    slabs *s = state;
    if (!s) return;
    plane_writer_close(&s->writer);
    slab_load_close(&s->load);
    inner_close(&s->inner);
    free(s->memory);
    free(s->g);
    free(s->space);
    free(s->nodes);
    free(s->scratch);
    free(s);
}

const solve_way solve_slabs = {slabs_memory, open, solve, write_field, close};
