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
    int64_t used = 0;
    walker w;
    walker_init(&w, sources);
    for (int64_t c = first; c < end; ++c) {
        const int64_t *around = walk_to(&w, level, targets->keys[level][c]);
        int64_t begin = used;
        list->start[c - first] = begin;
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

/* The children of all cells around a parent: number and place in the 6 x 6 x 6 children that there
 * can be, ((x 6) + y) 6 + z. */
typedef struct candidates {
    int64_t count, sources[216];
    uint8_t places[216];
} candidates;

static void gather_candidates(const ps_octree *sources, int level, const int64_t around[27],
                              candidates *out)
{
    out->count = 0;
    for (int n = 0; n < 27; ++n) {
        if (around[n] < 0) continue;
        const int64_t *start = sources->child_start[level - 1] + around[n];
        int corner = n / 9 * 72 + n / 3 % 3 * 12 + n % 3 * 2;
        for (int64_t s = start[0]; s < start[1]; ++s) {
            int octant = (int)(sources->keys[level][s] & 7);
            out->sources[out->count] = s;
            out->places[out->count++] =
                (uint8_t)(corner + (octant >> 2) * 36 + (octant >> 1 & 1) * 6 + (octant & 1));
        }
    }
}

/* What a place means for each octant of the parent: the code of its offset, or NEAR. */
enum { NEAR = PS_TREE_CODES };

static void fill_code_table(uint16_t table[8][216])
{
    for (int octant = 0; octant < 8; ++octant)
        for (int place = 0; place < 216; ++place) {
            int x = place / 36 - 2 - (octant >> 2), y = place / 6 % 6 - 2 - (octant >> 1 & 1);
            int z = place % 6 - 2 - (octant & 1);
            bool near = x * x <= 1 && y * y <= 1 && z * z <= 1;
            table[octant][place] = (uint16_t)(near ? NEAR : ps_tree_code(x, y, z));
        }
}

/* Appends the candidates that are far; into local arrays first, where one too many does no harm. */
static int64_t append_far(const candidates *all, const uint16_t table[216], int64_t used,
                          ps_tree_list *list)
{
    int64_t sources[217], count = 0;
    uint16_t codes[217];
    for (int64_t i = 0; i < all->count; ++i) {
        uint16_t code = table[all->places[i]];
        sources[count] = all->sources[i];
        codes[count] = code;
        count += code != NEAR;
    }
    memcpy(list->sources + used, sources, (size_t)count * sizeof *sources);
    if (list->codes) memcpy(list->codes + used, codes, (size_t)count * sizeof *codes);
    return used + count;
}

void ps_tree_far(const ps_octree *targets, const ps_octree *sources, int level, int64_t first,
                 int64_t end, ps_tree_list *list)
{
    const uint64_t *keys = targets->keys[level];
    uint16_t table[8][216];
    int64_t used = 0;
    uint64_t parent = NO_KEY;
    candidates all = {.count = 0};
    walker w;
    walker_init(&w, sources);
    fill_code_table(table);
    for (int64_t c = first; c < end; ++c) {
        list->start[c - first] = used;
        if (level < 2) continue;
        if (keys[c] >> 3 != parent) {
            parent = keys[c] >> 3;
            gather_candidates(sources, level, walk_to(&w, level - 1, parent), &all);
        }
        used = append_far(&all, table[keys[c] & 7], used, list);
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
