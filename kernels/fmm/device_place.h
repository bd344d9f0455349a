/* What the device parts of the method share on the host. Private to kernels/fmm. */
#ifndef PS_KERNELS_FMM_DEVICE_PLACE_H
#define PS_KERNELS_FMM_DEVICE_PLACE_H

#include "runtime/device.h"
#include "runtime/sizes.h"

/* Makes the stream's device the current one; PS_FAILED if that is no CUDA device. */
static inline ps_status ps_device_enter_cuda(ps_stream *stream)
{
    if (ps_stream_handle(stream)) return ps_stream_enter(stream);
    return ps_fail(PS_FAILED, "the method on a device needs a CUDA device, and this is the CPU");
}

#endif
