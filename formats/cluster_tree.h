/*
 * cluster_tree: functions of boundary-element spaces in cluster trees, and the leaves of the block
 * tree of two of them; "penstock-cluster-tree" (specs/cluster_tree.md).
 */
#ifndef PS_FORMATS_CLUSTER_TREE_H
#define PS_FORMATS_CLUSTER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/hbem_kinds.h"
#include "formats/hmatrix_blocks.h"
#include "formats/store.h"

typedef struct ps_cluster_node {
    int64_t begin, end; /* positions in the order        */
    int64_t child[2];   /* nodes; -1, -1: a leaf         */
    double low[3], high[3];
} ps_cluster_node;

typedef struct ps_cluster_tree {
    int64_t dofs, node_count, leaf_size;
    ps_cluster_node *nodes; /* [node_count], the caller's; 0 is the root, parents before children */
    int64_t *order;         /* [dofs], the caller's: the function at a position                   */
} ps_cluster_tree;


/* Whole trees in a store, in a group "/test" or "/trial". */
ps_status ps_cluster_tree_put(ps_store *store, const char *group, const ps_cluster_tree *tree);
/* Allocates nodes and order and checks them. PS_INVALID, with the group, where nodes do not halve
 * 0 .. dofs downwards or the order is no permutation. */
ps_status ps_cluster_tree_get(ps_store *store, const char *group, ps_cluster_tree *tree);
void ps_cluster_tree_release(ps_cluster_tree *tree); /* frees nodes and order, zeroes the struct */

/* Leaves of a block tree by nodes: [count] each. */
typedef struct ps_cluster_leaves {
    int64_t count;
    int32_t *row, *column; /* nodes of the test and of the trial tree */
    uint8_t *far;          /* 1: admissible                           */
} ps_cluster_leaves;

ps_status ps_cluster_leaves_init(ps_cluster_leaves *leaves, int64_t count);
void ps_cluster_leaves_release(ps_cluster_leaves *leaves);
/* In the group "/leaves". _get checks nodes, and that the leaves tile the rows x columns of both
 * trees; with `symmetric` (one tree) the leaves on and above the diagonal. */
ps_status ps_cluster_leaves_put(ps_store *store, const ps_cluster_leaves *leaves);
ps_status ps_cluster_leaves_get(ps_store *store, const ps_cluster_tree *rows,
                                const ps_cluster_tree *columns, bool symmetric,
                                ps_cluster_leaves *leaves);
/* Positions instead of nodes. */
ps_hmatrix_leaf ps_cluster_leaf_at(const ps_cluster_leaves *leaves, const ps_cluster_tree *rows,
                                   const ps_cluster_tree *columns, int64_t leaf);

#define PS_CLUSTER_FORMAT "penstock-cluster-tree"
enum { PS_CLUSTER_VERSION = 1 };

typedef enum ps_cluster_side { PS_SIDE_TEST, PS_SIDE_TRIAL } ps_cluster_side;

/* The file: mesh, spaces, trees, leaves. */
typedef struct ps_clusters {
    int64_t vertex_count, triangle_count;
    double *vertices;   /* [vertex_count][3], m                                              */
    int32_t *triangles; /* [triangle_count][3], counterclockwise seen from outside           */
    bool closed;        /* closed, consistently oriented, normals outward                    */
    ps_hbem_space_kind space[2]; /* by ps_cluster_side                                       */
    bool same;                   /* one space: tree[1] is a copy of the struct tree[0]       */
    ps_cluster_tree tree[2];
    double eta;               /* of admissibility; 0: weak, any distance                       */
    char order[16];           /* "median", "morton", "hilbert"                                 */
    ps_cluster_leaves leaves; /* of the whole matrix, depth first                            */
    char mesh_hash[17];       /* content hash of the mesh                                      */
    char content_hash[17];    /* of the file it was read from                                  */
    /* Of a body and its image, never in a file: the body's vertices; kernels/hbem/setup.h */
    int64_t body;
    bool turned;
} ps_clusters;

/* Writes and commits; identity->format is set here. `mesh` is recorded as input. */
ps_status ps_clusters_save(const char *path, const ps_clusters *clusters,
                           const ps_store_identity *identity, const ps_store *mesh);
/* Reads and checks a file; released on failure. */
ps_status ps_clusters_load(const char *path, ps_clusters *clusters);
void ps_clusters_release(ps_clusters *clusters);

/* The leaves by positions, the caller's to free(): all, or those on and above the diagonal
 * (row_begin <= column_begin), which needs one space. nodes, the same by nodes, may be NULL;
 * release it. PS_USAGE for a symmetric matrix of two spaces. */
ps_status ps_clusters_leaves(const ps_clusters *clusters, bool symmetric, ps_hmatrix_leaf **leaves,
                             ps_cluster_leaves *nodes);

#endif
