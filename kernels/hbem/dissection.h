/*
 * dissection: nested dissection of a sparse matrix of a space (A. George, SIAM J. Numer. Anal. 10
 * (1973) 345), as a tree of fronts for factors without pivoting (sparse_factor.h).
 *
 * Functions come in the order of a cluster tree, whose halves are neighbours in space: a range of
 * more than PS_DISSECTION_LEAF of them is halved; those of one half that have a neighbour in the
 * other, of the half that has fewer, are its separator and belong to the node of the range; what is
 * left at the end belongs to the leaves. In other orders separators are large, and all is right.
 *
 * Nodes are numbered children first, *places* by nodes: node s has the pivots [first[s], first[s +
 * 1]). Its *rows* are the later places that its elimination reaches: the front of s is its p pivots
 * and u rows. A factor keeps p p + u p complex numbers of it.
 */
#ifndef PS_KERNELS_HBEM_DISSECTION_H
#define PS_KERNELS_HBEM_DISSECTION_H

#include "kernels/hbem/sparse.h"

enum { PS_DISSECTION_LEAF = 32 };

/* Arrays are the caller's. */
typedef struct ps_dissection {
    int64_t dofs, nnz, nodes, depth; /* depths 0 (the root) .. depth - 1                     */
    int64_t rows, numbers;           /* of all nodes; numbers of a factor, complex           */
    int64_t most_pivots, most_rows;  /* of a node                                            */
    int32_t *place, *dof;            /* [dofs] the place of a function, and the inverse      */
    int32_t *first;                  /* [nodes + 1] pivots                                   */
    int32_t *child;                  /* [nodes][2]; -1: none                                 */
    int32_t *parent;                 /* [nodes]; -1: none                                    */
    int32_t *by_depth;               /* [nodes] deepest first                                */
    int32_t *depth_first;            /* [depth + 1] into by_depth; 0: of the deepest         */
    int64_t *row_first;              /* [nodes + 1]                                          */
    int64_t *number_first;           /* [nodes + 1]                                          */
    int32_t *row;                    /* [rows] places, rising within a node                  */
    int32_t *gather;                 /* [dofs + rows][2] ps_dissection_gather                */
    int32_t *entry;                  /* [nnz] ps_dissection_entry                            */
} ps_dissection;

/* Bytes of memory for ps_dissection_cut. */
int64_t ps_dissection_bytes(int64_t dofs);

/* Cuts: sets all but row, gather and entry. memory: 64-byte aligned, stays in use. PS_EXHAUSTED for
 * more than 2^31 - 1 rows. Threads: OpenMP inside; the result does not depend on their number. */
ps_status ps_dissection_cut(const ps_pencil *matrix, void *memory, ps_dissection *out);

/* Fills row[rows], gather[dofs + rows][2] and entry[nnz], which are there. */
void ps_dissection_fill(const ps_pencil *matrix, ps_dissection *d);

static inline int64_t ps_dissection_pivots(const ps_dissection *d, int64_t node)
{
    return d->first[node + 1] - d->first[node];
}
static inline int64_t ps_dissection_rows(const ps_dissection *d, int64_t node)
{
    return d->row_first[node + 1] - d->row_first[node];
}

/* [pivots + rows][2] of a node: which row of each child a position of its front is; -1: none. */
static inline const int32_t *ps_dissection_gather(const ps_dissection *d, int64_t node)
{
    return d->gather + 2 * (d->first[node] + d->row_first[node]);
}

/* entry[e], for entry e of the matrix, of a row i: its position in the front of the node whose
 * pivot is i; -1 where the node of its column comes before. */

#endif
