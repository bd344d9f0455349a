/* octree: the tree in memory. The file is in octree_file.c. */
#include "formats/octree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

/* Chunks of particles: 1 MiB a column; 4 MiB where a column has 256 MiB or more. */
enum { SMALL_TILE = 1 << 17, LARGE_TILE = 1 << 19, LARGE_FROM = 1 << 25 };

ps_octree_box ps_octree_bounding_box(const double lower[3], const double upper[3])
{
    ps_octree_box box = {.width = 0};
    for (int d = 0; d < 3; ++d) box.width = fmax(box.width, upper[d] - lower[d]);
    if (!(box.width > 0)) box.width = 1;
    for (int d = 0; d < 3; ++d)
        box.corner[d] = lower[d] + 0.5 * (upper[d] - lower[d]) - 0.5 * box.width;
    return box;
}

int64_t ps_octree_bytes(int height, const int64_t *cells)
{
    int64_t words = 0;
    for (int l = 0; l < height; ++l) words += 2 * cells[l] + 1;
    return 8 * words;
}

ps_status ps_octree_init(ps_octree *tree, int height, const ps_octree_box *box,
                         const int64_t *cells, int64_t group_size)
{
    memset(tree, 0, sizeof *tree);
    if (height < 1 || height > PS_OCTREE_LEVELS_MAX)
        return ps_fail(PS_USAGE, "a tree of height %d; heights are 1 to %d", height,
                       PS_OCTREE_LEVELS_MAX);
    PS_TRY(ps_alloc_untouched(&tree->memory, ps_octree_bytes(height, cells), "the octree"));
    tree->height = height;
    tree->box = *box;
    tree->group_size = group_size;
    int64_t *at = tree->memory;
    for (int l = 0; l < height; ++l) {
        tree->cells[l] = cells[l];
        tree->keys[l] = (uint64_t *)at;
        at += cells[l];
        if (l < height - 1)
            tree->child_start[l] = at;
        else
            tree->particle_start = at;
        at += cells[l] + 1;
    }
    return PS_OK;
}

void ps_octree_release(ps_octree *tree)
{
    free(tree->memory);
    memset(tree, 0, sizeof *tree);
}

int64_t ps_octree_leaves(const ps_octree *tree) { return tree->cells[tree->height - 1]; }

int64_t ps_octree_groups(const ps_octree *tree, int level)
{
    return (tree->cells[level] + tree->group_size - 1) / tree->group_size;
}

void ps_octree_group(const ps_octree *tree, int level, int64_t group, int64_t *first, int64_t *end)
{
    *first = group * tree->group_size;
    *end = *first + tree->group_size;
    if (*end > tree->cells[level]) *end = tree->cells[level];
}

int64_t ps_octree_group_cells(const ps_octree *tree, int level, int64_t group)
{
    int64_t first, end;
    ps_octree_group(tree, level, group, &first, &end);
    return end - first;
}

int64_t ps_octree_group_particles(const ps_octree *tree, int64_t group)
{
    int64_t first, end;
    ps_octree_group(tree, tree->height - 1, group, &first, &end);
    return tree->particle_start[end] - tree->particle_start[first];
}

/* ---- checks ---- */

/* Starts of `count` parts, none empty, of `total` items. */
static ps_status check_starts(const int64_t *start, int64_t count, int64_t total, const char *of,
                              int level)
{
    bool good = start[0] == 0 && start[count] == total;
    for (int64_t c = 0; c < count && good; ++c) good = start[c + 1] > start[c];
    return good ? PS_OK
                : ps_fail(PS_INVALID, "the %s of level %d are not %lld in non-empty parts", of,
                          level, (long long)total);
}

static ps_status check_keys(const ps_octree *tree, int level)
{
    const uint64_t *keys = tree->keys[level];
    for (int64_t c = 0; c < tree->cells[level]; ++c)
        if (keys[c] >> (3 * level) != 0 || (c > 0 && keys[c] <= keys[c - 1]))
            return ps_fail(PS_INVALID,
                           "the key of cell %lld of level %d is not above the one "
                           "before it and within the level",
                           (long long)c, level);
    return PS_OK;
}

static ps_status check_children(const ps_octree *tree, int level)
{
    const int64_t *start = tree->child_start[level];
    PS_TRY(check_starts(start, tree->cells[level], tree->cells[level + 1], "children", level));
    for (int64_t c = 0; c < tree->cells[level]; ++c)
        for (int64_t s = start[c]; s < start[c + 1]; ++s)
            if (tree->keys[level + 1][s] >> 3 != tree->keys[level][c])
                return ps_fail(PS_INVALID, "cell %lld of level %d is no child of cell %lld",
                               (long long)s, level + 1, (long long)c);
    return PS_OK;
}

ps_status ps_octree_check(const ps_octree *tree)
{
    if (tree->cells[0] != 1)
        return ps_fail(PS_INVALID, "level 0 has %lld cells, not one", (long long)tree->cells[0]);
    for (int l = 0; l < tree->height; ++l) PS_TRY(check_keys(tree, l));
    for (int l = 0; l < tree->height - 1; ++l) PS_TRY(check_children(tree, l));
    return check_starts(tree->particle_start, ps_octree_leaves(tree), tree->particles, "particles",
                        tree->height - 1);
}

/* ---- tiles ---- */

/* Writes the starts of tiles where `start` is not NULL; returns how many tiles there are. */
static int64_t cut_tiles(const ps_octree *tree, int64_t capacity, int64_t *start)
{
    int level = tree->height - 1;
    int64_t tiles = 0, begin = 0;
    for (int64_t g = 0; g < ps_octree_groups(tree, level); ++g) {
        int64_t first, end;
        ps_octree_group(tree, level, g, &first, &end);
        int64_t from = tree->particle_start[first], to = tree->particle_start[end];
        if (to - begin <= capacity) continue;
        if (from > begin) {
            if (start) start[tiles] = begin;
            ++tiles;
            begin = from;
        }
        for (; to - begin > capacity; begin += capacity) {
            if (start) start[tiles] = begin;
            ++tiles;
        }
        if (to - from <= capacity || begin == to) continue;
        if (start) start[tiles] = begin; /* the rest of a large group stays alone */
        ++tiles;
        begin = to;
    }
    if (begin < tree->particles) {
        if (start) start[tiles] = begin;
        ++tiles;
    }
    if (start) start[tiles] = tree->particles;
    return tiles;
}

int64_t ps_octree_tile_room(int64_t particles)
{
    return particles >= LARGE_FROM ? LARGE_TILE : SMALL_TILE;
}

ps_status ps_octree_tiles(const ps_octree *tree, int64_t **start, int64_t *tiles, int64_t *capacity)
{
    int64_t room = ps_octree_tile_room(tree->particles);
    *capacity = room < tree->particles ? room : tree->particles;
    *tiles = cut_tiles(tree, *capacity, NULL);
    PS_TRY(PS_ALLOC(start, *tiles + 1, "tiles of particles"));
    cut_tiles(tree, *capacity, *start);
    return PS_OK;
}

void ps_group_list_release(ps_group_list *list)
{
    free(list->start);
    free(list->items);
    memset(list, 0, sizeof *list);
}
