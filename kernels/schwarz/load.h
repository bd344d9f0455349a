/*
 * load: right-hand sides of -Lap Phi = 4 pi G drho on a grid of trilinear elements.
 *
 * All in one length unit, that of the grid; `scale` carries 4 pi G drho. A node's load is the
 * integral of the source times its hat function over the grid's own elements, so that the loads
 * of two slabs at their common face add up to that of the whole.
 */
#ifndef PS_KERNELS_SCHWARZ_LOAD_H
#define PS_KERNELS_SCHWARZ_LOAD_H

#include "kernels/schwarz/grid.h"
#include "kernels/schwarz/prism.h"

/* load[nodes] of sources that are constant in the cells that refine[3] along each axis divide the
 * elements into, source[(nx-1) rx][(ny-1) ry][(nz-1) rz], z fastest: exact integrals (refine 1: an
 * eighth of source x volume to each corner), which keep mass and first moments. PS_INVALID for one
 * that is not finite. */
ps_status ps_load_set_cells(const ps_q1_grid *grid, const int64_t refine[3], const double *source,
                            double scale, double *load);

/* Dirichlet data: u[nodes] holds the values of fixed nodes, others are ignored. Takes what they
 * contribute from the rows beside them and puts the values into the fixed rows of load. Once only
 * for a load. */
void ps_load_lift(const ps_slab_stencil *stencil, const double *u, double *load);

/* A line of nodes along z, h apart; source[nodes - 1]: 4 pi G times the density between them,
 * which may jump from cell to cell (NULL: the field is smooth). */
typedef struct ps_gradient_line {
    const double *u, *source;
    int64_t nodes; /* >= 3 */
    double h;
} ps_gradient_line;

/* dPhi/dz at node k: differences of fourth order over five nodes (of second order where a line has
 * three or four) of u - w, where w'' = -source takes the jumps of the second derivative out:
 * without that, a contrast d between cells beside the node costs up to pi G d h. */
double ps_gradient_at(const ps_gradient_line *line, int64_t k);

#endif
