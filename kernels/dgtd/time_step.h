/*
 * time_step: how large the time step may be.
 *
 * Stability limit of leap-frog with centred flux: 2 / sqrt(rho(M_eps^-1 S M_mu^-1 S^T)), in m.
 */
#ifndef PS_KERNELS_DGTD_TIME_STEP_H
#define PS_KERNELS_DGTD_TIME_STEP_H

#include "kernels/dgtd/half_step.h"

/* C_p: dt = 0.9 C_p times the least ps_dgtd_element_size is the rule; 2.61, 1.60, 1.06, 0.76 for p
 * = 1..4. */
double ps_dgtd_step_constant(int order);

/* sqrt(eps_i min(mu_i, mu_k)) V_i / P_i of one element, k its neighbours. */
double ps_dgtd_element_size(const ps_dgtd_body *body, int64_t element);

/* The limit of one element: what it would be if E were 0 in all others, for P1, times what the
 * limit of Kuhn's mesh is of that of its own elements, by order. Closer than size, and no bound of
 * a mesh's limit, which is less where elements that allow little lie together. Neighbours of the
 * body alone. */
double ps_dgtd_element_limit(const ps_dgtd_body *body, int order, int64_t element);

/* The limit by power iteration of `applications` steps from random fields (about 100). It
 * converges from above (rho from below): keep a margin. Absorbing terms and sigma are left out.
 * Changes system->steps: call ps_dgtd_set_step afterwards. electric, magnetic: fields, scratch;
 * partial[groups] likewise; weights[2][materials] likewise. */
typedef struct ps_dgtd_power_scratch {
    void *electric, *magnetic;
    double *partial, *weights;
} ps_dgtd_power_scratch;
double ps_dgtd_power_limit(ps_dgtd_system *system, const ps_dgtd_material *materials,
                           int applications, const ps_dgtd_power_scratch *scratch);

#endif
