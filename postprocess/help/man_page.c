#include "postprocess/help/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/process.h"
#include "runtime/scope.h"

/* Text for roff: backslashes and dashes escaped, no line that begins with a request. */
static void put_text(FILE *out, const char *text)
{
    int line_start = 1;
    for (; *text; ++text) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
    }
}

static void put_heading(FILE *out, const char *heading) { fprintf(out, ".SH %s\n", heading); }

static void put_title(FILE *out, const char *name, const char *summary)
{
    fprintf(out, ".TH \"%s\" 1 \"\" \"%s\" \"Penstock\"\n", name, ps_version());
    put_heading(out, "NAME");
    put_text(out, name);
    fputs(" \\- ", out);
    put_text(out, summary);
    fputc('\n', out);
}

/* Paragraphs at blank lines; an indented line is kept as it stands. */
static void put_paragraphs(FILE *out, char *text)
{
    char *next;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (!*line) {
            fputs(".PP\n", out);
        } else if (*line == ' ') {
            fputs(".nf\n", out);
            put_text(out, line);
            fputs("\n.fi\n", out);
        } else {
            put_text(out, line);
            fputc('\n', out);
        }
    }
}

/* The defaults of --threads and --host-memory are those of the machine the page is made on. */
static void put_help_line(FILE *out, const help_option *option)
{
    char *machine = NULL;
    if (strcmp(option->name, "threads") == 0 || strcmp(option->name, "host-memory") == 0)
        machine = option->common ? strstr(option->help, " (default ") : NULL;
    if (machine) *machine = 0;
    put_text(out, option->help);
    if (machine) fputs(" (default: by what the machine has)", out);
    fputc('\n', out);
}

static void put_options(FILE *out, const help_text *help, bool common)
{
    bool begun = false;
    for (int i = 0; i < help->option_count; ++i) {
        const help_option *option = &help->options[i];
        if (option->common != common) continue;
        if (!begun) put_heading(out, common ? "COMMON OPTIONS" : "OPTIONS");
        begun = true;
        fputs(".TP\n\\fB\\-\\-", out);
        put_text(out, option->name);
        fputs("\\fR", out);
        if (*option->argument) {
            fputs(" \\fI", out);
            put_text(out, option->argument);
            fputs("\\fR", out);
        }
        fputc('\n', out);
        put_help_line(out, option);
    }
}

/* The table that --figures prints: name, unit, meaning. */
static ps_status put_figures(FILE *out, const program_entry *program)
{
    char path[4096], option[] = "--figures", name[128], unit[32], *state = NULL;
    if (!program_path(program, path, sizeof path)) return PS_OK;
    ps_process_result result;
    PS_TRY(ps_process_run((char *const[]){path, option, NULL}, -1, false, &result));
    put_heading(out, "FIGURES");
    fputs("What the program prints on standard output, with \\-\\-json as an object.\n", out);
    for (char *row = strtok_r(result.output, "\n", &state); row;
         row = strtok_r(NULL, "\n", &state)) {
        int meaning = 0;
        if (sscanf(row, "%127s %31s %n", name, unit, &meaning) < 2) continue;
        fputs(".TP\n\\fB", out);
        put_text(out, name);
        fprintf(out, "\\fR (%s)\n", unit);
        put_text(out, row + meaning);
        fputc('\n', out);
    }
    free(result.output);
    return result.code == 0
               ? PS_OK
               : ps_fail(PS_FAILED, "%s --figures ended with exit code %d", path, result.code);
}

static void put_exit_status(FILE *out)
{
    static const char *const rows[][2] = {
        {"0", "all went well"},
        {"1", "the computation failed, or a check was not passed"},
        {"2", "a wrong option or argument"},
        {"3", "invalid input: a file that is broken, foreign or from the future"},
        {"4", "a resource ran out: disk, memory, or a budget that cannot do"}};
    put_heading(out, "EXIT STATUS");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        fprintf(out, ".TP\n%s\n%s\n", rows[i][0], rows[i][1]);
}

static ps_status put_program(FILE *out, const program_entry *program, help_text *help)
{
    char name[64];
    snprintf(name, sizeof name, "penstock-%s", program->name);
    put_title(out, name, program->summary);
    put_heading(out, "SYNOPSIS");
    put_text(out, help->synopsis);
    fputc('\n', out);
    put_heading(out, "DESCRIPTION");
    put_paragraphs(out, help->description);
    fputs(".PP\n", out);
    fprintf(out, "Stage: %s. Reads: %s. Writes: %s.\n", program->stage, program->reads,
            program->writes);
    put_options(out, help, false);
    put_options(out, help, true);
    if (*help->examples) {
        put_heading(out, "EXAMPLES");
        fputs(".nf\n", out);
        put_text(out, help->examples);
        fputs("\n.fi\n", out);
    }
    ps_status status = put_figures(out, program);
    put_exit_status(out);
    put_heading(out, "SEE ALSO");
    fputs("\\fBpenstock\\fR(1)\n", out);
    return status;
}

static ps_status finish(FILE *out, const char *path)
{
    int failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return ps_fail(PS_EXHAUSTED, "%s could not be written: %s", path, strerror(errno));
    return PS_OK;
}

static ps_status open_page(const char *folder, const char *name, char *path, size_t size,
                           FILE **out)
{
    int length = snprintf(path, size, "%s/%s.1", folder, name);
    if (length < 0 || (size_t)length >= size)
        return ps_fail(PS_USAGE, "--man-pages: the name of the folder is too long");
    *out = fopen(path, "w");
    if (!*out)
        return ps_fail(PS_USAGE, "--man-pages: %s cannot be written: %s; make the folder first",
                       path, strerror(errno));
    return PS_OK;
}

static ps_status write_program(const char *folder, const program_entry *program)
{
    PS_SCOPED(help_text_release) help_text help = {0};
    PS_TRY(help_text_read(program, &help));
    char path[4096], name[64];
    snprintf(name, sizeof name, "penstock-%s", program->name);
    FILE *out = NULL;
    ps_status status = open_page(folder, name, path, sizeof path, &out);
    if (status == PS_OK) {
        ps_status figures = put_program(out, program, &help);
        status = finish(out, path);
        if (status == PS_OK) status = figures;
    }
    return status;
}

static void put_stage(void *context, const char *stage, const program_entry *first, int count)
{
    FILE *out = context;
    fprintf(out, ".SS %s\n", stage);
    for (int i = 0; i < count; ++i) {
        fputs(".TP\n\\fBpenstock\\-", out);
        put_text(out, first[i].name);
        fputs("\\fR(1)\n", out);
        put_text(out, first[i].summary);
        fputc('\n', out);
    }
}

static ps_status write_front(const char *folder)
{
    char path[4096];
    FILE *out = NULL;
    PS_TRY(open_page(folder, "penstock", path, sizeof path, &out));
    put_title(out, "penstock", "an out-of-core pipeline of field solvers");
    put_heading(out, "SYNOPSIS");
    fputs(".nf\npenstock PROGRAM [options] ...\npenstock help [PROGRAM]\n"
          "penstock \\-\\-version\n.fi\n",
          out);
    put_heading(out, "DESCRIPTION");
    fputs("Runs penstock\\-PROGRAM, found beside the front command or on PATH, with the options "
          "given.\nThe stages exchange files; each program does one step.\n",
          out);
    put_heading(out, "PROGRAMS");
    for_each_stage(put_stage, out);
    put_exit_status(out);
    return finish(out, path);
}

ps_status man_pages_write(const char *folder, int *count)
{
    char path[4096];
    *count = 0;
    for (int i = 0; i < program_count; ++i) {
        if (!program_path(&programs[i], path, sizeof path)) continue;
        PS_TRY(write_program(folder, &programs[i]));
        ++*count;
    }
    PS_TRY(write_front(folder));
    ++*count;
    return PS_OK;
}
