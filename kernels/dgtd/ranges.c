#include "kernels/dgtd/ranges.h"

/* The last group that elements of a group are linked to. */
static int64_t reach_of(const ps_dgtd_system *system, int64_t group)
{
    int lanes = ps_dgtd_lanes(system->precision);
    const int32_t *links = system->links + 4 * lanes * group;
    int64_t reach = group;
    for (int i = 0; i < 4 * lanes; ++i) {
        int64_t other = links[i] / 4 / lanes;
        if (other > reach && other < system->groups) reach = other; /* not the halo */
    }
    return reach;
}

int64_t ps_dgtd_ranges(const ps_dgtd_system *system, int64_t first, int64_t least, int64_t *bounds)
{
    int64_t count = 0, reach = 0;
    bounds[0] = 0;
    while (bounds[count] < system->groups) {
        int64_t begin = bounds[count], end = begin + (count ? least : first);
        if (end <= reach) end = reach + 1; /* what the range before is linked to */
        if (end > system->groups || system->groups - end < least) end = system->groups;
        for (int64_t g = begin; g < end; ++g) {
            int64_t to = reach_of(system, g);
            if (to > reach) reach = to;
        }
        bounds[++count] = end;
    }
    return count;
}
