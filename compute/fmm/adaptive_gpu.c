#include "compute/fmm/adaptive_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

ps_status fmm_adaptive_gpu_open(const ps_run *run, ps_adaptive_costs costs, fmm_adaptive_gpu **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the evaluation on a device"));
    fmm_adaptive_gpu *g = *out;
    g->share = (ps_adaptive_own){ps_comm_rank(), ps_comm_size(), costs, NULL};
    PS_TRY(PS_ALLOC(&g->share.first, g->share.ranks + 1, "targets of ranks"));
    PS_TRY(ps_device_open(strcmp(run->device, "auto") ? run->device : "cuda", ps_comm_local_rank(),
                          &g->device));
    PS_TRY(ps_stream_open_ahead(g->device, &g->streams[0]));
    PS_TRY(ps_stream_open(g->device, &g->streams[1]));
    PS_TRY(ps_event_open(g->device, &g->forked));
    PS_TRY(ps_event_open(g->device, &g->met));
    for (int i = 0; i <= PS_ADAPTIVE_DEVICE_STAGES; ++i)
        PS_TRY(ps_event_open(g->device, &g->marks[i]));
    g->most = ps_device_describe(g->device).memory_free;
    if (run->device_memory > 0) g->most = ps_smaller(g->most, run->device_memory);
    return fmm_traffic_open(g->device, g->streams[0], &g->traffic);
}

static void give(fmm_adaptive_gpu *g, void **memory)
{
    ps_device_free(g->device, *memory);
    *memory = NULL;
}

/* What is of one order: the device's memory. */
static void empty(fmm_adaptive_gpu *g)
{
    for (int set = 0; set < 2 && !g->grown; ++set) give(g, &g->rows[set]);
    give(g, &g->results);
    give(g, &g->block);
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) {
        give(g, &g->table_blocks[l]);
    }
}

/* The device without the tree that has grown there. */
static ps_status fell(fmm_adaptive_gpu *g)
{
    g->grown = false;
    empty(g);
    give(g, &g->sorting);
    give(g, &g->growth);
    fmm_traffic_close(&g->traffic);
    return fmm_traffic_open(g->device, g->streams[0], &g->traffic);
}

void fmm_adaptive_gpu_empty(fmm_adaptive_gpu *g)
{
    bool grown = g->grown;
    if (grown && fell(g) != PS_OK) return;
    g->grown = grown;
}

void fmm_adaptive_gpu_close(fmm_adaptive_gpu **gpu)
{
    fmm_adaptive_gpu *g = *gpu;
    if (!g) return;
    if (g->device) {
        fell(g);
        fmm_traffic_close(&g->traffic);
        for (int i = 0; i <= PS_ADAPTIVE_DEVICE_STAGES; ++i) ps_event_close(&g->marks[i]);
        ps_event_close(&g->forked);
        ps_event_close(&g->met);
        for (int i = 0; i < 2; ++i) ps_stream_close(&g->streams[i]);
        ps_device_close(&g->device);
    }
    ps_adaptive_plan_release(&g->plan);
    free(g->share.first);
    free(g);
    *gpu = NULL;
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

static ps_status sort(const fmm_run *r, fmm_adaptive_gpu *g)
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
    PS_TRY(ps_device_gather(&g->sort, &columns, g->streams[0]));
    return ps_device_sort_invert(&g->sort, g->streams[0]);
}

/* In so many bytes of the device's memory. */
static ps_status grow_in(fmm_adaptive_gpu *g, int64_t bytes, ps_adaptive_rule rule,
                         ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    give(g, &g->growth);
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
    PS_TRY(sort(r, g));
    ps_status status = grow_in(g, ps_smaller(usual, most), rule, tree, work);
    if (status == PS_EXHAUSTED && most / 2 > usual) status = grow_in(g, most / 2, rule, tree, work);
    PS_TRY(status);
    if (tree->levels - 1 <= tree->deepest) return PS_OK;
    return ps_fail(PS_INVALID, "at these coordinates cells below level %d have no exact centres",
                   tree->deepest);
}

static ps_status try_to_grow(const fmm_run *r, fmm_adaptive_gpu *g, ps_adaptive_rule rule,
                             ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    int64_t n = r->problem.header->count[0];
    double start = ps_clock();
    if (!tree->same || n < 1 || n > INT32_MAX)
        return ps_fail(PS_INVALID, "targets that are not the sources, or 2^31 particles and more");
    tree->sets[0].points = (ps_tree_points){.count = n};
    g->sort = (ps_device_sort){.count = n, .level = PS_GROWTH_LEVEL};
    PS_TRY(ps_device_sort_bytes(&g->sort, g->streams[0], &g->sort_bytes));
    if (before_growth(r, g) + ps_adaptive_growth_bytes(0, 1) > g->most)
        return ps_fail(PS_EXHAUSTED,
                       "sorting particles on a device takes %.2f GB of its memory, and "
                       "%.2f GB are free or allowed",
                       1e-9 * (double)before_growth(r, g), 1e-9 * (double)g->most);
    PS_TRY(fmm_traffic_send(r, &g->traffic));
    g->reading = ps_clock() - start;
    start = ps_clock();
    PS_TRY(grow(r, g, rule, tree, work));
    g->growing = ps_clock() - start;
    return PS_OK;
}

ps_status fmm_adaptive_gpu_grow(const fmm_run *r, fmm_adaptive_gpu *g, ps_adaptive_rule rule,
                                ps_adaptive_tree *tree, ps_adaptive_work *work)
{
    ps_status status = ps_comm_agree(try_to_grow(r, g, rule, tree, work));
    g->grown = status == PS_OK;
    if (!g->grown && g->device && fell(g) != PS_OK) return PS_FAILED;
    if (g->grown && g->share.ranks > 1) /* what shares alone have been asked for */
        for (int64_t *
                 count[] = {&work->p2l, &work->direct_cells, &work->m2p_cells, &work->p2l_cells},
                **c = count;
             c < count + 4; ++c)
            PS_TRY(ps_comm_sum_i64(*c, 1));
    return status;
}

/* ---- the plan ---- */

void fmm_adaptive_gpu_begin(fmm_adaptive_gpu *g)
{
    memset(g->stages, 0, sizeof g->stages);
    g->moving = g->evaluation = 0;
}

static ps_status load_tables(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    for (int l = 2; l < q->tree->levels; ++l) {
        int own = l > 2 && q->tables[l] == q->tables[2] ? 2 : l;
        g->run.tables[l] = &g->tables[own];
        g->run.factors[l] = q->factors[l];
        if (own != l) continue;
        PS_TRY(fmm_operators_upload(q->tables[l], g->device, g->streams[0], &g->table_blocks[l],
                                    &g->tables[l]));
        g->bytes += ps_fmm_device_table_bytes(q->tables[l]);
    }
    return PS_OK;
}

static int64_t column_bytes(const fmm_adaptive_gpu *g, const ps_adaptive_tree *tree, int set)
{
    return 8 * (set ? 3 : 3 + g->columns) * tree->sets[set].points.count;
}

static int last_set(const fmm_adaptive_gpu *g) { return g->plan.tree->same ? 0 : 1; }

static int64_t result_bytes(const fmm_adaptive_gpu *g)
{
    return 8 * g->result_rows * g->plan.tree->sets[last_set(g)].points.count;
}

void fmm_adaptive_gpu_sum(fmm_adaptive_gpu *g, int columns, const ps_fmm_pass *pass)
{
    bool plain =
        pass->function.kernel < PS_FMM_KERNEL_COUNT && pass->dipoles < 0 && pass->derivatives < 2;
    g->columns = columns;
    g->result_rows = ps_fmm_pass_rows(pass);
    g->moments = (ps_fmm_device_moments){pass->charges, pass->dipoles, NULL};
    g->run.moments = plain ? NULL : &g->moments;
}

static ps_status make_lists(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    double start = ps_clock();
    if (g->plan.tree && memcmp(&g->rule, &q->rule, sizeof g->rule) == 0) return PS_OK;
    ps_adaptive_plan_release(&g->plan);
    PS_TRY(ps_adaptive_plan_make(q->tree, q->rule, &g->share, &g->plan));
    g->rule = q->rule;
    g->listing = ps_clock() - start;
    return PS_OK;
}

/* What a tree that has grown takes in all, but for vectors and operators. */
static int64_t grown_bytes(const fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    return 2 * (column_bytes(g, q->tree, 0) + result_bytes(g)) + g->sort_bytes + g->growth_bytes;
}

ps_status fmm_adaptive_gpu_plan(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    empty(g);
    g->bytes = 0;
    if (!g->grown) PS_TRY(make_lists(g, q));
    g->run.grown = g->grown ? g->parts : NULL;
    g->run.plan = &g->plan;
    g->run.method = (ps_fmm_device_method){.sides = q->sides,
                                           .far = q->far,
                                           .near = q->near,
                                           .function = q->function,
                                           .interpolation = q->interpolation};
    g->run.gradient = true;
    g->run.far = g->streams[0];
    g->run.near = g->streams[1];
    g->run.forked = g->forked;
    g->run.met = g->met;
    g->run.marks = g->marks;
    g->run.periodic = q->periodic;
    PS_TRY(load_tables(g, q));
    if (g->grown) g->bytes += grown_bytes(g, q);
    for (int set = 0; set <= last_set(g) && !g->grown; ++set)
        g->bytes += column_bytes(g, q->tree, set);
    g->bytes += (g->grown ? 0 : result_bytes(g)) + ps_adaptive_device_place(&g->run, NULL);
    if (g->bytes <= g->most) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "an adaptive tree on a device takes %.2f GB of its memory, and %.2f GB are free "
                   "or allowed; --device cpu or --tree uniform do with less",
                   1e-9 * (double)g->bytes, 1e-9 * (double)g->most);
}

int64_t fmm_adaptive_gpu_host_bytes(const fmm_adaptive_gpu *g)
{
    int64_t bytes = 0;
    for (int i = 0; i < PS_PLAN_PARTS && !g->grown; ++i)
        bytes += g->plan.part[i].count * g->plan.part[i].size;
    return bytes;
}

/* ---- the run ---- */

static ps_status make_room(fmm_adaptive_gpu *g)
{
    ps_share_ticket *ticket = &g->ticket;
    g->shared = g->share.ranks > 1 && g->share.rank == 0 &&
                ps_share_alloc(g->device, result_bytes(g), &g->results, ticket) == PS_OK;
    if (!g->shared) PS_TRY(ps_device_alloc(g->device, result_bytes(g), &g->results));
    int64_t targets = g->plan.tree->sets[last_set(g)].points.count, sides = g->run.method.sides;
    g->run.results = g->results;
    if (g->result_rows > 4 * sides) g->moments.hessian = g->run.results + 4 * sides * targets;
    PS_TRY(ps_device_alloc(g->device, ps_adaptive_device_place(&g->run, NULL), &g->block));
    ps_adaptive_device_place(&g->run, g->block);
    return PS_OK;
}

static ps_status send(fmm_adaptive_gpu *g, double *const columns[2])
{
    for (int set = 0; set <= last_set(g); ++set) {
        int64_t bytes = column_bytes(g, g->plan.tree, set);
        PS_TRY(ps_device_alloc(g->device, bytes, &g->rows[set]));
        PS_TRY(ps_copy_to_device(g->run.far, g->rows[set], columns[set], bytes));
        g->run.rows[set] = g->rows[set];
    }
    PS_TRY(make_room(g));
    return ps_adaptive_device_load(&g->run);
}

static ps_status add_seconds(ps_event *from, ps_event *to, double *sum)
{
    double seconds;
    PS_TRY(ps_event_seconds(from, to, &seconds));
    *sum += seconds;
    return PS_OK;
}

/* Evaluates, and waits; adds to the times of this attempt. */
static ps_status evaluate(fmm_adaptive_gpu *g)
{
    PS_SCOPED_MEMORY char *beyond = NULL;
    PS_TRY(PS_ALLOC(&beyond, ps_adaptive_device_beyond_bytes(&g->run) + 1, "the boxes beyond"));
    g->run.beyond = beyond;
    PS_TRY(ps_adaptive_device_run(&g->run));
    PS_TRY(ps_stream_wait(g->run.far));
    g->run.beyond = NULL;
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        PS_TRY(add_seconds(g->marks[s], g->marks[s + 1], &g->stages[s]));
    return add_seconds(g->marks[0], g->marks[PS_ADAPTIVE_DEVICE_STAGES], &g->evaluation);
}

ps_status fmm_adaptive_gpu_run(fmm_adaptive_gpu *g, double *const columns[2], double *results)
{
    double start = ps_clock();
    PS_TRY(send(g, columns));
    g->moving += ps_clock() - start;
    PS_TRY(evaluate(g));
    start = ps_clock();
    PS_TRY(ps_copy_to_host(g->run.far, results, g->results, result_bytes(g)));
    PS_TRY(ps_stream_wait(g->run.far));
    g->moving += ps_clock() - start;
    empty(g);
    return PS_OK;
}

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

/* Of this rank; the first one, which takes the results, sums the samples, too. */
static ps_status run_share(fmm_run *r, fmm_adaptive_gpu *g)
{
    g->run.rows[0] = g->rows[0];
    PS_TRY(make_room(g));
    if (r->problem.rank == 0)
        PS_TRY(fmm_traffic_check(r, &g->traffic, g->block,
                                 ps_adaptive_device_place(&g->run, g->block)));
    return evaluate(g);
}

ps_status fmm_adaptive_gpu_run_grown(fmm_run *r, fmm_adaptive_gpu *g)
{
    ps_status status = ps_comm_agree(run_share(r, g));
    PS_TRY(status);
    PS_TRY(fmm_adaptive_gpu_gather(r, g));
    if (r->problem.rank) {
        empty(g);
        return PS_OK;
    }
    PS_TRY(scatter(g));
    PS_TRY(look_at_samples(r, g));
    double start = ps_clock();
    if (!r->missed) status = fmm_traffic_take(r, &g->traffic);
    g->moving += ps_clock() - start;
    empty(g);
    return status;
}

void fmm_adaptive_gpu_report(const fmm_adaptive_gpu *g, bool done, ps_report *report)
{
    ps_report_section(report, "device");
    ps_report_text(report, "device", ps_device_describe(g->device).name);
    ps_report_int(report, "device_memory", g->bytes);
    if (g->grown) {
        ps_report_real(report, "reading", g->reading);
        ps_report_real(report, "growing", g->growing);
    } else {
        ps_report_real(report, "lists", g->listing);
    }
    if (!done) return;
    ps_report_real(report, "moving", g->moving);
    ps_report_real(report, "sums", g->evaluation);
    if (g->share.ranks > 1) ps_report_real(report, "gathering", g->gathering);
    ps_report_section(report, "device_stages");
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        ps_report_real(report, ps_adaptive_device_stage_names[s], g->stages[s]);
}
