/*
 * moment_p2p: direct sums of charges and dipoles, to the second derivatives,
 *
 *     phi_i += sum_j q_j K(r) + p_j . grad_y K(r),     r = x_i - y_j
 *
 * and its gradient and Hessian, by the chain of radial functions f_0 = K, f_{n+1} = f_n' / r:
 *
 *     charge    phi = q f0,   g = q f1 r,                H = q (f1 I + f2 r r)
 *     dipole    phi = -s f1,  g = -(f1 p + s f2 r),      H = -(f2 (p r + r p + s I) + s f3 r r)
 *
 * with s = p . r. One-sided, fp64. Particles at one place do not act on each other. For all kernels
 * of kernel_function.h but `user`, of which f2 and f3 are not known, and for cosine and sine.
 *
 * | flop an ordered pair and right-hand side | charge | dipole |
 * | phi, g                                   | 9      | 21     |
 * | with H                                   | 24     | 60     |
 *
 * to which come 10 to 60 for the functions. Sums in the order of the sources, in lanes: they do not
 * depend on threads.
 */
#ifndef PS_KERNELS_FMM_MOMENT_P2P_H
#define PS_KERNELS_FMM_MOMENT_P2P_H

#include "kernels/fmm/p2p.h"

/* By derivatives (0: gradients, 1: Hessians, too) and dipoles; NULL: not for this kernel. */
struct ps_fmm_moment_functions {
    ps_fmm_p2p_fn interact[PS_FMM_FUNCTION_COUNT][2][2];
};

/* Whether sums of dipoles and second derivatives are known of a kernel. */
bool ps_fmm_has_moments(ps_fmm_kernel kernel);

/* p2p->runs are all one-sided. Sources may have charges, dipoles (particle_set.h) or both; targets
 * get second derivatives if they have room for them. */
void ps_fmm_moment_p2p(const ps_fmm_p2p *p2p);

/* Whether sums are by these functions: of dipoles, to second derivatives, or of a kernel that those
 * of p2p.h do not have. */
bool ps_fmm_needs_moments(ps_fmm_kernel kernel, const ps_fmm_particles *sources,
                          const ps_fmm_particles *targets);
/* By the functions of p2p.h where they do, in their precision, else by these. */
void ps_fmm_interact(ps_precision precision, const ps_fmm_p2p *p2p);

#endif
