/*
 * burton_miller: the equation of a sound-hard body in a plane wave (Vater, Betcke, Dilba, (10),
 * (11)):
 *
 *   Phi/2 - M^-1 K Phi - (V M^-1) W Phi = M^-1 f - (V M^-1) q
 *   f_i = int u_inc phi_i, q_i = int d_n u_inc phi_i
 *
 * Phi is the trace of the total pressure, K and W are DLP and HYPS on continuous linear functions,
 * V one of osrc.h. Here: what goes with the products K Phi and W Phi. Vectors are [2][dofs], sides
 * one after the other; a side's bits do not depend on the others.
 */
#ifndef PS_KERNELS_HBEM_BURTON_MILLER_H
#define PS_KERNELS_HBEM_BURTON_MILLER_H

#include "kernels/hbem/osrc.h"

typedef struct ps_burton_miller {
    const ps_pencil *matrix;
    const ps_osrc *osrc;
    ps_shifted_solver mass, shifted; /* of M^-1, and of the systems of V */
    double *workspace;               /* ps_osrc_workspace(dofs)          */
} ps_burton_miller;

/* y = x/2 - M^-1 kx - V M^-1 wx; kx is overwritten. Errors are those of the solvers. */
ps_status ps_burton_miller_combine(ps_burton_miller *equation, int64_t sides, const double *x,
                                   double *kx, const double *wx, double *y);

/* b = M^-1 f - V M^-1 q; f is overwritten. */
ps_status ps_burton_miller_right_side(ps_burton_miller *equation, int64_t sides, double *f,
                                      const double *q, double *b);

#endif
