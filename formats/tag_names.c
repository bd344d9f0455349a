#include "formats/tag_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether this line is of such cells. */
static bool is_of(const char *names, const char *line, ps_tag_cells of)
{
    bool told = *names == '-' || strstr(names, "\n-");
    return !told || (*line == '-') == (of == PS_TAGS_OF_SURFACES);
}

bool ps_tag_names_next(const char *names, ps_tag_cells of, const char **at, long *tag,
                       char name[64])
{
    char *rest;
    while (**at && !is_of(names, *at, of)) {
        *at += strcspn(*at, "\n");
        *at += **at == '\n';
    }
    if (!**at) return false;
    *tag = labs(strtol(*at, &rest, 10));
    rest += *rest == ' ';
    size_t length = strcspn(rest, "\n"), kept = length < 63 ? length : 63;
    memcpy(name, rest, kept);
    name[kept] = 0;
    *at = rest + length + (rest[length] == '\n');
    return true;
}

ps_status ps_tag_names_find(const char *names, ps_tag_cells of, const char *what, const char *text,
                            int32_t *out)
{
    char *rest, name[64], known[1024] = "";
    bool found = false;
    size_t used = 0;
    long tag = strtol(text, &rest, 10);
    *out = (int32_t)tag;
    if (*text && !*rest && tag >= 0 && tag <= INT32_MAX) return PS_OK;
    for (const char *at = names; ps_tag_names_next(names, of, &at, &tag, name);) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%ld %s", used ? "," : "",
                                     tag, name);
        if (strcmp(name, text) != 0) continue;
        if (found && *out != tag)
            return ps_fail(PS_USAGE,
                           "%s: \"%s\" is the name of the physical groups %d and %ld: say which by "
                           "its number",
                           what, text, (int)*out, tag);
        found = true;
        *out = (int32_t)tag;
    }
    if (found) return PS_OK;
    return ps_fail(
        PS_USAGE,
        "%s: \"%s\" is neither the number nor the name of a physical group of the mesh's "
        "%s; it has names for: %s",
        what, text, of == PS_TAGS_OF_SURFACES ? "surfaces" : "volumes", known[0] ? known : "none");
}
