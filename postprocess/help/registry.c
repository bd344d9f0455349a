#include "postprocess/help/help.h"

#include <stdio.h>
#include <string.h>

#include "runtime/options.h"
#include "runtime/process.h"

const program_entry programs[] = {
#include "programs.h"
};
const int program_count = (int)(sizeof programs / sizeof *programs);

const program_entry *program_find(const char *name)
{
    for (int i = 0; i < program_count; ++i)
        if (strcmp(programs[i].name, name) == 0) return &programs[i];
    return NULL;
}

const program_entry *program_nearest(const char *name)
{
    const program_entry *nearest = NULL;
    int best = (int)strlen(name) / 2 + 1;
    for (int i = 0; i < program_count; ++i) {
        int distance = ps_word_distance(programs[i].name, name);
        /* The last word alone, or the beginning of the name, is meant more often than not. */
        const char *last = strrchr(programs[i].name, '-');
        if (strlen(name) > 2 && (strncmp(programs[i].name, name, strlen(name)) == 0 ||
                                 (last && strcmp(last + 1, name) == 0)))
            distance = 0;
        if (distance < best) best = distance, nearest = &programs[i];
    }
    return nearest;
}

bool program_path(const program_entry *entry, char *out, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "penstock-%s", entry->name);
    return ps_process_find(name, out, size);
}

void for_each_stage(stage_visit visit, void *context)
{
    for (int first = 0, end; first < program_count; first = end) {
        for (end = first; end < program_count; ++end)
            if (strcmp(programs[end].stage, programs[first].stage) != 0) break;
        visit(context, programs[first].stage, &programs[first], end - first);
    }
}
