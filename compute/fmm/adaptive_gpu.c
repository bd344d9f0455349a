#include "compute/fmm/adaptive_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* The device of a name, which has a share of the targets. */
static ps_status open_one(const ps_run *run, const char *name, ps_adaptive_own share,
                          fmm_adaptive_gpu **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the evaluation on a device"));
    fmm_adaptive_gpu *g = *out;
    g->share = share;
    PS_TRY(PS_ALLOC(&g->share.first, share.ranks + 1, "targets of ranks"));
    PS_TRY(ps_device_open(name, ps_comm_local_rank(), &g->device));
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

ps_status fmm_adaptive_gpu_open(const ps_run *run, ps_adaptive_costs costs, int devices,
                                fmm_adaptive_gpu **out)
{
    const char *name = strcmp(run->device, "auto") ? run->device : "cuda";
    ps_adaptive_own share = {ps_comm_rank(), ps_comm_size(), costs, NULL};
    int ordinals[FMM_DEVICES_MAX], count;
    if (devices <= 1) return open_one(run, name, share, out);
    if (share.ranks > 1)
        return ps_fail(PS_USAGE, "--devices %d is for one rank: ranks have a device each", devices);
    PS_TRY(ps_device_list(name, 0, 1, ordinals, FMM_DEVICES_MAX, &count));
    for (; strchr(name, ':') && count < devices; ++count) ordinals[count] = ordinals[0];
    if (devices > count)
        return ps_fail(PS_USAGE, "--devices %d: --device %s has %d here", devices, name, count);
    for (int k = 0; k < devices; ++k) {
        char one[32];
        snprintf(one, sizeof one, "cuda:%d", ordinals[k]);
        share.rank = k;
        share.ranks = devices;
        PS_TRY(open_one(run, one, share, k ? &(*out)->others[k - 1] : out));
    }
    return PS_OK;
}

int fmm_adaptive_gpu_count(const fmm_adaptive_gpu *g)
{
    int count = 1;
    while (count < FMM_DEVICES_MAX && g->others[count - 1]) ++count;
    return count;
}

static void give(fmm_adaptive_gpu *g, void **memory)
{
    ps_device_free(g->device, *memory);
    *memory = NULL;
}

/* Particles, unless the tree has grown there, results and vectors. */
static void give_sets(fmm_adaptive_gpu *g)
{
    for (int set = 0; set < 2 && !g->grown; ++set) give(g, &g->rows[set]);
    give(g, &g->results);
    give(g, &g->block);
}

void fmm_adaptive_gpu_free_order(fmm_adaptive_gpu *g)
{
    give_sets(g);
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) {
        give(g, &g->table_blocks[l]);
    }
}

static ps_status drop_tree(fmm_adaptive_gpu *g)
{
    g->grown = false;
    fmm_adaptive_gpu_free_order(g);
    give(g, &g->sorting);
    give(g, &g->growth);
    fmm_traffic_close(&g->traffic);
    return fmm_traffic_open(g->device, g->streams[0], &g->traffic);
}

ps_status fmm_adaptive_gpu_drop_tree(fmm_adaptive_gpu *g)
{
    for (int k = 0; k < FMM_DEVICES_MAX - 1 && g->others[k]; ++k) PS_TRY(drop_tree(g->others[k]));
    return drop_tree(g);
}

void fmm_adaptive_gpu_empty(fmm_adaptive_gpu *g)
{
    bool grown = g->grown;
    if (grown && fmm_adaptive_gpu_drop_tree(g) != PS_OK) return;
    g->grown = grown;
}

void fmm_adaptive_gpu_close(fmm_adaptive_gpu **gpu)
{
    fmm_adaptive_gpu *g = *gpu;
    if (!g) return;
    for (int k = 0; k < FMM_DEVICES_MAX - 1; ++k) fmm_adaptive_gpu_close(&g->others[k]);
    if (g->device) {
        drop_tree(g);
        fmm_traffic_close(&g->traffic);
        for (int i = 0; i <= PS_ADAPTIVE_DEVICE_STAGES; ++i) ps_event_close(&g->marks[i]);
        ps_event_close(&g->forked);
        ps_event_close(&g->met);
        for (int i = 0; i < 2; ++i) ps_stream_close(&g->streams[i]);
        ps_device_close(&g->device);
    }
    ps_adaptive_plan_release(&g->plan);
    PS_FREE(g->share.first, g);
    *gpu = NULL;
}

/* ---- the plan ---- */

void fmm_adaptive_gpu_begin(fmm_adaptive_gpu *g)
{
    memset(g->stages, 0, sizeof g->stages);
    g->moving = g->evaluation = 0;
    for (int k = 1; k < fmm_adaptive_gpu_count(g); ++k) fmm_adaptive_gpu_begin(g->others[k - 1]);
}

static ps_status load_tables(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    for (int l = 2; l < q->tree->levels; ++l) {
        int own = l > 2 && q->tables[l] == q->tables[2] ? 2 : l;
        g->run.tables[l] = &g->tables[own];
        g->run.factors[l] = q->factors[l];
        if (own != l) continue;
        PS_TRY(
            fmm_operators_upload(q->tables[l], g->streams[0], &g->table_blocks[l], &g->tables[l]));
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
    for (int k = 1; k < fmm_adaptive_gpu_count(g); ++k)
        fmm_adaptive_gpu_sum(g->others[k - 1], columns, pass);
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

ps_status fmm_adaptive_gpu_configure(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    fmm_adaptive_gpu_free_order(g);
    g->bytes = 0;
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
    return load_tables(g, q);
}

ps_status fmm_adaptive_gpu_plan(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    for (int k = 1; k < fmm_adaptive_gpu_count(g); ++k)
        PS_TRY(fmm_adaptive_gpu_plan(g->others[k - 1], q));
    if (!g->grown) PS_TRY(make_lists(g, q));
    PS_TRY(fmm_adaptive_gpu_configure(g, q));
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

ps_status fmm_adaptive_gpu_room(fmm_adaptive_gpu *g)
{
    ps_share_ticket *ticket = &g->ticket;
    g->shared = ps_comm_size() > 1 && g->share.rank == 0 &&
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
    PS_TRY(fmm_adaptive_gpu_room(g));
    return ps_adaptive_device_load(&g->run);
}

static ps_status add_seconds(ps_event *from, ps_event *to, double *sum)
{
    double seconds;
    PS_TRY(ps_event_seconds(from, to, &seconds));
    *sum += seconds;
    return PS_OK;
}

ps_status fmm_adaptive_gpu_evaluate(fmm_adaptive_gpu *g)
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
    PS_TRY(fmm_adaptive_gpu_evaluate(g));
    start = ps_clock();
    PS_TRY(ps_copy_to_host(g->run.far, results, g->results, result_bytes(g)));
    PS_TRY(ps_stream_wait(g->run.far));
    g->moving += ps_clock() - start;
    fmm_adaptive_gpu_free_order(g);
    return PS_OK;
}

/* ---- by stretches ---- */

ps_status fmm_adaptive_gpu_stretch_plan(fmm_adaptive_gpu *g, const ps_adaptive_tree *tree,
                                        ps_adaptive_rule rule, int64_t *bytes)
{
    double start = ps_clock();
    ps_adaptive_plan_release(&g->plan);
    PS_TRY(ps_adaptive_plan_make(tree, rule, NULL, &g->plan));
    g->listing += ps_clock() - start;
    *bytes = g->bytes + column_bytes(g, tree, 0) + result_bytes(g) +
             ps_adaptive_device_place(&g->run, NULL);
    return PS_OK;
}

/* Between the host's multipoles, [sides][cells][l^3], and those of the device. */
static ps_status move_multipoles(fmm_adaptive_gpu *g, void *vectors, bool back)
{
    const ps_fmm_device_method *m = &g->run.method;
    int64_t bytes =
        m->sides * g->plan.tree->cells * m->interpolation.points * ps_real_bytes(m->far);
    return back ? ps_copy_to_host(g->run.far, vectors, g->run.multipoles, bytes)
                : ps_copy_to_device(g->run.far, g->run.multipoles, vectors, bytes);
}

/* Rows of some targets alone. */
static ps_status fetch_results(fmm_adaptive_gpu *g, ps_fmm_range own, double *results)
{
    int64_t n = g->plan.tree->sets[0].points.count;
    for (int row = 0; row < g->result_rows && own.end > own.begin; ++row)
        PS_TRY(ps_copy_to_host(g->run.far, results + row * n + own.begin,
                               (double *)g->results + row * n + own.begin,
                               8 * ps_adaptive_size(own)));
    return PS_OK;
}

ps_status fmm_adaptive_gpu_stretch(fmm_adaptive_gpu *g, double *columns, void *vectors,
                                   ps_fmm_range own, double *results)
{
    double start = ps_clock();
    double *const sets[2] = {columns, NULL};
    PS_TRY(send(g, sets));
    PS_TRY(move_multipoles(g, vectors, false));
    g->moving += ps_clock() - start;
    g->run.given = true;
    PS_TRY(results ? fmm_adaptive_gpu_evaluate(g) : ps_adaptive_device_multipoles(&g->run));
    g->run.given = false;
    start = ps_clock();
    PS_TRY(results ? fetch_results(g, own, results) : move_multipoles(g, vectors, true));
    PS_TRY(ps_stream_wait(g->run.far));
    g->moving += ps_clock() - start;
    give_sets(g);
    return PS_OK;
}

void fmm_adaptive_gpu_report(const fmm_adaptive_gpu *g, bool done, ps_report *report)
{
    ps_report_section(report, "device");
    ps_report_text(report, "device", ps_device_describe(g->device).name);
    if (g->others[0]) ps_report_int(report, "devices", fmm_adaptive_gpu_count(g));
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
