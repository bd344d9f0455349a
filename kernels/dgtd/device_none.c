/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/dgtd/device_kernels.h"
#include "kernels/dgtd/device_wire.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
PS_NO_CUDA(ps_dgtd_push_cuda);
PS_NO_CUDA(ps_dgtd_pml_cuda);
PS_NO_CUDA(ps_dgtd_ports_cuda);
PS_NO_CUDA(ps_dgtd_half_step_cuda);
PS_NO_CUDA(ps_dgtd_local_step_cuda);
PS_NO_CUDA(ps_dgtd_local_add_cuda);
PS_NO_CUDA(ps_dgtd_paper_step_cuda);
PS_NO_CUDA(ps_dgtd_convert_cuda);
PS_NO_CUDA(ps_dgtd_halo_cuda);
PS_NO_CUDA(ps_dgtd_inner_cuda);
PS_NO_CUDA(ps_dgtd_add_groups_cuda);
PS_NO_CUDA(ps_dgtd_probe_cuda);
PS_NO_CUDA(ps_dgtd_dft_cuda);
PS_NO_CUDA(ps_dgtd_current_cuda);
PS_NO_CUDA(ps_dgtd_border_keep_cuda);
PS_NO_CUDA(ps_dgtd_border_apply_cuda);
PS_NO_CUDA(ps_dgtd_upwind_cuda);
PS_NO_CUDA(ps_dgtd_wires_advance_cuda);
PS_NO_CUDA(ps_dgtd_wires_apply_cuda);
#endif
