/*
 * density: bodies and rectilinear models put onto the cells of a structured grid, by volume.
 *
 * A cell gets the mean density of what lies in it, so that masses are kept: exactly for bricks and
 * rectilinear models (products of overlaps along the axes), for upright rings, and to 1e-6 of
 * cut cells for balls (integrals, round_part.h). Contrasts of bodies that overlap add up. Work is
 * by planes of equal x: independent, any thread may take any plane.
 */
#ifndef PS_KERNELS_SCHWARZ_DENSITY_H
#define PS_KERNELS_SCHWARZ_DENSITY_H

#include "kernels/schwarz/grid.h"

typedef enum ps_body_kind { PS_BODY_BRICK, PS_BODY_RING, PS_BODY_BALL, PS_BODY_KINDS } ps_body_kind;

/* size: brick x0 x1 y0 y1 z0 z1; ring x y r0 r1 z0 z1 (r0 = 0: a cylinder); ball x y z r. */
typedef struct ps_body {
    ps_body_kind kind;
    double size[6], density;
} ps_body;

/* Extents in order, radii positive, all finite. PS_INVALID with what is wrong. */
ps_status ps_body_check(const ps_body *body);
double ps_body_mass(const ps_body *body);
/* The share of its volume within [low, high] along each axis, box[3][2], 0 .. 1: exactly for bricks
 * and for bodies that lie inside, to 1e-6 for balls that reach out. */
double ps_body_share(const ps_body *body, double box[3][2]);

typedef struct ps_cells {
    ps_q1_grid grid;
    double origin[3]; /* of node (0, 0, 0) */
} ps_cells;

/* values[(ny-1)(nz-1)] of cell plane i += what the body contributes. */
void ps_body_add(const ps_cells *cells, const ps_body *body, int64_t i, double *values);

/* A model of bricks between planes edges[a][0 .. count[a]], ascending along each axis;
 * density[count[0]][count[1]][count[2]]; all borrowed. */
typedef struct ps_rectilinear {
    int64_t count[3];
    const double *edges[3];
    const double *density;
} ps_rectilinear;

/* The same for a rectilinear model; workspace: ps_rectilinear_workspace doubles, one a thread. */
int64_t ps_rectilinear_workspace(const ps_rectilinear *model, const ps_cells *cells);
void ps_rectilinear_add(const ps_cells *cells, const ps_rectilinear *model, int64_t i,
                        double *values, double *workspace);
double ps_rectilinear_mass(const ps_rectilinear *model);
/* Sums of |density| x volume, of the whole model and of what lies within the box. */
void ps_rectilinear_sizes(const ps_rectilinear *model, double box[3][2], double *all,
                          double *within);

#endif
