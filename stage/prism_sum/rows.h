/*
 * rows: tables of prisms and of stations, from text (plain or by gzip) or a dataset of an HDF5
 * file, column by column.
 */
#ifndef PS_PRISM_SUM_ROWS_H
#define PS_PRISM_SUM_ROWS_H

#include <stdint.h>

#include "formats/number_file.h"
#include "runtime/status.h"

enum { PS_PRISM_ROW = 9 };

/* Numbers a row: the same in all, within least .. most <= PS_PRISM_ROW. */
typedef struct ps_prism_row_form {
    const char *dataset; /* of an HDF5 file   */
    int least, most;
    const char *expected;      /* in words: "x y z" */
    const ps_columns *columns; /* what a header of text may call them */
} ps_prism_row_form;

/* Zero before it is read. */
typedef struct ps_prism_rows {
    int64_t count;
    int width;
    double *column[PS_PRISM_ROW]; /* [count] */
} ps_prism_rows;

/* PS_INVALID, with file and line or row: another number of numbers, what is not finite or beyond
 * 1e15, no rows. What has been read is there to be released in any case. */
ps_status ps_prism_rows_read(const char *path, const ps_prism_row_form *form, ps_prism_rows *out);
void ps_prism_rows_release(ps_prism_rows *rows);

#endif
