/*
 * columns_hdf5: numbers from HDF5 files that others wrote, row by row, as fp64.
 */
#ifndef PS_FORMATS_COLUMNS_HDF5_H
#define PS_FORMATS_COLUMNS_HDF5_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_hdf5_columns ps_hdf5_columns;

bool ps_is_hdf5(const char *path); /* by its first bytes */

/* Opens `path` and the datasets of these names, each [rows] or [rows][k] of any number type; their
 * columns follow one another. Names that are NULL end the list. PS_INVALID, with file and name,
 * for a dataset that is missing, no numbers, of more dimensions or another number of rows, or
 * packed by scale_factor and add_offset. */
ps_status ps_hdf5_columns_open(const char *path, const char *const *names, int name_count,
                               ps_hdf5_columns **out);
int64_t ps_hdf5_columns_rows(const ps_hdf5_columns *columns);
/* Columns that dataset number `name` has. */
int ps_hdf5_columns_width(const ps_hdf5_columns *columns, int name);
/* Its attribute `units`, or "". Borrowed. */
const char *ps_hdf5_columns_units(const ps_hdf5_columns *columns, int name);
/* Rows [first, first + count) of dataset `name`: out[count][width]. Not thread-safe. PS_INVALID for
 * a value that _FillValue or missing_value say is none. */
ps_status ps_hdf5_columns_read(ps_hdf5_columns *columns, int name, int64_t first, int64_t count,
                               double *out);
void ps_hdf5_columns_close(ps_hdf5_columns **columns); /* NULL is fine */

#endif
