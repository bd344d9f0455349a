#include "compute/fmm/adaptive_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

ps_status fmm_adaptive_gpu_open(const ps_run *run, fmm_adaptive_gpu **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the evaluation on a device"));
    fmm_adaptive_gpu *g = *out;
    PS_TRY(ps_device_open(strcmp(run->device, "auto") ? run->device : "cuda", 0, &g->device));
    PS_TRY(ps_stream_open_ahead(g->device, &g->streams[0]));
    PS_TRY(ps_stream_open(g->device, &g->streams[1]));
    PS_TRY(ps_event_open(g->device, &g->forked));
    PS_TRY(ps_event_open(g->device, &g->met));
    for (int i = 0; i <= PS_ADAPTIVE_DEVICE_STAGES; ++i)
        PS_TRY(ps_event_open(g->device, &g->marks[i]));
    return PS_OK;
}

/* What is of one order: the device's memory. */
static void empty(fmm_adaptive_gpu *g)
{
    void **memory[] = {&g->rows[0], &g->rows[1], &g->results, &g->block};
    for (int i = 0; i < 4; ++i) {
        ps_device_free(g->device, *memory[i]);
        *memory[i] = NULL;
    }
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) {
        ps_device_free(g->device, g->table_blocks[l]);
        g->table_blocks[l] = NULL;
    }
}

void fmm_adaptive_gpu_close(fmm_adaptive_gpu **gpu)
{
    fmm_adaptive_gpu *g = *gpu;
    if (!g) return;
    if (g->device) {
        empty(g);
        for (int i = 0; i <= PS_ADAPTIVE_DEVICE_STAGES; ++i) ps_event_close(&g->marks[i]);
        ps_event_close(&g->forked);
        ps_event_close(&g->met);
        for (int i = 0; i < 2; ++i) ps_stream_close(&g->streams[i]);
        ps_device_close(&g->device);
    }
    ps_adaptive_plan_release(&g->plan);
    free(g);
    *gpu = NULL;
}

/* ---- the plan ---- */

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

static int64_t column_bytes(const ps_adaptive_problem *q, int set)
{
    return 8 * (set ? 3 : 3 + q->sides) * q->tree->sets[set].points.count;
}

static int last_set(const fmm_adaptive_gpu *g) { return g->plan.tree->same ? 0 : 1; }

static int64_t result_bytes(const fmm_adaptive_gpu *g)
{
    return 8 * 4 * g->run.method.sides * g->plan.tree->sets[last_set(g)].points.count;
}

static ps_status make_lists(fmm_adaptive_gpu *g, const ps_adaptive_problem *q)
{
    double start = ps_clock();
    ps_adaptive_plan_release(&g->plan);
    PS_TRY(ps_adaptive_plan_make(q->tree, q->rule, &g->plan));
    g->listing = ps_clock() - start;
    return PS_OK;
}

ps_status fmm_adaptive_gpu_plan(fmm_adaptive_gpu *g, const ps_run *run,
                                const ps_adaptive_problem *q)
{
    int64_t most = ps_device_describe(g->device).memory_free;
    if (run->device_memory > 0 && run->device_memory < most) most = run->device_memory;
    empty(g);
    g->bytes = 0;
    PS_TRY(make_lists(g, q));
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
    PS_TRY(load_tables(g, q));
    for (int set = 0; set <= last_set(g); ++set) g->bytes += column_bytes(q, set);
    g->bytes += result_bytes(g) + ps_adaptive_device_place(&g->run, NULL);
    if (g->bytes <= most) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "an adaptive tree on a device takes %.2f GB of its memory, and %.2f GB are free "
                   "or allowed; --device cpu or --tree uniform do with less",
                   1e-9 * (double)g->bytes, 1e-9 * (double)most);
}

int64_t fmm_adaptive_gpu_host_bytes(const fmm_adaptive_gpu *g)
{
    int64_t bytes = 0;
    for (int i = 0; i < PS_PLAN_PARTS; ++i) bytes += g->plan.part[i].count * g->plan.part[i].size;
    return bytes;
}

/* ---- the run ---- */

static ps_status send(fmm_adaptive_gpu *g, double *const columns[2])
{
    for (int set = 0; set <= last_set(g); ++set) {
        int64_t bytes =
            8 * (set ? 3 : 3 + g->run.method.sides) * g->plan.tree->sets[set].points.count;
        PS_TRY(ps_device_alloc(g->device, bytes, &g->rows[set]));
        PS_TRY(ps_copy_to_device(g->run.far, g->rows[set], columns[set], bytes));
        g->run.rows[set] = g->rows[set];
    }
    PS_TRY(ps_device_alloc(g->device, result_bytes(g), &g->results));
    g->run.results = g->results;
    PS_TRY(ps_device_alloc(g->device, ps_adaptive_device_place(&g->run, NULL), &g->block));
    ps_adaptive_device_place(&g->run, g->block);
    return ps_adaptive_device_load(&g->run);
}

ps_status fmm_adaptive_gpu_run(fmm_adaptive_gpu *g, double *const columns[2], double *results)
{
    double start = ps_clock();
    PS_TRY(send(g, columns));
    g->moving = ps_clock() - start;
    PS_TRY(ps_adaptive_device_run(&g->run));
    PS_TRY(ps_stream_wait(g->run.far));
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        PS_TRY(ps_event_seconds(g->marks[s], g->marks[s + 1], &g->stages[s]));
    PS_TRY(ps_event_seconds(g->marks[0], g->marks[PS_ADAPTIVE_DEVICE_STAGES], &g->evaluation));
    start = ps_clock();
    PS_TRY(ps_copy_to_host(g->run.far, results, g->results, result_bytes(g)));
    PS_TRY(ps_stream_wait(g->run.far));
    g->moving += ps_clock() - start;
    empty(g);
    return PS_OK;
}

void fmm_adaptive_gpu_report(const fmm_adaptive_gpu *g, bool done, ps_report *report)
{
    ps_report_section(report, "device");
    ps_report_text(report, "device", ps_device_describe(g->device).name);
    ps_report_int(report, "device_memory", g->bytes);
    ps_report_real(report, "lists", g->listing);
    if (!done) return;
    ps_report_real(report, "moving", g->moving);
    ps_report_real(report, "sums", g->evaluation);
    ps_report_section(report, "device_stages");
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        ps_report_real(report, ps_adaptive_device_stage_names[s], g->stages[s]);
}
