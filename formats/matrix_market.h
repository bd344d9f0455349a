/*
 * matrix_market: sparse matrices as text in the exchange format of the Matrix Market (R. Boisvert,
 * R. Pozo, K. Remington, NISTIR 5935, 1996): coordinate, real.
 */
#ifndef PS_FORMATS_MATRIX_MARKET_H
#define PS_FORMATS_MATRIX_MARKET_H

#include <stdbool.h>

#include "formats/csr.h"

/* Writes a square matrix, 17 digits; symmetric: the lower triangle alone, with that header (not
 * checked). comment: a line, or NULL. The file appears when it is complete. */
ps_status ps_matrix_market_save(const char *path, const ps_csr *matrix, bool symmetric,
                                const char *comment);

/* Reads a matrix, plain or compressed by gzip: real, integer or pattern (ones); general, symmetric
 * or skew-symmetric; entries in any order, equal places add up. Rows ascend by column in *out;
 * *columns may be NULL. PS_INVALID with file and line for what does not fit. */
ps_status ps_matrix_market_load(const char *path, ps_csr *out, int64_t *columns);

#endif
