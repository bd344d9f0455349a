/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/tdbem/group_solve_device.h"
#include "kernels/tdbem/interaction_launch.h"
#include "kernels/tdbem/load_device.h"
#include "kernels/tdbem/past_window.h"
#include "kernels/tdbem/slice_batch_internal.h"
#include "kernels/tdbem/slice_symmetric_internal.h"
#include "kernels/tdbem/passivity_device.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
int64_t ps_group_solve_cuda_workspace(int64_t unknowns, int64_t group, int64_t halo) { return 0; }

PS_NO_CUDA(ps_group_solve_cuda);
PS_NO_CUDA(ps_device_soft_entries);
PS_NO_CUDA(ps_device_hard_pairs);
PS_NO_CUDA(ps_device_hard_entries);
PS_NO_CUDA(ps_device_trim);
PS_NO_CUDA(ps_device_compact);
PS_NO_CUDA(ps_device_load_cuda);
PS_NO_CUDA(ps_past_window_scatter_cuda);
PS_NO_CUDA(ps_past_window_slide_cuda);
PS_NO_CUDA(ps_slice_parts_cuda);
PS_NO_CUDA(ps_slice_reduce_cuda);
PS_NO_CUDA(ps_symmetric_cuda);
PS_NO_CUDA(ps_passivity_product_cuda);
#endif
