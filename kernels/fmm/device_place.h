/* What the device parts of the method share on the host: parts of a block of device memory. Private
 * to kernels/fmm. */
#ifndef PS_KERNELS_FMM_DEVICE_PLACE_H
#define PS_KERNELS_FMM_DEVICE_PLACE_H

#include <stddef.h>

#include "runtime/device.h"
#include "runtime/device_plan.h"

/* The next `bytes` of a block, of which *used are taken; parts begin on multiples of 256 bytes.
 * NULL for a block of NULL, to count bytes. */
static inline void *ps_device_part(void *block, int64_t *used, int64_t bytes)
{
    void *part = block ? (char *)block + *used : NULL;
    *used += ps_device_padded(bytes);
    return part;
}

/* Makes the stream's device the current one; PS_FAILED if that is no CUDA device. */
static inline ps_status ps_device_enter_cuda(ps_stream *stream)
{
    if (ps_stream_handle(stream)) return ps_stream_enter(stream);
    return ps_fail(PS_FAILED, "the method on a device needs a CUDA device, and this is the CPU");
}

#endif
