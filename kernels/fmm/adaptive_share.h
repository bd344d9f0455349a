/*
 * adaptive_share: which targets of an adaptive tree are evaluated together, and by whom. Leaves
 * along the Morton order are cut into *portions*, as many as depend on the tree alone: pairs of
 * leaves of one portion are summed from both sides at once, others of each leaf by itself. Ranks
 * have stretches of them, and what is stopped goes on with those that are missing: bits depend on
 * neither.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_SHARE_H
#define PS_KERNELS_FMM_ADAPTIVE_SHARE_H

#include "kernels/fmm/adaptive_lists.h"

int64_t ps_adaptive_portion_size(const ps_adaptive_tree *tree); /* leaves of each but the last */
int64_t ps_adaptive_portions(const ps_adaptive_tree *tree);
/* Numbers among tree->leaf, and sorted targets, of portions [first, end). */
ps_fmm_range ps_adaptive_portion_leaves(const ps_adaptive_tree *tree, int64_t first, int64_t end);
ps_fmm_range ps_adaptive_portion_targets(const ps_adaptive_tree *tree, int64_t first, int64_t end);
/* The cells of a level with targets among these, which are those of whole leaves. */
ps_fmm_range ps_adaptive_cells_of(const ps_adaptive_tree *tree, int level, ps_fmm_range targets);

/* Ordered pairs of particles that take as long as an M2L, and as M2P or P2L between a cell and a
 * particle. */
typedef struct ps_adaptive_costs {
    int64_t m2l, points;
} ps_adaptive_costs;

/* The work of the targets of each leaf, in ordered pairs: work[leaves]. What a cell above takes
 * counts for the first leaf below it. OpenMP inside. */
ps_status ps_adaptive_leaf_work(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                                ps_adaptive_costs costs, int64_t *work);

#endif
