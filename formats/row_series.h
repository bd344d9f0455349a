/*
 * row_series: a dataset of a store, [rows][width] over time steps, that is written in order and
 * read row by row: histories, incident fields. Reading holds a chunk; writing holds one for each
 * thread, at most 16, which are compressed at once.
 */
#ifndef PS_FORMATS_ROW_SERIES_H
#define PS_FORMATS_ROW_SERIES_H

#include "formats/store.h"

typedef struct ps_row_series {
    ps_store *store; /* borrowed */
    int dataset;
    int64_t rows, width, row_bytes, chunk_rows;
    int64_t batch;  /* chunks in `held` */
    char *held;     /* being filled, or the chunk read last */
    int64_t filled; /* writing: rows in it */
    int64_t chunk;  /* writing: the next to write; reading: the one held, -1: none */
} ps_row_series;

/* Defines the dataset (of rank 2) and makes room for a chunk, to be written. */
ps_status ps_row_series_define(ps_store *store, const ps_dataset_spec *spec, ps_row_series *out);
/* To be read. PS_INVALID, naming the file, unless it is [rows][width] of this type. */
ps_status ps_row_series_find(ps_store *store, const char *name, ps_type type,
                             const int64_t shape[2], ps_row_series *out);
void ps_row_series_release(ps_row_series *series);

/* PS_FAILED, an internal error, for more rows than there are. */
ps_status ps_row_series_append(ps_row_series *series, int64_t count, const void *rows);
/* Writes what is left; PS_FAILED unless all rows were appended. */
ps_status ps_row_series_finish(ps_row_series *series);

/* *out = row `row`, which stays until the next call. PS_FAILED for a row that there is not. */
ps_status ps_row_series_read(ps_row_series *series, int64_t row, const void **out);

#endif
