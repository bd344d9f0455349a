/*
 * tag_names: the names of physical groups as meshes store them: lines "NUMBER NAME"; in a mesh of
 * volumes "-NUMBER NAME" is one of surfaces, which are numbered apart.
 */
#ifndef PS_FORMATS_TAG_NAMES_H
#define PS_FORMATS_TAG_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_TAG_NAMES_MAX = 16384 }; /* bytes of the lines of a mesh */

/* Whose names: where no line is said to be of surfaces, a line may be of both. */
typedef enum ps_tag_cells { PS_TAGS_OF_VOLUMES, PS_TAGS_OF_SURFACES } ps_tag_cells;

/* The next line of these cells from *at on, which is `names` at first and goes on to the one
 * behind: its number, and its name cut to 63 bytes. False at the end. */
bool ps_tag_names_next(const char *names, ps_tag_cells of, const char **at, long *tag,
                       char name[64]);

/* The group of this number or name. PS_USAGE with the names there are, or for a name of several
 * groups; `what` comes first in the message, e.g. "--boundary". */
ps_status ps_tag_names_find(const char *names, ps_tag_cells of, const char *what, const char *text,
                            int32_t *out);

#endif
