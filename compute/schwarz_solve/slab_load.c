#include "compute/schwarz_solve/slab_load.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"

static int64_t plane_of(const ps_slab_box_plan *plan)
{
    return plan->modes ? ps_slab_box_mode_plane(&plan->grid)
                       : plan->grid.nodes[1] * plan->grid.nodes[2];
}

static int64_t first_plane(const ps_slab_box_plan *plan, int64_t slab)
{
    return ps_slab_first(plan->grid.nodes[0], plan->slabs, slab);
}

/* Planes of the slab of a visit. */
static int64_t planes_of(const ps_slab_box_plan *plan, ps_slab_order order, int64_t visit)
{
    int64_t slab = ps_slab_visited(plan, order, visit);
    return first_plane(plan, slab + 1) - first_plane(plan, slab) + 1;
}

int64_t slab_load_memory(const solve_problem *p, const ps_slab_box_plan *plan, int64_t most)
{
    int64_t nodes = 8 * plan->grid.nodes[1] * plan->grid.nodes[2];
    if (!plan->walk) {
        int64_t first = first_plane(plan, plan->first), end = first_plane(plan, plan->end);
        return 8 * (end - first + 1) * plane_of(plan) + nodes * planes_of(plan, PS_SLAB_FINISH, 0);
    }
    /* What one buffer of each kind takes, and what all that is wanted does. */
    int64_t planes = first_plane(plan, 1) + 1;
    int64_t least = (nodes + 8 * plane_of(plan)) * planes + 128, all = 0;
    for (int64_t v = 0; v < ps_slab_visits(plan, PS_SLAB_SWEEP); ++v)
        all += 8 * plane_of(plan) * planes_of(plan, PS_SLAB_SWEEP, v) + 64;
    all += least;
    return most < least ? least : most < all ? most : all;
}

/* ---- in memory ---- */

static void to_modes(const slab_load *l, int64_t count, const double *nodes, double *modes,
                     double *scratch)
{
    int64_t face = l->p->load.plane, size = plane_of(l->plan);
    for (int64_t i = 0; i < count; ++i)
        ps_fast_to_modes(l->tables, nodes + i * face, modes + i * size, scratch);
}

/* Own planes as modes, some at a time. */
static ps_status read_modes(slab_load *l, int64_t first, int64_t count)
{
    int64_t step = planes_of(l->plan, PS_SLAB_FINISH, 0), size = plane_of(l->plan);
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
    int64_t first = first_plane(l->plan, l->plan->first);
    int64_t count = first_plane(l->plan, l->plan->end) - first + 1;
    double start = ps_clock();
    PS_TRY(PS_ALLOC(&l->planes, count * plane_of(l->plan), "loads"));
    PS_TRY(l->plan->modes ? read_modes(l, first, count)
                          : ps_box_field_read(&l->p->load, first, count, l->planes));
    l->p->seconds[SECONDS_READ] += ps_clock() - start;
    return PS_OK;
}

/* ---- streamed: a chunk is a visit of the order ---- */

static ps_status read_slab(void *context, int64_t visit, void *raw)
{
    slab_load *l = context;
    return ps_box_field_read(&l->p->load,
                             first_plane(l->plan, ps_slab_visited(l->plan, l->order, visit)),
                             planes_of(l->plan, l->order, visit), raw);
}

static ps_status unpack_slab(void *context, int64_t visit, const void *raw, void *unpacked)
{
    const slab_load *l = context;
    int64_t count = planes_of(l->plan, l->order, visit);
    double *scratch;
    if (!l->plan->modes) {
        memcpy(unpacked, raw, (size_t)(count * plane_of(l->plan)) * sizeof(double));
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&scratch, plane_of(l->plan), "a transform"));
    to_modes(l, count, raw, unpacked, scratch);
    free(scratch);
    return PS_OK;
}

static ps_status open_stream(slab_load *l, ps_slab_order order)
{
    int64_t visits = ps_slab_visits(l->plan, order), *bytes;
    PS_TRY(PS_ALLOC(&bytes, 2 * visits, "a stream"));
    for (int64_t v = 0; v < visits; ++v) {
        bytes[v] = 8 * planes_of(l->plan, order, v) * l->p->load.plane;
        bytes[visits + v] = 8 * planes_of(l->plan, order, v) * plane_of(l->plan);
    }
    l->order = order;
    ps_chunk_stream_config config = {.chunk_count = visits,
                                     .raw_bytes = bytes,
                                     .unpacked_bytes = bytes + visits,
                                     .host_memory = l->budget,
                                     .unpackers = (int)l->p->run->threads,
                                     .one_pass = order == PS_SLAB_FINISH,
                                     .context = l,
                                     .read = read_slab,
                                     .unpack = unpack_slab};
    ps_status status = ps_chunk_stream_open(&config, &l->stream);
    free(bytes);
    return status;
}

static void close_stream(slab_load *l)
{
    if (l->stream) {
        ps_chunk_stream_stats stats;
        ps_chunk_stream_get_stats(l->stream, &stats);
        l->p->seconds[SECONDS_READ] += stats.wait_seconds;
        ps_debug("%lld of %lld visits stay in memory; read %.1f MB, waited %.2f of %.2f s",
                 (long long)stats.resident_chunks, (long long)stats.chunks,
                 (double)stats.raw_bytes_read / 1e6, stats.wait_seconds, stats.sweep_seconds);
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
        close_stream(l);
        PS_TRY(open_stream(l, order));
    }
    ps_status status = ps_chunk_stream_sweep(l->stream, visit_slab, &(walk){l, step, argument});
    if (order == PS_SLAB_FINISH) close_stream(l);
    return status;
}

ps_status slab_load_open(solve_problem *p, const ps_slab_box_plan *plan,
                         const ps_fast_solver *tables, int64_t most, slab_load *out)
{
    *out = (slab_load){.p = p, .plan = plan, .tables = tables};
    if (!plan->walk) return read_all(out);
    out->budget = slab_load_memory(p, plan, most);
    return PS_OK;
}

void slab_load_close(slab_load *l)
{
    close_stream(l);
    free(l->planes);
    l->planes = NULL;
}
