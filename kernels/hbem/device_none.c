/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/hbem/device_kernels.h"
#include "kernels/hbem/factor_device.h"
#include "kernels/hbem/pair_rows.h"
#include "kernels/hbem/potentials_device.h"
#include "kernels/hbem/product_device.h"
#include "kernels/hbem/product_images.h"
#include "runtime/no_cuda.h"

#ifndef PS_WITH_CUDA
int64_t ps_hbem_far_stride(const ps_hbem_far_launch *launch) { return 0; }

PS_NO_CUDA(ps_hbem_near_count_cuda);
PS_NO_CUDA(ps_hbem_near_list_cuda);
PS_NO_CUDA(ps_hbem_near_regular_cuda);
PS_NO_CUDA(ps_hbem_near_close_cuda);
PS_NO_CUDA(ps_hbem_far_launch_cuda);
PS_NO_CUDA(ps_hbem_pair_moments_cuda);
PS_NO_CUDA(ps_factor_device_factorise);
PS_NO_CUDA(ps_factor_device_solve);
PS_NO_CUDA(ps_device_potential_run);
PS_NO_CUDA(ps_product_device_begin);
PS_NO_CUDA(ps_product_device_run);
PS_NO_CUDA(ps_product_device_locate);
PS_NO_CUDA(ps_product_device_end);
PS_NO_CUDA(ps_product_images_cuda);
#endif
