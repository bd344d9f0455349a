/*
 * cluster_tree: functions of a space in a binary tree, and pairs of clusters that are far apart
 * (Bebendorf 2008; numerics guide 2).
 *
 * A cluster is cut at the median along the longest axis of its box. Boxes enclose the supports
 * whole, so clusters with a distance have disjoint supports.
 */
#ifndef PS_KERNELS_HBEM_CLUSTER_TREE_H
#define PS_KERNELS_HBEM_CLUSTER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/cluster_tree.h"
#include "kernels/hbem/surface.h"

/* Nodes of a tree over `dofs` functions whose leaves have at most leaf_size >= 1. */
int64_t ps_cluster_nodes(int64_t dofs, int64_t leaf_size);

/* Builds the tree of a space in the order of the mesh; points[3 * dofs] is scratch. nodes[] and
 * order[] are those of the sizes above. Follow with ps_hbem_space_reorder(space, order, ..). */
void ps_cluster_build(ps_cluster_tree *tree, const ps_hbem_space *space, int64_t leaf_size,
                      ps_cluster_node *nodes, int64_t *order, double *points);

/* The boxes do not touch, and min(diameter) <= eta distance; eta = 0: weak, boxes apart suffice;
 * eta < 0: never. */
bool ps_cluster_admissible(const ps_cluster_node *a, const ps_cluster_node *b, double eta);

typedef struct ps_block_tree {
    const ps_cluster_tree *rows, *columns;
    double eta;
    bool symmetric; /* only leaves with row_begin <= column_begin; needs rows == columns */
    int64_t uncut;  /* blocks whose two clusters are not larger are leaves, admissible or not */
} ps_block_tree;

/* The leaves of the block tree in depth-first order; returns their number. leaves and nodes (the
 * same by positions and by nodes) may be NULL (count first). They tile the matrix (its upper half
 * where symmetric). */
int64_t ps_block_tree_leaves(const ps_block_tree *tree, ps_hmatrix_leaf *leaves);
int64_t ps_block_tree_nodes(const ps_block_tree *tree, ps_cluster_leaves *nodes);

#endif
