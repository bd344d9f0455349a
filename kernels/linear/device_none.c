/* Stands in for krylov_cuda.cu, krylov_cg_cuda.cu and vectors_cuda.cu where there is no CUDA to
 * build them. */
#include "kernels/linear/device_kernels.h"

#ifndef PS_WITH_CUDA
static ps_status none(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

ps_status ps_vector_scale_cuda(ps_precision precision, int64_t n, double alpha, void *x,
                               ps_stream *stream)
{
    return none();
}
ps_status ps_vector_axpy_cuda(ps_precision precision, int64_t n, double alpha, const void *x,
                              void *y, ps_stream *stream)
{
    return none();
}
ps_status ps_vector_multiply_cuda(ps_precision precision, int64_t n, const void *x, void *y,
                                  ps_stream *stream)
{
    return none();
}
ps_status ps_vector_narrow_difference_cuda(int64_t n, const double *b, const double *y, float *r,
                                           ps_stream *stream)
{
    return none();
}
ps_status ps_vector_add_wide_cuda(int64_t n, float *d, double *x, ps_stream *stream)
{
    return none();
}
ps_status ps_vector_sum_cuda(const ps_device_sum *sum, ps_stream *stream) { return none(); }
ps_status ps_stencil_multiply_cuda(ps_precision precision, const ps_slab_stencil *stencil,
                                   const void *x, void *y, int64_t planes, ps_stream *stream)
{
    return none();
}
int64_t ps_krylov_blocks_cuda(const ps_krylov_device_system *system, int64_t rows, int64_t planes)
{
    return 0;
}
ps_status ps_krylov_pass_cuda(const ps_krylov_device_pass *pass, ps_stream *stream)
{
    return none();
}
ps_status ps_krylov_cg_cuda(const ps_krylov_device_pass *pass, ps_stream *stream) { return none(); }
ps_status ps_krylov_fixed_cuda(const ps_krylov_device_system *system, ps_stream *stream)
{
    return none();
}
#endif
