/*
 * krylov_mixed: P-CG with its vectors in fp32 and residuals in fp64, the control alone, for cores
 * (krylov_team.h) and devices (krylov_device.h).
 *
 * Whenever the residual has fallen tenfold, x takes what was added to it, and the residual is made
 * anew, r = b - A x in fp64, rounded, while the direction p stays: beta is the new r.D^-1 r over
 * that before (reliable updates: G. Sleijpen, H. van der Vorst, Computing 56 (1996) 141-163). It
 * takes as many iterations as in fp64, and ends where |b - A x| <= tolerance |b| holds of x itself.
 */
#ifndef PS_KERNELS_SCHWARZ_KRYLOV_MIXED_H
#define PS_KERNELS_SCHWARZ_KRYLOV_MIXED_H

#include "kernels/schwarz/krylov.h"

typedef struct ps_krylov_mixed {
    void *context;
    double tolerance, size; /* size: |b| */
    double first;           /* the residual that the solver in fp32 begins with: its |b| */
    double diagonal;        /* of A */
    /* Runs the solver in fp32 on from *state to a verdict. */
    ps_status (*run)(void *context, ps_krylov_state *state);
    /* x += what was added, r = b - A x; *norm: |r| in fp64. */
    ps_status (*renew)(void *context, double *norm);
} ps_krylov_mixed;

/* The tolerance that the solver in fp32 is to be run to, from a residual of this norm on. */
double ps_krylov_mixed_aim(const ps_krylov_mixed *m, double norm);

/* Solves from *state on, which ps_krylov_state_begin made with that tolerance; norm: of the first
 * residual. PS_FAILED as ps_krylov_solve, and where residuals made anew stop falling. */
ps_status ps_krylov_mixed_solve(const ps_krylov_mixed *m, double norm, ps_krylov_state *state,
                                ps_krylov_result *result);

#endif
