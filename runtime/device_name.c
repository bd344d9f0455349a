#include "runtime/device_name.h"

#include <stdlib.h>
#include <string.h>

bool ps_device_name_is_cuda(const char *name, int *ordinal)
{
    *ordinal = -1;
    if (strncmp(name, "cuda", 4) != 0) return false;
    if (name[4] == '\0') return true;
    if (name[4] != ':' || name[5] < '0' || name[5] > '9') return false;
    char *end;
    long number = strtol(name + 5, &end, 10);
    if (*end != '\0' || number > 1000000) return false;
    *ordinal = (int)number;
    return true;
}

ps_status ps_device_name_check(const char *name)
{
    int ordinal;
    if (strcmp(name, "cpu") == 0 || strcmp(name, "auto") == 0) return PS_OK;
    if (ps_device_name_is_cuda(name, &ordinal)) return PS_OK;
    return ps_fail(PS_USAGE, "--device: \"%s\" is no device; it takes auto, cpu, cuda or cuda:N",
                   name);
}
