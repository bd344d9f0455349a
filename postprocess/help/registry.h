/*
 * registry: the programs of Penstock, as programs.list at the root of the source names them.
 */
#ifndef PS_HELP_REGISTRY_H
#define PS_HELP_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct program_entry {
    const char *name;  /* without "penstock-"                                              */
    const char *stage; /* "preprocess", "compute", "postprocess"                           */
    const char *reads, *writes;
    const char *summary; /* a line                                                           */
} program_entry;

extern const program_entry programs[];
extern const int program_count;

const program_entry *program_find(const char *name);    /* NULL if there is none             */
const program_entry *program_nearest(const char *name); /* the likeliest meant, or NULL      */

/* Where the program is (beside this one or on PATH); false if it is not installed. */
bool program_path(const program_entry *entry, char *out, size_t size);

/* The stages in the order of the list: calls `visit` once a stage with its programs. */
typedef void (*stage_visit)(void *context, const char *stage, const program_entry *first,
                            int count);
void for_each_stage(stage_visit visit, void *context);

#endif
