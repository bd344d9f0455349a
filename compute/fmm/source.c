/* Sorted particles, a tile at a time, each of them in its leaf. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

void fmm_source_init(fmm_source *s, const fmm_problem *problem)
{
    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->file = problem->file;
    s->tile[0] = s->tile[1] = -1;
}

void fmm_source_release(fmm_source *s)
{
    for (int side = 0; side < 2; ++side) {
        PS_FREE(s->columns[side][0], s->places[side]);
        s->columns[side][0] = NULL;
        s->places[side] = NULL;
    }
}

static int columns_of(const fmm_source *s, int side)
{
    return side == PS_OCTREE_SOURCES ? 3 + s->problem->fmm.sides : 3;
}

static int64_t largest_tile(const ps_octree_file *file, ps_octree_side side)
{
    int64_t tiles, largest = 0;
    const int64_t *start = ps_octree_tile_start(file, side, &tiles);
    for (int64_t t = 0; t < tiles; ++t)
        if (start[t + 1] - start[t] > largest) largest = start[t + 1] - start[t];
    return largest;
}

int64_t fmm_source_bytes(const fmm_problem *p)
{
    int64_t bytes = 8 * (4 + p->fmm.sides) * largest_tile(p->file, PS_OCTREE_SOURCES);
    return p->same ? bytes : bytes + 8 * 4 * largest_tile(p->file, PS_OCTREE_TARGETS);
}

/* Room for a tile, at the first use of a side. */
static ps_status make_room(fmm_source *s, ps_octree_side side)
{
    int columns = columns_of(s, side);
    if (s->places[side]) return PS_OK;
    s->capacity[side] = largest_tile(s->file, side);
    PS_TRY(ps_alloc_untouched((void **)&s->places[side], 8 * s->capacity[side], "a tile"));
    PS_TRY(ps_alloc_untouched((void **)&s->columns[side][0], 8 * columns * s->capacity[side],
                              "a tile"));
    for (int c = 1; c < columns; ++c)
        s->columns[side][c] = s->columns[side][c - 1] + s->capacity[side];
    return PS_OK;
}

/* ---- what a reader must not believe ---- */

static const ps_octree *tree_of(const fmm_source *s, ps_octree_side side)
{
    return side == PS_OCTREE_SOURCES ? s->problem->fmm.sources : s->problem->fmm.targets;
}

int64_t fmm_leaf_of(const ps_octree *tree, int64_t particle)
{
    return ps_range_of(tree->particle_start, ps_octree_leaves(tree), particle);
}

static ps_status fail_outside(const fmm_source *s, int64_t particle, double by)
{
    int64_t clamped = s->problem->header->clamped;
    const char *path = ps_store_path(ps_octree_file_store(s->file));
    if (clamped == 0)
        return ps_fail(PS_INVALID,
                       "%s: sorted particle %lld lies outside its leaf, by %.3g of the leaf's "
                       "width: the file is damaged; build the octree again",
                       path, (long long)particle, by);
    return ps_fail(PS_INVALID,
                   "%s: %lld particles lie outside the box and were put into its outermost cells "
                   "by --clamp, sorted particle %lld by %.3g of a leaf's width, where the far "
                   "field cannot be right: build the octree with a --box that holds them, or "
                   "without --box",
                   path, (long long)clamped, (long long)particle, by);
}

/* The far field interpolates within leaves; what lies further outside than rounding explains, by
 * more than a thousandth, it would extrapolate. Without a far field any place is right. */
static ps_status check_places(const fmm_source *s, ps_octree_side side, int64_t first, int64_t end)
{
    static const double slack = 1e-3;
    const ps_octree *tree = tree_of(s, side);
    int leaves = tree->height - 1;
    for (int64_t leaf = fmm_leaf_of(tree, first), at = first; at < end && s->problem->far; ++leaf) {
        int64_t last = tree->particle_start[leaf + 1] < end ? tree->particle_start[leaf + 1] : end;
        double centre[3], width, furthest = 0;
        ps_fmm_cell_centre(tree, leaves, leaf, centre, &width);
        for (int d = 0; d < 3; ++d) {
            const double *x = s->columns[side][d] - first;
            for (int64_t i = at; i < last; ++i) {
                double off = fabs(x[i] - centre[d]);
                furthest = off > furthest ? off : furthest;
            }
        }
        if (furthest > (0.5 + slack) * width) return fail_outside(s, at, furthest / width - 0.5);
        at = last;
    }
    return PS_OK;
}

static ps_status check_permutation(const fmm_source *s, ps_octree_side side, int64_t count)
{
    int64_t all = s->problem->header->count[side];
    for (int64_t i = 0; i < count; ++i)
        if (s->places[side][i] < 0 || s->places[side][i] >= all)
            return ps_fail(PS_INVALID,
                           "%s: the permutation has the place %lld, and there are %lld particles: "
                           "the file is damaged; build the octree again",
                           ps_store_path(ps_octree_file_store(s->file)),
                           (long long)s->places[side][i], (long long)all);
    return PS_OK;
}

/* The charges of --charges, by the places of the tile. */
static void take_charges(const fmm_source *s, int64_t count)
{
    const fmm_problem *p = s->problem;
    const int64_t *places = s->places[PS_OCTREE_SOURCES];
    for (int side = 0; side < p->fmm.sides; ++side) {
        const double *from = p->charges + side * p->header->count[0];
        double *to = s->columns[PS_OCTREE_SOURCES][3 + side];
        for (int64_t i = 0; i < count; ++i) to[i] = from[places[i]];
    }
}

static ps_status hold(fmm_source *s, ps_octree_side side, int64_t tile, int64_t first, int64_t end,
                      bool columns, bool places)
{
    bool others = side == PS_OCTREE_SOURCES && s->problem->charge_file;
    places = places || (columns && others && s->problem->charges);
    PS_TRY(make_room(s, side));
    if (s->tile[side] != tile) s->held_columns[side] = s->held_places[side] = false;
    s->tile[side] = -1;
    if (places && !s->held_places[side]) {
        PS_TRY(ps_octree_read(s->file, side, first, end - first, NULL, 0, s->places[side]));
        PS_TRY(check_permutation(s, side, end - first));
    }
    if (columns && !s->held_columns[side]) {
        PS_TRY(ps_octree_read(s->file, side, first, end - first, s->columns[side],
                              others ? 3 : columns_of(s, side), NULL));
        PS_TRY(check_places(s, side, first, end));
        if (others && s->problem->charges) take_charges(s, end - first);
    }
    s->held_columns[side] = s->held_columns[side] || columns;
    s->held_places[side] = s->held_places[side] || places;
    s->tile[side] = tile;
    return PS_OK;
}

/* Of one tile, which stays for what follows. */
static ps_status read_held(fmm_source *s, ps_octree_side side, int64_t first, int64_t count,
                           double *const *to, int column_count, int64_t *places)
{
    int64_t tiles;
    const int64_t *start = ps_octree_tile_start(s->file, side, &tiles);
    int64_t t = ps_range_of(start, tiles, first), at = first - start[t];
    size_t bytes = (size_t)count * 8;
    PS_TRY(hold(s, side, t, start[t], start[t + 1], column_count > 0, places != NULL));
    for (int c = 0; c < column_count; ++c) memcpy(to[c], s->columns[side][c] + at, bytes);
    if (places) memcpy(places, s->places[side] + at, bytes);
    return PS_OK;
}

/* Particles in the order of their file lie in no leaves, and their places are their numbers: whole
 * tiles of them need no copy. */
static bool is_plain(const fmm_source *s)
{
    return !s->problem->header->sorted && !s->problem->charge_file;
}

ps_status fmm_source_read(fmm_source *s, ps_octree_side side, int64_t first, int64_t count,
                          double *const *columns, int column_count, int64_t *places)
{
    int64_t tiles;
    const int64_t *start = ps_octree_tile_start(s->file, side, &tiles);
    for (int64_t done = 0, some; done < count; done += some) {
        int64_t at = first + done, t = ps_range_of(start, tiles, at);
        int64_t *to_places = places ? places + done : NULL;
        double *to[PS_PARTICLE_COLUMNS_MAX];
        some = ps_smaller(start[t + 1] - at, count - done);
        for (int c = 0; c < column_count; ++c) to[c] = columns[c] + done;
        if (is_plain(s) && (column_count == 0 || some == start[t + 1] - start[t]))
            PS_TRY(ps_octree_read(s->file, side, at, some, to, column_count, to_places));
        else
            PS_TRY(read_held(s, side, at, some, to, column_count, to_places));
    }
    return PS_OK;
}
