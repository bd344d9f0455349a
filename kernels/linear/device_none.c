/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/linear/csr_device.h"
#include "kernels/linear/device_kernels.h"
#include "kernels/linear/shifted_device.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
int64_t ps_krylov_blocks_cuda(const ps_krylov_device_system *system, int64_t rows, int64_t planes)
{
    return 0;
}

PS_NO_CUDA(ps_csr_multiply_cuda);
PS_NO_CUDA(ps_vector_scale_cuda);
PS_NO_CUDA(ps_vector_axpy_cuda);
PS_NO_CUDA(ps_vector_multiply_cuda);
PS_NO_CUDA(ps_vector_narrow_difference_cuda);
PS_NO_CUDA(ps_vector_add_wide_cuda);
PS_NO_CUDA(ps_vector_sum_cuda);
PS_NO_CUDA(ps_stencil_multiply_cuda);
PS_NO_CUDA(ps_krylov_pass_cuda);
PS_NO_CUDA(ps_krylov_cg_cuda);
PS_NO_CUDA(ps_krylov_fixed_cuda);
PS_NO_CUDA(ps_shifted_device_run);
#endif
