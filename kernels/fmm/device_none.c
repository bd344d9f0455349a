/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/fmm/device_adaptive.h"
#include "kernels/fmm/device_growth_cuda.h"
#include "kernels/fmm/device_lists_cuda.h"
#include "kernels/fmm/device_ops.h"
#include "kernels/fmm/device_prism.h"
#include "kernels/fmm/device_tree_cuda.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
int64_t ps_fmm_device_p2p_workspace(int64_t leaves, int64_t particles) { return 0; }

PS_NO_CUDA(ps_fmm_device_p2m_any);
PS_NO_CUDA(ps_fmm_device_l2p_any);
PS_NO_CUDA(ps_fmm_device_p2p_any_run);
PS_NO_CUDA(ps_fmm_device_m2p_run);
PS_NO_CUDA(ps_fmm_device_p2l_run);
PS_NO_CUDA(ps_device_growth_each);
PS_NO_CUDA(ps_device_growth_scan);
PS_NO_CUDA(ps_device_growth_sort);
PS_NO_CUDA(ps_device_lists_cuda_workspace);
PS_NO_CUDA(ps_device_lists_cuda);
PS_NO_CUDA(ps_fmm_device_p2m);
PS_NO_CUDA(ps_fmm_device_l2p);
PS_NO_CUDA(ps_fmm_device_p2p_run);
PS_NO_CUDA(ps_fmm_device_m2m);
PS_NO_CUDA(ps_fmm_device_l2l);
PS_NO_CUDA(ps_fmm_device_encode);
PS_NO_CUDA(ps_fmm_device_m2l_run);
PS_NO_CUDA(ps_device_prism_near);
PS_NO_CUDA(ps_device_prism_near_transposed);
PS_NO_CUDA(ps_device_prism_direct);
PS_NO_CUDA(ps_device_prism_p2m);
PS_NO_CUDA(ps_device_prism_p2m_transposed);
PS_NO_CUDA(ps_device_prism_gather_pieces);
PS_NO_CUDA(ps_device_prism_l2p);
PS_NO_CUDA(ps_device_prism_l2p_transposed);
PS_NO_CUDA(ps_device_sort_cuda_workspace);
PS_NO_CUDA(ps_device_sort_cuda);
PS_NO_CUDA(ps_device_refine_cuda);
PS_NO_CUDA(ps_device_invert_cuda);
PS_NO_CUDA(ps_device_columns_cuda);
PS_NO_CUDA(ps_device_tree_cuda);
#endif
