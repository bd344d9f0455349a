#include "runtime/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text and JSON are both built as the figures come; only one is kept. */
struct ps_report {
    bool json, in_section, first;
    char *text;
    size_t length, capacity;
};

ps_report *ps_report_new(bool json)
{
    ps_report *report = calloc(1, sizeof *report);
    if (report) report->json = json, report->first = true;
    return report;
}

static void put(ps_report *report, const char *text)
{
    size_t size = strlen(text);
    if (report->length + size + 1 > report->capacity) {
        size_t capacity = 2 * (report->length + size + 1) + 256;
        char *grown = realloc(report->text, capacity);
        if (!grown) return;
        report->text = grown;
        report->capacity = capacity;
    }
    memcpy(report->text + report->length, text, size + 1);
    report->length += size;
}

static void put_quoted(ps_report *report, const char *text)
{
    put(report, "\"");
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
        put(report, out);
    }
    put(report, "\"");
}

/* The name, and what stands between it and the value. */
static void begin(ps_report *report, const char *name)
{
    if (report->json) {
        put(report, report->first ? "" : ", ");
        put_quoted(report, name);
        put(report, ": ");
    } else {
        char head[128];
        snprintf(head, sizeof head, "%s%-*s  ", report->in_section ? "  " : "",
                 report->in_section ? 30 : 32, name);
        put(report, head);
    }
    report->first = false;
}

static void end(ps_report *report, const char *unit)
{
    if (report->json) return;
    if (unit && strcmp(unit, "1") != 0) {
        put(report, " ");
        put(report, unit);
    }
    put(report, "\n");
}

void ps_report_section(ps_report *report, const char *name)
{
    if (!report) return;
    if (report->json) {
        if (report->in_section) put(report, "}");
        put(report, report->first && !report->in_section ? "" : ", ");
        put_quoted(report, name);
        put(report, ": {");
    } else {
        put(report, name);
        put(report, "\n");
    }
    report->in_section = true;
    report->first = true;
}

static void put_int(ps_report *report, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(report, text);
}

static void put_real(ps_report *report, double value)
{
    char text[40];
    if (report->json && !isfinite(value))
        snprintf(text, sizeof text, "null");
    else
        snprintf(text, sizeof text, report->json ? "%.17g" : "%.6g", value);
    put(report, text);
}

void ps_report_int(ps_report *report, const char *name, int64_t value, const char *unit)
{
    if (!report) return;
    begin(report, name);
    put_int(report, value);
    end(report, unit);
}

void ps_report_real(ps_report *report, const char *name, double value, const char *unit)
{
    if (!report) return;
    begin(report, name);
    put_real(report, value);
    end(report, unit);
}

void ps_report_text(ps_report *report, const char *name, const char *value)
{
    if (!report) return;
    begin(report, name);
    if (report->json)
        put_quoted(report, value);
    else
        put(report, value);
    end(report, NULL);
}

void ps_report_flag(ps_report *report, const char *name, bool value)
{
    if (!report) return;
    begin(report, name);
    put(report, report->json ? (value ? "true" : "false") : (value ? "yes" : "no"));
    end(report, NULL);
}

void ps_report_reals(ps_report *report, const char *name, const double *values, int64_t count)
{
    if (!report) return;
    begin(report, name);
    put(report, "[");
    for (int64_t i = 0; i < count; ++i) {
        if (i) put(report, ", ");
        put_real(report, values[i]);
    }
    put(report, "]");
    end(report, NULL);
}

void ps_report_ints(ps_report *report, const char *name, const int64_t *values, int64_t count)
{
    if (!report) return;
    begin(report, name);
    put(report, "[");
    for (int64_t i = 0; i < count; ++i) {
        if (i) put(report, ", ");
        put_int(report, values[i]);
    }
    put(report, "]");
    end(report, NULL);
}

void ps_report_print(ps_report **report)
{
    if (!report || !*report) return;
    ps_report *r = *report;
    const char *text = r->text ? r->text : "";
    if (r->json)
        printf("{%s%s}\n", text, r->in_section ? "}" : "");
    else
        fputs(text, stdout);
    ps_report_discard(report);
}

void ps_report_discard(ps_report **report)
{
    if (!report || !*report) return;
    free((*report)->text);
    free(*report);
    *report = NULL;
}
