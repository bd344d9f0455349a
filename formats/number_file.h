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

#include "runtime/status.h"

/* What a first line or a comment of names says about the columns of a table. Who reads columns by
 * their places finds out here that they are called otherwise: y before x, a depth for an elevation,
 * km for m. */

/* Of each column the names it may have and, behind ":", the units that may stand in brackets behind
 * them: "x|easting:m|metres". Upper case and lower case are the same in names. */
typedef struct ps_columns {
    const char *const *names;
    int count;
} ps_columns;

/* PS_INVALID if `line` names as many columns as there are, `width`, and one of them is known to be
 * another one than what is expected in its place, or in another unit. Names that nobody knows pass;
 * so does a line in which hardly a word is known, as it is prose. */
ps_status ps_number_header_check(const char *line, int width, const ps_columns *expected);

#define PS_METRES "m|meter|meters|metre|metres"

/* Of places. */
#define PS_COLUMN_X                                                                                \
    "x|east|easting|e"                                                                             \
    ":" PS_METRES
#define PS_COLUMN_Y                                                                                \
    "y|north|northing|n"                                                                           \
    ":" PS_METRES
#define PS_COLUMN_UP                                                                               \
    "z|up|elevation|elev|height|altitude|alt|h"                                                    \
    ":" PS_METRES
#define PS_COLUMN_DOWN                                                                             \
    "z|down|depth"                                                                                 \
    ":" PS_METRES

/* Of what was measured there. */
#define PS_COLUMN_VALUE "value|observed|data|g|gz|g_z|anomaly|bouguer"
#define PS_COLUMN_ERROR "error|err|sigma|std|uncertainty"

/* Of bricks along x, y and z, in the unit `u`; along z the side of the lower number first. */
#define PS_COLUMNS_BRICK(u, least, most)                                                           \
    "x0|x1|xmin|x_min|west|w:" u, "x1|x2|xmax|x_max|east|e:" u, "y0|y1|ymin|y_min|south|s:" u,     \
        "y1|y2|ymax|y_max|north|n:" u, "z0|z1|zmin|z_min|" least ":" u,                            \
        "z1|z2|zmax|z_max|" most ":" u
#define PS_COLUMN_DENSITY "density|rho|contrast:kg/m3|kg/m^3|kg/m**3"

/* ---- the file ---- */

typedef struct ps_number_file ps_number_file;

/* PS_INVALID, naming the file: missing, a folder, empty. */
ps_status ps_number_file_open(const char *path, ps_number_file **out);
void ps_number_file_close(ps_number_file **file); /* NULL is fine */

/* What the numbers of a line are: a header that says otherwise is refused with the first line of
 * more than one number (ps_number_header_check). Borrowed. */
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
