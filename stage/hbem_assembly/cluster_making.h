/*
 * cluster_making: trees and leaves of clusters with the memory that they take: of a surface that is
 * read from a mesh, or of other spaces on the surface of clusters that are there.
 */
#ifndef PS_HBEM_ASSEMBLY_CLUSTER_MAKING_H
#define PS_HBEM_ASSEMBLY_CLUSTER_MAKING_H

#include "formats/reflectors.h"
#include "kernels/hbem/cluster_tree.h"

/* The tree of a space in the order of the mesh; ps_cluster_tree_release. */
ps_status ps_hbem_make_tree(const ps_hbem_space *space, const ps_cluster_method *method,
                            ps_cluster_tree *tree);

/* The leaves of the trees that are there, by the clusters' eta. */
ps_status ps_hbem_make_leaves(ps_clusters *clusters);

/* Leaves of a matrix of the clusters: the upper half where symmetric, far blocks
 * above a spread (block_tree.h) cut. Not the clusters' own: ps_cluster_leaves_release. */
typedef struct ps_hbem_leaf_rule {
    bool symmetric;
    double eta, spread;
} ps_hbem_leaf_rule;

ps_status ps_hbem_leaves_by(const ps_clusters *clusters, const ps_hbem_leaf_rule *rule,
                            ps_cluster_leaves *leaves);

/* Clusters of other spaces on the same surface, cut as those of `base` are. A space that `base` has
 * keeps its order. Released on failure. */
ps_status ps_hbem_derive_clusters(const ps_clusters *base, ps_hbem_space_kind test,
                                  ps_hbem_space_kind trial, ps_clusters *out);

/* Clusters of the functions of `base` against those of its image: the surface is the body and then
 * the image, vertices on a plane being common to both; the trial tree is that of `base` mirrored, in
 * the same order. Released on failure. */
ps_status ps_hbem_mirror_clusters(const ps_clusters *base, const ps_reflectors *mirrors, int copy,
                                  ps_clusters *out);

#endif
