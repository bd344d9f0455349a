/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/schwarz/device_kernels.h"
#include "kernels/schwarz/traces_device.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
PS_NO_CUDA(ps_fast_tables_cuda);
PS_NO_CUDA(ps_sine_transform_cuda);
PS_NO_CUDA(ps_slab_sweep_cuda);
PS_NO_CUDA(ps_copy_fixed_cuda);
PS_NO_CUDA(ps_traces_dots_cuda);
PS_NO_CUDA(ps_traces_add_cuda);
PS_NO_CUDA(ps_traces_subtract_cuda);
PS_NO_CUDA(ps_traces_divide_cuda);
PS_NO_CUDA(ps_traces_modes_cuda);
PS_NO_CUDA(ps_traces_low_cuda);
#endif
