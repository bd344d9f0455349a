/*
 * grid: structured grids of trilinear (Q1) hexahedra and the operators on their slabs.
 *
 * A node is (i, j, k) along x, y, z with the index (i ny + j) nz + k: z runs fastest, a plane of
 * equal x is contiguous, so are the slabs of a partition in x and their faces. z points down.
 *
 * On intervals of length h, hat functions give the 1D stiffness k = [1 -1; -1 1] / h and mass
 * m = (h / 6) [2 1; 1 2] of an element; assembled inside, K(0) = 2/h, K(1) = -1/h, M(0) = 4h/6,
 * M(1) = h/6. In 3D, K = Kx.My.Mz + Mx.Ky.Mz + Mx.My.Kz (Kronecker products).
 *
 * Dirichlet nodes stay in the system: their rows are those of the identity and their columns are
 * eliminated (specs/schwarz.md).
 */
#ifndef PS_KERNELS_SCHWARZ_GRID_H
#define PS_KERNELS_SCHWARZ_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/csr.h"
#include "kernels/linear/stencil.h"

typedef struct ps_q1_grid {
    int64_t nodes[3];  /* along x, y, z; >= 3 along y and z, >= 2 along x */
    double spacing[3]; /* > 0, of the unknown's length unit               */
    double lumped;     /* share of lumped masses, 0: Galerkin's           */
} ps_q1_grid;

/* Masses are M = (1 - s) M_Galerkin + s M_lumped along each axis, s = grid.lumped. With s = 1/2,
 * M(0) = 10 h/12, M(1) = h/12, and loads that are integrals of the source times the hat functions,
 * nodal values are of fourth order where the field is smooth (M. Guddati, B. Yue, Comput. Methods
 * Appl. Mech. Engrg. 193 (2004) 275-287): the symbol of M is that of the hat's own spectrum,
 * sinc^2(k h/2), up to k^4 h^4 / 240, so that K u = F is k^2 u^ = rho^ up to that. */
#define PS_LUMPED_FOURTH .5

/* 1D masses at the distances 0 and 1, of an axis, assembled inside. */
static inline double ps_mass_here(double h, double lumped) { return h * (4 + 2 * lumped) / 6; }
static inline double ps_mass_beside(double h, double lumped) { return h * (1 - lumped) / 6; }

/* A slab of a box: all sides hold Dirichlet nodes, but for the faces of least and largest x where
 * `free` is set. A free face carries the natural (Neumann) condition plus its transmission
 * operator S = p M_G + q K_G, M_G = My.Mz, K_G = Ky.Mz + My.Kz. */
typedef struct ps_slab {
    ps_q1_grid grid;
    bool free[2];
    double p[2]; /* 1 / length */
    double q[2]; /* length     */
} ps_slab;

/* Grid of a box of the given side lengths. PS_USAGE for too few nodes or no extent. */
ps_status ps_q1_grid_make(const int64_t nodes[3], const double length[3], ps_q1_grid *out);
int64_t ps_q1_grid_size(const ps_q1_grid *grid); /* nodes */

/* The slab that is the whole box, Dirichlet nodes all around. */
ps_slab ps_slab_whole(const ps_q1_grid *grid);

void ps_slab_stencil_make(const ps_slab *slab, ps_slab_stencil *out);

/* Weights [|dy|][|dz|] of p M_G + q K_G on a face of the grid, and out = (p M_G + q K_G) in:
 * in[ny nz], whose Dirichlet nodes count as zeros; out is 0 there. */
void ps_face_weights(const ps_q1_grid *grid, double p, double q, double weights[2][2]);
void ps_face_apply(const ps_q1_grid *grid, const double weights[2][2], const double *in,
                   double *out);

/* A row of the operator as a matrix, with its unfixed neighbours, a fixed row 1: columns[27]
 * ascending and values[27], or both NULL; returns the number of entries. */
int64_t ps_stencil_row(const ps_slab_stencil *stencil, int64_t row, int32_t *columns,
                       double *values);
/* The matrix, for ps_csr_release. PS_EXHAUSTED beyond 2^31 nodes. Threads: OpenMP. */
ps_status ps_stencil_assemble(const ps_slab_stencil *stencil, ps_csr *matrix);
/* f = 1: the volume of the elements around a node, an eighth of each; fixed rows 0. */
void ps_unit_load(const ps_q1_grid *grid, const ps_slab_stencil *stencil, double *b);

/* The matrix p M_G + q K_G of a face: ny nz rows, fixed rows empty (M: p = 1, q = 0; K: the other
 * way round). */
ps_status ps_face_assemble(const ps_q1_grid *grid, double p, double q, ps_csr *matrix);

/* Row lengths of a matrix. */
typedef struct ps_row_figures {
    int64_t rows, entries, longest;
    double mean, deviation; /* of the population */
} ps_row_figures;
ps_row_figures ps_csr_row_figures(const ps_csr *matrix);
/* The same of a box of Dirichlet nodes all around in closed form: with a = nx-2, b, c,
 * entries = (3a-2)(3b-2)(3c-2) + n - abc and sum of squares (9a-10)(9b-10)(9c-10) + n - abc. */
ps_row_figures ps_q1_grid_row_figures(const ps_q1_grid *grid);

/* The grids of the 15 matrices of Magoules, Cheik Ahamed and Putanowicz (2015), table 5, on
 * 250 x 250 x 15 km, lengths in km. PS_USAGE unless 0 <= which < PS_GRAVI_MATRICES. */
enum { PS_GRAVI_MATRICES = 15 };
ps_status ps_gravi_grid(int which, ps_q1_grid *out);

#endif
