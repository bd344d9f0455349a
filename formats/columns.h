/*
 * columns: a format's whole arrays as a table, by which they are allocated, written, read and
 * freed:
 *
 *     static ps_status pass(ps_store *store, const mesh *m, ps_columns_pass *each)
 *     {
 *         const ps_column columns[] = {
 *             {"/mesh/tag", "1", "physical group", PS_I32, m->elements, 1, .at = &m->tags}};
 *         return each(store, columns, PS_COLUMNS(columns));
 *     }
 *     PS_TRY(pass(store, m, ps_columns_write)); // or ps_columns_load: then *m gets its arrays
 */
#ifndef PS_FORMATS_COLUMNS_H
#define PS_FORMATS_COLUMNS_H

#include "formats/store.h"

typedef struct ps_column {
    const char *name, *units, *description;
    ps_type type;
    int64_t rows, width;       /* [rows][width]; a column of no rows is not in the file  */
    const void *at;            /* the address of the pointer to its values               */
    void *data;                /* or the values, if they are no allocation of their own  */
    const char *dimensions[2]; /* ps_dataset_spec.dimensions                             */
    int rank;                  /* of the dataset; 0: 2 where the width is above 1, else 1 */
} ps_column;

#define PS_COLUMNS(columns) ((int)(sizeof(columns) / sizeof *(columns)))

typedef ps_status ps_columns_pass(ps_store *store, const ps_column *columns, int count);
ps_columns_pass ps_columns_write;
/* PS_INVALID unless each is there with its type, rows and width. */
ps_columns_pass ps_columns_read;
/* Likewise into memory that is allocated once all are there, as a file only announces sizes. What
 * was taken before a failure is the caller's to release. */
ps_columns_pass ps_columns_load;
/* Of the store nothing. Memory for each, zeroed, also where there are no rows; and its release,
 * after which pointers are NULL. */
ps_columns_pass ps_columns_allocate, ps_columns_release;
/* Rows [first, first + rows) of columns that are longer, into memory that it allocates. */
ps_status ps_columns_load_part(ps_store *store, const ps_column *columns, int count, int64_t first);

#endif
