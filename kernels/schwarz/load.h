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

/* overlap[n]: integrals of the hat functions of a line of n nodes from `start`, `h` apart, over
 * [low, high]: side s adds (u - l) (1 - |(l + u) / 2 - c| / h), [l, u] = [low, high] cap
 * [c, c + s h]. */
typedef struct ps_line {
    int64_t nodes;
    double start, h;
} ps_line;
void ps_line_overlaps(ps_line line, double low, double high, double *overlap);

/* load[nodes] += scale x product of the overlaps with the box [low, high]. origin: of node
 * (0, 0, 0). workspace: nx + ny + nz. */
void ps_load_add_box(const ps_q1_grid *grid, const double origin[3], const ps_prism *box,
                     double scale, double *load, double *workspace);

/* load[nodes] of sources that are constant in the elements, source[(nx-1) (ny-1) (nz-1)], z
 * fastest: an eighth of source x volume to each corner. PS_INVALID for one that is not finite. */
ps_status ps_load_set_cells(const ps_q1_grid *grid, const double *source, double scale,
                            double *load);

/* Dirichlet data: u[nodes] holds the values of fixed nodes, others are ignored. Takes what they
 * contribute from the rows beside them and puts the values into the fixed rows of load. Once only
 * for a load. */
void ps_load_lift(const ps_slab_stencil *stencil, const double *u, double *load);

/* out[nx ny] = dPhi/dz on the top, (-3 u0 + 4 u1 - u2) / (2 hz), second order. */
void ps_top_gradient(const ps_q1_grid *grid, const double *u, double *out);

#endif
