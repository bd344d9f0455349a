#include "kernels/dgtd/device_halo.h"

/* Without CUDA; kernels/dgtd/halo_cuda.cu has the rest. */
#ifndef PS_WITH_CUDA
ps_status ps_dgtd_device_push(const ps_dgtd_device *device, ps_dgtd_device_halo *halo,
                              ps_dgtd_field field, const void *values, ps_stream *stream)
{
    return ps_fail(PS_FAILED, "this build has no CUDA");
}
#endif
