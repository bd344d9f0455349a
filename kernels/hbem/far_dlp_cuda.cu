#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
#define FAR_KERNEL PS_KERNEL_DLP
#define FAR_CUDA ps_hbem_far_dlp_cuda
#include "kernels/hbem/far_kernel_body.h"
