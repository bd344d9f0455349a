/* Sorted particles, a tile at a time. */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"

void fmm_source_init(fmm_source *s, ps_octree_file *file)
{
    memset(s, 0, sizeof *s);
    s->file = file;
    s->tile[0] = s->tile[1] = -1;
}

void fmm_source_release(fmm_source *s)
{
    for (int side = 0; side < 2; ++side) {
        free(s->columns[side][0]);
        free(s->places[side]);
        s->columns[side][0] = NULL;
        s->places[side] = NULL;
    }
}

static int columns_of(const fmm_source *s, int side)
{
    return side == PS_OCTREE_SOURCES ? 3 + ps_octree_file_header(s->file)->right_hand_sides : 3;
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
    int64_t bytes =
        8 * (4 + p->header->right_hand_sides) * largest_tile(p->file, PS_OCTREE_SOURCES);
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

static ps_status hold(fmm_source *s, ps_octree_side side, int64_t tile, int64_t first, int64_t end,
                      bool columns, bool places)
{
    PS_TRY(make_room(s, side));
    if (s->tile[side] != tile) s->held_columns[side] = s->held_places[side] = false;
    s->tile[side] = -1;
    if (columns && !s->held_columns[side])
        PS_TRY(ps_octree_read(s->file, side, first, end - first, s->columns[side],
                              columns_of(s, side), NULL));
    if (places && !s->held_places[side])
        PS_TRY(ps_octree_read(s->file, side, first, end - first, NULL, 0, s->places[side]));
    s->held_columns[side] = s->held_columns[side] || columns;
    s->held_places[side] = s->held_places[side] || places;
    s->tile[side] = tile;
    return PS_OK;
}

/* The tile of a particle. */
static int64_t tile_of(const int64_t *start, int64_t tiles, int64_t particle)
{
    int64_t low = 0, high = tiles;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (start[middle] <= particle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

ps_status fmm_source_read(fmm_source *s, ps_octree_side side, int64_t first, int64_t count,
                          double *const *columns, int column_count, int64_t *places)
{
    int64_t tiles;
    const int64_t *start = ps_octree_tile_start(s->file, side, &tiles);
    for (int64_t done = 0; done < count;) {
        int64_t t = tile_of(start, tiles, first + done);
        int64_t at = first + done - start[t], left = start[t + 1] - (first + done),
                some = left < count - done ? left : count - done;
        size_t bytes = (size_t)some * 8;
        PS_TRY(hold(s, side, t, start[t], start[t + 1], column_count > 0, places != NULL));
        for (int c = 0; c < column_count; ++c)
            memcpy(columns[c] + done, s->columns[side][c] + at, bytes);
        if (places) memcpy(places + done, s->places[side] + at, bytes);
        done += some;
    }
    return PS_OK;
}
