/*
 * Workers over the iterations (Bramas, Coulaud, Sylvand 2014, figure 15), from a worker log: the
 * share of each in the time of all, which balance makes equal; the interval that each held; and
 * the time of the slowest beside the mean, whose distance is idleness.
 */
#include <math.h>
#include <string.h>

#include "formats/worker_log.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { NAMES_SHOWN = 24, BINS_MAX = 1200 };

/* Iterations first .. end - 1 of the log are shown, `width` to a bin. */
typedef struct span {
    int64_t first, end, width;
} span;

static ps_status choose_span(const plot_request *request, const ps_worker_log *log, span *out)
{
    double low, high;
    PS_TRY(plot_x_range(request, &low, &high));
    *out = (span){0, log->iterations, 1};
    if (low < high) { /* people count iterations from 1 */
        out->first = (int64_t)fmax(0, fmin(ceil(low) - 1, (double)log->iterations));
        out->end = (int64_t)fmax(0, fmin(floor(high), (double)log->iterations));
    }
    if (out->first >= out->end)
        return ps_fail(low < high ? PS_USAGE : PS_INVALID,
                       "%s has %lld iterations; there is none to show", request->files[0],
                       (long long)log->iterations);
    out->width = (out->end - out->first - 1) / BINS_MAX + 1;
    return PS_OK;
}

static int64_t bin_end(const span *s, int64_t begin)
{
    return begin + s->width < s->end ? begin + s->width : s->end;
}

/* Seconds of worker w in iterations begin .. end - 1; w = -1: of all. */
static double bin_seconds(const ps_worker_log *log, int64_t begin, int64_t end, int w)
{
    double sum = 0;
    for (int64_t n = begin; n < end; ++n)
        for (int i = w < 0 ? 0 : w; i < (w < 0 ? log->workers : w + 1); ++i)
            sum += log->seconds[n * log->workers + i];
    return sum;
}

/* Two lines a bin, so that areas have steps: x, share from, share to (percent), first, end. */
static void put_worker(const ps_worker_log *log, const span *s, int w, canvas *c)
{
    canvas_put(c, "$W%d << END\n", w);
    for (int64_t begin = s->first; begin < s->end; begin = bin_end(s, begin)) {
        int64_t end = bin_end(s, begin);
        const int64_t *bounds = log->bounds + 2 * (begin * log->workers + w);
        double all = bin_seconds(log, begin, end, -1), below = 0;
        for (int i = 0; i < w; ++i) below += bin_seconds(log, begin, end, i);
        double scale = all > 0 ? 100 / all : 0, own = bin_seconds(log, begin, end, w);
        for (int side = 0; side < 2; ++side)
            canvas_put(c, "%.1f %.5g %.5g %lld %lld\n", (double)(side ? end : begin) + 0.5,
                       scale * below, scale * (below + own), (long long)bounds[0],
                       (long long)bounds[1]);
    }
    canvas_put(c, "END\n");
}

/* The same for times: x, the slowest worker, the mean; seconds an iteration. Returns the largest.
 */
static double put_times(const ps_worker_log *log, const span *s, double factor, canvas *c)
{
    double largest = 0;
    if (c) canvas_put(c, "$T << END\n");
    for (int64_t begin = s->first; begin < s->end; begin = bin_end(s, begin)) {
        int64_t end = bin_end(s, begin);
        double slowest = 0, count = (double)(end - begin);
        double mean = bin_seconds(log, begin, end, -1) / (log->workers * count);
        for (int64_t n = begin; n < end; ++n) {
            double worst = 0;
            for (int i = 0; i < log->workers; ++i)
                worst = fmax(worst, log->seconds[n * log->workers + i]);
            slowest += worst / count;
        }
        largest = fmax(largest, slowest);
        for (int side = 0; side < 2 && c; ++side)
            canvas_put(c, "%.1f %.6g %.6g\n", (double)(side ? end : begin) + 0.5, factor * slowest,
                       factor * mean);
    }
    if (c) canvas_put(c, "END\n");
    return largest;
}

/* CPU workers dark, others in colours. */
static const char *worker_colour(const ps_worker_log *log, int w)
{
    static const char *const colours[] = {"#56B4E9", "#009E73", "#E69F00", "#0072B2",
                                          "#CC79A7", "#D55E00", "#8C6D31", "#9EB356"};
    int before = 0;
    if (strstr(log->names[w], "cpu")) {
        static const char *const darks[] = {"#2b2b2b", "#4d4d4d", "#6e6e6e", "#8f8f8f"};
        for (int i = 0; i < w; ++i) before += strstr(log->names[i], "cpu") != NULL;
        return darks[before % 4];
    }
    for (int i = 0; i < w; ++i) before += strstr(log->names[i], "cpu") == NULL;
    return colours[before % 8];
}

/* The areas of all workers between two columns of their blocks. */
static void put_areas(const ps_worker_log *log, const char *columns, bool titles, canvas *c)
{
    canvas_put(c, "plot ");
    for (int w = 0; w < log->workers; ++w) {
        canvas_put(c, "%s$W%d using %s with filledcurves fc rgb '%s' ", w ? ", \\\n  " : "", w,
                   columns, worker_colour(log, w));
        if (titles && w < NAMES_SHOWN)
            canvas_put_text(c, "title ", log->names[w], "");
        else
            canvas_put(c, "notitle");
    }
    canvas_put(c, "\n");
}

/* White lines where equal shares would meet. */
static void put_equal_shares(const ps_worker_log *log, canvas *c)
{
    for (int k = 1; k < log->workers; ++k) {
        double at = 100.0 * k / log->workers;
        canvas_put(c,
                   "set arrow from graph 0,first %.6g to graph 1,first %.6g nohead front lw 1.4 dt "
                   "(6,5) lc rgb '#ffffff'\n",
                   at, at);
    }
}

static void put_panels(const plot_request *request, const ps_worker_log *log, const span *s,
                       canvas *c)
{
    const char *prefix;
    double factor = canvas_prefix(put_times(log, s, 1, NULL), &prefix);
    put_times(log, s, factor, c);
    canvas_put(c,
               "set multiplot\nset lmargin at screen 0.11\nset rmargin at screen 0.82\n"
               "set style fill solid 0.9 noborder\nset format x ''\nset xrange [%lld.5:%lld.5]\n"
               "set bmargin at screen 0.63\nset tmargin at screen 0.94\n"
               "set key Left reverse at screen 0.83,0.94 left top nobox invert samplen 1.2\n"
               "set yrange [0:100]\nset ylabel 'share of time (%%)'\n",
               (long long)s->first, (long long)s->end);
    canvas_title(c, request->title);
    put_equal_shares(log, c);
    put_areas(log, "1:2:3", true, c);
    char label[64];
    snprintf(label, sizeof label, "interval (%s)", log->items);
    canvas_put_text(c,
                    "unset arrow\nunset title\nset bmargin at screen 0.30\nset tmargin at screen "
                    "0.60\nset yrange [*:*] noextend\nset ylabel ",
                    label, " noenhanced\n");
    put_areas(log, "1:4:5", false, c);
    canvas_put(c,
               "set format x\nset xlabel 'iteration'\nset bmargin at screen 0.09\n"
               "set tmargin at screen 0.27\nset yrange [0:*] extend\nset ylabel 'time (%ss)'\n"
               "set key Left reverse at screen 0.83,0.27 left top nobox noinvert samplen 1.2\n"
               "plot $T using 1:2 with lines lw 2 lc rgb '#D55E00' title 'slowest', \\\n"
               "  $T using 1:3 with lines lw 2 lc rgb '#0072B2' title 'mean'\nunset multiplot\n",
               prefix);
}

ps_status plot_workers(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_worker_log_release) ps_worker_log log = {0};
    span shown;
    PS_TRY(plot_need_files(request, 1, 1, "worker log, OUTPUT.workers.h5"));
    PS_TRY(ps_worker_log_load(request->files[0], &log));
    PS_TRY(choose_span(request, &log, &shown));
    for (int w = 0; w < log.workers; ++w) put_worker(&log, &shown, w, c);
    put_panels(request, &log, &shown, c);
    return PS_OK;
}
