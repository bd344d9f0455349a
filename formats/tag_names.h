/*
 * tag_names: the names of physical groups as meshes store them: lines "NUMBER NAME".
 */
#ifndef PS_FORMATS_TAG_NAMES_H
#define PS_FORMATS_TAG_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_TAG_NAMES_MAX = 16384 }; /* bytes of the lines of a mesh */

/* The line that begins at *at, which goes on to the next: its number, and its name cut to 63
 * bytes. False at the end. */
bool ps_tag_names_next(const char **at, long *tag, char name[64]);

/* The group of this number or name. PS_USAGE with the names there are, or for a name of several
 * groups, as surfaces and volumes may have; `what` comes first in the message, e.g. "--boundary".
 */
ps_status ps_tag_names_find(const char *names, const char *what, const char *text, int32_t *out);

#endif
