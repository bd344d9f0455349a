/*
 * tree: from particles to the cells of an octree of uniform depth (formats/octree.h), in memory.
 *
 * The steps, each threaded with OpenMP inside, none allocating:
 *   ps_tree_sort   leaf keys of the particles, sorted, and where each sorted particle was;
 *   ps_tree_count  numbers of cells on all levels, from the sorted keys alone;
 *   ps_octree_init by the caller;
 *   ps_tree_fill   keys, children and particles of all cells.
 * Results do not depend on the number of threads.
 */
#ifndef PS_KERNELS_FMM_TREE_H
#define PS_KERNELS_FMM_TREE_H

#include <stdint.h>

#include "formats/octree.h"

/* Borrowed positions. */
typedef struct ps_tree_points {
    int64_t count;
    const double *x, *y, *z;
} ps_tree_points;

/* PS_INVALID if particles that reach from `lower` to `upper` span less than 1e-60 or more than
 * 1e60: fifth powers of distances, which gradients of kernels hold, and squares of results are no
 * numbers of fp64 then, and small squares are 0, as if particles were at one place. */
ps_status ps_tree_check_span(const double lower[3], const double upper[3]);

/* Morton keys on a level: cell of an axis = floor((x - corner) 2^level / width), held within
 * 0 .. 2^level - 1. Returns how many points lie outside the closed box. */
int64_t ps_tree_keys(const ps_octree_box *box, int level, const ps_tree_points *points,
                     uint64_t *keys);

/* Words (uint64) of workspace that ps_tree_sort needs. */
int64_t ps_tree_sort_workspace(int64_t count, int level);
/* Sorted leaf keys[count] on a level and order[count], the old place of each sorted particle;
 * particles of one leaf keep their order. Returns how many points lie outside the box. */
int64_t ps_tree_sort(const ps_octree_box *box, int level, const ps_tree_points *points,
                     uint64_t *workspace, uint64_t *keys, int64_t *order);
/* out[i] = in[order[i]]. */
void ps_tree_gather(const double *in, const int64_t *order, int64_t count, double *out);

/* Numbers of cells on levels 0 .. level, from sorted keys on `level`: cells[level + 1]. */
void ps_tree_count(const uint64_t *keys, int64_t count, int level, int64_t *cells);

/* Distinct values of keys[count] >> shift, ascending, and where each begins: out_keys[*runs],
 * start[*runs + 1]. keys ascend. Returns the number of runs. out_keys may be keys itself if
 * start is not wanted (NULL). One thread. */
int64_t ps_tree_runs(const uint64_t *keys, int64_t count, int shift, uint64_t *out_keys,
                     int64_t *start);

/* Fills a tree that ps_octree_init made for the counts of ps_tree_count, from the sorted leaf
 * keys of its particles. */
void ps_tree_fill(const uint64_t *keys, int64_t count, ps_octree *tree);
/* The same from its leaves: their keys and particle_start are in the tree already. */
void ps_tree_fill_above(ps_octree *tree);

#endif
