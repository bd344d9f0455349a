/*
 * local_bounds: are local steps (local_steps.h) stable?
 *
 * With gains G_l = g_l/2, M_mu R_l is positive if M_mu R_{l+1} is and
 *
 *     T_l = G_l P_l C_H R_{l+1} C_E P_l
 *
 * has no eigenvalue above 1; a step is stable if none of dt^2/4 C_H R_1 C_E is either, and all R_l
 * are positive (specs/dgtd_local.md). All of these are symmetric in M_eps and, where R_{l+1} is
 * positive, not negative, so that the largest eigenvalue alone is asked for: by the method of
 * Lanczos (J. Res. NBS 45 (1950) 255), which comes up to it from below.
 */
#ifndef PS_KERNELS_DGTD_LOCAL_BOUNDS_H
#define PS_KERNELS_DGTD_LOCAL_BOUNDS_H

#include "kernels/dgtd/local_steps.h"

enum { PS_DGTD_LANCZOS = 60 };

typedef struct ps_dgtd_local_probe {
    ps_dgtd_system *system; /* whose factors are changed; of any precision */
    const ps_dgtd_local *local;
    const ps_dgtd_material *materials;
    double dt;
    void *electric, *magnetic, *vectors[3]; /* fields, scratch; magnetic 0 */
    double *partial, *weights;              /* [groups], [materials], scratch */
} ps_dgtd_local_probe;

/* The largest eigenvalue found of T_level (from 0; levels: all elements, the whole step) in at most
 * `steps` <= PS_DGTD_LANCZOS applications, fewer once three of them change it by less than
 * `tolerance`; `applications` counts them. shares[elements], unless NULL: how much each element has
 * of its eigenvector, 1 the largest, for another run over. */
double ps_dgtd_local_bound(ps_dgtd_local_probe *probe, int level, int steps, double tolerance,
                           double *shares, int *applications);

#endif
