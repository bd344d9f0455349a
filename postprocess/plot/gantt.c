/*
 * Who did what when (Agullo et al., RR-8513, figures 9 to 13), from a task trace: a lane a worker,
 * CPU workers above, GPU workers below; the colours of the kinds are the trace's; idle is red and
 * waiting for data purple. Above MANY tasks each lane is cut into BINS columns that show what
 * filled most of them, so that the picture stays quick whatever the number of tasks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/task_trace.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { MANY = 20000, BORDERS = 2500, BINS = 2400, NAMED_LANES = 40 };
enum { IDLE = PS_TASK_KINDS_MAX, WAITING, STATES };

static const char idle_colour[] = "#e03127", waiting_colour[] = "#8e44ad";

/* What is shown: seconds low .. high, `factor` to the unit of the axis. */
typedef struct chart {
    const ps_task_trace *trace;
    double begin, low, high, factor;
    int lanes;
    float *bins; /* [BINS][STATES], of one lane; NULL: every task is drawn */
    int drawn[STATES];
} chart;

static void put_box(const chart *g, double start, double end, int lane, canvas *c)
{
    double low = fmax(start - g->begin, g->low), high = fmin(end - g->begin, g->high);
    if (high > low) canvas_put(c, "%.7g %.7g %d\n", g->factor * low, g->factor * high, lane);
}

/* All tasks of a kind, or what was waited for before tasks, as boxes. */
static void put_tasks(chart *g, int state, canvas *c)
{
    canvas_put(c, "$K%d << END\n", state);
    for (int64_t t = 0; t < g->trace->count; ++t) {
        const ps_task_record *r = &g->trace->records[t];
        if (state == WAITING && r->waited > 0) {
            put_box(g, r->start - r->waited, r->start, r->worker, c);
            g->drawn[state] = 1;
        }
        if (state != r->kind) continue;
        put_box(g, r->start, r->end, r->worker, c);
        g->drawn[state] = 1;
    }
    canvas_put(c, "END\n");
}

/* ---- many tasks ---- */

/* Adds an interval to the bins of its lane. */
static void fill_bins(chart *g, double start, double end, int state)
{
    double width = (g->high - g->low) / BINS;
    double from = (start - g->begin - g->low) / width, to = (end - g->begin - g->low) / width;
    from = fmax(from, 0);
    to = fmin(to, BINS);
    for (int b = (int)from; b < BINS && b < to; ++b)
        g->bins[b * STATES + state] += (float)(fmin(to, b + 1) - fmax(from, b));
}

static int strongest(const float *bin)
{
    int best = IDLE;
    float busy = 0;
    for (int s = 0; s < STATES; ++s) {
        if (bin[s] > bin[best]) best = s;
        busy += bin[s];
    }
    return 1 - busy > bin[best] ? IDLE : best;
}

/* The bins of one lane as boxes, equal neighbours joined; each box with its state. */
static void put_lane(chart *g, int lane, canvas *c)
{
    double width = (g->high - g->low) / BINS;
    for (int b = 0, next; b < BINS; b = next) {
        int state = strongest(g->bins + b * STATES);
        for (next = b + 1; next < BINS && strongest(g->bins + next * STATES) == state;) ++next;
        if (state == IDLE) continue;
        canvas_put(c, "%.7g %.7g %d %d\n", g->factor * (g->low + b * width),
                   g->factor * (g->low + next * width), lane, state);
        g->drawn[state] = 1;
    }
}

typedef struct placed {
    int worker;
    int64_t task;
} placed;

static int by_worker(const void *a, const void *b)
{
    return ((const placed *)a)->worker - ((const placed *)b)->worker;
}

static ps_status put_bins(chart *g, canvas *c)
{
    int64_t n = g->trace->count, t = 0;
    PS_SCOPED_MEMORY placed *sorted = NULL;
    PS_TRY(PS_ALLOC(&sorted, n, "the tasks of a picture"));
    for (int64_t i = 0; i < n; ++i) sorted[i] = (placed){g->trace->records[i].worker, i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_worker);
    canvas_put(c, "$B << END\n");
    for (int lane = 0; lane < g->lanes; ++lane) {
        memset(g->bins, 0, BINS * STATES * sizeof *g->bins);
        for (; t < n && sorted[t].worker == lane; ++t) {
            const ps_task_record *r = &g->trace->records[sorted[t].task];
            fill_bins(g, r->start, r->end, r->kind);
            fill_bins(g, r->start - r->waited, r->start, WAITING);
        }
        put_lane(g, lane, c);
    }
    canvas_put(c, "END\n");
    return PS_OK;
}

/* ---- the picture ---- */

static void put_axes(const chart *g, const char *prefix, const ps_task_summary *sum, canvas *c)
{
    int cpus = g->trace->cpus, step = (g->lanes - 1) / NAMED_LANES + 1;
    canvas_put(c,
               "set xrange [%.7g:%.7g]\nset yrange [%d.5:-0.5]\nunset grid\nset ytics nomirror "
               "scale 0 (",
               g->factor * g->low, g->factor * g->high, g->lanes - 1);
    for (int w = 0; w < g->lanes; w += w < cpus ? step : 1)
        canvas_put(c, "%s'%s %d' %d", w ? ", " : "", w < cpus ? "CPU" : "GPU",
                   w < cpus ? w : w - cpus, w);
    canvas_put(c,
               ")\nset xlabel 'time (%ss); makespan %.4g %ss, LP %.4g, LP~ %.4g' noenhanced\n"
               "set lmargin 8\nset bmargin 7\nset key at screen 0.5,character 1 center bottom "
               "horizontal noopaque nobox\n",
               prefix, g->factor * sum->makespan, prefix, g->factor * sum->lp.seconds,
               g->factor * sum->lp_best.seconds);
    canvas_put(c, "set style fill solid 1 noborder\nset boxwidth 0.9\n$I << END\n");
    for (int w = 0; w < g->lanes; ++w)
        canvas_put(c, "%.7g %.7g %d\n", g->factor * g->low,
                   g->factor * fmin(g->high, sum->makespan), w);
    canvas_put(c, "END\n");
}

static void put_plot(const chart *g, canvas *c)
{
    static const char boxes[] = "using 1:3:1:2:($3-0.44):($3+0.44) with boxxyerror";
    const char *border = g->trace->count <= BORDERS ? "border lc rgb '#777777' lw 0.4" : "noborder";
    canvas_put(c, "plot $I %s fc rgb '%s' notitle", boxes, idle_colour);
    for (int s = 0; s < STATES; ++s) {
        bool waiting = s == WAITING;
        if (!g->drawn[s] || s == IDLE) continue;
        char colour[16];
        snprintf(colour, sizeof colour, "#%06llx",
                 waiting ? 0ull : (unsigned long long)g->trace->kinds[s].colour);
        if (g->bins)
            canvas_put(c,
                       ", \\\n  $B using ($4==%d?$1:NaN):3:1:2:($3-0.44):($3+0.44) with "
                       "boxxyerror fs solid 1 noborder fc rgb '%s' notitle",
                       s, waiting ? waiting_colour : colour);
        else
            canvas_put(c, ", \\\n  $K%d %s fs solid 1 %s fc rgb '%s' notitle", s, boxes, border,
                       waiting ? waiting_colour : colour);
        canvas_put(c,
                   ", \\\n  NaN with boxes fs solid 1 border lc rgb '#777777' fc rgb '%s' title ",
                   waiting ? waiting_colour : colour);
        canvas_put_quoted(c, waiting ? "waiting for data" : g->trace->kinds[s].name);
    }
    canvas_put(c,
               ", \\\n  NaN with boxes fs solid 1 border lc rgb '#777777' fc rgb '%s' title "
               "'idle'\n",
               idle_colour);
}

static ps_status draw(const plot_request *request, chart *g, const ps_task_summary *sum, canvas *c)
{
    const char *prefix;
    PS_SCOPED_MEMORY float *bins = NULL;
    PS_TRY(plot_x_range(request, &g->low, &g->high));
    if (g->low >= g->high) g->low = 0;
    if (g->low >= g->high) g->high = sum->makespan > 0 ? sum->makespan : 1;
    g->factor = canvas_prefix(g->high, &prefix);
    if (!c->height) canvas_resize(c, c->width, 178 + (g->lanes < 60 ? 22 * g->lanes : 1300));
    canvas_title(c, request->title);
    put_axes(g, prefix, sum, c);
    if (g->trace->count > MANY) {
        PS_TRY(PS_ALLOC(&bins, BINS * STATES, "the columns of a picture"));
        g->bins = bins;
        PS_TRY(put_bins(g, c));
    }
    for (int s = 0; s < STATES && !g->bins; ++s)
        if (s < g->trace->kind_count || s == WAITING) put_tasks(g, s, c);
    put_plot(g, c);
    return PS_OK;
}

ps_status plot_gantt(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_task_trace_release) ps_task_trace trace = {0};
    ps_task_summary summary;
    PS_TRY(ps_task_trace_load(request->files[0], &trace));
    PS_TRY(ps_task_trace_summarise(&trace, &summary));
    chart g = {.trace = &trace, .begin = summary.begin, .lanes = trace.cpus + trace.gpus};
    return draw(request, &g, &summary, c);
}
