/*
 * csr_device: products with a sparse matrix of compressed rows (formats/csr.h) on a CUDA device.
 *
 * Offsets have 64 bits, values fp32 or fp64; fp32 products are summed in fp32. Two kernels:
 *
 *   rows:   w = 2 .. 32 threads a row add entries l, l + w, ... and then one another's sums
 *           (N. Bell, M. Garland, SC 2009)
 *   stream: a block takes the products of some consecutive rows in the order of memory into shared
 *           memory, w threads a row add them: no thread idles over short rows, and what is read is
 *           read in whole lines
 *
 * The best kernel and w depend on row lengths, size and card: ps_csr_device_tune measures them all
 * once ("gridification") and keeps the choice in the struct. Sums have a fixed order for a choice.
 *
 * Traffic: (4 + size) nnz + (8 + 2 size) rows bytes; 2 nnz flops.
 */
#ifndef PS_KERNELS_LINEAR_CSR_DEVICE_H
#define PS_KERNELS_LINEAR_CSR_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/device.h"
#include "runtime/isa.h"

typedef struct ps_csr_shape {
    bool stream;
    int32_t width;   /* threads a row: 2, 4, 8, 16, 32; stream: 2, 4, 8 */
    int32_t threads; /* of a block: 256, with 8 a row also 512 and 1024, whose rows share x in the
                        cache of a multiprocessor */
} ps_csr_shape;

typedef struct ps_csr_device {
    ps_precision precision;
    int64_t rows, nnz;
    int64_t *row_start; /* [rows + 1], device memory as are the others */
    int32_t *columns;   /* [nnz] */
    void *values;       /* [nnz] */
    ps_csr_shape shape;
} ps_csr_device;

/* Bytes of the arrays in one piece of device memory, and a matrix placed in it with the shape that
 * its mean row length suggests: the one that ps_csr_device_tune finds for most. */
int64_t ps_csr_device_bytes(ps_precision precision, int64_t rows, int64_t nnz);
void ps_csr_device_attach(ps_precision precision, int64_t rows, int64_t nnz, void *memory,
                          ps_csr_device *out);
/* Copies the arrays of the host, values in the matrix's precision. Waits. */
ps_status ps_csr_device_upload(const ps_csr_device *matrix, const int64_t *row_start,
                               const int32_t *columns, const void *values, ps_stream *stream);

/* y = A x, enqueued. x[columns], y[rows]. */
ps_status ps_csr_device_multiply(const ps_csr_device *matrix, const void *x, void *y,
                                 ps_stream *stream);

/* Times every shape on these vectors and takes the fastest; *seconds: of a product with it, may be
 * NULL. Waits. */
ps_status ps_csr_device_tune(ps_csr_device *matrix, const void *x, void *y, ps_stream *stream,
                             double *seconds);

/* All shapes that are tried. */
enum { PS_CSR_SHAPES = 10 };
extern const ps_csr_shape ps_csr_shapes[PS_CSR_SHAPES];

/* Private (csr_cuda.cu). */
ps_status ps_csr_multiply_cuda(const ps_csr_device *matrix, const void *x, void *y,
                               ps_stream *stream);

#endif
