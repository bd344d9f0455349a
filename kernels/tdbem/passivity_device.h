/*
 * passivity_device: products of Lanczos' method (kernels/tdbem/passivity.h) on a CUDA device, of
 * the squares that H, or A, is cut into.
 */
#ifndef PS_KERNELS_TDBEM_PASSIVITY_DEVICE_H
#define PS_KERNELS_TDBEM_PASSIVITY_DEVICE_H

#include <stdint.h>

#include "runtime/device.h"

/* All pointers are memory of the stream's device. Rows and slices are cut into `tiles` tiles of
 * `side`, the last may be shorter. The square of row tile i and slice tile j is
 * values[offset[j * tiles + i]] [slice][row]; behind it, of A, its imaginary parts. Of H, which is
 * symmetric, one square of a mirrored pair may be missing. */
typedef struct ps_passivity_squares {
    int64_t unknowns, side, tiles;
    int parts;             /* 1: H; 2: A, real and imaginary parts */
    const float *values;   /* at one angle                         */
    const int64_t *offset; /* [tiles * tiles]; -1: missing         */
    double *x, *y;         /* [parts][unknowns]                    */
    double *partial;       /* [tiles][parts][unknowns], workspace  */
} ps_passivity_squares;

/* Enqueues y = H x, or y = (A + A^H) x / 2. Always the same order of additions: deterministic.
 * PS_FAILED without CUDA, or if a launch fails. */
ps_status ps_passivity_product_cuda(const ps_passivity_squares *squares, ps_stream *stream);

#endif
