/*
 * sparse_factor: solutions of (M - c L) x = b by the fronts of a dissection (I. Duff, J. Reid, ACM
 * Trans. Math. Softw. 9 (1983) 302). The front of a node is [A B^T; B C] over its pivots and rows:
 * its own entries and what the children left. It keeps
 *     A^-1 [pivots][pivots],  W = B A^-1 [pivots][rows]   (columns one after the other)
 * and leaves C - W B^T to its parent. Complex numbers are pairs.
 *
 * Pivots are not exchanged. M is positive definite, L semidefinite and c not a positive number, so
 * x^H (M - c L) x lies in a sector of less than half the plane: all pivot blocks are regular.
 *
 * Vectors are [sides][dofs or rows][2] in places; a side's bits do not depend on the others.
 */
#ifndef PS_KERNELS_HBEM_SPARSE_FACTOR_H
#define PS_KERNELS_HBEM_SPARSE_FACTOR_H

#include "kernels/hbem/dissection.h"

/* Numbers of the front of a node, complex, and doubles of scratch. */
int64_t ps_factor_front_size(const ps_dissection *d, int64_t node);
int64_t ps_factor_scratch(const ps_dissection *d, int64_t node);

/* Makes front[f][f] (its lower half; column k row i at front[k f + i]; what is left for the parent
 * begins at column and row `pivots`) and the factor's numbers of a node, from the fronts of the
 * children. PS_FAILED for a singular block, or numbers that are not finite. Calls BLAS. */
ps_status ps_factor_front(const ps_dissection *d, const ps_pencil *matrix, const double shift[2],
                          int64_t node, const double *const child[2], double *front,
                          double *numbers, double *scratch);

/* Vectors of a solution with one factor. */
typedef struct ps_factor_vectors {
    int64_t sides;
    double *b;    /* [sides][dofs][2] the right-hand sides; overwritten                */
    double *x;    /* [sides][dofs][2]                                                  */
    double *left; /* [sides][rows][2] what nodes leave to their parents                */
} ps_factor_vectors;

/* First `down` for all nodes, children first, then `up`, parents first. numbers: of the factor. */
void ps_factor_down(const ps_dissection *d, const double *numbers, const ps_factor_vectors *v,
                    int64_t node);
void ps_factor_up(const ps_dissection *d, const double *numbers, const ps_factor_vectors *v,
                  int64_t node);

#endif
