/*
 * bernstein: the operators of reference.h for fields given by Bernstein coefficients, in which
 * devices keep them.
 *
 * u = sum_a c_a B_a, B_a(l) = p!/(a!) l^a with a the barycentric index of a node, so that
 * coefficients are numbered as the nodes are, those of a face belong to the trace on it, and both
 * sides of a face still meet index by index. What this buys (Chan, Warburton, "GPU-accelerated
 * Bernstein-Bezier discontinuous Galerkin methods for wave problems", SIAM J. Sci. Comput. 39,
 * 2017): derivatives of at most 8 entries a row, lifts that factorise (lift_layer):
 *
 *     LIFT_f = stack over layers j = 0..p of  l_j (E^{p}_{p-j})^T L_0,  l_j = (-1)^j C(p,j)/(1+j)
 *
 * with layer j the coefficients whose index opposite f is j, E the degree elevation of triangles
 * and L_0 = (p+1)^2/2 E' E, E from p to p + 1. For p = 1 both bases are the same.
 *
 * Values at nodes are means of coefficients with weights >= 0: rounding of coefficients enters
 * them undiminished at most. The other way it grows by up to 1, 3, 10, 35 (p = 1..4).
 */
#ifndef PS_KERNELS_DGTD_BERNSTEIN_H
#define PS_KERNELS_DGTD_BERNSTEIN_H

#include "kernels/dgtd/reference.h"

/* to_nodes[nodes][nodes]: values at nodes of coefficients; from_nodes: its inverse. Their parts on
 * a face, [face nodes][face nodes], the same on all four. Row-major without gaps. */
typedef struct ps_dgtd_bernstein {
    double to_nodes[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES];
    double from_nodes[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES];
    double face_to_nodes[PS_DGTD_MAX_FACE_NODES * PS_DGTD_MAX_FACE_NODES];
    double face_from_nodes[PS_DGTD_MAX_FACE_NODES * PS_DGTD_MAX_FACE_NODES];
} ps_dgtd_bernstein;

/* The matrices for the order of a nodal reference. No allocation. */
void ps_dgtd_bernstein_init(ps_dgtd_bernstein *bernstein, const ps_dgtd_reference *nodal);

/* The reference whose matrices act on coefficients: D, M, M^f, LIFT of `nodal` in the other basis,
 * entries that vanish exactly 0. Nodes and faces as before. */
void ps_dgtd_bernstein_reference(const ps_dgtd_bernstein *bernstein, const ps_dgtd_reference *nodal,
                                 ps_dgtd_reference *out);

#endif
