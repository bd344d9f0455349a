/* What krylov_device.c, vectors_device.c and their *_cuda.cu share. Private to them. */
#ifndef PS_KERNELS_LINEAR_DEVICE_KERNELS_H
#define PS_KERNELS_LINEAR_DEVICE_KERNELS_H

#include "kernels/linear/krylov_device.h"
#include "kernels/linear/vectors_device.h"

/* ---- vectors_cuda.cu ---- */

ps_status ps_vector_scale_cuda(ps_precision precision, int64_t n, double alpha, void *x,
                               ps_stream *stream);
ps_status ps_vector_axpy_cuda(ps_precision precision, int64_t n, double alpha, const void *x,
                              void *y, ps_stream *stream);
ps_status ps_vector_multiply_cuda(ps_precision precision, int64_t n, const void *x, void *y,
                                  ps_stream *stream);
typedef struct ps_device_sum {
    ps_precision precision;
    bool difference; /* (x - y)^2, not x y */
    int64_t n;
    const void *x, *y;
    void *workspace;
} ps_device_sum;
ps_status ps_vector_sum_cuda(const ps_device_sum *sum, ps_stream *stream);
/* r = b - y, to fp32; x += d and d = 0, d in fp32. */
ps_status ps_vector_narrow_difference_cuda(int64_t n, const double *b, const double *y, float *r,
                                           ps_stream *stream);
ps_status ps_vector_add_wide_cuda(int64_t n, float *d, double *x, ps_stream *stream);
ps_status ps_stencil_multiply_cuda(ps_precision precision, const ps_slab_stencil *stencil,
                                   const void *x, void *y, int64_t planes, ps_stream *stream);

/* ---- krylov_cuda.cu ---- */

/* A pass: what A multiplies and where the product goes are NULL without one. */
typedef struct ps_krylov_device_pass {
    const ps_krylov_device_system *system;
    ps_krylov_vectors vectors;
    ps_krylov_pass pass;
    void *in, *out;
    int64_t rows, planes;
    ps_krylov_state *state; /* device memory, as the rest */
    double *partial;
    unsigned *ticket;
} ps_krylov_device_pass;

/* Blocks of the largest launch of a pass, for `partial`: 3 doubles each. */
int64_t ps_krylov_blocks_cuda(const ps_krylov_device_system *system, int64_t rows, int64_t planes);
/* Enqueues the pass; it runs if the state asks for it, and ends with the step. */
ps_status ps_krylov_pass_cuda(const ps_krylov_device_pass *pass, ps_stream *stream);
/* PS_CG_DIRECTION and PS_CG_ADVANCE with a stencil, without q: vectors.p is what is made from
 * `in`, the direction before. */
ps_status ps_krylov_cg_cuda(const ps_krylov_device_pass *pass, ps_stream *stream);
/* x = b on fixed rows of a stencil. */
ps_status ps_krylov_fixed_cuda(const ps_krylov_device_system *system, ps_stream *stream);

#endif
