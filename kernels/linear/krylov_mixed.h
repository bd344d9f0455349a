/*
 * krylov_mixed: P-CG with its vectors in fp32 and residuals in fp64, the control alone, for cores
 * (krylov_team.h) and devices (krylov_device.h).
 *
 * Whenever the residual has fallen tenfold, x takes what was added to it, and the residual is made
 * anew, r = b - A x in fp64, rounded, while the direction p stays: beta is the new r.D^-1 r over
 * that before (reliable updates: G. Sleijpen, H. van der Vorst, Computing 56 (1996) 141-163). It
 * takes as many iterations as in fp64, and ends where |b - A x| <= tolerance |b| holds of x itself.
 */
#ifndef PS_KERNELS_LINEAR_KRYLOV_MIXED_H
#define PS_KERNELS_LINEAR_KRYLOV_MIXED_H

#include "kernels/linear/krylov.h"

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

/* The state that the solver in fp32 begins with; true where the first guess is a solution, as
 * *result says. */
bool ps_krylov_mixed_begin(const ps_krylov_mixed *m, int64_t limit, ps_krylov_state *state,
                           ps_krylov_result *result);

/* Solves from that state on. PS_FAILED as ps_krylov_solve, and where residuals made anew stop
 * falling. */
ps_status ps_krylov_mixed_solve(const ps_krylov_mixed *m, ps_krylov_state *state,
                                ps_krylov_result *result);

#endif
