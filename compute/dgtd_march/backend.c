#include "compute/dgtd_march/backend.h"
#include "runtime/comm.h"
#include "runtime/device.h"

ps_status backend_choose(const char *device, const backend **out, int *ordinal)
{
    int count;
    *out = &backend_cpu;
    PS_TRY(ps_device_list(device, ps_comm_local_rank(), ps_comm_local_size(), ordinal, 1, &count));
    if (count > 0) *out = &backend_device;
    return PS_OK;
}
