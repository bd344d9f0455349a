/*
 * boundary: the exact potential of a density model at the boundary nodes of its own grid.
 *
 * The cells are prisms of constant density (prism.h). On a face, the sum over a plane of cells
 * parallel to it is a discrete convolution with one table of prism potentials, so that all sums
 * together take two FFTs (FFTW) a plane of cells and orientation:
 *
 *     V[n] = sum_i sum_c density_i[c] P_i[n - c],   P_i: potentials of the cell at distance i.
 *
 * Far cells of the table are expanded to the quadrupole (distance above PS_BOUNDARY_FAR
 * diagonals: 10^-8 of a cell's own potential), where the closed form would lose digits. Against
 * direct sums of prisms: 10^-8 (tests).
 */
#ifndef PS_KERNELS_SCHWARZ_BOUNDARY_H
#define PS_KERNELS_SCHWARZ_BOUNDARY_H

#include "kernels/schwarz/grid.h"

enum { PS_BOUNDARY_FAR = 20 };

/* Densities on the cells of a grid, density[(nx-1)(ny-1)(nz-1)] in kg/m3, z fastest (borrowed), and
 * the nodes that are wanted: every refine[a]-th along axis a, (n - 1) / refine + 1 of them. */
typedef struct ps_boundary_model {
    ps_q1_grid cells; /* m */
    int64_t refine[3];
    const double *density;
} ps_boundary_model;

/* u[nodes wanted]: those on the boundary get sum of G density V in m2/s2; others are left alone.
 * Bits do not depend on threads (OpenMP inside). PS_FAILED without FFTW, PS_EXHAUSTED without
 * memory for about 30 planes (plane_sum.h, the one kernel that allocates: FFTW aligns its own
 * arrays). */
ps_status ps_boundary_potential(const ps_boundary_model *model, double gravity, double *u);

/* Potential of a cell with sides h, density 1 and G = 1, whose lowest corner is at d from the
 * point. */
double ps_cell_potential(const double d[3], const double h[3]);

#endif
