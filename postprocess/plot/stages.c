/*
 * Shares of time per stage (Bramas, Coulaud, Sylvand 2014, figure 14), a stacked bar for each run,
 * from its worker log or its report (penstock-... --json).
 */
#include <stdlib.h>
#include <string.h>

#include "formats/worker_log.h"
#include "postprocess/plot/plot.h"
#include "runtime/path.h"
#include "runtime/scope.h"

enum { BARS_MAX = 16, STAGES_MAX = 12 };

typedef struct stage_table {
    char names[STAGES_MAX][64];
    double seconds[BARS_MAX][STAGES_MAX];
    int stages;
} stage_table;

static int stage_index(stage_table *table, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s", name);
    for (char *at = text; *at; ++at)
        if (*at == '_') *at = ' ';
    for (int i = 0; i < table->stages; ++i)
        if (strcmp(table->names[i], text) == 0) return i;
    if (table->stages == STAGES_MAX) return STAGES_MAX - 1;
    memcpy(table->names[table->stages], text, sizeof text);
    return table->stages++;
}

/* The name of a member of the object "seconds" of a report; NULL for other figures. */
static const char *stage_name(const char *path)
{
    static const char object[] = "seconds/";
    return strncmp(path, object, sizeof object - 1) == 0 ? path + sizeof object - 1 : NULL;
}

/* Sums, parts of other stages, what runs beside, and counts. */
static bool is_no_share(const char *name)
{
    return strcmp(name, "wait") == 0 || strcmp(name, "checkpoints") == 0 ||
           strcmp(name, "checkpoint_writer") == 0;
}

static ps_status read_report(const char *path, const char *text, int bar, stage_table *table)
{
    json_number *numbers = NULL;
    int count = 0, found = 0;
    double all = 0, sum = 0;
    ps_status status = json_numbers(text, &numbers, &count);
    if (status != PS_OK) ps_context(status, "%s", path);
    for (int i = 0; i < count; ++i) {
        const char *name = stage_name(numbers[i].path);
        if (strcmp(numbers[i].path, "time") == 0) all = numbers[i].value;
        if (!name || is_no_share(name)) continue;
        table->seconds[bar][stage_index(table, name)] += numbers[i].value;
        sum += numbers[i].value;
        ++found;
    }
    if (all > sum) table->seconds[bar][stage_index(table, "other")] += all - sum;
    if (status == PS_OK && !found)
        status = ps_fail(PS_INVALID,
                         "%s has no object \"seconds\" with the time of each stage; it is to "
                         "be a worker log, or the output of penstock-tdbem-march --json",
                         path);
    free(numbers);
    return status;
}

/* Stages of a worker log, the mean over its ranks. */
static ps_status read_log(const char *path, int bar, stage_table *table)
{
    PS_SCOPED(ps_worker_log_release) ps_worker_log log = {0};
    PS_TRY(ps_worker_log_load(path, &log));
    for (int s = 0; s < log.stages; ++s)
        table->seconds[bar][stage_index(table, log.stage_names[s])] += ps_worker_log_stage(&log, s);
    if (log.stages == 0) return ps_fail(PS_INVALID, "%s has no stages", path);
    return PS_OK;
}

static ps_status read_run(const char *path, int bar, stage_table *table)
{
    PS_SCOPED_MEMORY char *text = NULL;
    int64_t bytes;
    PS_TRY(ps_path_read(path, path, &text, &bytes));
    return (unsigned char)text[0] == 0x89 /* as HDF5 files begin */ ? read_log(path, bar, table)
                                                                    : read_report(path, text, bar,
                                                                                  table);
}

/* One block of rows: label, share of each stage in percent, total. */
static void put_data(const plot_request *request, const stage_table *table, canvas *c)
{
    canvas_put(c, "$T << END\n");
    for (int b = 0; b < request->file_count; ++b) {
        double total = 0;
        char name[96];
        for (int i = 0; i < table->stages; ++i) total += table->seconds[b][i];
        plot_label(request, b, name, sizeof name);
        for (char *at = name; *at; ++at)
            if (*at == '"') *at = '\'';
        canvas_put(c, "\"%s\\n%.3g s\"", name, total);
        for (int i = 0; i < table->stages; ++i)
            canvas_put(c, " %.5g", total > 0 ? 100 * table->seconds[b][i] / total : 0);
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
}

/* Drops stages that would not show: below a thousandth of every bar. */
static void drop_small(stage_table *table, int bars)
{
    double totals[BARS_MAX] = {0};
    for (int b = 0; b < bars; ++b)
        for (int i = 0; i < table->stages; ++i) totals[b] += table->seconds[b][i];
    int kept = 0;
    for (int i = 0; i < table->stages; ++i) {
        bool shows = false;
        for (int b = 0; b < bars; ++b) shows |= table->seconds[b][i] > 1e-3 * totals[b];
        if (!shows) continue;
        memmove(table->names[kept], table->names[i], sizeof table->names[0]);
        for (int b = 0; b < bars; ++b) table->seconds[b][kept] = table->seconds[b][i];
        ++kept;
    }
    table->stages = kept;
}

ps_status plot_stages(const plot_request *request, canvas *c)
{
    stage_table table = {.stages = 0};
    PS_TRY(plot_need_files(request, 1, BARS_MAX, "worker logs, or reports made with --json"));
    for (int b = 0; b < request->file_count; ++b) PS_TRY(read_run(request->files[b], b, &table));
    drop_small(&table, request->file_count);
    put_data(request, &table, c);
    canvas_title(c, request->title);
    canvas_put(
        c,
        "set bmargin 4\nset style data histograms\nset style histogram rowstacked\nset boxwidth "
        "0.62\n"
        "set style fill solid 0.92 border rgb '#ffffff'\nset grid noxtics ytics\n"
        "set ylabel 'share of wall time (%%)'\nset yrange [0:100]\nset xtics scale 0 noenhanced\n"
        "set key outside right center vertical invert nobox noenhanced\nset xrange [-0.7:%.1f]\n"
        "plot ",
        request->file_count - 0.3);
    for (int i = 0; i < table.stages; ++i) {
        canvas_put(c, "%s$T using %d%s lc rgb '%s' title ", i ? ", \\\n  " : "", i + 2,
                   i ? "" : ":xtic(1)", canvas_colour(i));
        canvas_put_quoted(c, table.names[i]);
    }
    canvas_put(c, "\n");
    return PS_OK;
}
