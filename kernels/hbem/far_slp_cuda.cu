/* Far leaves of SLP. */
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
}

namespace
{

#include "kernels/hbem/device_far_body.h"

} // namespace

extern "C" ps_status ps_hbem_far_slp_cuda(const ps_hbem_far_launch *launch, void *stream)
{
    return launch_kernel<PS_KERNEL_SLP>(launch, stream);
}
