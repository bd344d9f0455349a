#include "kernels/dgtd/ranges.h"

#include <stdbool.h>
#include <string.h>

/* ---- layers ---- */

typedef struct flood {
    const int32_t *links;
    int64_t elements, head, tail;
    const uint8_t *joint;
    bool joined; /* the joint elements have their layer */
    int32_t *layer, *queue;
} flood;

static void put(flood *f, int64_t e, int32_t layer)
{
    if (f->layer[e] >= 0) return;
    f->layer[e] = layer;
    f->queue[f->tail++] = (int32_t)e;
}

/* An element, or all joint ones if it is one of them. */
static void reach_element(flood *f, int64_t e, int32_t layer)
{
    put(f, e, layer);
    if (!f->joint[e] || f->joined) return;
    f->joined = true;
    for (int64_t i = 0; i < f->elements; ++i)
        if (f->joint[i]) put(f, i, layer);
}

static void flood_from(flood *f, int64_t seed)
{
    reach_element(f, seed, 0);
    for (; f->head < f->tail; ++f->head) {
        int64_t e = f->queue[f->head];
        for (int k = 0; k < 4; ++k) {
            int32_t link = f->links[4 * e + k];
            if (link >= 0) reach_element(f, link / 4, f->layer[e] + 1);
        }
    }
}

/* Layers from `seed` on, and of what is not connected to it from its first element on. Returns
 * their number; *farthest the last element that hangs together with the seed. */
static int64_t flood_all(flood *f, int64_t seed, int64_t *farthest)
{
    int64_t layers = 0;
    f->head = f->tail = 0;
    f->joined = false;
    for (int64_t e = 0; e < f->elements; ++e) f->layer[e] = -1;
    flood_from(f, seed);
    *farthest = f->queue[f->tail - 1];
    for (int64_t e = 0; e < f->elements; ++e)
        if (f->layer[e] < 0) flood_from(f, e);
    for (int64_t e = 0; e < f->elements; ++e)
        if (f->layer[e] >= layers) layers = f->layer[e] + 1;
    return layers;
}

/* Elements of the largest layers in a row; counts[layers] is scratch. */
static int64_t largest_row(const flood *f, int64_t layers, int32_t *counts)
{
    enum { ROW = 5 };
    int64_t sum = 0, largest = 0;
    memset(counts, 0, (size_t)layers * sizeof *counts);
    for (int64_t e = 0; e < f->elements; ++e) ++counts[f->layer[e]];
    for (int64_t l = 0; l < layers; ++l) {
        sum += counts[l] - (l >= ROW ? counts[l - ROW] : 0);
        if (sum > largest) largest = sum;
    }
    return largest;
}

int64_t ps_dgtd_joint_layers(const int32_t *links, int64_t elements, const uint8_t *joint,
                             int32_t *layer, int32_t *work)
{
    flood f = {.links = links, .elements = elements, .joint = joint, .layer = layer, .queue = work};
    int64_t seed = 0, farthest, ignored;
    if (elements == 0) return 0;
    while (seed + 1 < elements && !joint[seed]) ++seed;
    int64_t layers = flood_all(&f, seed, &farthest);
    int64_t near = largest_row(&f, layers, work + elements);
    layers = flood_all(&f, farthest, &ignored);
    if (largest_row(&f, layers, work + elements) < near) return layers;
    return flood_all(&f, seed, &farthest);
}

/* ---- ranges ---- */

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

int64_t ps_dgtd_range_of(const int64_t *bounds, int64_t ranges, int64_t group)
{
    int64_t r = 0;
    while (r + 1 < ranges && bounds[r + 1] <= group) ++r;
    return r;
}

int64_t ps_dgtd_ranges_join(int64_t first, int64_t last, int64_t *bounds, int64_t ranges)
{
    int64_t low = ps_dgtd_range_of(bounds, ranges, first),
            high = ps_dgtd_range_of(bounds, ranges, last);
    memmove(bounds + low + 1, bounds + high + 1, (size_t)(ranges - high) * sizeof *bounds);
    return ranges - (high - low);
}
