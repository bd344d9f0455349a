/* Lists of a group for the operators on GPUs: who is around whom, as codes. Made on the host when
 * they are first wanted, and then data like others. */
#include <string.h>

#include "compute/fmm/fmm.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/sizes.h"

int fmm_code_shift(const fmm_problem *p)
{
    int shift = 0;
    while (((int64_t)1 << shift) < p->header->group_size) ++shift;
    return shift;
}

static int64_t place_part(int64_t *at, int64_t bytes)
{
    int64_t here = *at;
    *at += ps_padded(bytes);
    return here;
}

/* Where an item is in the list of a group, ascending; -1: not there. */
static int64_t find(const ps_group_list *list, int64_t group, int64_t item)
{
    int64_t low = list->start[group], high = list->start[group + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (list->items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = low < list->start[group + 1] && list->items[low] == item;
    return there ? low - list->start[group] : -1;
}

/* ---- near ---- */

int64_t fmm_near_slot(const fmm_problem *p, int64_t group, int64_t slot)
{
    const fmm_lists *lists = &p->lists;
    const ps_group_list *around = p->mutual ? &lists->owners : &lists->near;
    if (p->same && slot-- == 0) return group;
    return around->items[around->start[group] + slot];
}

/* The slot of a source group; -1: it has none. */
static int64_t slot_of(const fmm_problem *p, int64_t group, int64_t source)
{
    if (p->same && source == group) return 0;
    int64_t at = find(p->mutual ? &p->lists.owners : &p->lists.near, group, source);
    return at < 0 || !p->same ? at : at + 1;
}

fmm_near_layout fmm_near_layout_of(const fmm_problem *p, int64_t group)
{
    const ps_octree *targets = p->fmm.targets;
    const ps_group_list *augmented = &p->lists.augmented;
    int64_t first, end, starts = 0;
    ps_octree_group(targets, p->leaf, group, &first, &end);
    fmm_near_layout l = {.cells = end - first,
                         .particles =
                             targets->particle_start[end] - targets->particle_start[first]};
    const ps_group_list *around = p->mutual ? &p->lists.owners : &p->lists.near;
    if (p->mutual) l.augmented = augmented->start[group + 1] - augmented->start[group];
    l.slots = around->start[group + 1] - around->start[group] + (p->same ? 1 : 0);
    for (int64_t i = 0; i < l.augmented; ++i) {
        int64_t leaf = augmented->items[augmented->start[group] + i];
        l.augmented_particles += targets->particle_start[leaf + 1] - targets->particle_start[leaf];
    }
    for (int64_t s = 0; s < l.slots; ++s)
        starts += 1 + ps_octree_group_cells(p->fmm.sources, p->leaf, fmm_near_slot(p, group, s));
    l.keys = place_part(&l.bytes, 8 * l.cells);
    l.augmented_keys = place_part(&l.bytes, 8 * l.augmented);
    l.start = place_part(&l.bytes, 4 * (l.cells + 1));
    l.augmented_start = place_part(&l.bytes, 4 * (l.augmented + 1));
    l.slot_start = place_part(&l.bytes, 4 * starts);
    l.near = place_part(&l.bytes, 4 * PS_FMM_DEVICE_NEAR * l.cells);
    l.augmented_near = place_part(&l.bytes, 4 * PS_FMM_DEVICE_NEAR * l.augmented);
    return l;
}

/* First particles of the leaves of a group, from 0; returns what lies behind. */
static int32_t *put_start(const ps_octree *tree, int64_t group, int32_t *out)
{
    int64_t first, end;
    ps_octree_group(tree, tree->height - 1, group, &first, &end);
    for (int64_t c = first; c <= end; ++c)
        *out++ = (int32_t)(tree->particle_start[c] - tree->particle_start[first]);
    return out;
}

/* Around one target leaf. If P2P is mutual, leaves of earlier groups are left to these groups. */
static void put_near(const fmm_problem *p, int64_t group, uint64_t key, bool own_alone,
                     int32_t *out)
{
    int64_t around[PS_FMM_DEVICE_NEAR], size = p->header->group_size;
    int shift = fmm_code_shift(p);
    ps_tree_around(p->fmm.sources, p->leaf, key, around);
    for (int n = 0; n < PS_FMM_DEVICE_NEAR; ++n) {
        int64_t source = around[n] < 0 ? -1 : around[n] / size;
        bool wanted =
            source >= 0 && (!p->mutual || source >= group) && (!own_alone || source == group);
        int64_t slot = wanted ? slot_of(p, group, source) : -1;
        out[n] = slot < 0 ? -1 : (int32_t)(slot << shift | (around[n] - source * size));
    }
}

void fmm_near_lists(const fmm_problem *p, int64_t group, void *out)
{
    const ps_octree *targets = p->fmm.targets;
    fmm_near_layout l = fmm_near_layout_of(p, group);
    char *base = out;
    int64_t first, end;
    ps_octree_group(targets, p->leaf, group, &first, &end);
    const int64_t *leaves =
        l.augmented ? p->lists.augmented.items + p->lists.augmented.start[group] : NULL;
    memcpy(base + l.keys, targets->keys[p->leaf] + first, (size_t)l.cells * 8);
    put_start(targets, group, (int32_t *)(base + l.start));
    int32_t *starts = (int32_t *)(base + l.slot_start);
    for (int64_t s = 0; s < l.slots; ++s)
        starts = put_start(p->fmm.sources, fmm_near_slot(p, group, s), starts);
    for (int64_t c = first; c < end; ++c)
        put_near(p, group, targets->keys[p->leaf][c], false,
                 (int32_t *)(base + l.near) + (c - first) * PS_FMM_DEVICE_NEAR);
    int32_t *place = (int32_t *)(base + l.augmented_start);
    place[0] = 0;
    for (int64_t i = 0; i < l.augmented; ++i) {
        uint64_t key = targets->keys[p->leaf][leaves[i]];
        memcpy(base + l.augmented_keys + 8 * i, &key, 8);
        place[i + 1] = place[i] + (int32_t)(targets->particle_start[leaves[i] + 1] -
                                            targets->particle_start[leaves[i]]);
        put_near(p, group, key, true,
                 (int32_t *)(base + l.augmented_near) + i * PS_FMM_DEVICE_NEAR);
    }
}

/* ---- leaves, up, down ---- */

fmm_leaf_layout fmm_leaf_layout_of(const ps_octree *tree, int64_t group)
{
    int64_t first, end, bytes = 0;
    ps_octree_group(tree, tree->height - 1, group, &first, &end);
    fmm_leaf_layout l = {.cells = end - first,
                         .particles = tree->particle_start[end] - tree->particle_start[first]};
    place_part(&bytes, 8 * l.cells);
    l.start = place_part(&bytes, 4 * (l.cells + 1));
    l.bytes = bytes;
    return l;
}

void fmm_leaf_lists(const ps_octree *tree, int64_t group, void *out)
{
    int64_t first, end;
    fmm_leaf_layout l = fmm_leaf_layout_of(tree, group);
    ps_octree_group(tree, tree->height - 1, group, &first, &end);
    memcpy(out, tree->keys[tree->height - 1] + first, (size_t)l.cells * 8);
    put_start(tree, group, (int32_t *)((char *)out + l.start));
}

static int64_t family_bytes(int64_t parents) { return 4 * PS_FMM_DEVICE_CHILDREN * parents; }

int64_t fmm_up_bytes(const ps_octree *tree, int level, int64_t group)
{
    return family_bytes(ps_octree_group_cells(tree, level, group));
}

int64_t fmm_down_bytes(const ps_octree *tree, int level, int64_t group)
{
    int64_t first, end;
    ps_octree_group(tree, level, group, &first, &end);
    return family_bytes(ps_fmm_parent(tree, level, end - 1) + 1 -
                        ps_fmm_parent(tree, level, first));
}

void fmm_up_lists(const fmm_problem *p, int level, int64_t group, void *out)
{
    const ps_octree *tree = p->fmm.sources;
    const int64_t *start = tree->child_start[level], size = tree->group_size;
    int64_t first, end;
    int shift = fmm_code_shift(p);
    int32_t *codes = out;
    ps_octree_group(tree, level, group, &first, &end);
    for (int64_t c = first; c < end; ++c, codes += PS_FMM_DEVICE_CHILDREN) {
        for (int o = 0; o < PS_FMM_DEVICE_CHILDREN; ++o) codes[o] = -1;
        for (int64_t i = start[c]; i < start[c + 1]; ++i)
            codes[tree->keys[level + 1][i] & 7] =
                (int32_t)((i / size - start[first] / size) << shift | i % size);
    }
}

void fmm_down_lists(const fmm_problem *p, int level, int64_t group, void *out)
{
    const ps_octree *tree = p->fmm.targets;
    int64_t first, end;
    int32_t *codes = out;
    ps_octree_group(tree, level, group, &first, &end);
    int64_t parent = ps_fmm_parent(tree, level, first);
    memset(out, 0xff, (size_t)fmm_down_bytes(tree, level, group)); /* -1 */
    for (int64_t c = first; c < end; ++c)
        codes[PS_FMM_DEVICE_CHILDREN * (ps_fmm_parent(tree, level, c) - parent) +
              (int64_t)(tree->keys[level][c] & 7)] = (int32_t)(c - first);
}

/* ---- far ---- */

fmm_far_layout fmm_far_layout_of(const fmm_problem *p, int level, int64_t group)
{
    const ps_octree *targets = p->fmm.targets;
    int64_t first, end;
    ps_octree_group(targets, level, group, &first, &end);
    fmm_far_layout l = {.cells = end - first};
    const uint64_t *keys = targets->keys[level];
    for (int64_t c = first; c < end; ++c)
        l.blocks += c == first || keys[c] >> 3 != keys[c - 1] >> 3;
    l.order = place_part(&l.bytes, 4 * l.cells);
    l.octant_start = place_part(&l.bytes, 4 * 9);
    l.block = place_part(&l.bytes, 4 * l.cells);
    l.sources = place_part(&l.bytes, 4 * PS_FMM_DEVICE_FAR * l.blocks);
    return l;
}

/* Children of the cells around a parent. */
static void put_sources(const fmm_problem *p, int level, int64_t group, uint64_t parent,
                        int32_t *out)
{
    const ps_octree *sources = p->fmm.sources;
    int64_t around[27], size = p->header->group_size;
    int shift = fmm_code_shift(p);
    ps_tree_around(sources, level - 1, parent, around);
    for (int i = 0; i < PS_FMM_DEVICE_FAR; ++i) out[i] = -1;
    for (int n = 0; n < 27; ++n) {
        if (around[n] < 0) continue;
        const int64_t *start = sources->child_start[level - 1];
        for (int64_t c = start[around[n]]; c < start[around[n] + 1]; ++c) {
            int64_t slot = find(&p->lists.far[level], group, c / size);
            if (slot >= 0)
                out[8 * n + (int)(sources->keys[level][c] & 7)] =
                    (int32_t)(slot << shift | (c % size));
        }
    }
}

void fmm_far_lists(const fmm_problem *p, int level, int64_t group, void *out)
{
    fmm_far_layout l = fmm_far_layout_of(p, level, group);
    char *base = out;
    int64_t first, end;
    ps_octree_group(p->fmm.targets, level, group, &first, &end);
    const uint64_t *keys = p->fmm.targets->keys[level] + first;
    int32_t *order = (int32_t *)(base + l.order), *start = (int32_t *)(base + l.octant_start),
            *block = (int32_t *)(base + l.block), *sources = (int32_t *)(base + l.sources);
    int64_t placed = 0, blocks = 0;
    for (uint64_t octant = 0; octant < 8; ++octant) {
        start[octant] = (int32_t)placed;
        for (int64_t c = 0; c < l.cells; ++c)
            if ((keys[c] & 7) == octant) order[placed++] = (int32_t)c;
    }
    start[8] = (int32_t)placed;
    for (int64_t c = 0; c < l.cells; ++c) {
        if (c == 0 || keys[c] >> 3 != keys[c - 1] >> 3) {
            put_sources(p, level, group, keys[c] >> 3, sources + blocks * PS_FMM_DEVICE_FAR);
            ++blocks;
        }
        block[c] = (int32_t)(blocks - 1);
    }
}
