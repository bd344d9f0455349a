/*
 * adaptive_plan: the lists of an adaptive tree (adaptive_lists.h) as the flat arrays that the
 * operators of a device take (device_ops.h, device_adaptive.h): what is in them is all that the
 * method needs of the tree. Made by all threads; nothing depends on how many.
 *
 * Cells are numbered as in the tree; a code is the number of a cell within its level. Leaves are
 * in the order of ps_adaptive_tree.leaf. The *blocks* of a level are the divided cells of the level
 * above, in their order.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_PLAN_H
#define PS_KERNELS_FMM_ADAPTIVE_PLAN_H

#include "kernels/fmm/adaptive_share.h"
#include "kernels/fmm/device_adaptive.h"

typedef enum ps_adaptive_part {
    PS_PLAN_SOURCES,   /* ps_fmm_device_leaf [leaves]: particles are sources                    */
    PS_PLAN_TARGETS,   /* likewise, targets; of a share its own alone, others have none; empty if
                          these are the sources                                                 */
    PS_PLAN_BOXES,     /* ps_fmm_device_cell [cells]                                            */
    PS_PLAN_RUN_START, /* int32 [leaves + 1]                                                    */
    PS_PLAN_RUNS,      /* ps_fmm_device_run: sources that act on a leaf directly                */
    PS_PLAN_CHILDREN,  /* int32 [cells][8]: code of the child in an octant, or -1               */
    PS_PLAN_ORDER,     /* int32 [cells]: each level's codes by octant, as ps_fmm_device_far has
                          them, those together whose parents have cells around at like places   */
    PS_PLAN_OCTANTS,   /* int32 [levels][9]: where each begins; cells of other shares lie behind */
    PS_PLAN_BLOCK,     /* int32 [cells]: the block of a cell                                    */
    PS_PLAN_FAR,       /* int32 [blocks of all levels][216]: codes; levels from 2 on            */
    PS_PLAN_M2P_LEAF,  /* int32: leaves with a W list                                           */
    PS_PLAN_M2P_START, /* int32 [these + 1]                                                     */
    PS_PLAN_M2P_CELLS, /* int32: W, numbers of cells                                            */
    PS_PLAN_P2L_CELL,  /* int32: cells with an X list                                           */
    PS_PLAN_P2L_START, /* int32 [these + 1]                                                     */
    PS_PLAN_P2L_RUNS,  /* ps_fmm_device_run: the sources of X                                   */
    PS_PLAN_PARTS
} ps_adaptive_part;

typedef struct ps_adaptive_plan {
    const ps_adaptive_tree *tree;
    ps_adaptive_rule rule;
    struct {
        void *at; /* for free() */
        int64_t count, size;
    } part[PS_PLAN_PARTS];
    /* Of level l from 2 on: its blocks are rows [block_start[l], block_start[l + 1]) of FAR. */
    int64_t block_start[PS_ADAPTIVE_LEVELS + 1];
    /* Lists are of these targets, sorted ones of whole leaves, and of cells that have some: */
    bool shared;                                 /* not of all */
    ps_fmm_range own, cells[PS_ADAPTIVE_LEVELS]; /* of the numbers of each level */
} ps_adaptive_plan;

/* What is best summed directly on a device: there M2L takes the time of a few hundred pairs and
 * M2P and P2L are no faster than P2P, so that V stays whole. */
ps_adaptive_rule ps_adaptive_device_rule(int order);
/* Ordered pairs of particles that take a device as long as an M2L, and as what else cells take
 * (tree, lists, the other operators) for each M2L; the size of leaves with which all together is
 * least (specs/fmm_adaptive.md). */
enum { PS_ADAPTIVE_DEVICE_OTHERS = 60 };
double ps_adaptive_device_m2l_pairs(int order);
int64_t ps_adaptive_device_leaf_size(int order);

/* A plan of some of the targets: each of `ranks` has as much work as the others. */
typedef struct ps_adaptive_own {
    int rank, ranks;
    ps_adaptive_costs costs;
    int64_t *first; /* [ranks + 1] made: sorted targets of rank k are [first[k], first[k + 1]) */
} ps_adaptive_own;

/* Makes all parts, of the targets of a share, which it cuts, or of all (NULL): of an essential tree
 * those of its stretch. PS_EXHAUSTED without memory or beyond 2^31 - 1 particles or entries;
 * release also after a failure. OpenMP inside. */
ps_status ps_adaptive_plan_make(const ps_adaptive_tree *tree, ps_adaptive_rule rule,
                                const ps_adaptive_own *share, ps_adaptive_plan *plan);
void ps_adaptive_plan_release(ps_adaptive_plan *plan);

#endif
