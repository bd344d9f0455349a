/*
 * device_lists: who interacts with whom, for all cells of a tree on a CUDA device: the lists that
 * kernels/fmm/device_ops.h takes (specs/fmm_device.md), made from the root down without searches,
 * as a neighbour of a child is a child of a neighbour of its parent.
 *
 * The targets' tree and the sources' are of one box and height, and may be one. C target cells in
 * all: ~ 116 C bytes of `around`, 864 bytes a parent of `far`.
 *
 * Nothing here allocates; ps_device_lists_fill only enqueues.
 */
#ifndef PS_KERNELS_FMM_DEVICE_LISTS_H
#define PS_KERNELS_FMM_DEVICE_LISTS_H

#include "kernels/fmm/device_tree.h"

enum { PS_DEVICE_AROUND = 27, PS_DEVICE_FAR = 216 };

/* Whether a level is sparse: its parents have fewer than 7 children on average. */
static inline bool ps_device_sparse(const ps_device_tree *targets, int level)
{
    return targets->cells[level] < 7 * targets->cells[level - 1];
}

/* All arrays on the device, cells by number within their level. */
typedef struct ps_device_lists {
    /* [cells][27]: source cells as ps_tree_around numbers them, -1: none. All levels. */
    int32_t *around[PS_OCTREE_LEVELS_MAX];
    /* Levels 2 .. height - 1. far[cells of the level above][216]: at 8 n + octant the source cell
     * in that octant of the cell at place n around the parent, -1: none. */
    int32_t *far[PS_OCTREE_LEVELS_MAX];
    /* by_octant[cells]: target cells by octant (key & 7), octant o at octant_start[o] ..
     * octant_start[o + 1] ([9]). Within it cells ascend; on sparse levels those come together whose
     * parents have cells around them at the same places (a 27-bit number, bit n for place n, that
     * ascends), so that cells that are taken together have sources at the same offsets. */
    int32_t *by_octant[PS_OCTREE_LEVELS_MAX];
    int32_t *octant_start[PS_OCTREE_LEVELS_MAX];
    /* For sorting by level and octant. */
    uint64_t *labels[2];
    int32_t *numbers[2];
    void *workspace;
    int64_t workspace_bytes;
} ps_device_lists;

/* Device memory for the lists of a tree, whose height and cells are set; their places in a block
 * of that size, 256-byte aligned. PS_USAGE for more than 2^31 - 1 cells. */
ps_status ps_device_lists_bytes(const ps_device_tree *targets, ps_device_lists *lists,
                                ps_stream *stream, int64_t *bytes);
int64_t ps_device_lists_attach(const ps_device_tree *targets, ps_device_lists *lists, void *block);

/* Fills the lists. Both trees are filled, or will be when the stream gets there. */
ps_status ps_device_lists_fill(const ps_device_tree *targets, const ps_device_tree *sources,
                               ps_device_lists *lists, ps_stream *stream);

#endif
