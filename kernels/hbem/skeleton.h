/*
 * skeleton: crosses of a far block through points instead of entries (numerics guide 4.2).
 *
 * The block is bordered by the kernel at the centroids of its triangles, times their areas a:
 *
 *     a_t K(x_t, y_u) a_u          a_t int K(x_t, y) phi_j(y)
 *     a_u int psi_i(x) K(x, y_u)   int int psi_i K phi_j
 *
 * Cross approximation takes its crosses from the points and checks rows of points; the block is
 * carried along without being evaluated: what costs a cross of entries (q points)^2 for every pair
 * of triangles costs q + 1.
 */
#ifndef PS_KERNELS_HBEM_SKELETON_H
#define PS_KERNELS_HBEM_SKELETON_H

#include "kernels/hbem/aca.h"

/* Crosses at most; blocks that need more are not converged. */
enum { PS_SKELETON_RANK = 96 };

/* Bytes of workspace for so many crosses (PS_SKELETON_RANK at most), of the factors that stay in it
 * too. */
int64_t ps_skeleton_bytes(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns,
                          int64_t crosses);

/* As ps_aca: u[rank][part][rows], v[rank][part][columns] of the block. options->max_rank is lowered
 * to PS_SKELETON_RANK. `scale`: what an entry may be. plane: of all triangles (strata.h), or NULL.
 * Not converged: take ps_aca. */
ps_status ps_skeleton(const ps_hbem_far *far, const ps_aca_options *options, double scale,
                      const int32_t *plane, ps_hbem_workspace *workspace, ps_aca_result *result);

#endif
