/* Far leaves in fp32. */
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
}

namespace
{

#include "kernels/hbem/device_number_body.h"
#include "kernels/hbem/device_team_body.h"
#include "kernels/hbem/device_cross_body.h"
#include "kernels/hbem/device_source_body.h"
#include "kernels/hbem/device_small_body.h"
#include "kernels/hbem/device_leaf_body.h"
#include "kernels/hbem/device_far_body.h"

} // namespace

extern "C" int64_t ps_hbem_far_single_stride(const ps_hbem_far_launch *launch)
{
    return far_stride<float>(launch);
}

extern "C" ps_status ps_hbem_far_single_cuda(const ps_hbem_far_launch *launch, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    return far_table<float>::of(launch->op.kernel, launch->op.wavenumber != 0)(
        launch, static_cast<cudaStream_t>(ps_stream_handle(stream)));
}
