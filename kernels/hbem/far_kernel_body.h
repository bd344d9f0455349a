/* Far leaves of one kernel, as a translation unit of its own: FAR_KERNEL by the function FAR_CUDA.
 */
#include <limits.h>
#include <math.h>

extern "C" {
#include "kernels/hbem/device_kernels.h"
}

namespace
{

#include "kernels/hbem/device_far_body.h"

} // namespace

extern "C" ps_status FAR_CUDA(const ps_hbem_far_launch *launch, void *stream)
{
    return launch_kernel<FAR_KERNEL>(launch, stream);
}
