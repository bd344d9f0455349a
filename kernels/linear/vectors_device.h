/*
 * vectors_device: the vector operations of Magoules, Cheik Ahamed and Putanowicz (2015), section 4,
 * and the matrix-free product of grid.h, on a CUDA device.
 *
 * Vectors are device memory of one precision; work is enqueued. Bytes and flops a value:
 * scale 2 size, 1; axpy and element-wise 3 size, 2 and 1; dot 2 size, 2; stencil 2 size, 21.
 * PS_FAILED, with CUDA's text, if a launch fails, or without a CUDA device.
 */
#ifndef PS_KERNELS_LINEAR_VECTORS_DEVICE_H
#define PS_KERNELS_LINEAR_VECTORS_DEVICE_H

#include "kernels/linear/stencil.h"
#include "runtime/device.h"
#include "runtime/isa.h"

/* x = alpha x;  y += alpha x;  y = y.x element by element. */
ps_status ps_vector_device_scale(ps_precision precision, int64_t n, double alpha, void *x,
                                 ps_stream *stream);
ps_status ps_vector_device_axpy(ps_precision precision, int64_t n, double alpha, const void *x,
                                void *y, ps_stream *stream);
ps_status ps_vector_device_multiply(ps_precision precision, int64_t n, const void *x, void *y,
                                    ps_stream *stream);

/* The first double of the workspace = sum x y, products and sums in fp64: the same bits always
 * (a norm is the root of x by x). workspace: device memory of PS_DOT_BYTES, zeroed once. */
enum { PS_DOT_BLOCKS = 1056, PS_DOT_BYTES = 8 * (2 + 3 * PS_DOT_BLOCKS) };
ps_status ps_vector_device_dot(ps_precision precision, int64_t n, const void *x, const void *y,
                               void *workspace, ps_stream *stream);

/* The same of (x - y) (x - y). */
ps_status ps_vector_device_difference(ps_precision precision, int64_t n, const void *x,
                                      const void *y, void *workspace, ps_stream *stream);

/* y = A x on a slab, fixed rows y = x. planes: how many a warp marches, of which results do not
 * depend. */
ps_status ps_stencil_device_multiply(ps_precision precision, const ps_slab_stencil *stencil,
                                     const void *x, void *y, int64_t planes, ps_stream *stream);
/* Planes that a warp should march: enough warps for all multiprocessors, few planes read twice. The
 * multiprocessors are those of ps_device_describe, which takes longer than a small product. */
int64_t ps_stencil_device_planes(const ps_slab_stencil *stencil, int multiprocessors);

#endif
