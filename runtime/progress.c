#include "runtime/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "runtime/log.h"
#include "runtime/memory.h"

void ps_progress_start(ps_progress *progress, const char *what, const char *unit, int64_t total)
{
    double now = ps_clock();
    *progress = (ps_progress){what, unit, total, now, now};
}

void ps_progress_update(ps_progress *progress, int64_t done)
{
    double now = ps_clock();
    int terminal = isatty(STDERR_FILENO);
    if (!ps_log_enabled(PS_LOG_INFO) || now - progress->shown < (terminal ? 0.2 : 20.0)) return;
    progress->shown = now;
    double rate = (double)done / (now - progress->start);
    double left = rate > 0 ? (double)(progress->total - done) / rate : 0;
    double percent = progress->total > 0 ? 100.0 * (double)done / (double)progress->total : 100;
    if (terminal)
        fprintf(stderr, "\r\033[K%s: %lld of %lld %s (%.0f %%), %.3g/s, %.0f s left",
                progress->what, (long long)done, (long long)progress->total, progress->unit,
                percent, rate, left);
    else
        ps_info("%s: %lld of %lld %s (%.0f %%), %.3g/s, %.0f s left", progress->what,
                (long long)done, (long long)progress->total, progress->unit, percent, rate, left);
}

void ps_progress_end(ps_progress *progress)
{
    if (isatty(STDERR_FILENO) && ps_log_enabled(PS_LOG_INFO)) fprintf(stderr, "\r\033[K");
    progress->shown = ps_clock();
}
