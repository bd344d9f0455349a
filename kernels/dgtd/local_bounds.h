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
 *
 * Values that no longer change say nothing of an eigenvalue above them whose vector lies in a few
 * elements: a start of n numbers has 1/n of its square there. What does is how many applications
 * were made. From a start whose direction is uniform in the product of M_eps the value `theta` of k
 * applications is at most (1 - e) times the largest eigenvalue with a probability below
 *
 *     1.648 sqrt(n) exp(-sqrt(e) (2 k - 1))
 *
 * (J. Kuczynski, H. Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992) 1094), so that with e = 1 -
 * theta this is the risk that there is an eigenvalue of 1 or more.
 */
#ifndef PS_KERNELS_DGTD_LOCAL_BOUNDS_H
#define PS_KERNELS_DGTD_LOCAL_BOUNDS_H

#include "kernels/dgtd/local_steps.h"

enum { PS_DGTD_LANCZOS = 160 };
/* Values up to this are stable, with the risk that they stand for. */
#define PS_DGTD_LOCAL_BOUND 0.985

typedef struct ps_dgtd_local_probe {
    ps_dgtd_system *system; /* whose factors are changed; of any precision */
    const ps_dgtd_local *local;
    const ps_dgtd_material *materials;
    double dt;
    void *electric, *magnetic, *vectors[3]; /* fields, scratch; magnetic 0 */
    double *partial, *weights;              /* [groups], [materials], scratch */
} ps_dgtd_local_probe;

/* The largest eigenvalue found of T_level (from 0; levels: all elements, the whole step). It is at
 * most PS_DGTD_LOCAL_BOUND where the risk (above 0) that another one is 1 or more has become
 * `risk`; larger, and then settled to 2e-3, where there is one that large or where
 * PS_DGTD_LANCZOS applications leave more risk than that. `applications` counts them.
 * shares[elements], unless NULL: how much each element has of the eigenvector, 1 the largest, for
 * another run over. */
double ps_dgtd_local_bound(ps_dgtd_local_probe *probe, int level, double risk, double *shares,
                           int *applications);
/* The number e of above with which that risk is left by k applications on n numbers. */
double ps_dgtd_local_gap(double numbers, int applications, double risk);

#endif
