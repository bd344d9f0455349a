/*
 * sparse: mass M_ij = int phi_i phi_j (m^2) and stiffness L_ij = int curl phi_i . curl phi_j (1) of
 * a space, one pattern of compressed rows for both; loads of functions of space.
 */
#ifndef PS_KERNELS_HBEM_SPARSE_H
#define PS_KERNELS_HBEM_SPARSE_H

#include "kernels/hbem/surface.h"
#include "kernels/linear/pencil.h"

/* The longest that column[] gets in ps_hbem_sparse_pattern: 9 a triangle. */
int64_t ps_hbem_sparse_bound(const ps_hbem_space *space);

/* Fills start[dofs + 1] and column[ps_hbem_sparse_bound], sets dofs and nnz. PS_INVALID for a
 * function without a triangle, whose row of the mass would be zero. */
ps_status ps_hbem_sparse_pattern(const ps_hbem_space *space, ps_pencil *matrix);

/* Fills mass[nnz] and stiffness[nnz], which are there now. The stiffness is that of the surface's
 * operator only for continuous spaces. */
void ps_hbem_sparse_fill(const ps_hbem_space *space, ps_pencil *matrix);

/* Takes functions out, fixed[dofs]: their rows and columns are 0 but for the diagonal of the mass,
 * so that solutions are 0 there where right-hand sides are. */
void ps_hbem_sparse_fix(const bool *fixed, ps_pencil *matrix);

/* y[dofs] += factor M x[dofs]. */
void ps_hbem_mass_add(const ps_pencil *matrix, double factor, const double *x, double *y);

#endif
