#include "kernels/fmm/tree_lists.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compare.h"

/* Gathers every third bit. */
static int64_t gather_bits(uint64_t v)
{
    v &= 0x1249249249249249;
    v = (v ^ v >> 2) & 0x10c30c30c30c30c3;
    v = (v ^ v >> 4) & 0x100f00f00f00f00f;
    v = (v ^ v >> 8) & 0x001f0000ff0000ff;
    v = (v ^ v >> 16) & 0x001f00000000ffff;
    return (int64_t)((v ^ v >> 32) & 0x1fffff);
}

void ps_tree_cell(uint64_t key, int64_t cell[3])
{
    for (int d = 0; d < 3; ++d) cell[d] = gather_bits(key >> (2 - d));
}

int ps_tree_code(int tx, int ty, int tz) { return ((tx + 3) * 7 + ty + 3) * 7 + tz + 3; }

/* ---- cells around a cell, from the root down ---- */

/* The source cells around the last cell that was asked for and around all above it; the next cell
 * in Morton order shares most of that path. */
typedef struct walker {
    const ps_octree *sources;
    uint64_t keys[PS_OCTREE_LEVELS_MAX]; /* NO_KEY: nothing there yet */
    int64_t around[PS_OCTREE_LEVELS_MAX][27];
} walker;

#define NO_KEY UINT64_MAX

static void walker_init(walker *w, const ps_octree *sources)
{
    w->sources = sources;
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) w->keys[l] = NO_KEY;
}

/* The child of a cell (or of none, -1) in an octant; -1 if there is none. */
static inline int64_t child_at(const ps_octree *tree, int level, int64_t cell, uint64_t octant)
{
    if (cell < 0) return -1;
    int64_t first = tree->child_start[level][cell], end = tree->child_start[level][cell + 1];
    const uint64_t *keys = tree->keys[level + 1];
    if (end - first == 8) return first + (int64_t)octant;
    while (first < end && (keys[first] & 7) != octant) ++first;
    return first < end ? first : -1;
}

/* A neighbour of a child is a child of a neighbour of its parent. */
static void step_down(const ps_octree *sources, int level, uint64_t octant, const int64_t above[27],
                      int64_t around[27])
{
    int part[3][3], bit[3][3]; /* per axis and offset: where the parent is, the child's bit */
    for (int axis = 0; axis < 3; ++axis)
        for (int d = 0; d < 3; ++d) {
            int v = (int)(octant >> (2 - axis) & 1) + d + 1; /* 2 more than the place */
            part[axis][d] = v / 2;
            bit[axis][d] = v & 1;
        }
    for (int n = 0; n < 27; ++n) {
        int x = n / 9, y = n / 3 % 3, z = n % 3;
        int64_t parent = above[part[0][x] * 9 + part[1][y] * 3 + part[2][z]];
        around[n] = child_at(sources, level - 1, parent,
                             (uint64_t)(bit[0][x] << 2 | bit[1][y] << 1 | bit[2][z]));
    }
}

static const int64_t *walk_to(walker *w, int level, uint64_t key)
{
    for (int l = 0; l <= level; ++l) {
        uint64_t here = key >> (3 * (level - l));
        if (w->keys[l] == here) continue;
        w->keys[l] = here;
        if (l > 0) {
            step_down(w->sources, l, here & 7, w->around[l - 1], w->around[l]);
            continue;
        }
        for (int n = 0; n < 27; ++n) w->around[0][n] = n == 13 && w->sources->cells[0] > 0 ? 0 : -1;
    }
    return w->around[level];
}

void ps_tree_around(const ps_octree *sources, int level, uint64_t key, int64_t around[27])
{
    walker w;
    walker_init(&w, sources);
    memcpy(around, walk_to(&w, level, key), 27 * sizeof *around);
}

/* ---- lists ---- */

/* The children of all cells around a parent, 216 at most, in a grid of 6 x 6 x 6 whose corner is
 * two cells below the parent's first child. code: of their offset from a child at octant 0, without
 * the shift that another octant makes; near: bit o is set for those that touch the child at octant
 * o. */
typedef struct candidates {
    int64_t count, sources[216];
    uint16_t codes[216];
    uint8_t near[216];
} candidates;

/* Which octants a place of the grid touches, axis by axis: the lower half touches places 1 to 3,
 * the upper half 2 to 4. */
static const uint8_t near_axis[3][6] = {
    {0, 0x0f, 0xff, 0xff, 0xf0, 0}, {0, 0x33, 0xff, 0xff, 0xcc, 0}, {0, 0x55, 0xff, 0xff, 0xaa, 0}};

static void gather_candidates(const ps_octree *sources, int level, const int64_t around[27],
                              candidates *out)
{
    out->count = 0;
    for (int n = 0; n < 27; ++n) {
        if (around[n] < 0) continue;
        const int64_t *start = sources->child_start[level - 1] + around[n];
        for (int64_t s = start[0]; s < start[1]; ++s) {
            int octant = (int)(sources->keys[level][s] & 7);
            int x = n / 9 * 2 + (octant >> 2), y = n / 3 % 3 * 2 + (octant >> 1 & 1);
            int z = n % 3 * 2 + (octant & 1);
            out->sources[out->count] = s;
            out->codes[out->count] = (uint16_t)ps_tree_code(x - 2, y - 2, z - 2);
            out->near[out->count++] = near_axis[0][x] & near_axis[1][y] & near_axis[2][z];
        }
    }
}

/* Appends the candidates that touch the child at an octant, or those that do not; into local arrays
 * first, where one too many does no harm. */
static int64_t append(const candidates *all, int octant, bool near, int64_t used,
                      ps_tree_list *list)
{
    int64_t sources[217], count = 0;
    uint16_t codes[217];
    int shift = ps_tree_code(octant >> 2, octant >> 1 & 1, octant & 1) - ps_tree_code(0, 0, 0);
    for (int64_t i = 0; i < all->count; ++i) {
        sources[count] = all->sources[i];
        codes[count] = (uint16_t)(all->codes[i] - shift);
        count += (all->near[i] >> octant & 1) == near;
    }
    memcpy(list->sources + used, sources, (size_t)count * sizeof *sources);
    if (list->codes) memcpy(list->codes + used, codes, (size_t)count * sizeof *codes);
    return used + count;
}

/* Near or far lists of the cells [first, end) of a level from 1 on. */
static void make_lists(const ps_octree *targets, const ps_octree *sources, int level, bool near,
                       const int64_t range[2], ps_tree_list *list)
{
    const uint64_t *keys = targets->keys[level];
    int64_t used = 0;
    uint64_t parent = NO_KEY;
    candidates all;
    walker w;
    walker_init(&w, sources);
    all.count = 0;
    for (int64_t c = range[0]; c < range[1]; ++c) {
        list->start[c - range[0]] = used;
        if (keys[c] >> 3 != parent) {
            parent = keys[c] >> 3;
            gather_candidates(sources, level, walk_to(&w, level - 1, parent), &all);
        }
        used = append(&all, (int)(keys[c] & 7), near, used, list);
    }
    list->start[range[1] - range[0]] = used;
}

static void sort_by_source(int64_t *sources, uint16_t *codes, int64_t count)
{
    for (int64_t i = 1; i < count; ++i) {
        int64_t item = sources[i], j = i;
        uint16_t code = codes ? codes[i] : 0;
        for (; j > 0 && sources[j - 1] > item; --j) {
            sources[j] = sources[j - 1];
            if (codes) codes[j] = codes[j - 1];
        }
        sources[j] = item;
        if (codes) codes[j] = code;
    }
}

/* The root's only neighbour is itself. */
static void near_root(const ps_octree *sources, int64_t cells, ps_tree_list *list)
{
    list->start[0] = 0;
    if (cells == 0) return;
    list->start[1] = sources->cells[0] > 0;
    list->sources[0] = 0;
    if (list->codes) list->codes[0] = (uint16_t)ps_tree_code(0, 0, 0);
}

void ps_tree_near(const ps_octree *targets, const ps_octree *sources, int64_t first, int64_t end,
                  ps_tree_list *list)
{
    int level = targets->height - 1;
    if (level == 0) {
        near_root(sources, end - first, list);
        return;
    }
    make_lists(targets, sources, level, true, (int64_t[2]){first, end}, list);
    for (int64_t c = 0; c < end - first; ++c) {
        int64_t begin = list->start[c];
        sort_by_source(list->sources + begin, list->codes ? list->codes + begin : NULL,
                       list->start[c + 1] - begin);
    }
}

void ps_tree_far(const ps_octree *targets, const ps_octree *sources, int level, int64_t first,
                 int64_t end, ps_tree_list *list)
{
    if (level >= 2)
        make_lists(targets, sources, level, false, (int64_t[2]){first, end}, list);
    else
        memset(list->start, 0, (size_t)(end - first + 1) * sizeof *list->start);
}

/* ---- groups ---- */

int64_t ps_tree_source_groups(const int64_t *items, int64_t count, int64_t group_size, int64_t skip,
                              int64_t mark, int64_t *stamp, int64_t *out)
{
    int64_t found = 0, first = 0, end = 0; /* the cells of the group that was met last */
    for (int64_t i = 0; i < count; ++i) {
        if (items[i] >= first && items[i] < end) continue;
        int64_t group = items[i] / group_size;
        first = group * group_size;
        end = first + group_size;
        if (group == skip || stamp[group] == mark) continue;
        stamp[group] = mark;
        out[found++] = group;
    }
    qsort(out, (size_t)found, sizeof *out, ps_compare_i64);
    return found;
}

int64_t ps_tree_augmented(const ps_tree_list *near, int64_t first, int64_t end, int64_t *leaves)
{
    int64_t found = 0, distinct = 0;
    for (int64_t i = 0; i < near->start[end - first]; ++i)
        if (near->sources[i] >= end) leaves[found++] = near->sources[i];
    qsort(leaves, (size_t)found, sizeof *leaves, ps_compare_i64);
    for (int64_t i = 0; i < found; ++i)
        if (i == 0 || leaves[i] != leaves[i - 1]) leaves[distinct++] = leaves[i];
    return distinct;
}

static int64_t leaf_size(const ps_octree *tree, int64_t leaf)
{
    return tree->particle_start[leaf + 1] - tree->particle_start[leaf];
}

ps_tree_pairs ps_tree_count_pairs(const ps_octree *targets, const ps_octree *sources,
                                  const ps_tree_list *near, int64_t first, int64_t end)
{
    ps_tree_pairs pairs = {0, 0, 0};
    bool same = targets == sources;
    for (int64_t c = first; c < end; ++c) {
        int64_t own = leaf_size(targets, c);
        for (int64_t i = near->start[c - first]; i < near->start[c - first + 1]; ++i) {
            int64_t other = near->sources[i], size = leaf_size(sources, other);
            if (same && (other < first || other >= end)) pairs.outside += own * size;
            if (!same)
                pairs.inside += own * size;
            else if (other == c)
                pairs.inside += own * (own - 1) / 2;
            else if (other >= end)
                pairs.augmented += own * size;
            else if (other > c)
                pairs.inside += own * size;
        }
    }
    return pairs;
}
