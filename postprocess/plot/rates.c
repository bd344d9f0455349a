/*
 * Rates of the fast multipole method by tasks over the accuracy (RR-8513, 2013, figures 16 to 18),
 * from reports of penstock-fmm (--json): flop over makespan, over LP and over LP~, a colour for
 * each number of GPUs and a panel for each height; a last panel has of each accuracy and number of
 * GPUs the time of the height that took least, beside the bounds of that run.
 */
#include <math.h>
#include <stdlib.h>

#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { RUNS_MAX = 96, PANELS_MAX = 6 };

typedef enum rate_kind { RATE_RUN, RATE_LP, RATE_LP_BEST, RATES } rate_kind;

typedef struct rate_run {
    int order, height, gpus;
    double makespan, rate[RATES]; /* flop/s */
} rate_run;

typedef struct rate_table {
    rate_run runs[RUNS_MAX];
    int count, heights[PANELS_MAX], panels, gpus_most, order_least, order_most;
    double scale;
    const char *prefix;
} rate_table;

static ps_status take_report(const char *path, const json_number *n, int count, rate_run *run)
{
    double flop = json_value(n, count, "flop"), lp = json_value(n, count, "schedule/lp"),
           best = json_value(n, count, "schedule/lp_best_rates");
    run->makespan = json_value(n, count, "schedule/makespan");
    if (!(flop > 0 && lp > 0 && best > 0 && run->makespan > 0))
        return ps_fail(PS_INVALID,
                       "%s has no flop and no bound of a schedule: it is to be what a whole run of "
                       "penstock-fmm --resident no --tree uniform --json says",
                       path);
    run->order = json_small(n, count, "order");
    run->height = json_small(n, count, "height");
    run->gpus = json_small(n, count, "schedule/gpus");
    run->rate[RATE_RUN] = flop / run->makespan;
    run->rate[RATE_LP] = flop / lp;
    run->rate[RATE_LP_BEST] = flop / best;
    return PS_OK;
}

static ps_status read_run(const char *path, rate_run *run)
{
    PS_SCOPED_MEMORY json_number *numbers = NULL;
    int count = 0;
    PS_TRY(json_numbers_of(path, &numbers, &count));
    return take_report(path, numbers, count, run);
}

/* By height, GPUs and order, the faster of two alike first. */
static int compare_runs(const void *left, const void *right)
{
    const rate_run *a = left, *b = right;
    if (a->height != b->height) return a->height - b->height;
    if (a->gpus != b->gpus) return a->gpus - b->gpus;
    if (a->order != b->order) return a->order - b->order;
    return (a->makespan > b->makespan) - (a->makespan < b->makespan);
}

static ps_status read_all(const plot_request *request, rate_table *t)
{
    double most = 0;
    t->count = request->file_count;
    t->order_least = 99;
    for (int i = 0; i < t->count; ++i) PS_TRY(read_run(request->files[i], &t->runs[i]));
    qsort(t->runs, (size_t)t->count, sizeof *t->runs, compare_runs);
    for (int i = 0; i < t->count; ++i) {
        const rate_run *run = &t->runs[i];
        if (t->panels == 0 || t->heights[t->panels - 1] != run->height) {
            if (t->panels == PANELS_MAX - 1)
                return ps_fail(PS_USAGE, "reports of more than %d heights", PANELS_MAX - 1);
            t->heights[t->panels++] = run->height;
        }
        t->gpus_most = run->gpus > t->gpus_most ? run->gpus : t->gpus_most;
        t->order_least = run->order < t->order_least ? run->order : t->order_least;
        t->order_most = run->order > t->order_most ? run->order : t->order_most;
        for (int k = 0; k < RATES; ++k) most = fmax(most, run->rate[k]);
    }
    t->scale = canvas_prefix(most, &t->prefix);
    return PS_OK;
}

/* The run that took least time of an order and a number of GPUs; NULL: there is none. */
static const rate_run *fastest(const rate_table *t, int order, int gpus)
{
    const rate_run *best = NULL;
    for (int i = 0; i < t->count; ++i) {
        const rate_run *run = &t->runs[i];
        if (run->order == order && run->gpus == gpus && (!best || run->makespan < best->makespan))
            best = run;
    }
    return best;
}

/* A row of rates, or of the times in which they do the same flop. */
static void put_row(const rate_table *t, const rate_run *run, bool times, canvas *c)
{
    double flop = run->rate[RATE_RUN] * run->makespan;
    canvas_put(c, "%d", run->order);
    for (int k = 0; k < RATES; ++k)
        canvas_put(c, " %.6g", times ? flop / run->rate[k] : t->scale * run->rate[k]);
    canvas_put(c, " \"h = %d\"\n", run->height);
}

/* The block $D<panel>_<gpus>; the last panel is of the fastest. Whether it has a row. */
static bool put_block(const rate_table *t, int panel, int gpus, canvas *c)
{
    int rows = 0, last = -1;
    canvas_put(c, "$D%d_%d << END\n", panel, gpus);
    for (int i = 0; i < t->count && panel < t->panels; ++i) {
        const rate_run *run = &t->runs[i];
        if (run->height != t->heights[panel] || run->gpus != gpus || run->order == last) continue;
        last = run->order;
        put_row(t, run, false, c);
        ++rows;
    }
    for (int order = t->order_least; order <= t->order_most && panel == t->panels; ++order) {
        const rate_run *run = fastest(t, order, gpus);
        if (!run) continue;
        put_row(t, run, true, c);
        ++rows;
    }
    canvas_put(c, "END\n");
    return rows > 0;
}

static void put_curves(const rate_table *t, int panel, const bool *has, canvas *c)
{
    static const char *const names[RATES] = {"run", "LP", "LP, best rates"};
    static const char *const styles[RATES] = {"linespoints pt 7 ps 0.9 lw 2", "lines dt 2 lw 1.6",
                                              "lines dt 3 lw 1.6"};
    bool first = true;
    canvas_put(c, "plot ");
    for (int g = 0; g <= t->gpus_most; ++g) {
        if (!has[g]) continue;
        for (int k = 0; k < RATES; ++k) {
            canvas_put(c, "%s$D%d_%d using 1:%d with %s lc rgb '%s' title '%s, %d GPU%s'",
                       first ? "" : ", \\\n  ", panel, g, 2 + k, styles[k], canvas_colour(g),
                       names[k], g, g == 1 ? "" : "s");
            first = false;
        }
        if (panel == t->panels)
            canvas_put(c, ", \\\n  $D%d_%d using 1:2:5 with labels offset 0,0.9 font ',10' notitle",
                       panel, g);
    }
    canvas_put(c, "\n");
}

static void draw(const plot_request *request, const rate_table *t, canvas *c)
{
    int panels = t->panels + 1, columns = panels > 4 ? 3 : panels == 4 ? 2 : panels;
    if (c->height == 0) canvas_resize(c, c->width, 60 + 420 * ((panels + columns - 1) / columns));
    bool has[PANELS_MAX][RUNS_MAX];
    for (int p = 0; p < panels; ++p)
        for (int g = 0; g <= t->gpus_most; ++g) has[p][g] = put_block(t, p, g, c);
    canvas_put(c, "set multiplot layout %d,%d title ", (panels + columns - 1) / columns, columns);
    canvas_put_quoted(c, request->title ? request->title : "");
    canvas_put(
        c,
        " noenhanced\nset xlabel 'interpolation points an axis'\nset ylabel 'rate (%sflop/s)'\n"
        "set xrange [%d.5:%d.5]\nset xtics 1\nset key below vertical maxrows 3 nobox samplen 2 "
        "font ',9'\n"
        "set bmargin 7.5\n%s",
        t->prefix, t->order_least - 1, t->order_most,
        request->log ? "set logscale y\n" : "set yrange [0:*]\n");
    for (int p = 0; p < panels; ++p) {
        if (p < t->panels)
            canvas_put(c, "set title 'height %d'\n", t->heights[p]);
        else
            canvas_put(c, "set title 'the fastest height'\nset ylabel 'time (s)'\n"
                          "set logscale y\nset yrange [*:*]\n");
        put_curves(t, p, has[p], c);
    }
    canvas_put(c, "unset multiplot\n");
}

ps_status plot_rates(const plot_request *request, canvas *c)
{
    rate_table table = {.count = 0};
    PS_TRY(plot_need_files(request, 1, RUNS_MAX, "reports of penstock-fmm made with --json"));
    PS_TRY(read_all(request, &table));
    if (table.gpus_most >= RUNS_MAX)
        return ps_fail(PS_INVALID, "a report of %d GPUs", table.gpus_most);
    draw(request, &table, c);
    return PS_OK;
}
