/*
 * number_file: text files of numbers, plain or compressed by gzip, read word by word or line by
 * line: UBC-GIF meshes and models, stations, tables.
 *
 * Words are separated by blanks, tabs, commas or semicolons; # % and ! begin comments. A word is a
 * number of C ("nan" too) or, where it makes sense, N*V: the number V, N times. A line in
 * which some commas may be decimal ones, as in "0,5 1 2", is refused.
 */
#ifndef PS_FORMATS_NUMBER_FILE_H
#define PS_FORMATS_NUMBER_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/number_header.h"
#include "runtime/status.h"

typedef struct ps_number_file ps_number_file;

/* PS_INVALID, naming the file: missing, a folder, empty. */
ps_status ps_number_file_open(const char *path, ps_number_file **out);
void ps_number_file_close(ps_number_file **file); /* NULL is fine */

/* What the numbers of a line are: a header that says otherwise is refused with the first line of
 * more than one number (number_header.h). Borrowed. */
void ps_number_file_expect(ps_number_file *file, const ps_columns *columns);

/* The next number, wherever it is; *found is false at the end. PS_INVALID, naming file and line,
 * for a word that is no number. */
ps_status ps_number_file_next(ps_number_file *file, double *out, bool *found);

/* The numbers of the next line that has any: *count of them, at most `capacity`; 0 at the end. A
 * first line of words none of which is a number or begins like one (a header) is passed over.
 * PS_INVALID likewise, and for more numbers than that. */
ps_status ps_number_file_line(ps_number_file *file, double *out, int capacity, int *count);

/* Behind the byte order mark that a first line may begin with. */
const char *ps_text_begin(const char *line);
/* Whether a line can be a header: a first row with a number that is none, as 1.5D+01, would be lost
 * as one. */
bool ps_text_is_header(const char *line);

/* Whether programs often write this number where there is no value: -9999, 1e20 and their like, to
 * the rounding of single precision. */
bool ps_is_usual_flag(double value);

/* What stands behind a number of a line, up to `next`, where the next one begins, if there is one:
 * PS_INVALID if whole numbers of the line are joined to digits by commas while others are separated
 * otherwise, as "0,5 1 2" would be read as four numbers. *kinds is 0 before the first. */
ps_status ps_text_separator(const char *number, const char *end, const char *next, int *kinds);

int64_t ps_number_file_where(const ps_number_file *file); /* the line, from 1 */

#endif
