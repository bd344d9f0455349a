/* tables: what a user's files hold: places, and values over times, as text or in HDF5. */
#ifndef PS_PREPROCESS_INCIDENT_TABLES_H
#define PS_PREPROCESS_INCIDENT_TABLES_H

#include "preprocess/incident/incident.h"

typedef struct table {
    int64_t rows, width;
    double *values; /* [rows][width], all finite */
} table;
void table_release(table *table);

/* A text file of numbers, a row a line, or the dataset `name` of an HDF5 file. PS_INVALID for rows
 * of different widths and what is not finite. */
ps_status table_read(const char *path, const char *name, table *out);
/* Values over times: of text a line is a time and its values; of HDF5 they are the datasets "time"
 * [rows] and `name` [rows][width]. PS_INVALID for gaps (even_time) and fewer than two rows. */
ps_status table_read_series(const char *path, const char *name, table *out, even_times *times);

/* place[rows] = for each of places[rows][stride] (their first three) the nearest of
 * points[count][3]: all must be met once, within `tolerance` (m). PS_INVALID, naming the file and
 * the first that is not. */
ps_status table_match(const char *path, const table *places, const double *points, int64_t count,
                      double tolerance, int64_t *place);

#endif
