/*
 * text_lines: a text file line by line, and the numbers of a line, with places for messages.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_TEXT_LINES_H
#define PS_PREPROCESS_MESH_IMPORT_TEXT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/status.h"

enum { TEXT_POLYGON_MAX = 256 }; /* vertices of a face */

typedef struct text_lines {
    const char *name;
    FILE *file;
    char *line; /* without the newline and without what follows '#' */
    size_t room;
    int64_t number; /* of the line, from 1 */
    const char *at; /* where the next number of the line is */
} text_lines;

ps_status text_lines_open(const char *path, const char *name, text_lines *lines);
void text_lines_close(text_lines *lines);

/* The next line that is not blank; false at the end of the file. */
bool text_lines_next(text_lines *lines);
/* The next number of the line; false if there is none there. */
bool text_lines_real(text_lines *lines, double *out);
bool text_lines_int(text_lines *lines, int64_t *out);

/* PS_INVALID if there is a line more. */
ps_status text_lines_end(text_lines *lines);

/* PS_INVALID: "NAME: line 12: " and the text. */
ps_status text_lines_fail(const text_lines *lines, const char *what);

#endif
