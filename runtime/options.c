#include "runtime/options.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/option_values.h"

/* Alternatives are separated by '|', the words for one of them by '='. */
static int choice_index(const char *alternatives, const char *text)
{
    int index = 0;
    size_t length = strlen(text);
    for (const char *at = alternatives;; ++at) {
        size_t size = strcspn(at, "=|");
        if (size == length && strncmp(at, text, size) == 0) return index;
        at += size;
        if (!*at) return -1;
        index += *at == '|';
    }
}

/* The alternatives with one word for each. */
static void list_choices(const char *alternatives, char *out, size_t size)
{
    size_t at = 0;
    bool first = true; /* of the words for an alternative */
    for (const char *c = alternatives; *c && at + 1 < size; ++c) {
        first = *c == '|' || (first && *c != '=');
        if (first) out[at++] = *c;
    }
    out[at] = 0;
}

static ps_status check_range(const ps_option *option, double value, const char *text)
{
    if (option->minimum < option->maximum &&
        !(value >= option->minimum && value <= option->maximum))
        return ps_fail(PS_USAGE, "--%s: %s is outside %.10g .. %.10g", option->name, text,
                       option->minimum, option->maximum);
    return PS_OK;
}

static ps_status append_text(const ps_option *option, const char *text)
{
    ps_text_list *list = option->value;
    if (list->count == PS_TEXT_LIST_MAX)
        return ps_fail(PS_USAGE, "--%s is given more than %d times", option->name,
                       PS_TEXT_LIST_MAX);
    list->items[list->count++] = text;
    return PS_OK;
}

static ps_status set_value(const ps_option *option, const char *text)
{
    ps_status status = PS_OK;
    double number = 0;
    switch (option->kind) {
    case PS_OPTION_INT:
        status = ps_parse_int(text, option->value);
        number = (double)*(int64_t *)option->value;
        break;
    case PS_OPTION_REAL:
        status = ps_parse_measure(text, option->argument, option->value);
        number = *(double *)option->value;
        break;
    case PS_OPTION_BYTES:
        status = ps_parse_bytes(text, option->value);
        number = (double)*(int64_t *)option->value;
        break;
    case PS_OPTION_SECONDS:
        status = ps_parse_seconds(text, option->value);
        number = *(double *)option->value;
        break;
    case PS_OPTION_EVERY:
        status = ps_parse_interval(text, option->value);
        break;
    case PS_OPTION_TEXT:
        if (!text[0] && option->argument && strncmp(option->argument, "FILE", 4) == 0)
            return ps_fail(PS_USAGE, "--%s: an empty name is no file", option->name);
        *(const char **)option->value = text;
        return PS_OK;
    case PS_OPTION_LIST:
        return append_text(option, text);
    case PS_OPTION_CHOICE: {
        int index = choice_index(option->argument, text);
        char choices[256];
        list_choices(option->argument, choices, sizeof choices);
        if (index < 0)
            return ps_fail(PS_USAGE, "--%s: \"%s\" is not one of %s", option->name, text, choices);
        *(int *)option->value = index;
        return PS_OK;
    }
    case PS_OPTION_FLAG:
        break;
    }
    if (status != PS_OK) return ps_context(status, "--%s", option->name);
    return check_range(option, number, text);
}

/* ---- the command line ---- */

static const ps_option *find_option(const ps_option *const *tables, const char *name, size_t length)
{
    for (; *tables; ++tables)
        for (const ps_option *option = *tables; option->name; ++option)
            if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
                return option;
    return NULL;
}

int ps_word_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int row[LONGEST + 1];
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    if (length_a > LONGEST || length_b > LONGEST) return LONGEST;
    for (int j = 0; j <= length_b; ++j) row[j] = j;
    for (int i = 1; i <= length_a; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length_b; ++j) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[length_b];
}

static ps_status unknown_option(const ps_option *const *tables, const char *name)
{
    enum { FAR = 3, BEGINNING = 6 }; /* letters that differ; letters that two begin with */
    const char *nearest = NULL;
    int best = FAR;
    for (; *tables; ++tables)
        for (const ps_option *option = *tables; option->name; ++option) {
            int d = ps_word_distance(option->name, name);
            if (d < best) best = d, nearest = option->name;
            if (!nearest && strncmp(option->name, name, BEGINNING) == 0) nearest = option->name;
        }
    if (nearest)
        return ps_fail(PS_USAGE, "there is no option --%s; did you mean --%s?", name, nearest);
    return ps_fail(PS_USAGE, "there is no option --%s; --help lists them", name);
}

/* argv[*at] is an option; takes its value from it or from the next argument. */
/* Says what a former name is called now: the option with the same value, if there is one. */
static void note_former(const ps_option *const *tables, const ps_option *former)
{
    for (; *tables; ++tables)
        for (const ps_option *now = *tables; now->name; ++now)
            if (now->help && now->value == former->value)
                ps_info("--%s is called --%s now", former->name, now->name);
}

static ps_status parse_option(const ps_option *const *tables, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + (argv[*at][1] == '-' ? 2 : 1);
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const ps_option *option = find_option(tables, name, length);
    if (!option && !equals && strncmp(name, "no-", 3) == 0) {
        option = find_option(tables, name + 3, length - 3);
        if (option && option->kind == PS_OPTION_FLAG) {
            *(bool *)option->value = false;
            return PS_OK;
        }
        option = NULL;
    }
    if (!option) {
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)length, name);
        return unknown_option(tables, text);
    }
    if (!option->help) note_former(tables, option);
    if (option->kind == PS_OPTION_FLAG) {
        if (equals) return ps_fail(PS_USAGE, "--%s takes no value", option->name);
        *(bool *)option->value = true;
        return PS_OK;
    }
    if (equals) return set_value(option, equals + 1);
    if (*at + 1 >= argc)
        return ps_fail(PS_USAGE, "--%s needs a value (%s)", option->name,
                       option->argument ? option->argument : "VALUE");
    return set_value(option, argv[++*at]);
}

ps_status ps_options_parse(const ps_option *const *tables, int argc, char **argv,
                           const char **operands, int capacity, int *operand_count)
{
    *operand_count = 0;
    bool ended = false;
    for (int i = 1; i < argc; ++i) {
        const char *text = argv[i];
        bool number = text[0] == '-' && (text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
        if (!ended && strcmp(text, "--") == 0) {
            ended = true;
        } else if (!ended && text[0] == '-' && text[1] && !number) {
            PS_TRY(parse_option(tables, argc, argv, &i));
        } else if (*operand_count < capacity) {
            operands[(*operand_count)++] = text;
        } else {
            return ps_fail(PS_USAGE, "too many arguments: \"%s\" is one too many", text);
        }
    }
    return PS_OK;
}

/* ---- help and record ---- */

/* The value as text; "" for an unset text. */
static void print_value(const ps_option *option, char *out, size_t size)
{
    out[0] = 0;
    switch (option->kind) {
    case PS_OPTION_FLAG:
        snprintf(out, size, "%s", *(bool *)option->value ? "yes" : "no");
        break;
    case PS_OPTION_INT:
    case PS_OPTION_BYTES:
        snprintf(out, size, "%" PRId64, *(int64_t *)option->value);
        break;
    case PS_OPTION_REAL:
    case PS_OPTION_SECONDS:
        snprintf(out, size, "%.17g", *(double *)option->value);
        break;
    case PS_OPTION_EVERY: {
        const ps_interval *every = option->value;
        if (every->steps > 0)
            snprintf(out, size, "%" PRId64 "steps", every->steps);
        else
            snprintf(out, size, "%.10gs", every->seconds);
        break;
    }
    case PS_OPTION_TEXT:
        snprintf(out, size, "%s",
                 *(const char **)option->value ? *(const char **)option->value : "");
        break;
    case PS_OPTION_CHOICE: {
        const char *at = option->argument;
        for (int i = *(int *)option->value; i > 0 && at; --i) at = strchr(at, '|') + 1;
        snprintf(out, size, "%.*s", (int)strcspn(at, "=|"), at);
        break;
    }
    case PS_OPTION_LIST:
        break;
    }
}

/* The value as one would type it. */
static void print_default(const ps_option *option, char *out, size_t size)
{
    static const char units[] = "KMGT";
    print_value(option, out, size);
    if (option->kind == PS_OPTION_REAL || option->kind == PS_OPTION_SECONDS)
        snprintf(out, size, "%.10g", *(double *)option->value);
    if (option->kind != PS_OPTION_BYTES || *(int64_t *)option->value < 1024) return;
    double scaled = (double)*(int64_t *)option->value / 1024;
    int unit = 0;
    for (; scaled >= 1024 && unit < 3; ++unit) scaled /= 1024;
    snprintf(out, size, "%.4g%c", scaled, units[unit]);
}

/* Values that stand for something else, which the help says: "0: as many as fit". */
static bool is_stand_in(const char *value)
{
    static const char *const values[] = {"0", "-1", "nan", "-1e+300", "1e+300", NULL};
    for (int i = 0; values[i]; ++i)
        if (strcmp(value, values[i]) == 0) return true;
    return false;
}

static bool is_explained(const char *help, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = strstr(help, value); at; at = strstr(at + 1, value))
        if (strncmp(at + length, ": ", 2) == 0 && (at == help || at[-1] == ' ')) return true;
    return false;
}

static bool default_is_shown(const ps_option *option, const char *value)
{
    switch (option->kind) {
    case PS_OPTION_INT:
    case PS_OPTION_REAL:
        return !is_stand_in(value);
    case PS_OPTION_FLAG:
    case PS_OPTION_LIST:
        return false;
    case PS_OPTION_TEXT:
        return value[0] != 0;
    case PS_OPTION_BYTES:
    case PS_OPTION_SECONDS:
    case PS_OPTION_EVERY:
        return strcmp(value, "0") != 0 && strcmp(value, "0s") != 0;
    default:
        return true;
    }
}

enum { HELP_INDENT = 33, HELP_WIDTH = 100 };

/* A paragraph from column `indent` on, where the line already is. */
static void print_paragraph(FILE *stream, const char *text, int size, int indent)
{
    for (int column = indent, at = 0; at < size;) {
        int length = (int)strcspn(text + at, " \n"), gap = column > indent;
        if (gap && column + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent, gap = 0;
        }
        fprintf(stream, "%s%.*s", gap ? " " : "", length, text + at);
        column += gap + length;
        at += length;
        at += (int)strspn(text + at, " ");
    }
    fprintf(stream, "\n");
}

/* Where the words of an item of a list begin, "  NAME  what it is"; 0: the line is none. */
static int column_of_item(const char *text, const char *end)
{
    const char *name = text + strspn(text, " ");
    const char *gap = name > text ? strstr(name, "  ") : NULL;
    return gap && gap < end ? (int)(gap + strspn(gap, " ") - text) : 0;
}

void ps_text_wrap(const char *text, int indent, void *stream)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        int lead = column_of_item(text, end);
        fprintf(stream, "%.*s", lead, text);
        print_paragraph(stream, text + lead, (int)(end - text) - lead, indent + lead);
    }
}

void ps_options_help(const ps_option *table, void *stream)
{
    for (const ps_option *option = table; option->name; ++option) {
        if (!option->help) continue; /* a former name */
        char head[96], value[256], text[1024], argument[256] = "";
        if (option->kind == PS_OPTION_CHOICE)
            list_choices(option->argument, argument, sizeof argument);
        else if (option->kind != PS_OPTION_FLAG)
            snprintf(argument, sizeof argument, "%s",
                     option->argument ? option->argument : "VALUE");
        snprintf(head, sizeof head, "--%s%s%s", option->name, *argument ? " " : "", argument);
        print_default(option, value, sizeof value);
        if (strlen(head) > 29)
            fprintf(stream, "  %s\n%*s", head, HELP_INDENT, "");
        else
            fprintf(stream, "  %-30s ", head);
        bool shown = default_is_shown(option, value);
        bool meant = !shown && is_stand_in(value) && is_explained(option->help, value);
        snprintf(text, sizeof text, "%s%s%s%s", option->help, shown ? " (default " : "",
                 shown ? value : "",
                 shown   ? ")"
                 : meant ? " (default)"
                         : "");
        ps_text_wrap(text, HELP_INDENT, stream);
    }
}

/* Appends "name=value\n" and returns the length it has or would have. */
static size_t record_line(const char *name, const char *value, char *buffer, size_t size,
                          size_t length)
{
    int written = snprintf(length < size ? buffer + length : NULL,
                           length < size ? size - length : 0, "%s=%s\n", name, value);
    return length + (size_t)(written > 0 ? written : 0);
}

size_t ps_options_record(const ps_option *const *tables, char *buffer, size_t size)
{
    size_t length = 0;
    if (size) buffer[0] = 0;
    for (; *tables; ++tables)
        for (const ps_option *option = *tables; option->name; ++option) {
            if (!(option->identity & PS_IDENTITY)) continue;
            char printed[1024];
            print_value(option, printed, sizeof printed);
            const ps_text_list *list = option->kind == PS_OPTION_LIST ? option->value : NULL;
            for (int i = 0; list && i < list->count; ++i)
                length = record_line(option->name, list->items[i], buffer, size, length);
            const char *text =
                option->kind == PS_OPTION_TEXT ? *(const char **)option->value : NULL;
            if (!list)
                length = record_line(option->name, text ? text : printed, buffer, size, length);
        }
    return length;
}
