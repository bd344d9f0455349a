/*
 * csr: a sparse matrix as compressed rows in fp64, in memory and as a group of a file.
 *
 * In a file the group holds row_length i32 [rows], columns i32 [nnz], values f64 [nnz]. Lengths
 * rather than starts, so that part files with consecutive rows join into the whole matrix by
 * concatenation (specs/slice_matrix.md).
 */
#ifndef PS_FORMATS_CSR_H
#define PS_FORMATS_CSR_H

#include <stdint.h>

#include "formats/store.h"

typedef struct ps_csr {
    int64_t rows, nnz;
    int64_t *row_start; /* [rows + 1]                 */
    int32_t *columns;   /* [nnz], ascending in a row  */
    double *values;     /* [nnz]                      */
} ps_csr;

/* Allocates the arrays, zeroed. */
ps_status ps_csr_init(ps_csr *matrix, int64_t rows, int64_t nnz);
void ps_csr_release(ps_csr *matrix); /* frees the arrays, zeroes the struct */

/* row_start consistent with nnz, columns ascending within [0, column_count), values finite.
 * PS_INVALID with the first fault. */
ps_status ps_csr_check(const ps_csr *matrix, int64_t column_count);

/* *out = the transpose of a square matrix. The caller releases it. */
ps_status ps_csr_transpose(const ps_csr *matrix, ps_csr *out);

/* Writes the datasets GROUP/row_length, GROUP/columns, GROUP/values, of the given units. */
ps_status ps_csr_write(ps_store *store, const char *group, const char *units, const ps_csr *matrix);

/* Reads and checks a matrix of rows x column_count; *out owns its arrays. PS_INVALID if the
 * number of rows is another, or ps_csr_check finds a fault. */
ps_status ps_csr_read(ps_store *store, const char *group, int64_t rows, int64_t column_count,
                      ps_csr *out);

#endif
