/*
 * burton_miller: both equations of an exterior problem of waves, combined so that no wave number is
 * a resonance. p is the trace of the total pressure, q its normal derivative, K, S, K', W are DLP,
 * SLP, ADLP and HYPS on continuous linear functions, M their mass, V one of osrc.h:
 *
 *   (A)  (1/2 - K) p + S q = u_inc          (B)  (1/2 + K') q + W p = d_n u_inc
 *
 *   pressure  M^-1 (A) - V M^-1 (B)      where p is unknown: Burton and Miller (Vater, Betcke,
 *                                        Dilba, (10), (11); numerics guide 3)
 *   flux      M^-1 (B) - V^-1 M^-1 (A)   where q is: the direct kin of Brakhage and Werner
 *
 * Both take what A and B leave beside the half, as loads: on the left a = S q - K p, b = K' q + W
 * p, on the right a_i = int u_inc phi_i, b_i = int d_n u_inc phi_i. Vectors are [2][dofs], sides
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

/* y = p/2 + M^-1 a - V M^-1 b; p NULL: 0; a is overwritten. The half of q is b's. Errors are those
 * of the solvers. */
ps_status ps_burton_miller_pressure(ps_burton_miller *equation, int64_t sides, const double *p,
                                    double *a, const double *b, double *y);

/* y = q/2 + M^-1 b - V^-1 M^-1 a; q NULL: 0; b is overwritten, `massless` (as large) as well. The
 * half of p is a's. */
ps_status ps_burton_miller_flux(ps_burton_miller *equation, int64_t sides, const double *q,
                                const double *a, double *b, double *massless, double *y);

/* y <- M^-1 y */
ps_status ps_burton_miller_mass(ps_burton_miller *equation, int64_t sides, double *y);

#endif
