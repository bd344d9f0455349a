#include "compute/schwarz_solve/slab_load.h"

#include <omp.h>
#include <stdlib.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/stop.h"

/* Planes of the slab of a visit. */
static int64_t planes_of(const ps_slab_box_plan *plan, ps_slab_order order, int64_t visit)
{
    return ps_slab_planes(plan, ps_slab_visited(plan, order, visit));
}

/* What the workers have at hand: planes as the load's chunks have them, and scratch. */
int64_t slab_load_workers(const solve_problem *p, const ps_slab_box_plan *plan)
{
    int64_t nodes = plan->grid.nodes[1] * plan->grid.nodes[2];
    return 8 * (p->load.chunk_planes * nodes + ps_slab_box_plane(plan)) * p->run->threads;
}

int64_t slab_load_memory(const solve_problem *p, const ps_slab_box_plan *plan, int64_t most)
{
    int64_t nodes = 8 * plan->grid.nodes[1] * plan->grid.nodes[2];
    if (!plan->walk) {
        int64_t first = ps_slab_first_plane(plan, plan->first),
                end = ps_slab_first_plane(plan, plan->end);
        return 8 * (end - first + 1) * ps_slab_box_plane(plan) +
               nodes * planes_of(plan, PS_SLAB_FINISH, 0);
    }
    /* What one slab takes, and what all do. */
    int64_t least = 8 * ps_slab_box_plane(plan) * (ps_slab_first_plane(plan, 1) + 1) +
                    slab_load_workers(p, plan) + 1024;
    int64_t all = 0;
    for (int64_t v = 0; v < ps_slab_visits(plan, PS_SLAB_SWEEP); ++v)
        all += 8 * ps_slab_box_plane(plan) * planes_of(plan, PS_SLAB_SWEEP, v) + 64;
    all += least;
    return most < least ? least : most < all ? most : all;
}

/* ---- in memory ---- */

static void to_modes(const slab_load *l, int64_t count, const double *nodes, double *modes,
                     double *scratch)
{
    int64_t face = l->p->load.plane, size = ps_slab_box_plane(l->plan);
    for (int64_t i = 0; i < count; ++i)
        ps_fast_to_modes(l->tables, nodes + i * face, modes + i * size, scratch);
}

/* Own planes as modes, some at a time. */
static ps_status read_modes(slab_load *l, int64_t first, int64_t count)
{
    int64_t step = planes_of(l->plan, PS_SLAB_FINISH, 0), size = ps_slab_box_plane(l->plan);
    int threads = (int)l->p->run->threads;
    double *nodes = NULL, *scratch = NULL;
    ps_status status = PS_ALLOC(&nodes, step * l->p->load.plane, "loads");
    if (status == PS_OK) status = PS_ALLOC(&scratch, threads * size, "transforms");
    for (int64_t done = 0; done < count && status == PS_OK; done += step) {
        int64_t n = count - done < step ? count - done : step;
        status = ps_box_field_read(&l->p->load, first + done, n, nodes);
        if (status != PS_OK) break;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < n; ++i)
            to_modes(l, 1, nodes + i * l->p->load.plane, l->planes + (done + i) * size,
                     scratch + omp_get_thread_num() * size);
    }
    free(nodes);
    free(scratch);
    return status;
}

static ps_status read_all(slab_load *l)
{
    int64_t first = ps_slab_first_plane(l->plan, l->plan->first);
    int64_t count = ps_slab_first_plane(l->plan, l->plan->end) - first + 1;
    PS_TRY(PS_ALLOC(&l->planes, count * ps_slab_box_plane(l->plan), "loads"));
    return l->plan->modes ? read_modes(l, first, count)
                          : ps_box_field_read(&l->p->load, first, count, l->planes);
}

/* ---- streamed: a chunk is a visit of the order ---- */

/* The workers read as well, plane by plane: a slab as nodes beside that as modes would double what
 * a stream holds. */
static ps_status read_nothing(void *context, int64_t visit, void *raw) { return PS_OK; }

int64_t slab_load_visit_bytes(const slab_load *l, int64_t visit)
{
    return 8 * planes_of(l->plan, l->order, visit) * ps_slab_box_plane(l->plan);
}

ps_status slab_load_visit(const slab_load *l, int64_t visit, double *modes)
{
    int64_t count = planes_of(l->plan, l->order, visit), size = ps_slab_box_plane(l->plan);
    int64_t first = ps_slab_first_plane(l->plan, ps_slab_visited(l->plan, l->order, visit));
    int64_t step = l->p->load.chunk_planes, face = l->p->load.plane;
    PS_SCOPED_MEMORY double *nodes = NULL;
    if (!l->plan->modes) return ps_box_field_read(&l->p->load, first, count, modes);
    PS_TRY(PS_ALLOC(&nodes, step * face + size, "planes of a slab"));
    for (int64_t i = 0; i < count; i += step) {
        int64_t n = count - i < step ? count - i : step;
        PS_TRY(ps_box_field_read(&l->p->load, first + i, n, nodes));
        to_modes(l, n, nodes, modes + i * size, nodes + step * face);
    }
    return PS_OK;
}

static ps_status fill_slab(void *context, int64_t visit, const void *raw, void *unpacked)
{
    return slab_load_visit(context, visit, unpacked);
}

static ps_status open_stream(slab_load *l, ps_slab_order order)
{
    int64_t visits = ps_slab_visits(l->plan, order), *bytes;
    PS_TRY(PS_ALLOC(&bytes, 2 * visits, "a stream"));
    l->order = order;
    for (int64_t v = 0; v < visits; ++v) bytes[visits + v] = slab_load_visit_bytes(l, v);
    ps_chunk_stream_config config = {.chunk_count = visits,
                                     .raw_bytes = bytes,
                                     .unpacked_bytes = bytes + visits,
                                     .host_memory = l->budget,
                                     .unpackers = (int)l->p->run->threads,
                                     .one_pass = order == PS_SLAB_FINISH,
                                     .context = l,
                                     .read = read_nothing,
                                     .unpack = fill_slab};
    ps_status status = ps_chunk_stream_open(&config, &l->stream);
    free(bytes);
    return status;
}

void slab_load_rest(slab_load *l)
{
    if (l->stream) {
        ps_chunk_stream_stats stats;
        ps_chunk_stream_get_stats(l->stream, &stats);
        l->p->seconds[SECONDS_READ] += stats.wait_seconds;
        ps_debug("%lld of %lld visits stay in memory; waited %.2f of %.2f s",
                 (long long)stats.resident_chunks, (long long)stats.chunks, stats.wait_seconds,
                 stats.sweep_seconds);
    }
    ps_chunk_stream_close(&l->stream);
}

typedef struct walk {
    slab_load *load;
    ps_slab_step *step;
    void *argument;
} walk;

static ps_status visit_slab(void *context, int64_t visit, const void *unpacked)
{
    walk *w = context;
    if (ps_comm_size() == 1 && w->load->order != PS_SLAB_FINISH && ps_stop_requested())
        return stop_here(w->load->p);
    return w->step(w->argument, visit, unpacked);
}

ps_status slab_load_walk(slab_load *l, ps_slab_order order, ps_slab_step *step, void *argument)
{
    if (!l->stream || l->order != order) {
        slab_load_rest(l);
        PS_TRY(open_stream(l, order));
    }
    ps_status status = ps_chunk_stream_sweep(l->stream, visit_slab, &(walk){l, step, argument});
    if (order == PS_SLAB_FINISH) slab_load_rest(l);
    return status;
}

ps_status slab_load_open(solve_problem *p, const ps_slab_box_plan *plan,
                         const ps_fast_solver *tables, int64_t most, slab_load *out)
{
    *out = (slab_load){.p = p, .plan = plan, .tables = tables};
    if (!plan->walk) return read_all(out);
    out->budget = slab_load_memory(p, plan, most) - slab_load_workers(p, plan);
    return PS_OK;
}

void slab_load_close(slab_load *l)
{
    slab_load_rest(l);
    free(l->planes);
    l->planes = NULL;
}
