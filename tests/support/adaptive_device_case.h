/* adaptive_device_case: an adaptive_case on a CUDA device (kernels/fmm/adaptive_device.h), with its
 * plan, operators, memory, streams and events. */
#ifndef PS_TESTS_SUPPORT_ADAPTIVE_DEVICE_CASE_H
#define PS_TESTS_SUPPORT_ADAPTIVE_DEVICE_CASE_H

#include "kernels/fmm/adaptive_device.h"
#include "kernels/fmm/device_growth.h"
#include "kernels/fmm/device_table.h"
#include "kernels/fmm/device_tree.h"
#include "runtime/scope.h"
#include "tests/support/essential_case.h"

typedef struct adaptive_device_case {
    const adaptive_case *host;
    ps_adaptive_device run;
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_ADAPTIVE_DEVICE_STAGES + 1];
    ps_fmm_device_table tables[PS_ADAPTIVE_LEVELS];
    void *table_blocks[PS_ADAPTIVE_LEVELS], *rows[2], *results, *block;
    int64_t bytes;
} adaptive_device_case;

static inline void adaptive_device_release(adaptive_device_case *c)
{
    if (!c->device) return;
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) ps_device_free(c->device, c->table_blocks[l]);
    void *memory[] = {c->rows[0], c->rows[1], c->results, c->block};
    for (int i = 0; i < 4; ++i) ps_device_free(c->device, memory[i]);
    for (int e = 0; e <= PS_ADAPTIVE_DEVICE_STAGES; ++e) ps_event_close(&c->marks[e]);
    ps_event_close(&c->forked);
    ps_event_close(&c->met);
    for (int s = 0; s < 2; ++s) ps_stream_close(&c->streams[s]);
    ps_device_close(&c->device);
}

static inline ps_status adaptive_device_open(adaptive_device_case *c)
{
    *c = (adaptive_device_case){0};
    PS_TRY(ps_device_open("cuda:0", 0, &c->device));
    PS_TRY(ps_stream_open_ahead(c->device, &c->streams[0]));
    PS_TRY(ps_stream_open(c->device, &c->streams[1]));
    PS_TRY(ps_event_open(c->device, &c->forked));
    PS_TRY(ps_event_open(c->device, &c->met));
    for (int e = 0; e <= PS_ADAPTIVE_DEVICE_STAGES; ++e)
        PS_TRY(ps_event_open(c->device, &c->marks[e]));
    return PS_OK;
}

/* Memory again, of the size that is wanted. */
static inline ps_status adaptive_device_again(adaptive_device_case *c, void **memory, int64_t bytes)
{
    ps_device_free(c->device, *memory);
    *memory = NULL;
    return ps_device_alloc(c->device, bytes, memory);
}

static inline ps_status adaptive_device_table(adaptive_device_case *c, int level)
{
    const ps_fmm_m2l_table *table = c->host->problem.tables[level];
    int64_t bytes = ps_fmm_device_table_bytes(table);
    PS_SCOPED_MEMORY void *block = NULL;
    PS_TRY(ps_alloc(&block, bytes, 1, "operators for the device"));
    ps_status status = ps_fmm_device_table_pack(table, block, &c->tables[level]);
    if (status == PS_OK) status = adaptive_device_again(c, &c->table_blocks[level], bytes);
    if (status == PS_OK)
        status = ps_copy_to_device(c->streams[0], c->table_blocks[level], block, bytes);
    if (status == PS_OK) status = ps_stream_wait(c->streams[0]);
    c->tables[level].block = c->table_blocks[level];
    return status;
}

/* Operators of the host's problem, which is in fp64. */
static inline ps_status adaptive_device_tables(adaptive_device_case *c)
{
    const ps_adaptive_problem *p = &c->host->problem;
    for (int l = 2; l < c->host->tree.levels; ++l) {
        bool again = l > 2 && p->tables[l] == p->tables[2];
        if (!again) PS_TRY(adaptive_device_table(c, l));
        c->run.tables[l] = &c->tables[again ? 2 : l];
        c->run.factors[l] = p->factors[l];
    }
    return PS_OK;
}

/* Particles in the order of the tree. */
static inline ps_status adaptive_device_particles(adaptive_device_case *c)
{
    const adaptive_case *h = c->host;
    int last = h->tree.same ? 0 : 1;
    for (int set = 0; set <= last; ++set) {
        int64_t bytes = 8 * (set ? 3 : 4) * h->count[set];
        PS_TRY(adaptive_device_again(c, &c->rows[set], bytes));
        PS_TRY(ps_copy_to_device(c->streams[0], c->rows[set], h->sorted[set], bytes));
        c->run.rows[set] = c->rows[set];
    }
    PS_TRY(adaptive_device_again(c, &c->results, 8 * 4 * h->count[last]));
    c->run.results = c->results;
    return ps_stream_wait(c->streams[0]);
}

/* For a plan of the host's tree; may be called again. */
static inline ps_status adaptive_device_take(adaptive_device_case *c, const adaptive_case *host,
                                             const ps_adaptive_plan *plan, ps_precision far,
                                             ps_precision near)
{
    c->host = host;
    c->run.plan = plan;
    c->run.method = (ps_fmm_device_method){.sides = 1,
                                           .far = far,
                                           .near = near,
                                           .function = host->problem.function,
                                           .interpolation = host->problem.interpolation};
    c->run.gradient = true;
    c->run.far = c->streams[0];
    c->run.forked = c->forked;
    c->run.met = c->met;
    c->run.marks = c->marks;
    PS_TRY(adaptive_device_tables(c));
    PS_TRY(adaptive_device_particles(c));
    c->bytes = ps_adaptive_device_place(&c->run, NULL);
    PS_TRY(adaptive_device_again(c, &c->block, c->bytes));
    ps_adaptive_device_place(&c->run, c->block);
    return ps_adaptive_device_load(&c->run);
}

/* Seconds, and those of the stages; serial: all on one stream. Waits. */
static inline ps_status adaptive_device_run(adaptive_device_case *c, bool serial, double *seconds,
                                            double *stages)
{
    c->run.near = c->streams[serial ? 0 : 1];
    PS_TRY(ps_adaptive_device_run(&c->run));
    PS_TRY(ps_stream_wait(c->streams[0]));
    if (stages)
        for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
            PS_TRY(ps_event_seconds(c->marks[s], c->marks[s + 1], &stages[s]));
    return seconds ? ps_event_seconds(c->marks[0], c->marks[PS_ADAPTIVE_DEVICE_STAGES], seconds)
                   : PS_OK;
}

/* ---- all of it on the device: sort, tree, lists, sums, and results back in the made order ---- */

typedef enum adaptive_whole_stage {
    ADAPTIVE_WHOLE_SORT,
    ADAPTIVE_WHOLE_GATHER,
    ADAPTIVE_WHOLE_TREE, /* with lists; the host waits some 20 times */
    ADAPTIVE_WHOLE_SUMS,
    ADAPTIVE_WHOLE_SCATTER,
    ADAPTIVE_WHOLE_STAGES
} adaptive_whole_stage;

typedef struct adaptive_whole {
    void *columns, *results; /* on the device, as made: [4][n] each */
    void *sorting, *memory;
    int64_t sort_bytes, memory_bytes;
    ps_device_sort sort;
    ps_adaptive_tree tree; /* its shape */
    ps_adaptive_plan plan; /* counts    */
    void *parts[PS_PLAN_PARTS];
    int64_t used;
    ps_event *marks[ADAPTIVE_WHOLE_STAGES + 1];
} adaptive_whole;

/* After adaptive_device_take, whose method and tables serve; memory for trees and vectors. */
static inline ps_status adaptive_whole_open(adaptive_device_case *c, int64_t memory,
                                            adaptive_whole *w)
{
    const adaptive_case *h = c->host;
    int64_t n = h->count[0];
    *w = (adaptive_whole){.memory_bytes = memory};
    w->sort = (ps_device_sort){.count = n, .level = PS_GROWTH_LEVEL, .box = h->tree.box};
    PS_TRY(ps_device_sort_bytes(&w->sort, c->streams[0], &w->sort_bytes));
    PS_TRY(ps_device_alloc(c->device, w->sort_bytes, &w->sorting));
    PS_TRY(ps_device_alloc(c->device, memory, &w->memory));
    PS_TRY(ps_device_alloc(c->device, 32 * n, &w->columns));
    PS_TRY(ps_device_alloc(c->device, 32 * n, &w->results));
    for (int e = 0; e <= ADAPTIVE_WHOLE_STAGES; ++e) PS_TRY(ps_event_open(c->device, &w->marks[e]));
    ps_device_sort_attach(&w->sort, w->sorting);
    PS_TRY(ps_copy_to_device(c->streams[0], w->columns, h->made[0], 32 * n));
    return ps_stream_wait(c->streams[0]);
}

static inline void adaptive_whole_close(adaptive_device_case *c, adaptive_whole *w)
{
    void *memory[] = {w->columns, w->results, w->sorting, w->memory};
    for (int i = 0; i < 4; ++i) ps_device_free(c->device, memory[i]);
    for (int e = 0; e <= ADAPTIVE_WHOLE_STAGES; ++e) ps_event_close(&w->marks[e]);
}

static inline ps_status adaptive_whole_grow(adaptive_device_case *c, adaptive_whole *w,
                                            ps_adaptive_rule rule)
{
    ps_device_growth growth = {
        .stream = c->streams[0], .block = w->memory, .bytes = w->memory_bytes};
    ps_growth_engine engine = ps_device_growth_engine(&growth);
    w->tree = (ps_adaptive_tree){.box = c->host->tree.box,
                                 .leaf_size = c->host->tree.leaf_size,
                                 .same = true,
                                 .sets = {{.points = {.count = c->host->count[0]}}}};
    PS_TRY(ps_adaptive_grow(&engine, w->sort.keys, rule, NULL, &w->tree, &w->plan, w->parts, NULL));
    w->used = growth.used;
    return PS_OK;
}

/* Evaluates; seconds from the first kernel to the last one, by the device's clock, the host's
 * waits within. PS_INVALID: the tree is for the host. */
static inline ps_status adaptive_whole_run(adaptive_device_case *c, adaptive_whole *w,
                                           ps_adaptive_rule rule, double *seconds, double *stages)
{
    int64_t n = c->host->count[0];
    double *x = (double *)w->columns, *rows = (double *)c->rows[0];
    double *from = (double *)c->results, *to = (double *)w->results;
    ps_tree_points points = {n, x, x + n, x + 2 * n};
    ps_device_columns in = {.count = 4}, out = {.count = 4};
    for (int r = 0; r < 4; ++r) {
        in.from[r] = x + r * n;
        in.to[r] = rows + r * n;
        out.from[r] = from + r * n;
        out.to[r] = to + r * n;
    }
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_SORT], c->streams[0]));
    PS_TRY(ps_device_sort_run(&w->sort, &points, c->streams[0]));
    PS_TRY(ps_device_sort_refine(&w->sort, &points, c->host->tree.leaf_size, c->streams[0]));
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_GATHER], c->streams[0]));
    PS_TRY(ps_device_gather(&w->sort, &in, c->streams[0]));
    PS_TRY(ps_device_sort_invert(&w->sort, c->streams[0]));
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_TREE], c->streams[0]));
    PS_TRY(adaptive_whole_grow(c, w, rule));
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_SUMS], c->streams[0]));
    ps_adaptive_device run = c->run;
    run.plan = &w->plan;
    run.grown = w->parts;
    run.near = c->streams[1];
    if (w->used + ps_adaptive_device_place(&run, NULL) > w->memory_bytes)
        return ps_fail(PS_EXHAUSTED, "the vectors do not fit beside the tree");
    ps_adaptive_device_place(&run, (char *)w->memory + w->used);
    PS_TRY(ps_adaptive_device_run(&run));
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_SCATTER], c->streams[0]));
    PS_TRY(ps_device_scatter(&w->sort, &out, c->streams[0]));
    PS_TRY(ps_event_record(w->marks[ADAPTIVE_WHOLE_STAGES], c->streams[0]));
    PS_TRY(ps_stream_wait(c->streams[0]));
    for (int s = 0; s < ADAPTIVE_WHOLE_STAGES; ++s)
        PS_TRY(ps_event_seconds(w->marks[s], w->marks[s + 1], &stages[s]));
    return ps_event_seconds(w->marks[0], w->marks[ADAPTIVE_WHOLE_STAGES], seconds);
}

/* ---- stretch by stretch: the work of an essential_case on the device ---- */

static inline ps_status adaptive_stretch_place(adaptive_device_case *c, essential_case *e,
                                               ps_adaptive_device *run)
{
    int64_t n = ps_essential_particles(&e->essential), bytes = 8 * 4 * (n + 1);
    PS_TRY(adaptive_device_again(c, &c->rows[0], bytes));
    PS_TRY(adaptive_device_again(c, &c->results, bytes));
    PS_TRY(ps_copy_to_device(c->streams[0], c->rows[0], e->particles, 8 * 4 * n));
    run->rows[0] = c->rows[0];
    run->results = c->results;
    int64_t block = ps_adaptive_device_place(run, NULL);
    PS_TRY(adaptive_device_again(c, &c->block, block));
    ps_adaptive_device_place(run, c->block);
    return ps_adaptive_device_load(run);
}

static inline ps_status adaptive_stretch_run(adaptive_device_case *c, essential_case *e, bool lift,
                                             ps_adaptive_plan *plan)
{
    ps_adaptive_device run = c->run;
    const ps_adaptive_tree *t = &e->essential.tree;
    PS_TRY(ps_adaptive_plan_make(t, e->problem.rule, NULL, plan));
    run.plan = plan;
    run.given = true;
    run.near = c->streams[1];
    PS_TRY(adaptive_stretch_place(c, e, &run));
    int64_t n = ps_essential_particles(&e->essential), some = t->cells * essential_vector(e);
    PS_TRY(ps_copy_to_device(c->streams[0], run.multipoles, e->vectors, some));
    PS_TRY(lift ? ps_adaptive_device_multipoles(&run) : ps_adaptive_device_run(&run));
    PS_TRY(lift ? ps_copy_to_host(c->streams[0], e->vectors, run.multipoles, some)
                : ps_copy_to_host(c->streams[0], e->found, c->results, 8 * 4 * n));
    return ps_stream_wait(c->streams[0]);
}

static inline ps_status adaptive_stretch_work(void *self, essential_case *e, bool lift)
{
    PS_SCOPED(ps_adaptive_plan_release) ps_adaptive_plan plan = {0};
    ps_status status = adaptive_stretch_run(self, e, lift, &plan);
    return status;
}

/* Results in the order in which particles were made, from the device: [4][n]. */
static inline ps_status adaptive_whole_fetch(adaptive_device_case *c, const adaptive_whole *w,
                                             double *results)
{
    PS_TRY(ps_copy_to_host(c->streams[0], results, w->results, 32 * c->host->count[0]));
    return ps_stream_wait(c->streams[0]);
}

/* Results in the order of the tree: [4][targets]. */
static inline ps_status adaptive_device_fetch(adaptive_device_case *c, double *results)
{
    int64_t n = c->host->count[c->host->tree.same ? 0 : 1];
    PS_TRY(ps_copy_to_host(c->streams[0], results, c->results, 8 * 4 * n));
    return ps_stream_wait(c->streams[0]);
}

#endif
