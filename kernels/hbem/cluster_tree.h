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

#include "formats/hmatrix_blocks.h"
#include "kernels/hbem/surface.h"

typedef struct ps_cluster_node {
    int64_t begin, end;   /* positions in the order        */
    int64_t child[2];     /* nodes; -1, -1: a leaf         */
    double low[3], high[3];
} ps_cluster_node;

typedef struct ps_cluster_tree {
    int64_t dofs, node_count, leaf_size;
    ps_cluster_node *nodes; /* [node_count], the caller's; 0 is the root, parents before children */
    int64_t *order;         /* [dofs], the caller's: the function at a position                   */
} ps_cluster_tree;

/* Nodes of a tree over `dofs` functions whose leaves have at most leaf_size >= 1. */
int64_t ps_cluster_nodes(int64_t dofs, int64_t leaf_size);

/* Builds the tree of a space in the order of the mesh; points[3 * dofs] is scratch. nodes[] and
 * order[] are those of the sizes above. Follow with ps_hbem_space_reorder(space, order, ..). */
void ps_cluster_build(ps_cluster_tree *tree, const ps_hbem_space *space, int64_t leaf_size,
                      ps_cluster_node *nodes, int64_t *order, double *points);

/* min(diameter) <= eta distance, and the boxes do not touch. */
bool ps_cluster_admissible(const ps_cluster_node *a, const ps_cluster_node *b, double eta);

typedef struct ps_block_tree {
    const ps_cluster_tree *rows, *columns;
    double eta;
    bool symmetric; /* only leaves with row_begin <= column_begin; needs rows == columns */
} ps_block_tree;

/* The leaves of the block tree in depth-first order; returns their number. leaves may be NULL
 * (count first). They tile the matrix (its upper half where symmetric). */
int64_t ps_block_tree_leaves(const ps_block_tree *tree, ps_hmatrix_leaf *leaves);

#endif
