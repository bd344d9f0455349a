/*
 * vendor_sparse: the sparse product of NVIDIA's cuSPARSE, for comparison. The library is opened at
 * run time, where the loader finds it, so that nothing here depends on it.
 */
#ifndef PS_RUNTIME_VENDOR_SPARSE_H
#define PS_RUNTIME_VENDOR_SPARSE_H

#include "runtime/device.h"
#include "runtime/isa.h"

typedef struct ps_vendor_sparse ps_vendor_sparse;

/* Compressed rows and vectors in device memory. */
typedef struct ps_vendor_sparse_matrix {
    ps_precision precision;
    int64_t rows, columns, nnz; /* below 2^31 each */
    const int32_t *row_start;   /* [rows + 1] */
    const int32_t *column;      /* [nnz] */
    const void *values;         /* [nnz] */
    void *x, *y;                /* [columns], [rows] */
    bool add;                   /* y += A x, not y = A x */
    bool csr_algorithm;         /* the one for compressed rows, not the library's choice */
} ps_vendor_sparse_matrix;

/* Whether the library is there; path: NULL, or where it is beside the loader's places. */
bool ps_vendor_sparse_found(const char *path);

/* Prepares products on the stream, whose matrix and vectors are borrowed; *out is NULL without the
 * library. PS_FAILED with the library's error; as ps_device_alloc for its workspace. */
ps_status ps_vendor_sparse_open(const char *path, ps_stream *stream,
                                const ps_vendor_sparse_matrix *matrix, ps_vendor_sparse **out);
/* Enqueues a product. */
ps_status ps_vendor_sparse_multiply(ps_vendor_sparse *s);
/* PS_FAILED, saying what was called, for a code of the vendor's libraries that is not 0. */
ps_status ps_vendor_called(int code, const char *what);
void ps_vendor_sparse_close(ps_vendor_sparse **s); /* NULL inside is fine */

#endif
