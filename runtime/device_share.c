#include "runtime/device_share.h"

/* Without CUDA; runtime/device_share_cuda.cu has the rest. */
#ifndef PS_WITH_CUDA
ps_status ps_share_alloc(ps_device *device, int64_t bytes, void **out, ps_share_ticket *ticket)
{
    return ps_fail(PS_FAILED, "this build has no CUDA, so processes share no device memory");
}

ps_status ps_share_reach(ps_device *device, const ps_share_ticket *ticket, void **out)
{
    return ps_fail(PS_FAILED, "this build has no CUDA, so processes share no device memory");
}

void ps_share_leave(ps_device *device, void *memory) {}
#endif
