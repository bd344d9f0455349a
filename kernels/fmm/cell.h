/*
 * cell: from particles to multipoles, from locals to particles, and between a cell and its
 * children.
 *
 *     P2M   M_m += sum_j S(m, xi_j) q_j                                     (a leaf)
 *     M2M   M_m += sum_n prod_d E_{o_d}[m_d][n_d] M_n(child)               (a child in octant o)
 *     L2L   L_n(child) += sum_m prod_d E_{o_d}[m_d][n_d] L_m
 *     L2P   phi = sum_m S(m, xi) L_m;  g_d likewise with S' in place d, times 2/w
 *     dipoles   M_m += (2/w) sum_j p_j . grad S(m, xi_j)
 *     Hessian   h_de = (2/w)^2 sum_m d_d d_e S(m, xi) L_m
 *
 * S and E: kernels/fmm/chebyshev.h. xi in fp64; everything else in the precision of the vectors;
 * potentials and gradients are added to in fp64.
 *
 * | op  | flop                      | per                            |
 * | P2M | 2 l^3 + 2 l^2 + 6 l (l-1) | particle and right-hand side   |
 * | M2M | 6 l^4                     | child                          |
 * | L2L | 6 l^4                     | child                          |
 * | L2P | 4 l^3 + 6 l^2 + 8 l + 12 l (l-1) | particle                |
 * | dipoles | 4 l^3 + 7 l^2      | particle and right-hand side   |
 * | Hessian | 6 l^3 + 12 l^2     | particle and right-hand side   |
 */
#ifndef PS_KERNELS_FMM_CELL_H
#define PS_KERNELS_FMM_CELL_H

#include "kernels/fmm/chebyshev.h"
#include "kernels/fmm/particle_set.h"
#include "runtime/isa.h"

/* A leaf: its particles and its place. */
typedef struct ps_fmm_leaf {
    const ps_fmm_particles *particles;
    ps_fmm_range range;
    double centre[3], width;
    int sides;             /* right-hand sides                                              */
    int64_t vector_stride; /* numbers from the vector of a side to the next one's           */
} ps_fmm_leaf;

/* Octants: 4 o_x + 2 o_y + o_z, the last three bits of the child's key. `real` vectors of one
 * precision, not aligned. Serial, no state. */
struct ps_fmm_cell_functions {
    void (*p2m)(const ps_fmm_interpolation *interpolation, const ps_fmm_leaf *leaf,
                void *multipoles);
    void (*m2m)(const ps_fmm_interpolation *interpolation, int octant, const void *child,
                void *parent);
    void (*l2l)(const ps_fmm_interpolation *interpolation, int octant, const void *parent,
                void *child);
    void (*l2p)(const ps_fmm_interpolation *interpolation, const ps_fmm_leaf *leaf,
                const void *locals);
    /* Of the dipoles of the leaf's particles; to their second derivatives. */
    void (*p2m_dipoles)(const ps_fmm_interpolation *interpolation, const ps_fmm_leaf *leaf,
                        void *multipoles);
    void (*l2p_hessian)(const ps_fmm_interpolation *interpolation, const ps_fmm_leaf *leaf,
                        const void *locals);
};

/* For this machine; NULL if the backend does not have them. */
const struct ps_fmm_cell_functions *ps_fmm_cell_functions_of(ps_backend backend,
                                                             ps_precision precision);

#endif
