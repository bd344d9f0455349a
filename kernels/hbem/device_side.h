/*
 * device_side: what the device kernels of hbem need of a space and its cluster tree: the triangles
 * of every leaf cluster as *slots*, functions as items of slots, and a point for each function.
 *
 * A slot is a triangle in the supports of a leaf cluster; triangles that straddle clusters have one
 * in each. Slots follow each other in the order of the clusters, so those of any node of the tree
 * are a range. Functions are numbered in the tree's order (ps_hbem_space_reorder).
 *
 * One struct for both places: filled on the host in the caller's memory, and as a copy on a device,
 * where the pointers are memory of the device.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_SIDE_H
#define PS_KERNELS_HBEM_DEVICE_SIDE_H

#include "kernels/hbem/cluster_tree.h"

/* Functions of a leaf cluster at most. */
enum { PS_HBEM_CLUSTER_MAX = 64 };

/* Flag of a function on a crease: one point does not stand for its triangles. */
enum { PS_HBEM_CREASED = 8 };

typedef struct ps_hbem_device_side {
    int64_t dofs, clusters, slots, items, entries;
    int32_t most_dofs, most_slots; /* of a leaf cluster                                     */
    int32_t *cluster_of;    /* [dofs] the leaf cluster of a function                        */
    int32_t *cluster_begin; /* [clusters + 1] its first function                            */
    int32_t *slot_begin;    /* [clusters + 1] its first slot                                */
    int32_t *slot_triangle; /* [slots]                                                      */
    int32_t *slot_dof;      /* [slots][3] function of each hat, or -1: in another cluster   */
    int32_t *item_start;    /* [dofs + 1]                                                   */
    int32_t *item;          /* [items] 3 slot + hat                                         */
    int32_t *entry_start;   /* [dofs + 1]                                                   */
    int32_t *entry;         /* [entries] 8 triangle + mask of its hats: items of one triangle
                               together                                                     */
    uint8_t *group;         /* [dofs] 0 .. 7, of the normal: largest component and its sign; plus
                               PS_HBEM_CREASED where the triangles' normals differ         */
    double *point, *normal; /* [dofs][3] centroid of a triangle of the support, its normal   */
    double *box;            /* [clusters][8] low, high, largest diameter and jacobian       */
    int64_t nodes, strata;  /* 0 where no function has a stratum                            */
    int32_t *stratum;       /* [dofs] as in strata.h, where there are nodes                  */
    int32_t *node;          /* [nodes][6] of the tree, the root first: begin, end, children (-1:
                               none), first of its strata, their number                      */
    int32_t *listed;        /* [strata] by which rows of a node are checked: those of
                               ps_hbem_strata_of and, where there are any, PS_HBEM_NO_STRATUM */
} ps_hbem_device_side;

/* Sets the counts, for a space in the order of the tree. stratum[dofs] (strata.h) of a test space,
 * NULL: none. PS_USAGE where a leaf of the tree has more than PS_HBEM_CLUSTER_MAX functions or the
 * numbers of slots do not fit in 32 bits. */
ps_status ps_hbem_device_side_count(const ps_hbem_space *space, const ps_cluster_tree *tree,
                                    const int32_t *stratum, ps_hbem_device_side *side);

/* Bytes of all arrays of those counts in one piece (arrays are 256-byte aligned within). */
int64_t ps_hbem_device_side_bytes(const ps_hbem_device_side *side);

/* The pointers into it. */
void ps_hbem_device_side_place(ps_hbem_device_side *side, void *memory);

/* Fills the arrays, by all threads; side is counted and placed in the host's memory. */
void ps_hbem_device_side_fill(const ps_hbem_space *space, const ps_cluster_tree *tree,
                              const int32_t *stratum, ps_hbem_device_side *side);

#endif
