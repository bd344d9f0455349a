/*
 * block_tree: leaves for waves. The rank of a far block grows with what two clusters see of each
 * other in wavelengths, k times both diameters over their distance, not with their size: blocks
 * are cut where that is large (specs/hbem.md, *Waves*).
 */
#ifndef PS_KERNELS_HBEM_BLOCK_TREE_H
#define PS_KERNELS_HBEM_BLOCK_TREE_H

#include "kernels/hbem/cluster_tree.h"

/* Both diameters over the distance of the middles, m; 0 where those coincide. */
double ps_cluster_spread(const ps_cluster_node *a, const ps_cluster_node *b);

/* ps_block_tree_leaves by their nodes, with admissible blocks above a spread (m; 0: none) cut as far
 * as clusters are. */
int64_t ps_block_tree_cut(const ps_block_tree *tree, double spread, ps_cluster_leaves *nodes);

#endif
