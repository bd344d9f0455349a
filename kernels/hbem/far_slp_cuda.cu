#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
#define FAR_KERNEL PS_KERNEL_SLP
#define FAR_CUDA ps_hbem_far_slp_cuda
#include "kernels/hbem/far_kernel_body.h"
