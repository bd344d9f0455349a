/*
 * osrc: approximate exterior Neumann-to-Dirichlet operators V, which make the Burton-Miller
 * equation nearly the identity (X. Antoine, M. Darbas, ESAIM: M2AN 41 (2007) 147-167; numerics
 * guide 2):
 *
 *   PS_COUPLING_PLAIN    V = 0
 *   PS_COUPLING_MILLER   V = 1/eta
 *   PS_COUPLING_OSRC     V = (1/eta) (1 + Lap/ke^2)^{-1/2}, ke = k + 0.4 i k^{1/3} R^{-2/3}
 *
 * eta = ik - max(0, 1/R - k) is ik but for waves longer than 2 pi R, where it goes over to -1/R,
 * which is what a sphere's outgoing field exp(ikr)/r has of constants, ik - 1/R, without waves.
 * With ik alone the equation of a soft body leaves its constants to k S, and errors of K' come into
 * them as eps/(kR).
 *
 * The root is the Pade sum of N terms with its branch cut turned by theta = pi/3:
 *     sqrt(1 + X) ~ C0 + sum_j A_j X / (1 + B_j X)
 * so that with mass M and stiffness L
 *     V M^-1 b = (1/eta) (M - L/ke^2)^-1 [C0 b - sum_j (A_j/ke^2) L (M - (B_j/ke^2) L)^-1 b]
 * which by partial fractions is the sum of N + 1 solutions that do not wait for each other:
 *     V M^-1 b = (1/eta) [(C0 - sum_j w_j) (M - L/ke^2)^-1 + sum_j w_j (M - (B_j/ke^2) L)^-1] b,
 *     w_j = A_j/(1 - B_j).
 */
#ifndef PS_KERNELS_HBEM_OSRC_H
#define PS_KERNELS_HBEM_OSRC_H

#include <stdbool.h>

#include "kernels/linear/shifted_solve.h"

typedef enum ps_coupling {
    PS_COUPLING_PLAIN,
    PS_COUPLING_MILLER,
    PS_COUPLING_OSRC,
    PS_COUPLINGS
} ps_coupling;

enum { PS_OSRC_TERMS_MAX = 32 };

typedef struct ps_osrc {
    ps_coupling coupling;
    double wavenumber, ke[2]; /* k; damped k_e, rad/m: real, imaginary */
    double decay;             /* max(0, 1/R - k), rad/m                */
    int terms;
    double c0[2], a[PS_OSRC_TERMS_MAX][2], b[PS_OSRC_TERMS_MAX][2];
} ps_osrc;

/* Coefficients for k > 0, `radius` R of mean curvature (m) and `terms` N, 1 .. PS_OSRC_TERMS_MAX.
 */
ps_status ps_osrc_init(ps_osrc *osrc, ps_coupling coupling, double wavenumber, double radius,
                       int terms);

/* The symbol of V, which is a function of the eigenvalue lambda >= 0 of -Lap (1/m^2): with the Pade
 * sum, or with the exact root. out[2], m. */
void ps_osrc_symbol(const ps_osrc *osrc, double lambda, bool exact, double out[2]);

/* Shifts c of the systems M - c L that ps_osrc_apply solves, m^2: out[1 + terms][2]; their number
 * (0 where V needs none but c = 0). */
int ps_osrc_shifts(const ps_osrc *osrc, double (*out)[2]);

enum { PS_OSRC_GROUP = 16 }; /* systems that are handed to a solver at once */

/* Doubles of workspace of ps_osrc_apply. */
int64_t ps_osrc_workspace(int64_t dofs);

/* y = V M^-1 b for `sides` vectors [2][dofs] each, one after the other; y is not b. A solver that
 * combines was made for ps_osrc_shifts. Errors are those of the solver. */
ps_status ps_osrc_apply(const ps_osrc *osrc, const ps_pencil *matrix,
                        const ps_shifted_solver *solver, int64_t sides, const double *b, double *y,
                        double *workspace);

/* y = V^-1 M^-1 b, the Dirichlet-to-Neumann map of the same root,
 *     V^-1 M^-1 b = eta [(C0 + sum_j A_j/B_j) M^-1 b - sum_j A_j/B_j (M - (B_j/ke^2) L)^-1 b],
 * eta M^-1 b for PS_COUPLING_MILLER, 0 for PS_COUPLING_PLAIN; massless: M^-1 b. */
ps_status ps_osrc_apply_inverse(const ps_osrc *osrc, const ps_pencil *matrix,
                                const ps_shifted_solver *solver, int64_t sides, const double *b,
                                const double *massless, double *y, double *workspace);

/* The inverse of what the combined equation of an impedance, q = -ik b p, is about,
 *     (1 + ik V b)^-1 ~ whole + sum_j weight_j (M - shift_j L)^-1 M,
 * by the shifts of V: a least squares fit of the relative error of the symbol, from constants to
 * waves a fortieth as long as those in the medium. */
typedef struct ps_osrc_reaction {
    double whole[2], weight[1 + PS_OSRC_TERMS_MAX][2];
} ps_osrc_reaction;

/* b[2]: the admittance rho c/Z. PS_FAILED where LAPACK fails. */
ps_status ps_osrc_reaction_init(const ps_osrc *osrc, const double b[2], ps_osrc_reaction *out);

/* y = the fit of M^-1 b; massless: M^-1 b. As ps_osrc_apply_inverse. */
ps_status ps_osrc_react(const ps_osrc *osrc, const ps_osrc_reaction *reaction,
                        const ps_pencil *matrix, const ps_shifted_solver *solver, int64_t sides,
                        const double *b, const double *massless, double *y, double *workspace);

#endif
