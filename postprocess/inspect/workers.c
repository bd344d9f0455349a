/* Worker logs: who took how long, and the stages. The data are read: a few kilobytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/worker_log.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* The sum of the log's seconds, and of the slowest worker's of every iteration. */
typedef struct time_sums {
    double all, slowest;
} time_sums;

static double seconds_of(const ps_worker_log *log, int worker)
{
    double sum = 0;
    for (int64_t n = 0; n < log->iterations; ++n) sum += log->seconds[n * log->workers + worker];
    return sum;
}

static time_sums sum_up(const ps_worker_log *log)
{
    time_sums sums = {0, 0};
    for (int64_t n = 0; n < log->iterations; ++n) {
        double slowest = 0;
        for (int w = 0; w < log->workers; ++w) {
            sums.all += log->seconds[n * log->workers + w];
            slowest = fmax(slowest, log->seconds[n * log->workers + w]);
        }
        sums.slowest += slowest;
    }
    return sums;
}

/* The median, over the last half of the iterations, of the slowest worker's seconds: what an
 * iteration takes when intervals have settled. *out is left where there is no memory. */
static void median_at_the_end(const ps_worker_log *log, double *out)
{
    int64_t first = log->iterations / 2, count = log->iterations - first;
    PS_SCOPED_MEMORY double *slowest = NULL;
    if (count == 0 || PS_ALLOC(&slowest, count, "seconds of iterations") != PS_OK) return;
    for (int64_t n = 0; n < count; ++n)
        for (int w = 0; w < log->workers; ++w)
            slowest[n] = fmax(slowest[n], log->seconds[(first + n) * log->workers + w]);
    qsort(slowest, (size_t)count, sizeof *slowest, ps_compare_reals);
    *out = slowest[count / 2];
}

/* A line each: seconds, share of the time of all workers, interval and items at the end. */
static void report_worker(const ps_worker_log *log, int worker, double all, ps_report *report)
{
    char line[160];
    double seconds = seconds_of(log, worker);
    const int64_t *last = log->bounds + 2 * ((log->iterations - 1) * log->workers + worker);
    snprintf(line, sizeof line, "%.4g s, %.2f %% of all, at the end %s [%lld, %lld): %lld", seconds,
             all > 0 ? 100 * seconds / all : 0, log->items, (long long)last[0], (long long)last[1],
             (long long)(last[1] - last[0]));
    ps_report_text(report, log->names[worker], line);
}

static void report_workers(const ps_worker_log *log, ps_report *report)
{
    time_sums sums = sum_up(log);
    double mean = sums.all / log->workers;
    ps_report_section(report, "workers");
    for (int w = 0; w < log->workers && log->iterations > 0; ++w)
        report_worker(log, w, sums.all, report);
    ps_report_section(report, "iterations");
    ps_report_int(report, "iterations", log->iterations);
    ps_report_real(report, "slowest_seconds", sums.slowest);
    ps_report_real(report, "mean_seconds", mean);
    double median = 0;
    median_at_the_end(log, &median);
    ps_report_real(report, "median_at_the_end", median);
    if (sums.slowest > 0) ps_report_real(report, "balance", 100 * mean / sums.slowest);
}

static void report_stages(const ps_worker_log *log, ps_report *report)
{
    double all = 0;
    for (int s = 0; s < log->stages; ++s) all += ps_worker_log_stage(log, s);
    if (log->stages) ps_report_section(report, "seconds");
    for (int s = 0; s < log->stages; ++s)
        ps_report_real(report, log->stage_names[s], ps_worker_log_stage(log, s));
    if (all > 0) ps_report_section(report, "percent");
    for (int s = 0; s < log->stages && all > 0; ++s)
        ps_report_real(report, log->stage_names[s], 100 * ps_worker_log_stage(log, s) / all);
}

ps_status inspect_report_workers(ps_store *store, ps_report *report)
{
    PS_SCOPED(ps_worker_log_release) ps_worker_log log = {0};
    PS_TRY(ps_worker_log_read(store, &log));
    report_workers(&log, report);
    report_stages(&log, report);
    return PS_OK;
}
