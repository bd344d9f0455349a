/* An adaptive tree that grows on a device from particles in the order of the file, to which results
 * come back; or on several devices of one process, each of which grows the same tree and sums a
 * share of the targets, as those of ranks do. */
#include "compute/fmm/adaptive_gpu.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

/* ---- several devices ---- */

typedef ps_status (*device_work)(fmm_adaptive_gpu *g, void *context);

/* On each device, by a thread each. */
static ps_status on_all(fmm_adaptive_gpu *first, device_work work, void *context)
{
    int devices = fmm_adaptive_gpu_count(first);
    ps_failure failure = {0};
    if (devices == 1) return work(first, context);
#pragma omp parallel for schedule(static, 1) num_threads(devices)
    for (int k = 0; k < devices; ++k)
        ps_note_failure(&failure, work(k ? first->others[k - 1] : first, context));
    return ps_first_failure(&failure);
}

/* Results of the others to the first one. */
static ps_status gather_here(fmm_adaptive_gpu *first)
{
    double start = ps_clock();
    for (int k = 1; k < fmm_adaptive_gpu_count(first); ++k) {
        fmm_adaptive_gpu *g = first->others[k - 1];
        int64_t stride = g->plan.tree->sets[0].points.count, begin = g->share.first[k],
                bytes = 8 * (g->share.first[k + 1] - begin);
        for (int row = 0; row < g->result_rows && bytes > 0; ++row)
            PS_TRY(ps_copy_peer(first->run.far, (double *)first->results + row * stride + begin,
                                g->device, (double *)g->results + row * stride + begin, bytes));
    }
    PS_TRY(ps_stream_wait(first->run.far));
    for (int k = 1; k < fmm_adaptive_gpu_count(first); ++k)
        fmm_adaptive_gpu_free_order(first->others[k - 1]);
    first->gathering += ps_clock() - start;
    return PS_OK;
}

/* ---- growing ---- */

static int64_t sides_of(const fmm_run *r) { return r->problem.fmm.sides; }

static int64_t sorted_bytes(const fmm_run *r)
{
    return 8 * (3 + sides_of(r)) * r->problem.header->count[0];
}

/* What the tree takes beside its growth and before its vectors. */
static int64_t before_growth(const fmm_run *r, const fmm_adaptive_gpu *g)
{
    int64_t results = 8 * 4 * sides_of(r) * r->problem.header->count[0];
    return fmm_traffic_device_bytes(&r->problem) + g->sort_bytes + sorted_bytes(r) + results;
}

/* Leaves have at most leaf_size particles, in the order in which the host brings them. */
static ps_status sort(const fmm_run *r, fmm_adaptive_gpu *g, int64_t leaf_size)
{
    int64_t n = r->problem.header->count[0];
    const ps_fmm_particles *from = &g->traffic.sets[0];
    ps_tree_points points = {n, from->position[0], from->position[1], from->position[2]};
    ps_device_columns columns = {.count = 3 + (int)sides_of(r)};
    PS_TRY(ps_device_alloc(g->device, sorted_bytes(r), &g->rows[0]));
    PS_TRY(ps_device_alloc(g->device, g->sort_bytes, &g->sorting));
    ps_device_sort_attach(&g->sort, g->sorting);
    for (int c = 0; c < columns.count; ++c) {
        columns.from[c] = g->traffic.columns[0] + c * n;
        columns.to[c] = (double *)g->rows[0] + c * n;
    }
    PS_TRY(ps_device_sort_run(&g->sort, &points, g->streams[0]));
    PS_TRY(ps_device_sort_refine(&g->sort, &points, leaf_size, g->streams[0]));
    PS_TRY(ps_device_gather(&g->sort, &columns, g->streams[0]));
    return ps_device_sort_invert(&g->sort, g->streams[0]);
}

/* In so many bytes of the device's memory. */
static ps_status grow_in(fmm_adaptive_gpu *g, int64_t bytes, ps_adaptive_rule rule,
                         ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    ps_device_free(g->device, g->growth);
    g->growth = NULL;
    PS_TRY(ps_device_alloc(g->device, bytes, &g->growth));
    ps_device_growth growth = {.stream = g->streams[0], .block = g->growth, .bytes = bytes};
    ps_growth_engine engine = ps_device_growth_engine(&growth);
    g->growth_bytes = bytes;
    return ps_adaptive_grow(&engine, g->sort.keys, rule, &g->share, tree, &g->plan, g->parts, work);
}

/* With what most trees do with; if that is too little, with half of what there is. */
static ps_status grow(const fmm_run *r, fmm_adaptive_gpu *g, ps_adaptive_rule rule,
                      ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    int64_t usual = ps_adaptive_growth_bytes(r->problem.header->count[0], tree->leaf_size),
            most = g->most - before_growth(r, g);
    PS_TRY(ps_adaptive_root(g->traffic.lower, g->traffic.upper, &tree->box, &tree->deepest));
    g->sort.box = tree->box;
    PS_TRY(sort(r, g, tree->leaf_size));
    ps_status status = grow_in(g, ps_smaller(usual, most), rule, tree, work);
    if (status == PS_EXHAUSTED && most / 2 > usual) status = grow_in(g, most / 2, rule, tree, work);
    PS_TRY(status);
    if (tree->levels - 1 <= tree->deepest) return PS_OK;
    return ps_fail(PS_INVALID, "at these coordinates cells below level %d have no exact centres",
                   tree->deepest);
}

/* What all devices are to grow. */
typedef struct seed {
    const fmm_run *r;
    fmm_adaptive_gpu *first;
    ps_adaptive_rule rule;
    ps_adaptive_tree *tree; /* of the first one; others have their own */
    ps_adaptive_work *work;
} seed;

/* The first one has read the particles. */
static ps_status grow_here(fmm_adaptive_gpu *g, void *context)
{
    const seed *s = context;
    if (g == s->first) return grow(s->r, g, s->rule, s->tree, s->work);
    PS_TRY(fmm_traffic_copy(&s->r->problem, &s->first->traffic, &g->traffic));
    return grow(s->r, g, s->rule, &g->tree, &g->work);
}

static ps_status try_to_grow(const fmm_run *r, fmm_adaptive_gpu *g, ps_adaptive_rule rule,
                             ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    int64_t n = r->problem.header->count[0];
    seed s = {r, g, rule, tree, work};
    double start = ps_clock();
    if (!tree->same || n < 1 || n > INT32_MAX)
        return ps_fail(PS_INVALID, "targets that are not the sources, or 2^31 particles and more");
    tree->sets[0].points = (ps_tree_points){.count = n};
    g->sort = (ps_device_sort){.count = n, .level = PS_GROWTH_LEVEL};
    PS_TRY(ps_device_sort_bytes(&g->sort, g->streams[0], &g->sort_bytes));
    int64_t least = before_growth(r, g) + ps_adaptive_growth_bytes(0, 1);
    if (least > g->most)
        return ps_fail(PS_EXHAUSTED,
                       "sorting particles and growing a tree on a device takes %.3g GB of its "
                       "memory, and %.3g GB are free or allowed",
                       1e-9 * (double)least, 1e-9 * (double)g->most);
    PS_TRY(fmm_traffic_send(r, &g->traffic));
    g->reading = ps_clock() - start;
    start = ps_clock();
    for (int k = 1; k < fmm_adaptive_gpu_count(g); ++k) {
        fmm_adaptive_gpu *other = g->others[k - 1];
        other->tree = *tree;
        other->sort = g->sort;
        other->sort_bytes = g->sort_bytes;
    }
    PS_TRY(on_all(g, grow_here, &s));
    g->growing = ps_clock() - start;
    return PS_OK;
}

/* What shares alone have been asked for, of all ranks or devices. */
static ps_status sum_work(const fmm_adaptive_gpu *g, ps_adaptive_work *work)
{
    for (int k = 1; k < fmm_adaptive_gpu_count(g); ++k) {
        const ps_adaptive_work *other = &g->others[k - 1]->work;
        work->p2l += other->p2l;
        work->direct_cells += other->direct_cells;
        work->m2p_cells += other->m2p_cells;
        work->p2l_cells += other->p2l_cells;
    }
    int64_t *counts[] = {&work->p2l, &work->direct_cells, &work->m2p_cells, &work->p2l_cells};
    for (int i = 0; i < 4 && ps_comm_size() > 1; ++i) PS_TRY(ps_comm_sum_i64(counts[i], 1));
    return PS_OK;
}

ps_status fmm_adaptive_gpu_grow(const fmm_run *r, fmm_adaptive_gpu *g, ps_adaptive_rule rule,
                                ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    ps_status status = ps_comm_agree(try_to_grow(r, g, rule, tree, work));
    bool grown = status == PS_OK;
    for (int k = 0; k < fmm_adaptive_gpu_count(g); ++k) (k ? g->others[k - 1] : g)->grown = grown;
    if (!grown && g->device && fmm_adaptive_gpu_drop_tree(g) != PS_OK) return PS_FAILED;
    return grown ? sum_work(g, work) : status;
}

/* ---- the run ---- */

/* Results from the tree's order to that of the file. */
static ps_status scatter(fmm_adaptive_gpu *g)
{
    int64_t n = g->sort.count;
    ps_device_columns columns = {.count = 4 * g->run.method.sides};
    for (int c = 0; c < columns.count; ++c) {
        columns.from[c] = (double *)g->results + c * n;
        columns.to[c] = g->traffic.results + c * n;
    }
    PS_TRY(ps_device_scatter(&g->sort, &columns, g->run.far));
    return ps_stream_wait(g->run.far);
}

/* Whether the samples are within the bound: results of an attempt that is not need not come. Where
 * targets are few, all come as soon as the samples alone. */
static ps_status look_at_samples(fmm_run *r, const fmm_adaptive_gpu *g)
{
    enum { MANY = 4096 /* targets a sample */ };
    const fmm_check *samples = r->work.samples;
    if (!samples || r->problem.header->count[1] / MANY < samples->count) return PS_OK;
    PS_TRY(fmm_traffic_samples(r, &g->traffic));
    fmm_reached reached = fmm_samples_errors(&r->problem, samples, r->options->gradient);
    r->missed = ps_fmm_excess(&reached, r->problem.accuracy) > 1;
    return PS_OK;
}

/* Of this rank and device; the first one, which takes the results, sums the samples, too. */
static ps_status run_share(fmm_adaptive_gpu *g, void *context)
{
    fmm_run *r = context;
    g->run.rows[0] = g->rows[0];
    PS_TRY(fmm_adaptive_gpu_room(g));
    if (g->share.rank == 0)
        PS_TRY(fmm_traffic_check(r, &g->traffic, g->block,
                                 ps_adaptive_device_place(&g->run, g->block)));
    return fmm_adaptive_gpu_evaluate(g);
}

ps_status fmm_adaptive_gpu_run_grown(fmm_run *r, fmm_adaptive_gpu *g)
{
    ps_status status = ps_comm_agree(on_all(g, run_share, r));
    PS_TRY(status);
    PS_TRY(g->others[0] ? gather_here(g) : fmm_adaptive_gpu_gather(r, g));
    if (r->problem.rank) {
        fmm_adaptive_gpu_free_order(g);
        return PS_OK;
    }
    PS_TRY(scatter(g));
    PS_TRY(look_at_samples(r, g));
    double start = ps_clock();
    if (!r->missed) status = fmm_traffic_take(r, &g->traffic);
    g->moving += ps_clock() - start;
    fmm_adaptive_gpu_free_order(g);
    return status;
}
