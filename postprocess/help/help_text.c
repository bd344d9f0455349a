#include "postprocess/help/help.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/process.h"

/* Cuts the text before `heading` (a whole line) and returns what follows it; NULL if there is no
 * such line. */
static char *cut_at(char *text, const char *heading)
{
    size_t length = strlen(heading);
    for (char *at = text; at; at = strchr(at, '\n')) {
        if (*at == '\n') ++at;
        if (strncmp(at, heading, length) == 0 && (at[length] == '\n' || !at[length])) {
            if (at > text) at[-1] = 0;
            char *rest = at + length + (at[length] == '\n');
            *at = 0;
            return rest;
        }
    }
    return NULL;
}

static void trim(char *text)
{
    for (size_t n = strlen(text); n && (text[n - 1] == '\n' || text[n - 1] == ' ');) text[--n] = 0;
}

static char *skip_spaces(char *at)
{
    while (*at == ' ') ++at;
    return at;
}

/* "  --name ARGUMENT      help": the head ends at two spaces or at the end of the line. */
static void parse_head(char *line, help_option *option)
{
    char *name = line + 4;
    char *gap = strstr(name, "  ");
    option->help = gap ? skip_spaces(gap) : name + strlen(name);
    if (gap) *gap = 0;
    char *space = strchr(name, ' ');
    option->name = name;
    option->argument = space ? space + 1 : name + strlen(name);
    if (space) *space = 0;
}

static void parse_options(help_text *help, char *section, bool common)
{
    char *state = NULL;
    for (char *line = strtok_r(section, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        help_option *last = help->option_count ? &help->options[help->option_count - 1] : NULL;
        if (strncmp(line, "  --", 4) == 0 && help->option_count < HELP_OPTIONS_MAX) {
            help_option *option = &help->options[help->option_count++];
            parse_head(line, option);
            option->common = common;
        } else if (last && !*last->help) {
            last->help = skip_spaces(line); /* the head was long, its help is a line below */
        } else if (last && *skip_spaces(line)) {
            char *end = last->help + strlen(last->help); /* a help of several lines */
            *end = ' ';
            memmove(end + 1, skip_spaces(line), strlen(skip_spaces(line)) + 1);
        }
    }
}

static ps_status take_apart(help_text *help)
{
    static const char usage[] = "usage: ";
    char *text = help->text;
    char *end = strchr(text, '\n');
    if (strncmp(text, usage, sizeof usage - 1) != 0 || !end)
        return ps_fail(PS_FAILED, "its --help does not begin with \"usage:\"");
    help->examples = cut_at(end, "examples:");
    char *common = cut_at(end, "common options:");
    char *own = cut_at(end, "options:");
    *end = 0;
    help->synopsis = text + sizeof usage - 1;
    help->description = end + 1;
    while (*help->description == '\n') ++help->description;
    trim(help->synopsis);
    trim(help->description);
    if (!help->examples) help->examples = help->synopsis + strlen(help->synopsis);
    trim(help->examples);
    if (own) parse_options(help, own, false);
    if (common) parse_options(help, common, true);
    return PS_OK;
}

ps_status help_text_read(const program_entry *program, help_text *out)
{
    memset(out, 0, sizeof *out);
    char path[4096], option[] = "--help";
    if (!program_path(program, path, sizeof path))
        return ps_fail(PS_FAILED, "penstock-%s is not installed beside penstock-help or on PATH",
                       program->name);
    ps_process_result result;
    PS_TRY(ps_process_run((char *const[]){path, option, NULL}, -1, false, &result));
    out->text = result.output;
    ps_status status = PS_OK;
    if (result.code != 0)
        status = ps_fail(PS_FAILED, "%s --help ended with exit code %d", path, result.code);
    if (status == PS_OK) status = take_apart(out);
    if (status != PS_OK) {
        help_text_release(out);
        return ps_context(status, "penstock-%s", program->name);
    }
    return PS_OK;
}

void help_text_release(help_text *help)
{
    free(help->text);
    memset(help, 0, sizeof *help);
}
