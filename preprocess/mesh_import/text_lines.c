#include "preprocess/mesh_import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/path.h"

ps_status text_lines_open(const char *path, const char *name, text_lines *lines)
{
    *lines = (text_lines){.name = name, .file = fopen(path, "rb")};
    return lines->file ? PS_OK : ps_path_unreadable(name);
}

void text_lines_close(text_lines *lines)
{
    free(lines->line);
    if (lines->file) fclose(lines->file);
    lines->line = NULL;
    lines->file = NULL;
}

bool text_lines_next(text_lines *lines)
{
    while (getline(&lines->line, &lines->room, lines->file) > 0) {
        ++lines->number;
        lines->line[strcspn(lines->line, "#\r\n")] = '\0';
        lines->at = lines->line + strspn(lines->line, " \t");
        if (*lines->at) return true;
    }
    return false;
}

/* A number goes up to a blank, the end of the line or the slash of OBJ: "0,5" and "2.7" for an
 * index are none. */
static bool take_number(text_lines *lines, char *end)
{
    bool found = end != lines->at && strchr(" \t/", *end);
    lines->at = end;
    return found;
}

bool text_lines_real(text_lines *lines, double *out)
{
    char *end;
    *out = strtod(lines->at, &end);
    return take_number(lines, end);
}

bool text_lines_int(text_lines *lines, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(lines->at, &end, 10);
    return take_number(lines, end) && errno == 0;
}

ps_status text_lines_end(text_lines *lines)
{
    return text_lines_next(lines)
               ? text_lines_fail(lines, "there is more than the header announces: its counts are "
                                        "wrong, or two files were put into one")
               : PS_OK;
}

ps_status text_lines_fail(const text_lines *lines, const char *what)
{
    return ps_fail(PS_INVALID, "%s: line %lld: %s", lines->name, (long long)lines->number, what);
}
