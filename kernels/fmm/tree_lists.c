#include "kernels/fmm/tree_lists.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/space_curve.h"

int64_t ps_tree_find(const uint64_t *keys, int64_t cells, uint64_t key)
{
    int64_t low = 0, count = cells;
    while (count > 0) {
        int64_t half = count / 2;
        bool below = keys[low + half] < key;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low < cells && keys[low] == key ? low : -1;
}

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

uint64_t ps_tree_key(const int64_t cell[3])
{
    return ps_morton_key((uint32_t)cell[0], (uint32_t)cell[1], (uint32_t)cell[2]);
}

int ps_tree_code(int tx, int ty, int tz) { return ((tx + 3) * 7 + ty + 3) * 7 + tz + 3; }

/* ---- cells around a cell ---- */

/* Search from a number that is likely to be near: steps double until the key lies between. */
static int64_t find_from(const uint64_t *keys, int64_t cells, int64_t guess, uint64_t key)
{
    int64_t low = guess, high = guess, step = 1;
    while (low > 0 && keys[low] > key) {
        high = low;
        low = low > step ? low - step : 0;
        step *= 2;
    }
    step = 1;
    while (high < cells && keys[high] < key) {
        low = high;
        high = high + step < cells ? high + step : cells;
        step *= 2;
    }
    int64_t end = high < cells ? high + 1 : cells;
    int64_t found = ps_tree_find(keys + low, end - low, key);
    return found < 0 ? -1 : low + found;
}

/* A Morton key with one coordinate moved by one, within the level; false beyond its border. */
static bool move_axis(uint64_t *key, int axis, int by, uint64_t last)
{
    uint64_t mask = (uint64_t)0x1249249249249249 << (2 - axis), part = *key & mask;
    if (by == 0) return true;
    if (part == (by < 0 ? 0 : last & mask)) return false;
    part = by < 0 ? (part - 1) & mask : ((part | ~mask) + 1) & mask;
    *key = (*key & ~mask) | part;
    return true;
}

/* hint: a number near those of the cells, or any; updated by what is found. */
static void look_around(const ps_octree *sources, int level, uint64_t key, int64_t around[27],
                        int64_t hint[27])
{
    uint64_t last = ((uint64_t)1 << (3 * level)) - 1;
    for (int n = 0; n < 27; ++n) {
        uint64_t there = key;
        around[n] = -1;
        if (!move_axis(&there, 0, n / 9 - 1, last) || !move_axis(&there, 1, n / 3 % 3 - 1, last) ||
            !move_axis(&there, 2, n % 3 - 1, last) || sources->cells[level] == 0)
            continue;
        around[n] = find_from(sources->keys[level], sources->cells[level], hint[n], there);
        if (around[n] >= 0) hint[n] = around[n];
    }
}

static void hint_all(const ps_octree *sources, int level, uint64_t key, int64_t hint[27])
{
    const uint64_t *keys = sources->keys[level];
    int64_t low = 0, high = sources->cells[level];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sources->cells[level] && low > 0) --low;
    for (int n = 0; n < 27; ++n) hint[n] = low;
}

void ps_tree_around(const ps_octree *sources, int level, uint64_t key, int64_t around[27])
{
    int64_t hint[27];
    hint_all(sources, level, key, hint);
    look_around(sources, level, key, around, hint);
}

/* ---- lists ---- */

static void sort_near(int64_t *sources, uint16_t *codes, int64_t count)
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

void ps_tree_near(const ps_octree *targets, const ps_octree *sources, int64_t first, int64_t end,
                  ps_tree_list *list)
{
    int level = targets->height - 1;
    int64_t around[27], hint[27], used = 0;
    if (first < end) hint_all(sources, level, targets->keys[level][first], hint);
    for (int64_t c = first; c < end; ++c) {
        int64_t begin = used;
        list->start[c - first] = begin;
        look_around(sources, level, targets->keys[level][c], around, hint);
        for (int n = 0; n < 27; ++n) {
            if (around[n] < 0) continue;
            if (list->codes)
                list->codes[used] = (uint16_t)ps_tree_code(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
            list->sources[used++] = around[n];
        }
        sort_near(list->sources + begin, list->codes ? list->codes + begin : NULL, used - begin);
    }
    list->start[end - first] = used;
}

/* Offset from the child `target` of a parent to the child `source` of the parent at offset d. */
static int child_offset(int d, int target, int source, int axis)
{
    return 2 * d + (source >> (2 - axis) & 1) - (target >> (2 - axis) & 1);
}

/* The far children of the parent at offset n (0 .. 26), seen from child `octant`. */
static int64_t add_far_children(const ps_octree *sources, int level, int64_t parent, int n,
                                int octant, ps_tree_list *list, int64_t used)
{
    const int64_t *start = sources->child_start[level - 1];
    for (int64_t s = start[parent]; s < start[parent + 1]; ++s) {
        int child = (int)(sources->keys[level][s] & 7);
        int tx = child_offset(n / 9 - 1, octant, child, 0);
        int ty = child_offset(n / 3 % 3 - 1, octant, child, 1);
        int tz = child_offset(n % 3 - 1, octant, child, 2);
        if (tx * tx <= 1 && ty * ty <= 1 && tz * tz <= 1) continue;
        list->sources[used] = s;
        if (list->codes) list->codes[used] = (uint16_t)ps_tree_code(tx, ty, tz);
        ++used;
    }
    return used;
}

void ps_tree_far(const ps_octree *targets, const ps_octree *sources, int level, int64_t first,
                 int64_t end, ps_tree_list *list)
{
    const uint64_t *keys = targets->keys[level];
    int64_t around[27], hint[27], used = 0;
    uint64_t parent = 0;
    if (level >= 2 && first < end) hint_all(sources, level - 1, keys[first] >> 3, hint);
    for (int64_t c = first; c < end; ++c) {
        list->start[c - first] = used;
        if (level < 2) continue;
        if (c == first || keys[c] >> 3 != parent) {
            parent = keys[c] >> 3;
            look_around(sources, level - 1, parent, around, hint);
        }
        for (int n = 0; n < 27; ++n)
            if (around[n] >= 0)
                used = add_far_children(sources, level, around[n], n, (int)(keys[c] & 7), list,
                                        used);
    }
    list->start[end - first] = used;
}

/* ---- groups ---- */

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t ps_tree_source_groups(const int64_t *items, int64_t count, int64_t group_size,
                              int64_t skip, int64_t mark, int64_t *stamp, int64_t *out)
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
    qsort(out, (size_t)found, sizeof *out, compare_numbers);
    return found;
}

int64_t ps_tree_augmented(const ps_tree_list *near, int64_t first, int64_t end, int64_t *leaves)
{
    int64_t found = 0, distinct = 0;
    for (int64_t i = 0; i < near->start[end - first]; ++i)
        if (near->sources[i] >= end) leaves[found++] = near->sources[i];
    qsort(leaves, (size_t)found, sizeof *leaves, compare_numbers);
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
    ps_tree_pairs pairs = {0, 0};
    bool same = targets == sources;
    for (int64_t c = first; c < end; ++c) {
        int64_t own = leaf_size(targets, c);
        for (int64_t i = near->start[c - first]; i < near->start[c - first + 1]; ++i) {
            int64_t other = near->sources[i], size = leaf_size(sources, other);
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
