/*
 * number_header: what a first line or a comment of names says about the columns of a table. Who
 * reads columns by their places finds out here that they are called otherwise: y before x, a depth
 * for an elevation, km for m.
 */
#ifndef PS_FORMATS_NUMBER_HEADER_H
#define PS_FORMATS_NUMBER_HEADER_H

#include "runtime/status.h"

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

#endif
