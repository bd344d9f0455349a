/* Optimised Schwarz without overlap over slabs, in memory or streamed from the load's file. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute/schwarz_solve/solve.h"
#include "formats/checkpoint.h"
#include "runtime/log.h"
#include "runtime/memory.h"

typedef struct slabs {
    solve_problem *p;
    ps_slab_box_plan plan;
    ps_slab_box box;
    double *memory, *load, *g, *space; /* load: modes [nx][plane], where it is kept */
    double *nodes, *scratch;           /* planes of a slab as nodes, scratch for each thread */
    plane_writer writer;
    char run[4096]; /* of checkpoints */
    double first;   /* change of the first iteration */
    int64_t generation;
} slabs;

/* ---- memory ---- */

static int64_t largest_slab_planes(const solve_problem *p)
{
    return ps_slab_first(p->grid.nodes[0], p->options.slabs, 1) + 1;
}

static int64_t mode_plane(const solve_problem *p) { return ps_slab_box_mode_plane(&p->grid); }

static ps_slab_box_plan plan_of(const solve_problem *p)
{
    const solve_options *o = &p->options;
    return (ps_slab_box_plan){.grid = p->grid,
                              .slabs = o->slabs,
                              .transmission = o->transmission,
                              .modes = true,
                              .threads = (int)p->run->threads,
                              .coarse = o->coarse};
}

static ps_status fetch(void *context, int64_t slab, double *planes);
static ps_status deliver(void *context, int64_t slab, const double *planes);

static int64_t interface_space(const solve_problem *p)
{
    int64_t traces = 2 * (p->options.slabs - 1) * mode_plane(p);
    if (p->options.method == METHOD_GMRES)
        return ps_interface_gmres_workspace(traces, p->options.restart);
    return p->options.method == METHOD_FIXED_POINT ? traces : 1;
}

int64_t slabs_memory(const solve_problem *p)
{
    ps_slab_box_plan plan = plan_of(p);
    int64_t planes = largest_slab_planes(p), face = p->grid.nodes[1] * p->grid.nodes[2];
    int64_t load = p->options.streamed ? 0 : p->grid.nodes[0] * mode_plane(p);
    plan.fetch = p->options.streamed ? fetch : NULL;
    return 8 * (ps_slab_box_size(&plan) + load + 2 * (p->options.slabs - 1) * mode_plane(p) +
                interface_space(p) + planes * face + p->run->threads * mode_plane(p));
}

/* ---- loads and fields ---- */

/* Planes first .. first + count - 1 of the load as modes. */
static ps_status read_modes(slabs *s, int64_t first, int64_t count, double *modes)
{
    int64_t face = s->p->load.plane, size = mode_plane(s->p);
    double start = ps_clock();
    PS_TRY(ps_box_field_read(&s->p->load, first, count, s->nodes));
#pragma omp parallel for schedule(static) num_threads((int)s->p->run->threads)
    for (int64_t i = 0; i < count; ++i)
        ps_fast_to_modes(&s->box.tables, s->nodes + i * face, modes + i * size,
                         s->scratch + omp_get_thread_num() * size);
    s->p->seconds[SECONDS_READ] += ps_clock() - start;
    return PS_OK;
}

static ps_status fetch(void *context, int64_t slab, double *planes)
{
    slabs *s = context;
    int64_t nx = s->p->grid.nodes[0], first = ps_slab_first(nx, s->plan.slabs, slab);
    int64_t count = ps_slab_first(nx, s->plan.slabs, slab + 1) - first + 1;
    if (ps_stop_requested()) return ps_fail(PS_FAILED, "stopped; --restart goes on");
    return read_modes(s, first, count, planes);
}

static ps_status load_all(slabs *s)
{
    int64_t nx = s->p->grid.nodes[0], step = largest_slab_planes(s->p);
    for (int64_t i = 0; i < nx; i += step)
        PS_TRY(read_modes(s, i, nx - i < step ? nx - i : step, s->load + i * mode_plane(s->p)));
    return PS_OK;
}

/* Modes become nodes; fixed nodes hold what the load's fixed rows say. An interface plane is
 * written with the slab on its left. */
static ps_status deliver(void *context, int64_t slab, const double *planes)
{
    slabs *s = context;
    int64_t nx = s->p->grid.nodes[0], first = ps_slab_first(nx, s->plan.slabs, slab);
    int64_t count = ps_slab_first(nx, s->plan.slabs, slab + 1) - first + 1;
    int64_t face = s->p->load.plane, size = mode_plane(s->p), skip = slab > 0;
    double start = ps_clock();
    PS_TRY(ps_box_field_read(&s->p->load, first, count, s->nodes));
#pragma omp parallel for schedule(static) num_threads((int)s->p->run->threads)
    for (int64_t i = 0; i < count; ++i)
        if (first + i > 0 && first + i < nx - 1)
            ps_fast_to_nodes(&s->box.tables, planes + i * size, s->nodes + i * face,
                             s->scratch + omp_get_thread_num() * size);
    ps_status status = PS_OK;
    for (int64_t i = skip; i < count && status == PS_OK; ++i)
        status = plane_writer_add(&s->writer, s->nodes + i * face);
    s->p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

/* ---- checkpoints: the traces, which are all of the state ---- */

static ps_checkpoint checkpoint_of(slabs *s, ps_checkpoint_array arrays[2], int64_t step)
{
    arrays[0] = (ps_checkpoint_array){"/traces", "1", PS_F64, ps_slab_box_traces(&s->box), s->g};
    arrays[1] = (ps_checkpoint_array){"/first", "1", PS_F64, 1, &s->first};
    return (ps_checkpoint){step, s->p->options.identity, s->p->options.identity, 2, arrays};
}

static ps_status save(slabs *s, int64_t iteration)
{
    ps_checkpoint_array arrays[2];
    ps_checkpoint state = checkpoint_of(s, arrays, iteration);
    if (s->p->options.checkpoint_every == 0 || iteration % s->p->options.checkpoint_every)
        return PS_OK;
    PS_TRY(ps_checkpoint_save(s->run, ++s->generation, &state));
    return ps_checkpoint_prune(s->run, PS_CHECKPOINTS_KEPT);
}

/* The iteration to go on after; 0: from the start. */
static ps_status restore(slabs *s, int64_t *iteration)
{
    int64_t *generations = NULL, count = 0;
    *iteration = 0;
    if (!s->p->trial) PS_TRY(ps_checkpoint_list(s->run, &generations, &count));
    if (count) s->generation = generations[0];
    for (int64_t i = 0; i < count && s->p->options.resume && *iteration == 0; ++i) {
        ps_checkpoint_array arrays[2];
        ps_checkpoint state = checkpoint_of(s, arrays, 0);
        if (ps_checkpoint_load(s->run, generations[i], &state) == PS_OK)
            *iteration = state.step;
        else
            ps_warning("passing over a checkpoint: %s", ps_message());
    }
    free(generations);
    if (*iteration == 0) {
        memset(s->g, 0, (size_t)ps_slab_box_traces(&s->box) * sizeof *s->g);
        if (s->p->options.resume) ps_info("there is no checkpoint: starting from the first");
        return PS_OK;
    }
    ps_info("continuing after iteration %lld", (long long)*iteration);
    return PS_OK;
}

/* ---- iterations ---- */

/* One iteration of fixed point or double sweeps; *change: of the traces. */
static ps_status advance(slabs *s, double *change)
{
    if (s->p->options.method == METHOD_SWEEPS) return ps_slab_box_sweep(&s->box, s->g, change);
    ps_interface problem = ps_slab_box_interface(&s->box, true);
    return ps_interface_step(&problem, s->g, s->space, change);
}

static ps_status iterate(slabs *s)
{
    const solve_options *o = &s->p->options;
    ps_krylov_result *r = &s->p->result;
    double change;
    PS_TRY(restore(s, &r->iterations));
    r->residual = 1;
    while (!r->converged) {
        if (r->iterations == o->limit)
            return ps_fail(PS_FAILED,
                           "the interface residual is %.3g after %lld iterations, %.3g is wanted; "
                           "more --limit, a better --kind or --method gmres may help",
                           r->residual, (long long)r->iterations, o->tolerance);
        PS_TRY(advance(s, &change));
        if (r->iterations++ == 0) s->first = change;
        r->residual = change == 0 ? 0 : change / s->first;
        r->converged = r->residual <= o->tolerance;
        if (!isfinite(r->residual))
            return ps_fail(PS_FAILED, "the interface residual is not finite after %lld iterations",
                           (long long)r->iterations);
        PS_TRY(save(s, r->iterations));
        PS_TRY(note_iteration(s->p, r->iterations, r->residual));
    }
    return PS_OK;
}

static ps_status watch(void *context, int64_t iteration, double residual)
{
    slabs *s = ((ps_slab_box *)context)->plan.context;
    return note_iteration(s->p, iteration, residual);
}

static ps_status run_gmres(slabs *s)
{
    const solve_options *o = &s->p->options;
    ps_interface problem = ps_slab_box_interface(&s->box, true);
    problem.watch = watch;
    if (o->resume) ps_info("GMRES keeps no checkpoints: starting from the first iteration");
    return ps_interface_gmres(&problem, &(ps_gmres){o->tolerance, o->limit, o->restart}, s->g,
                              s->space, &s->p->result);
}

/* ---- all ---- */

static ps_status prepare(slabs *s)
{
    solve_problem *p = s->p;
    int64_t traces = 2 * (p->options.slabs - 1) * mode_plane(p);
    s->plan = plan_of(p);
    s->plan.context = s;
    s->plan.deliver = deliver;
    if (p->options.streamed) s->plan.fetch = fetch;
    PS_TRY(PS_ALLOC(&s->memory, ps_slab_box_size(&s->plan), "slabs"));
    PS_TRY(PS_ALLOC(&s->g, traces, "traces"));
    PS_TRY(PS_ALLOC(&s->space, interface_space(p), "the iteration"));
    PS_TRY(PS_ALLOC(&s->nodes, largest_slab_planes(p) * p->load.plane, "planes of a slab"));
    PS_TRY(PS_ALLOC(&s->scratch, p->run->threads * mode_plane(p), "transforms"));
    if (!p->options.streamed) {
        PS_TRY(PS_ALLOC(&s->load, p->grid.nodes[0] * mode_plane(p), "loads"));
        s->plan.load = s->load;
    }
    PS_TRY(ps_slab_box_make(&s->plan, s->memory, &s->box));
    return p->options.streamed ? PS_OK : load_all(s);
}

static ps_status finish(slabs *s)
{
    PS_TRY(plane_writer_open(&s->p->out, &s->writer));
    PS_TRY(ps_slab_box_finish(&s->box, s->g));
    return PS_OK;
}

static void name_run(slabs *s)
{
    snprintf(s->run, sizeof s->run, "%.4000s.state", s->p->run->operands[1]);
}

ps_status solve_slabs(solve_problem *p)
{
    slabs s = {.p = p};
    double start;
    if (!p->trial) name_run(&s);
    ps_status status = prepare(&s);
    start = ps_clock() + p->seconds[SECONDS_READ];
    if (status == PS_OK) status = p->options.method == METHOD_GMRES ? run_gmres(&s) : iterate(&s);
    p->seconds[SECONDS_SOLVE] = ps_clock() - start; /* reading is counted apart */
    if (status == PS_OK && !p->trial) status = finish(&s);
    if (status == PS_OK && !p->trial) status = ps_checkpoint_prune(s.run, 0);
    plane_writer_close(&s.writer);
    free(s.memory);
    free(s.g);
    free(s.space);
    free(s.nodes);
    free(s.scratch);
    free(s.load);
    return status;
}
