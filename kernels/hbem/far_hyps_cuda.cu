#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
#define FAR_KERNEL PS_KERNEL_HYPS
#define FAR_CUDA ps_hbem_far_hyps_cuda
#include "kernels/hbem/far_kernel_body.h"
