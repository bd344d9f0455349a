#include <string.h>

#include "compute/dgtd_march/backend.h"

ps_status backend_choose(const char *device, const backend **out, int *ordinal)
{
    *ordinal = 0;
    *out = &backend_cpu;
    if (strcmp(device, "auto") && strcmp(device, "cpu"))
        return ps_fail(PS_USAGE, "--device %s: this build marches dgtd on CPU cores only; give cpu "
                                 "or auto",
                       device);
    return PS_OK;
}
