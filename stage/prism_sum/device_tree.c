/* A tree that was made on the host, on a CUDA device. */
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/prism_sum/internal.h"

enum { OCTANTS = 8 };

static ps_status copy_starts(const int64_t *start, int64_t count, int32_t *room, int32_t *to,
                             ps_stream *stream)
{
    for (int64_t i = 0; i < count; ++i) room[i] = (int32_t)start[i];
    PS_TRY(ps_copy_to_device(stream, to, room, 4 * count));
    return ps_stream_wait(stream);
}

/* Children by octants, -1: none, and parents, of the cells of a level above the leaves. */
static ps_status copy_family(const ps_octree *from, int level, int32_t *room, ps_device_tree *tree,
                             ps_stream *stream)
{
    const int64_t *start = from->child_start[level], cells = from->cells[level];
    const uint64_t *keys = from->keys[level + 1];
    int32_t *children = room, *parent = room + OCTANTS * cells;
#pragma omp parallel for
    for (int64_t c = 0; c < cells; ++c) {
        for (int o = 0; o < OCTANTS; ++o) children[OCTANTS * c + o] = -1;
        for (int64_t k = start[c]; k < start[c + 1]; ++k) {
            children[OCTANTS * c + (int64_t)(keys[k] % OCTANTS)] = (int32_t)k;
            parent[k] = (int32_t)c;
        }
    }
    PS_TRY(ps_copy_to_device(stream, tree->children[level], children, 4 * OCTANTS * cells));
    PS_TRY(ps_copy_to_device(stream, tree->parent[level + 1], parent, 4 * from->cells[level + 1]));
    PS_TRY(ps_stream_wait(stream));
    return copy_starts(start, cells + 1, room, tree->child_start[level], stream);
}

static ps_status copy_levels(const ps_octree *from, int32_t *room, ps_device_tree *tree,
                             ps_stream *stream)
{
    for (int l = 0; l < from->height; ++l) {
        PS_TRY(ps_copy_to_device(stream, tree->keys[l], from->keys[l], 8 * from->cells[l]));
        if (l < from->height - 1) PS_TRY(copy_family(from, l, room, tree, stream));
    }
    return copy_starts(from->particle_start, ps_octree_leaves(from) + 1, room, tree->particle_start,
                       stream);
}

ps_status prism_device_tree(const ps_octree *from, ps_device_tree *tree, ps_stream *stream)
{
    int64_t most = ps_octree_leaves(from) + 1;
    PS_SCOPED_MEMORY int32_t *room = NULL;
    if (from->particle_start[most - 1] > INT32_MAX || most > INT32_MAX)
        return ps_fail(PS_USAGE, "%lld particles in %lld leaves on a device; there may be 2^31 - 1",
                       (long long)from->particle_start[most - 1], (long long)(most - 1));
    for (int l = 0; l < from->height - 1; ++l)
        if (OCTANTS * from->cells[l] + from->cells[l + 1] > most)
            most = OCTANTS * from->cells[l] + from->cells[l + 1];
    PS_TRY(ps_alloc_untouched((void **)&room, 4 * most, "cells for a device"));
    return copy_levels(from, room, tree, stream);
}
