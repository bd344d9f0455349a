#include "kernels/dgtd/upwind.h"

#include <math.h>
#include <string.h>

#include "kernels/common/reals.h"

enum { GROUPS_AT_ONCE = 8, THREADED_GROUPS = 64 };

PS_ISA_SELECT(struct ps_dgtd_upwind_functions, ps_dgtd_upwind)

size_t ps_dgtd_upwind_own_bytes(const ps_dgtd_system *system)
{
    return (size_t)system->materials * (size_t)ps_real_bytes(system->precision);
}

size_t ps_dgtd_upwind_other_bytes(const ps_dgtd_system *system)
{
    return (size_t)(4 * system->groups * ps_dgtd_lanes(system->precision)) *
           (size_t)ps_real_bytes(system->precision);
}

double ps_dgtd_impedance(const ps_dgtd_material *x) { return sqrt(x->mu / x->eps); }

void ps_dgtd_upwind_fill(ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                         const ps_dgtd_material *materials, const double *impedances)
{
    int lanes = ps_dgtd_lanes(system->precision);
    int64_t slots = system->groups * lanes;
    for (int64_t m = 0; m < system->materials; ++m)
        ps_real_put(system->precision, upwind->own, m, ps_dgtd_impedance(materials + m));
    for (int64_t slot = 0; slot < slots; ++slot)
        for (int f = 0; f < 4; ++f) {
            int64_t at = (slot / lanes * 4 + f) * lanes + slot % lanes;
            int64_t other = system->links[at] / 4;
            double value = other < slots ? ps_dgtd_impedance(materials + system->material[other])
                                         : impedances[other - slots];
            if (slot >= system->elements || system->kinds[at] == PS_DGTD_ABSORBING) value = 0;
            ps_real_put(system->precision, upwind->other, at, value);
        }
}

void ps_dgtd_upwind_restrict(ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                             const uint8_t *layer)
{
    int lanes = ps_dgtd_lanes(system->precision);
    for (int64_t e = 0; e < system->elements; ++e)
        for (int f = 0; f < 4; ++f) {
            int64_t at = (e / lanes * 4 + f) * lanes + e % lanes, other = system->links[at] / 4;
            if (!layer[e] || (other < system->elements && !layer[other]))
                ps_real_put(system->precision, upwind->other, at, 0);
        }
}

/* Slots [begin, end) of a field to its copy; whole groups, the halo's last one may be cut. */
static void copy(const ps_dgtd_system *system, void *to, const void *from, int64_t begin,
                 int64_t end)
{
    int lanes = ps_dgtd_lanes(system->precision);
    size_t group = (size_t)ps_dgtd_group_bytes(system->order);
    int64_t last = (end + lanes - 1) / lanes;
#pragma omp parallel for schedule(static) if (last - begin / lanes > THREADED_GROUPS)
    for (int64_t g = begin / lanes; g < last; ++g)
        memcpy((char *)to + (size_t)g * group, (const char *)from + (size_t)g * group, group);
}

void ps_dgtd_upwind_start(const ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                          const void *electric)
{
    copy(system, upwind->former[PS_DGTD_E], electric, 0, upwind->slots);
}

void ps_dgtd_upwind_apply(const ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                          ps_dgtd_field field, void *target, const void *source, int64_t begin,
                          int64_t end)
{
    ps_dgtd_upwind_arguments arguments = {system, upwind, field, target, source};
    int lanes = ps_dgtd_lanes(system->precision);
    void (*apply)(const ps_dgtd_upwind_arguments *, int64_t, int64_t) =
        ps_dgtd_upwind_select()->apply[system->precision][system->order - 1];
    copy(system, upwind->former[1 - field], source, begin * lanes, end * lanes);
    if (upwind->slots > system->groups * lanes)
        copy(system, upwind->former[1 - field], source, system->groups * lanes, upwind->slots);
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; g += GROUPS_AT_ONCE)
        apply(&arguments, g, g + GROUPS_AT_ONCE < end ? g + GROUPS_AT_ONCE : end);
}
