/*
 * tree_lists: who interacts with whom in octrees: neighbours (P2P), the interaction list (M2L), and
 * the same between groups.
 *
 * Cells of a target tree against cells of a source tree in the same box and of the same height; the
 * two may be one tree. A cell of the target tree at key T interacts with source cell S of its level
 * if their parents touch (or are one) and they do not: offsets t = S - T in {-3..3}^3 with
 * max |t_d| > 1, at most 189 (RR-8513, section 2; guide 2). Neighbours have max |t_d| = 1, at most
 * 26. No state, no allocation; thread-safe.
 */
#ifndef PS_KERNELS_FMM_TREE_LISTS_H
#define PS_KERNELS_FMM_TREE_LISTS_H

#include <stdint.h>

#include "formats/octree.h"

enum { PS_TREE_NEAR_MAX = 27, PS_TREE_FAR_MAX = 189, PS_TREE_CODES = 343 };

/* The cell of a key on a level as three numbers. */
void ps_tree_cell(uint64_t key, int64_t cell[3]);

/* Offsets as one number: ((t_x + 3) 7 + t_y + 3) 7 + t_z + 3, 0 .. 342; 171 is t = 0. */
int ps_tree_code(int tx, int ty, int tz);

/* Source cells around a place on a level: around[(d_x + 1) 9 + (d_y + 1) 3 + d_z + 1] is the number
 * of the cell at offset d in {-1, 0, 1}^3, or -1. */
void ps_tree_around(const ps_octree *sources, int level, uint64_t key, int64_t around[27]);

/* A list for consecutive target cells [first, end): sources[start[c - first] ..
 * start[c - first + 1]), with their offsets as codes. start[end - first + 1]; sources and codes
 * with room for PS_TREE_NEAR_MAX or PS_TREE_FAR_MAX a cell. codes may be NULL. */
typedef struct ps_tree_list {
    int64_t *start, *sources;
    uint16_t *codes;
} ps_tree_list;

/* Neighbours of the leaves, ascending, the place itself (code 171) among them. */
void ps_tree_near(const ps_octree *targets, const ps_octree *sources, int64_t first, int64_t end,
                  ps_tree_list *list);
/* Interaction lists on a level; ordered by parent's offset, then by key. Empty below level 2. */
void ps_tree_far(const ps_octree *targets, const ps_octree *sources, int level, int64_t first,
                 int64_t end, ps_tree_list *list);

/* ---- groups ---- */

/* Groups of `sources` with n_g cells each that hold any item of a list of `count` sources,
 * ascending; `skip` is left out (-1: none). out has room for min(count, all groups); stamp[groups
 * of the source level] and `mark`: stamp[g] != mark beforehand, as after zeroing and with marks
 * from 1 on. Returns how many. */
int64_t ps_tree_source_groups(const int64_t *items, int64_t count, int64_t group_size, int64_t skip,
                              int64_t mark, int64_t *stamp, int64_t *out);

/* Of a group of leaves [first, end) of one tree: neighbours of later groups ("augmented", guide
 * 3(c)), ascending, from its near list; leaves[] has room for the whole list. Returns how many. */
int64_t ps_tree_augmented(const ps_tree_list *near, int64_t first, int64_t end, int64_t *leaves);

/* Particle pairs of a group of leaves from its near list. */
typedef struct ps_tree_pairs {
    int64_t inside;    /* one tree: mutual pairs within leaves and between leaves of the group;
                          two trees: all ordered pairs                                        */
    int64_t augmented; /* one tree: mutual pairs with augmented leaves                        */
    int64_t outside;   /* one tree: ordered pairs with sources in leaves of other groups      */
} ps_tree_pairs;
ps_tree_pairs ps_tree_count_pairs(const ps_octree *targets, const ps_octree *sources,
                                  const ps_tree_list *near, int64_t first, int64_t end);

#endif
