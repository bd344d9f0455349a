/*
 * cluster_tree: functions of a space in a binary tree, and pairs of clusters that are far apart
 * (Bebendorf 2008; numerics guide 2).
 *
 * Clusters are halved. Boxes enclose the supports whole, so clusters with a distance have disjoint
 * supports.
 */
#ifndef PS_KERNELS_HBEM_CLUSTER_TREE_H
#define PS_KERNELS_HBEM_CLUSTER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/cluster_tree.h"
#include "kernels/hbem/surface.h"

/* Nodes of a tree over `dofs` functions whose leaves have at most leaf_size >= 1. */
int64_t ps_cluster_nodes(int64_t dofs, int64_t leaf_size);

/* How clusters are halved: at the median along the longest axis of the points' box, or at the
 * middle of their order along a curve. */
typedef enum ps_cluster_cut { PS_CUT_MEDIAN, PS_CUT_MORTON, PS_CUT_HILBERT } ps_cluster_cut;

typedef struct ps_cluster_method {
    int64_t leaf_size; /* functions of a cluster that is not cut, at most; >= 1 */
    ps_cluster_cut cut;
} ps_cluster_method;

/* Bytes of scratch that building takes. */
int64_t ps_cluster_scratch(int64_t dofs);

/* Builds the tree of a space in the order of the mesh. tree->nodes[ps_cluster_nodes] and
 * tree->order[dofs] are there; the rest is set. scratch: 64-byte aligned. Follow with
 * ps_hbem_space_reorder(space, tree->order, ..). Threads: OpenMP inside; the tree does not depend
 * on their number. */
void ps_cluster_build(ps_cluster_tree *tree, const ps_hbem_space *space,
                      const ps_cluster_method *method, void *scratch);

/* The boxes do not touch, and min(diameter) <= eta distance; eta = 0: weak, boxes apart suffice;
 * eta < 0: never. */
bool ps_cluster_admissible(const ps_cluster_node *a, const ps_cluster_node *b, double eta);

typedef struct ps_block_tree {
    const ps_cluster_tree *rows, *columns;
    double eta;
    bool symmetric; /* only leaves with row_begin <= column_begin; needs rows == columns */
} ps_block_tree;

/* The leaves of the block tree in depth-first order; returns their number; NULL: count first. They
 * tile the matrix (its upper half where symmetric). */
int64_t ps_block_tree_leaves(const ps_block_tree *tree, ps_hmatrix_leaf *leaves);

#endif
