/*
 * Worker balance, from a CSV log "iteration,worker,seconds,first,last": the time of each worker per
 * iteration, and the interval that it held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/plot/json.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"

typedef struct balance_row {
    int iteration, worker;
    double seconds, first, last;
} balance_row;

typedef struct balance_log {
    balance_row *rows;
    int64_t count, capacity;
    int workers;
} balance_log;

enum { WORKERS_SHOWN = 64 };

static ps_status parse_row(const char *path, int line, const char *text, balance_log *log)
{
    balance_row row;
    int used = 0;
    int got = sscanf(text, "%d , %d , %lf , %lf , %lf %n", &row.iteration, &row.worker,
                     &row.seconds, &row.first, &row.last, &used);
    if (got != 5 || text[used] || row.worker < 0 || row.worker >= WORKERS_SHOWN || row.seconds < 0)
        return ps_fail(PS_INVALID,
                       "%s, line %d: \"%s\" is not iteration,worker,seconds,first,last with a "
                       "worker from 0 to %d",
                       path, line, text, WORKERS_SHOWN - 1);
    PS_TRY(ps_grow((void **)&log->rows, &log->capacity, log->count + 1, sizeof *log->rows,
                   "a balance log"));
    log->rows[log->count++] = row;
    if (row.worker >= log->workers) log->workers = row.worker + 1;
    return PS_OK;
}

static ps_status read_log(const char *path, balance_log *log)
{
    char *text = NULL;
    PS_TRY(json_read_file(path, &text));
    ps_status status = PS_OK;
    int number = 0;
    char *next;
    for (char *line = text; line && status == PS_OK; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line[strcspn(line, "\r")] = 0;
        if (++number == 1 && strncmp(line, "iteration", 9) == 0) continue;
        if (*line && *line != '#') status = parse_row(path, number, line, log);
    }
    free(text);
    if (status == PS_OK && log->count == 0)
        status = ps_fail(PS_INVALID, "%s has no rows iteration,worker,seconds,first,last", path);
    return status;
}

static void put_worker(const balance_log *log, int worker, canvas *c)
{
    canvas_put(c, "$W%d << END\n", worker);
    for (int64_t i = 0; i < log->count; ++i) {
        const balance_row *row = &log->rows[i];
        if (row->worker == worker)
            canvas_put(c, "%d %.6g %.8g %.8g\n", row->iteration, row->seconds, row->first,
                       row->last);
    }
    canvas_put(c, "END\n");
}

static void put_panels(const plot_request *request, int workers, canvas *c)
{
    canvas_put(
        c,
        "set multiplot\nset lmargin at screen 0.11\nset rmargin at screen 0.84\n"
        "set bmargin at screen 0.56\nset tmargin at screen 0.92\nset format x ''\n"
        "set autoscale xfix\nset offsets 0,0,0,0\nset key at screen 0.99,0.92 right top nobox\n");
    canvas_title(c, request->title);
    canvas_put(c, "set ylabel 'time of an iteration (s)'\nset yrange [0:*]\nplot ");
    for (int w = 0; w < workers; ++w)
        canvas_put(
            c, "%s$W%d using 1:2 with linespoints pt 7 ps 0.4 lw 1.6 lc rgb '%s' title 'worker %d'",
            w ? ", \\\n  " : "", w, canvas_colour(w), w);
    canvas_put(
        c,
        "\nunset title\nunset key\nset format x\nset xlabel 'iteration'\n"
        "set ylabel 'interval of slices'\nset bmargin at screen 0.11\nset tmargin at screen 0.50\n"
        "set style fill solid 0.85 noborder\nset yrange [*:*] noextend\nplot ");
    for (int w = 0; w < workers; ++w)
        canvas_put(c, "%s$W%d using 1:3:4 with filledcurves fc rgb '%s' notitle",
                   w ? ", \\\n  " : "", w, canvas_colour(w));
    canvas_put(c, "\nunset multiplot\n");
}

ps_status plot_balance(const plot_request *request, canvas *c)
{
    balance_log log = {0};
    PS_TRY(plot_need_files(request, 1, 1, "balance log (CSV)"));
    ps_status status = read_log(request->files[0], &log);
    for (int w = 0; w < log.workers && status == PS_OK; ++w) put_worker(&log, w, c);
    if (status == PS_OK) put_panels(request, log.workers, c);
    free(log.rows);
    return status;
}
