/* Task traces: shares of the workers, kinds, makespan and bounds. All of the file is read. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/task_trace.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void report_bounds(const ps_task_summary *sum, ps_report *report)
{
    double makespan = sum->makespan;
    ps_report_section(report, "schedule");
    ps_report_real(report, "makespan", makespan);
    ps_report_real(report, "lp", sum->lp.seconds);
    ps_report_real(report, "lp_best_rates", sum->lp_best.seconds);
    ps_report_real(report, "lp_lambda", sum->lp.lambda);
    ps_report_real(report, "lp_mu", sum->lp.mu);
    if (sum->lp.seconds > 0) ps_report_real(report, "makespan_over_lp", makespan / sum->lp.seconds);
}

static ps_status report_workers(const ps_task_trace *trace, const ps_task_summary *summary,
                                ps_report *report)
{
    double makespan = summary->makespan;
    PS_SCOPED_MEMORY ps_worker_times *workers = NULL;
    PS_TRY(PS_ALLOC(&workers, trace->cpus + trace->gpus, "workers"));
    PS_TRY(ps_task_trace_workers(trace, summary, workers));
    ps_report_section(report, "workers");
    for (int w = 0; w < trace->cpus + trace->gpus; ++w) {
        char name[32], line[160];
        const ps_worker_times *own = &workers[w];
        bool gpu = w >= trace->cpus;
        snprintf(name, sizeof name, "%s_%d", gpu ? "gpu" : "cpu", gpu ? w - trace->cpus : w);
        snprintf(line, sizeof line,
                 "%lld tasks, busy %.4g s (%.2f %%), waiting for data %.2f %%, overhead %.2f %%, "
                 "idle %.2f %%, %.4g MB moved",
                 (long long)own->tasks, own->busy, percent(own->busy, makespan),
                 percent(own->waited, makespan), percent(own->overhead, makespan),
                 percent(own->idle, makespan), 1e-6 * own->bytes);
        ps_report_text(report, name, line);
    }
    return PS_OK;
}

/* A line a kind: tasks, seconds and rate on each class. */
static void report_kind(const ps_task_trace *trace, int kind, ps_report *report)
{
    int64_t tasks[2] = {0};
    double seconds[2] = {0}, flop[2] = {0};
    char line[200];
    for (int64_t t = 0; t < trace->count; ++t) {
        const ps_task_record *r = &trace->records[t];
        int gpu = r->worker >= trace->cpus;
        if (r->kind != kind) continue;
        ++tasks[gpu];
        seconds[gpu] += r->end - r->start;
        flop[gpu] += r->flop;
    }
    int used =
        snprintf(line, sizeof line, "CPU %lld tasks, %.4g s", (long long)tasks[0], seconds[0]);
    if (flop[0] > 0 && seconds[0] > 0)
        used += snprintf(line + used, sizeof line - (size_t)used, ", %.4g GF/s",
                         1e-9 * flop[0] / seconds[0]);
    if (trace->gpus)
        used += snprintf(line + used, sizeof line - (size_t)used, "; GPU %lld tasks, %.4g s",
                         (long long)tasks[1], seconds[1]);
    if (flop[1] > 0 && seconds[1] > 0)
        snprintf(line + used, sizeof line - (size_t)used, ", %.4g GF/s",
                 1e-9 * flop[1] / seconds[1]);
    ps_report_text(report, trace->kinds[kind].name, line);
}

ps_status inspect_report_tasks(ps_store *store, ps_report *report)
{
    PS_SCOPED(ps_task_trace_release) ps_task_trace trace = {0};
    ps_task_summary summary;
    PS_TRY(ps_task_trace_read(store, &trace));
    PS_TRY(ps_task_trace_summarise(&trace, &summary));
    report_bounds(&summary, report);
    PS_TRY(report_workers(&trace, &summary, report));
    ps_report_section(report, "kinds");
    for (int k = 0; k < trace.kind_count; ++k) report_kind(&trace, k, report);
    return PS_OK;
}
