#include "preprocess/mesh_import/text_lines.h"

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

bool text_lines_real(text_lines *lines, double *out)
{
    char *end;
    *out = strtod(lines->at, &end);
    bool found = end != lines->at;
    lines->at = end;
    return found;
}

bool text_lines_int(text_lines *lines, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(lines->at, &end, 10);
    bool found = end != lines->at && errno == 0;
    lines->at = end;
    return found;
}

ps_status text_lines_fail(const text_lines *lines, const char *what)
{
    return ps_fail(PS_INVALID, "%s: line %lld: %s", lines->name, (long long)lines->number, what);
}
