/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/common/add_columns_device.h"
#include "kernels/common/copy_ranges_device.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
PS_NO_CUDA(ps_add_columns_cuda);
PS_NO_CUDA(ps_copy_ranges_cuda);
#endif
