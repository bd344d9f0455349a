/* What a task trace tells: times on both classes, bounds, shares of the workers, its soundness. */
#include <math.h>
#include <stdlib.h>

#include "formats/task_trace.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { CLASSES = 2 }; /* CPU, GPU */

/* Of one kind on one class. */
typedef struct kind_times {
    double forecast, measured; /* sums, s                            */
    double best;               /* flop/s; 0: nothing is known        */
} kind_times;

static int class_of(const ps_task_trace *trace, const ps_task_record *r)
{
    return r->worker < trace->cpus ? 0 : 1;
}

static double forecast_of(const ps_task_record *r, int class)
{
    return class ? r->gpu_seconds : r->cpu_seconds;
}

static void gather(const ps_task_trace *trace, kind_times (*sums)[CLASSES])
{
    for (int64_t t = 0; t < trace->count; ++t) {
        const ps_task_record *r = &trace->records[t];
        kind_times *own = &sums[r->kind][class_of(trace, r)];
        double seconds = r->end - r->start;
        if (isfinite(forecast_of(r, class_of(trace, r))))
            own->forecast += forecast_of(r, class_of(trace, r));
        own->measured += seconds;
        if (seconds > 0) own->best = fmax(own->best, r->flop / seconds);
    }
    for (int k = 0; k < trace->kind_count; ++k) {
        if (trace->kinds[k].cpu_rate > 0) sums[k][0].best = trace->kinds[k].cpu_rate;
        if (trace->kinds[k].gpu_rate > 0) sums[k][1].best = trace->kinds[k].gpu_rate;
    }
}

static double time_on(const ps_task_trace *trace, const ps_task_record *r, int class, bool best,
                      const kind_times *sums)
{
    double forecast = forecast_of(r, class);
    bool own = class_of(trace, r) == class;
    if (isinf(forecast) && !own) return INFINITY;
    if (best && sums->best > 0 && r->flop > 0) return r->flop / sums->best;
    bool calibrated = sums->forecast > 0 && sums->measured > 0 && isfinite(forecast);
    if (own && (class == 0 || !calibrated)) return r->end - r->start;
    return calibrated ? forecast * sums->measured / sums->forecast : forecast;
}

void ps_task_trace_times(const ps_task_trace *trace, bool best, double *cpu, double *gpu)
{
    kind_times sums[PS_TASK_KINDS_MAX][CLASSES] = {0};
    gather(trace, sums);
    for (int64_t t = 0; t < trace->count; ++t) {
        const ps_task_record *r = &trace->records[t];
        cpu[t] = time_on(trace, r, 0, best, &sums[r->kind][0]);
        gpu[t] = time_on(trace, r, 1, best, &sums[r->kind][1]);
    }
}

static ps_status find_bounds(const ps_task_trace *trace, double *room, ps_task_summary *out)
{
    ps_task_times times = {trace->count, room, room + trace->count, trace->cpus, trace->gpus};
    ps_task_trace_times(trace, false, room, room + trace->count);
    PS_TRY(ps_schedule_bound_find(&times, &out->lp));
    PS_TRY(ps_schedule_bound_check(&times, &out->lp));
    ps_task_trace_times(trace, true, room, room + trace->count);
    PS_TRY(ps_schedule_bound_find(&times, &out->lp_best));
    return ps_schedule_bound_check(&times, &out->lp_best);
}

ps_status ps_task_trace_summarise(const ps_task_trace *trace, ps_task_summary *out)
{
    double begin = INFINITY, end = 0;
    PS_SCOPED_MEMORY double *room = NULL;
    for (int64_t t = 0; t < trace->count; ++t) {
        begin = fmin(begin, fmin(trace->records[t].ready, trace->records[t].start));
        end = fmax(end, trace->records[t].end);
    }
    *out = (ps_task_summary){0};
    out->begin = trace->count ? begin : 0;
    out->makespan = trace->count ? end - begin : 0;
    PS_TRY(PS_ALLOC(&room, 2 * trace->count, "the times of tasks"));
    return find_bounds(trace, room, out);
}

/* ---- workers ---- */

typedef struct placed {
    int worker;
    int64_t order, task;
} placed;

static int by_worker(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->worker != y->worker) return x->worker < y->worker ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* All tasks by worker and order; the caller frees them. */
static ps_status place_tasks(const ps_task_trace *trace, placed **out)
{
    PS_TRY(PS_ALLOC(out, trace->count, "the order of tasks"));
    for (int64_t t = 0; t < trace->count; ++t)
        (*out)[t] = (placed){trace->records[t].worker, trace->records[t].order, t};
    qsort(*out, (size_t)trace->count, sizeof **out, by_worker);
    return PS_OK;
}

/* Between the former task's end and this one's beginning. */
static double overhead_of(const ps_task_trace *trace, const ps_task_record *r, double former_end)
{
    bool chosen = r->worker < trace->cpus && trace->gpus > 0 && !isinf(r->gpu_seconds);
    double late = r->start - r->waited - fmax(former_end, r->ready);
    return chosen ? 0 : fmax(late, 0);
}

ps_status ps_task_trace_workers(const ps_task_trace *trace, const ps_task_summary *summary,
                                ps_worker_times *out)
{
    PS_SCOPED_MEMORY placed *all = NULL;
    int workers = trace->cpus + trace->gpus;
    PS_TRY(place_tasks(trace, &all));
    double former_end = summary->begin;
    for (int w = 0; w < workers; ++w) out[w] = (ps_worker_times){0};
    for (int64_t i = 0; i < trace->count; ++i) {
        const ps_task_record *r = &trace->records[all[i].task];
        ps_worker_times *own = &out[r->worker];
        if (i == 0 || all[i - 1].worker != r->worker) former_end = summary->begin;
        ++own->tasks;
        own->busy += r->end - r->start;
        own->waited += r->waited;
        own->overhead += overhead_of(trace, r, former_end);
        former_end = fmax(former_end, r->end);
        own->bytes += r->bytes;
    }
    for (int w = 0; w < workers; ++w)
        out[w].idle = summary->makespan - out[w].busy - out[w].waited - out[w].overhead;
    return PS_OK;
}

/* ---- could it have been? ---- */

static const double tolerance = 1e-9; /* s */

/* Tasks of no length are what a GPU ran beside others. */
static ps_status verify_workers(const ps_task_trace *trace)
{
    PS_SCOPED_MEMORY placed *all = NULL;
    PS_TRY(place_tasks(trace, &all));
    ps_status status = PS_OK;
    int64_t last = 0; /* the last one that took time */
    for (int64_t i = 1; i < trace->count && status == PS_OK; ++i) {
        const ps_task_record *former = &trace->records[all[last].task];
        const ps_task_record *next = &trace->records[all[i].task];
        bool other = former->worker != next->worker,
             at_once = next->start < former->end - tolerance;
        bool same = all[i - 1].worker == next->worker && all[i - 1].order == next->order;
        if (same || (!other && at_once && next->end > next->start))
            status = ps_fail(PS_INVALID, "worker %d runs tasks %lld and %lld at once", next->worker,
                             (long long)all[same ? i - 1 : last].task, (long long)all[i].task);
        if (other || next->end > next->start) last = i;
    }
    return status;
}

static ps_status verify_dependencies(const ps_task_trace *trace)
{
    for (int64_t t = 0; t < trace->count && trace->first; ++t)
        for (int64_t e = trace->first[t]; e < trace->first[t + 1]; ++e)
            if (trace->records[t].start < trace->records[trace->before[e]].end - tolerance)
                return ps_fail(PS_INVALID,
                               "task %lld starts before task %lld, for which it waits, "
                               "has ended",
                               (long long)t, (long long)trace->before[e]);
    return PS_OK;
}

ps_status ps_task_trace_verify(const ps_task_trace *trace)
{
    ps_task_summary summary;
    PS_TRY(verify_workers(trace));
    PS_TRY(verify_dependencies(trace));
    PS_TRY(ps_task_trace_summarise(trace, &summary));
    if (summary.lp.seconds > summary.makespan * (1 + 1e-9) + tolerance)
        return ps_fail(PS_INVALID, "a makespan of %.9g s is below the bound of %.9g s",
                       summary.makespan, summary.lp.seconds);
    return PS_OK;
}
