/*
 * device_tree: from particles to the cells of an octree, on a CUDA device.
 *
 * The counterpart of kernels/fmm/tree.h for particles that are in the memory of
 * the device. Cells, keys, children and particles are those of ps_tree_fill, and the order of
 * particles that of ps_tree_sort, number by number; indices are int32 here (below 2^31 particles).
 *
 *   ps_device_sort_run     keys, sorted, and where each sorted particle was (CUB's radix sort)
 *   ps_device_sort_cells   numbers of cells on all levels: the one time the host waits
 *   ps_device_tree_fill    cells of all levels, from the leaves up
 *
 * | step, N particles, C cells in all    | bytes of device memory, at least                   |
 * | keys                                 | N (24 + k + 4), k = 4 up to level 10, else 8       |
 * | sort, for each 8 bits of 3 level     | 2 N (k + 4)                                        |
 * | cells                                | 2 N k + ~60 C                                      |
 * | four columns to another order        | N (32 + 32 + 4 + 64 + 32)                          |
 *
 * Columns go to another order four at a time: packed to records, of which each then is one access
 * to a place anywhere (64 bytes of memory), where four columns would take four.
 *
 * Nothing here allocates; everything but ps_device_sort_cells only enqueues. Without CUDA, or on
 * the CPU device, PS_FAILED.
 */
#ifndef PS_KERNELS_FMM_DEVICE_TREE_H
#define PS_KERNELS_FMM_DEVICE_TREE_H

#include "formats/octree.h"
#include "kernels/fmm/tree.h"
#include "runtime/device.h"

/* ---- order ---- */

/* The caller gives the first three; ps_device_sort_bytes and ps_device_sort_attach the others. */
typedef struct ps_device_sort {
    int64_t count; /* 1 .. 2^31 - 1 */
    int level;     /* of the leaves */
    ps_octree_box box;
    int wide;           /* keys are uint64_t, else uint32_t (levels up to 10)                 */
    void *keys;         /* [count] sorted leaf keys; valid after ps_device_sort_run          */
    int32_t *order;     /* [count] old place of each sorted particle; likewise               */
    void *key_space[2]; /* both halves of the sort; keys is one of them                      */
    int32_t *order_space[2];
    int64_t *census;  /* [PS_OCTREE_LEVELS_MAX + 2]: neighbours in order that part so many
                         levels up; [0]: particles outside the box; the last: scratch      */
    int32_t *inverse; /* [count] new place of each particle; by ps_device_sort_invert     */
    double *records;  /* [count][4]: four columns that move                               */
    void *workspace;  /* of CUB, for sorting and for ps_device_tree_fill                   */
    int64_t workspace_bytes;
} ps_device_sort;

/* Device memory that a sort needs, from count, level and box. PS_USAGE for a count or a level out
 * of range. */
ps_status ps_device_sort_bytes(ps_device_sort *sort, ps_stream *stream, int64_t *bytes);
/* Its parts in a block of that size, 256-byte aligned. */
int64_t ps_device_sort_attach(ps_device_sort *sort, void *block);

/* Sorts points (arrays on the device). */
ps_status ps_device_sort_run(ps_device_sort *sort, const ps_tree_points *points, ps_stream *stream);
/* Points that share a key are brought into the order of ps_adaptive_sort, that of their places on
 * level 42; where more than `most` share one they stay as they are. The same points and box. */
ps_status ps_device_sort_refine(const ps_device_sort *sort, const ps_tree_points *points,
                                int64_t most, ps_stream *stream);
/* cells[level + 1], and how many points lie outside the closed box (or are no numbers), which are
 * taken to its border. The host waits. */
ps_status ps_device_sort_cells(const ps_device_sort *sort, ps_stream *stream, int64_t *cells,
                               int64_t *outside);

/* Fills `inverse`, which ps_device_scatter needs. */
ps_status ps_device_sort_invert(const ps_device_sort *sort, ps_stream *stream);

/* Columns of numbers from the caller's order to the sorted one and back. */
enum { PS_DEVICE_COLUMNS_MAX = 32 };
typedef struct ps_device_columns {
    int count;
    const double *from[PS_DEVICE_COLUMNS_MAX];
    double *to[PS_DEVICE_COLUMNS_MAX];
} ps_device_columns;
/* to[c][i] = from[c][order[i]]. Neither this nor the other at the same time for one sort. */
ps_status ps_device_gather(const ps_device_sort *sort, const ps_device_columns *columns,
                           ps_stream *stream);
/* to[c][order[i]] = from[c][i]. */
ps_status ps_device_scatter(const ps_device_sort *sort, const ps_device_columns *columns,
                            ps_stream *stream);

/* ---- cells ---- */

/* As ps_octree, all arrays on the device. */
typedef struct ps_device_tree {
    int height;
    ps_octree_box box;
    int64_t particles;
    int64_t cells[PS_OCTREE_LEVELS_MAX];
    uint64_t *keys[PS_OCTREE_LEVELS_MAX];       /* [cells], ascending                           */
    int32_t *child_start[PS_OCTREE_LEVELS_MAX]; /* [cells + 1]; above the leaves                */
    int32_t *children[PS_OCTREE_LEVELS_MAX];    /* [cells][8]: in octant key & 7, -1: none;
                                                   likewise                                     */
    int32_t *parent[PS_OCTREE_LEVELS_MAX];      /* [cells]; below the root                      */
    int32_t *particle_start;                    /* [leaves + 1]                                 */
} ps_device_tree;

/* From height and cells: device memory of all arrays, and their places in a block of that size,
 * 256-byte aligned. */
int64_t ps_device_tree_bytes(const ps_device_tree *tree);
int64_t ps_device_tree_attach(ps_device_tree *tree, void *block);

/* Fills a tree that was placed for the cells of a sort. */
ps_status ps_device_tree_fill(const ps_device_sort *sort, ps_device_tree *tree, ps_stream *stream);

#endif
