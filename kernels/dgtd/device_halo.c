#include "kernels/dgtd/device_halo.h"

#include "kernels/dgtd/device_kernels.h"

ps_status ps_dgtd_device_push(const ps_dgtd_device *device, ps_dgtd_device_halo *halo,
                              ps_dgtd_field field, const void *values, ps_stream *stream)
{
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "traces go from device to device; this is the CPU");
    if (halo->peers == 0) return PS_OK;
    PS_TRY(ps_dgtd_push_cuda(device, halo, field, values, stream));
    ++halo->pushed;
    return PS_OK;
}
