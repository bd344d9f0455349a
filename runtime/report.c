#include "runtime/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/progress.h"

enum { PS_FIGURE_NAME = 256 };

/* Text of one kind: what stands outside of sections comes first, whenever it was added. */
typedef struct part {
    char *text;
    size_t length, capacity;
    bool begun;
} part;

struct ps_report {
    bool json, in_section, wrong;
    const ps_figure *table;
    double started;
    char section[PS_FIGURE_NAME];
    part outside, sections;
    bool section_begun;
};

ps_report *ps_report_new(const ps_run *run)
{
    ps_report *report = calloc(1, sizeof *report);
    if (!report) return NULL;
    report->json = run->json;
    report->table = run->figures;
    report->started = run->started;
    return report;
}

static void append(ps_report *report, const char *text)
{
    part *to = report->in_section ? &report->sections : &report->outside;
    size_t size = strlen(text);
    if (to->length + size + 1 > to->capacity) {
        size_t capacity = 2 * (to->length + size + 1) + 256;
        char *grown = realloc(to->text, capacity);
        if (!grown) return;
        to->text = grown;
        to->capacity = capacity;
    }
    memcpy(to->text + to->length, text, size + 1);
    to->length += size;
}

static void put_quoted(ps_report *report, const char *text)
{
    append(report, "\"");
    for (; *text; ++text) {
        char out[8];
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            snprintf(out, sizeof out, "\\%c", c);
        else if (c == '\n')
            snprintf(out, sizeof out, "\\n");
        else if (c < 32)
            snprintf(out, sizeof out, "\\u%04x", c);
        else
            out[0] = (char)c, out[1] = 0;
        append(report, out);
    }
    append(report, "\"");
}

/* The kinds of values that units stand for. */
typedef enum kind { NUMBER, TEXT, FLAG } kind;

/* The unit that the table tells; what it lacks is a defect of the program. */
static const char *unit_of(ps_report *report, const char *name, kind wanted)
{
    const char *section = report->in_section ? report->section : NULL;
    const ps_figure *figure = ps_figure_find(report->table, section, name);
    const char *unit = figure ? figure->unit : "";
    bool text = strcmp(unit, "text") == 0, flag = strcmp(unit, "flag") == 0;
    bool good = figure && (strcmp(unit, "any") == 0 || (wanted == TEXT) == text);
    if (good && (strcmp(unit, "any") == 0 || (wanted == FLAG) == flag)) return unit;
    ps_warning("the figure %s%s%s is not in the program's table as %s: a defect of the program",
               section ? section : "", section ? "." : "", name,
               wanted == TEXT   ? "text"
               : wanted == FLAG ? "a flag"
                                : "a number");
    report->wrong = true;
    return unit;
}

/* The name, and what stands between it and the value. */
static void begin(ps_report *report, const char *name)
{
    bool *begun = report->in_section ? &report->section_begun : &report->outside.begun;
    if (report->json) {
        append(report, *begun ? ", " : "");
        put_quoted(report, name);
        append(report, ": ");
    } else {
        char head[128];
        snprintf(head, sizeof head, "%s%-*s  ", report->in_section ? "  " : "",
                 report->in_section ? 30 : 32, name);
        append(report, head);
    }
    *begun = true;
}

static void end(ps_report *report, const char *unit)
{
    static const char *const untold[] = {"1", "text", "flag", "data", "any", ""};
    if (report->json) return;
    for (size_t i = 0; i < sizeof untold / sizeof *untold && unit; ++i)
        if (strcmp(unit, untold[i]) == 0) unit = NULL;
    if (unit) {
        append(report, " ");
        append(report, unit);
    }
    append(report, "\n");
}

void ps_report_section(ps_report *report, const char *name)
{
    if (!report) return;
    report->in_section = name != NULL;
    if (!name) return;
    snprintf(report->section, sizeof report->section, "%s", name);
    if (report->json) {
        append(report, report->sections.begun ? "}, " : "");
        put_quoted(report, name);
        append(report, ": {");
    } else {
        append(report, name);
        append(report, "\n");
    }
    report->sections.begun = true;
    report->section_begun = false;
}

static void put_int(ps_report *report, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    append(report, text);
}

static void put_real(ps_report *report, double value)
{
    char text[40];
    if (report->json && !isfinite(value))
        snprintf(text, sizeof text, "null");
    else
        snprintf(text, sizeof text, report->json ? "%.17g" : "%.6g", value);
    append(report, text);
}

void ps_report_int(ps_report *report, const char *name, int64_t value)
{
    if (!report) return;
    const char *unit = unit_of(report, name, NUMBER);
    begin(report, name);
    put_int(report, value);
    end(report, unit);
}

void ps_report_quantity(ps_report *report, const char *name, double value, const char *unit)
{
    if (!report) return;
    const char *own = unit_of(report, name, NUMBER);
    begin(report, name);
    put_real(report, value);
    end(report, unit ? unit : own);
}

void ps_report_real(ps_report *report, const char *name, double value)
{
    ps_report_quantity(report, name, value, NULL);
}

void ps_report_text(ps_report *report, const char *name, const char *value)
{
    if (!report) return;
    const char *unit = unit_of(report, name, TEXT);
    begin(report, name);
    if (report->json)
        put_quoted(report, value);
    else
        append(report, value);
    end(report, unit);
}

void ps_report_flag(ps_report *report, const char *name, bool value)
{
    if (!report) return;
    const char *unit = unit_of(report, name, FLAG);
    begin(report, name);
    append(report, report->json ? (value ? "true" : "false") : (value ? "yes" : "no"));
    end(report, unit);
}

/* One of the two is there. */
static void put_list(ps_report *report, const char *name, const double *reals, const int64_t *ints,
                     int64_t count)
{
    if (!report) return;
    const char *unit = unit_of(report, name, NUMBER);
    begin(report, name);
    for (int64_t i = 0; i < count; ++i) {
        append(report, i ? ", " : "[");
        reals ? put_real(report, reals[i]) : put_int(report, ints[i]);
    }
    append(report, count > 0 ? "]" : "[]");
    end(report, unit);
}

void ps_report_reals(ps_report *report, const char *name, const double *values, int64_t count)
{
    put_list(report, name, values, NULL, count);
}

void ps_report_ints(ps_report *report, const char *name, const int64_t *values, int64_t count)
{
    put_list(report, name, NULL, values, count);
}

void ps_report_run(ps_report *report, int64_t peak_memory)
{
    if (!report) return;
    bool in_section = report->in_section;
    report->in_section = false;
    ps_report_real(report, "time", ps_clock() - report->started);
    ps_report_int(report, "peak_memory", peak_memory);
    report->in_section = in_section;
}

void ps_rank_traffic_add(ps_rank_traffic *traffic, int64_t messages, int64_t sent, double work)
{
    traffic->messages += messages;
    traffic->sent += sent;
    if (messages > traffic->most_messages) traffic->most_messages = messages;
    if (sent > traffic->most_sent) traffic->most_sent = sent;
    traffic->work += work;
    if (work > traffic->most_work) traffic->most_work = work;
}

void ps_report_ranks(ps_report *report, const ps_rank_traffic *traffic)
{
    const ps_rank_traffic *t = traffic;
    ps_report_section(report, "traffic");
    ps_report_text(report, "unit", t->unit);
    ps_report_int(report, "ranks", t->ranks);
    ps_report_int(report, "messages", t->messages);
    ps_report_int(report, "sent", t->sent);
    ps_report_int(report, "most_messages", t->most_messages);
    ps_report_int(report, "most_sent", t->most_sent);
    if (t->sums >= 0) {
        ps_report_int(report, "sums", t->sums);
        ps_report_int(report, "summed", t->summed);
    }
    ps_report_real(report, "imbalance",
                   t->work > 0 ? t->most_work * (double)t->ranks / t->work : 1);
}

void ps_report_print(ps_report **report)
{
    if (!report || !*report) return;
    const ps_report *r = *report;
    ps_progress_clear();
    const char *outside = r->outside.text ? r->outside.text : "";
    const char *sections = r->sections.text ? r->sections.text : "";
    if (r->json)
        printf("{%s%s%s%s}\n", outside, *outside && *sections ? ", " : "", sections,
               *sections ? "}" : "");
    else
        printf("%s%s", outside, sections);
    bool wrong = r->wrong;
    ps_report_discard(report);
    if (wrong && getenv("PENSTOCK_STRICT")) abort();
}

void ps_report_discard(ps_report **report)
{
    if (!report || !*report) return;
    PS_FREE((*report)->outside.text, (*report)->sections.text, *report);
    *report = NULL;
}
