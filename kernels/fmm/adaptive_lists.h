/*
 * adaptive_lists: who acts on whom in an adaptive tree (adaptive_tree.h): the lists U, V, W, X of
 * Carrier, Greengard and Rokhlin (1988), without a balance of levels.
 *
 *   V of a cell    children of its parent's colleagues that it does not touch    M2L
 *   U of a leaf    leaves of any level that it touches, itself among them        P2P
 *   W of a leaf    descendants of its colleagues whose parent it touches, which
 *                  it does not touch                                             M2P
 *   X of a cell    leaves whose W it is in                                       P2L
 *
 * What is cheaper so is summed directly (ps_adaptive_rule), and what holds no source or no target
 * is left out. Every ordered pair of a target and a source is covered exactly once: directly, by W,
 * or by V or X of one of the target's cells. What is an image (adaptive_images.h) is in the lists
 * like others, but V names the cell it is of, and none is in W. Serial, no state.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_LISTS_H
#define PS_KERNELS_FMM_ADAPTIVE_LISTS_H

#include "kernels/fmm/adaptive_tree.h"

enum { PS_ADAPTIVE_FAR_MAX = 189 };

/* Direct sums instead of M2P and P2L where the small cell holds at most `points` particles, and
 * instead of M2L to a leaf from a cell where targets times sources are at most `pairs`. */
typedef struct ps_adaptive_rule {
    int64_t points, pairs;
} ps_adaptive_rule;

typedef struct ps_adaptive_list {
    int32_t *items;
    int64_t count, capacity;
} ps_adaptive_list;

/* Of one cell; arrays grow by the tree's `room`, for free(). */
typedef struct ps_adaptive_lists {
    ps_adaptive_list direct; /* a leaf: cells whose sources act on its targets, along the Morton
                                order: U, and what the rule takes from V, W and X             */
    ps_adaptive_list far;    /* a leaf: W, cells whose multipoles act on its targets, along the
                                Morton order                                                   */
    ps_adaptive_list near;   /* any cell: X, leaves whose sources act on its locals: those beside
                                the cell first, then beside its parent, and so on to the root;
                                of one level by their place among the 27                       */
    ps_adaptive_list stack;
} ps_adaptive_lists;

ps_status ps_adaptive_lists_of(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                               int32_t cell, ps_adaptive_lists *out);

/* The same, X alone: of the other lists nothing can be said. */
ps_status ps_adaptive_near_of(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                              int32_t cell, ps_adaptive_lists *out);

void ps_adaptive_lists_release(ps_adaptive_lists *lists);

/* V of a cell: sources and codes (ps_tree_code of source minus target) with room for
 * PS_ADAPTIVE_FAR_MAX. Returns how many. */
int ps_adaptive_far(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule, int32_t cell,
                    int64_t *sources, uint16_t *codes);

/* What is done for an item with the lists of a thread at hand, in parallel, `together` items at a
 * time; the first failure of all. */
typedef ps_status (*ps_adaptive_item_fn)(const void *self, int64_t item, ps_adaptive_lists *lists);
ps_status ps_adaptive_each(const void *self, ps_adaptive_item_fn act, int64_t begin, int64_t end,
                           int together);

/* The work of an evaluation, each pair counted once for each direction. */
typedef struct ps_adaptive_work {
    int64_t direct;       /* pairs of particles          */
    int64_t m2l;          /* pairs of cells              */
    int64_t m2p, p2l;     /* cells and particles, pairs  */
    int64_t direct_cells; /* entries of direct lists     */
    int64_t m2p_cells;    /* of W                        */
    int64_t p2l_cells;    /* of X                        */
} ps_adaptive_work;

/* Counts it. OpenMP inside. */
ps_status ps_adaptive_count(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                            ps_adaptive_work *out);

/* Leaves of at most so many particles, and what is summed directly, where errors of order l are
 * reached in the least time (specs/fmm_adaptive.md). */
int64_t ps_adaptive_leaf_size(int order);
ps_adaptive_rule ps_adaptive_rule_of(int order);

#endif
