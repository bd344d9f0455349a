#include "formats/tag_names.h"

#include <stdlib.h>
#include <string.h>

bool ps_tag_names_next(const char **at, long *tag, char name[64])
{
    char *rest;
    if (!**at) return false;
    *tag = strtol(*at, &rest, 10);
    rest += *rest == ' ';
    size_t length = strcspn(rest, "\n"), kept = length < 63 ? length : 63;
    memcpy(name, rest, kept);
    name[kept] = 0;
    *at = rest + length + (rest[length] == '\n');
    return true;
}

ps_status ps_tag_names_find(const char *names, const char *what, const char *text, int32_t *out)
{
    char *rest, name[64], known[1024];
    bool found = false;
    long tag = strtol(text, &rest, 10);
    *out = (int32_t)tag;
    if (*text && !*rest && tag >= 0 && tag <= INT32_MAX) return PS_OK;
    for (const char *at = names; ps_tag_names_next(&at, &tag, name);) {
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
    size_t length = strnlen(names, sizeof known - 1);
    memcpy(known, names, length);
    known[length] = 0;
    for (char *c = known; *c; ++c)
        if (*c == '\n') *c = ',';
    return ps_fail(PS_USAGE,
                   "%s: \"%s\" is neither the number nor the name of a physical group of the mesh; "
                   "it has names for: %s",
                   what, text, known[0] ? known : "none");
}
