#include "kernels/dgtd/device_halo.h"

#include "kernels/dgtd/device_kernels.h"

ps_status ps_dgtd_device_push(const ps_dgtd_device *device, ps_dgtd_device_halo *halo,
                              const ps_dgtd_device_faces *faces, int array, const void *values,
                              ps_stream *stream)
{
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "traces go from device to device; this is the CPU");
    if (faces->with == 0) return PS_OK;
    PS_TRY(ps_dgtd_push_cuda(device, halo, faces, array, values, stream));
    for (int k = 0; k < halo->peers; ++k) halo->peer[k].pushed += faces->with >> k & 1;
    return PS_OK;
}
