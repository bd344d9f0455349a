#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "postprocess/inspect/inspect.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { TEXT_MAX = 65536, NUMBERS_MAX = 4096 };

/* Lines become one line: "dt=0.1; speed=343". */
static void on_one_line(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') text[--length] = '\0';
    for (char *c = text; *c; ++c)
        if (*c == '\n') *c = ' ';
}

static ps_status report_text(const ps_store *store, const char *name, ps_report *report)
{
    PS_SCOPED_MEMORY char *text = NULL;
    PS_TRY(PS_ALLOC(&text, TEXT_MAX, "a text"));
    PS_TRY(ps_store_get_text(store, "/", name, text, TEXT_MAX));
    on_one_line(text);
    ps_report_text(report, name, text);
    return PS_OK;
}

static ps_status report_numbers(const ps_store *store, const ps_attribute *attribute,
                                ps_report *report)
{
    const char *name = attribute->name;
    int count = (int)attribute->count;
    PS_SCOPED_MEMORY union {
        int64_t whole;
        double real;
    } *values = NULL;
    PS_TRY(PS_ALLOC(&values, count, "an attribute"));
    if (attribute->kind == PS_ATTRIBUTE_INTS) {
        PS_TRY(ps_store_get_ints(store, "/", name, &values->whole, count));
        if (count == 1)
            ps_report_int(report, name, values->whole);
        else
            ps_report_ints(report, name, &values->whole, count);
        return PS_OK;
    }
    PS_TRY(ps_store_get_reals(store, "/", name, &values->real, count));
    if (count == 1)
        ps_report_real(report, name, values->real);
    else
        ps_report_reals(report, name, &values->real, count);
    return PS_OK;
}

static ps_status report_attribute(const ps_store *store, const ps_attribute *attribute,
                                  ps_report *report)
{
    if (attribute->count > NUMBERS_MAX) return PS_OK;
    switch (attribute->kind) {
    case PS_ATTRIBUTE_INTS:
    case PS_ATTRIBUTE_REALS:
        return report_numbers(store, attribute, report);
    case PS_ATTRIBUTE_TEXT:
        return report_text(store, attribute->name, report);
    default:
        return PS_OK;
    }
}

static ps_status report_attributes(const ps_store *store, ps_report *report)
{
    PS_SCOPED_MEMORY ps_attribute *attributes = NULL;
    int count;
    PS_TRY(ps_store_list_attributes(store, "/", &attributes, &count));
    ps_report_section(report, "attributes");
    for (int a = 0; a < count; ++a) PS_TRY(report_attribute(store, &attributes[a], report));
    return PS_OK;
}

static ps_status report_inputs(const ps_store *store, ps_report *report)
{
    PS_SCOPED_MEMORY ps_input *inputs = NULL;
    int count;
    PS_TRY(ps_store_list_inputs(store, &inputs, &count));
    if (count) ps_report_section(report, "inputs");
    for (int i = 0; i < count; ++i) {
        char line[512];
        snprintf(line, sizeof line, "%s (%s, content %s, uuid %s)", inputs[i].file,
                 inputs[i].format, inputs[i].content_hash, inputs[i].uuid);
        ps_report_text(report, inputs[i].role, line);
    }
    return PS_OK;
}

ps_status inspect_report_file(const ps_store *store, ps_report *report)
{
    char hash[17];
    struct stat found;
    PS_TRY(ps_store_content_hash(store, hash));
    ps_report_section(report, "file");
    ps_report_text(report, "path", ps_store_path(store));
    ps_report_text(report, "format", ps_store_format(store));
    ps_report_int(report, "version", ps_store_version(store));
    ps_report_text(report, "content", hash);
    if (stat(ps_store_path(store), &found) == 0) ps_report_int(report, "bytes", found.st_size);
    if (ps_store_part_count(store)) ps_report_int(report, "parts", ps_store_part_count(store));
    ps_report_int(report, "datasets", ps_store_dataset_count(store));
    PS_TRY(report_attributes(store, report));
    return report_inputs(store, report);
}
