#include "kernels/dgtd/energy.h"

#include <string.h>

static size_t group_bytes(const ps_dgtd_system *system)
{
    return 3 * (size_t)system->reference->nodes * PS_DGTD_ALIGN; /* 64 bytes a value */
}

size_t ps_dgtd_energy_bytes(const ps_dgtd_system *system)
{
    return PS_DGTD_ENERGY_GROUPS * group_bytes(system);
}

/* H of a few groups, whose old values are kept. */
static void magnetic_half(const ps_dgtd_energy *x, const ps_dgtd_march *march, int64_t begin,
                          int64_t end, double *terms)
{
    const ps_dgtd_system *system = march->system;
    size_t bytes = group_bytes(system), from = (size_t)begin * bytes;
    memcpy(x->former, (const char *)march->magnetic + from, (size_t)(end - begin) * bytes);
    ps_dgtd_march_half(march, PS_DGTD_H, begin, end);
    /* Groups of `former` are numbered from `begin` on. */
    const void *shifted = (const void *)((uintptr_t)x->former - from);
    ps_dgtd_inner_groups(system, x->mu, shifted, march->magnetic, begin, end, terms);
}

void ps_dgtd_energy_half(const ps_dgtd_energy *x, const ps_dgtd_march *march, ps_dgtd_field field,
                         int64_t begin, int64_t end, double *terms)
{
    if (field == PS_DGTD_E) {
        ps_dgtd_march_half(march, PS_DGTD_E, begin, end);
        ps_dgtd_inner_groups(march->system, x->eps, march->electric, march->electric, begin, end,
                             terms);
        return;
    }
    for (int64_t g = begin; g < end; g += PS_DGTD_ENERGY_GROUPS)
        magnetic_half(x, march, g,
                      g + PS_DGTD_ENERGY_GROUPS < end ? g + PS_DGTD_ENERGY_GROUPS : end, terms);
}
