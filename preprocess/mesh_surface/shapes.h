/*
 * shapes: what penstock-mesh-surface can make. All are closed, with outward normals; threads share
 * the work and the result does not depend on their number.
 */
#ifndef PS_PREPROCESS_MESH_SURFACE_SHAPES_H
#define PS_PREPROCESS_MESH_SURFACE_SHAPES_H

#include "formats/surface_mesh.h"

/* Vertices and triangles that a shape will have. */
typedef struct shape_size {
    int64_t vertices, triangles;
} shape_size;

/* The faces of an octahedron cut n^2-fold and projected: 4 n^2 + 2 vertices, 8 n^2 triangles. */
shape_size sphere_size(int64_t n);
void sphere_fill(int64_t n, double radius, ps_surface_mesh *mesh);

/* A box of cells[0] x cells[1] x cells[2] cells from the origin to size[3]; with `l_shape`, cells
 * 0 and 1 even, the quarter of large x and large y is missing. */
typedef struct box_shape {
    int64_t cells[3];
    double size[3];
    bool l_shape;
} box_shape;
shape_size box_size(const box_shape *box);
/* PS_EXHAUSTED without memory. */
ps_status box_fill(const box_shape *box, ps_surface_mesh *mesh);

/* A body of revolution about x: rings of points that stand `edge` apart, on circles that stand
 * sqrt(3)/2 edge apart along the meridian; poles at both ends. */
typedef struct ring {
    double x, radius;
    double shift;           /* angle of its first point in steps: 0 or 1/2 */
    int64_t points, vertex; /* how many, number of the first               */
    int64_t triangle;       /* first triangle of the strip to the next ring */
} ring;
typedef struct revolved_shape {
    double length;            /* m, along x from 0                 */
    double (*radius)(double); /* m, at x; 0 at both ends            */
    double edge;              /* m                                 */
    int64_t ring_count;
    ring *rings; /* [ring_count], owned */
} revolved_shape;

/* Lays out the rings. PS_USAGE if the edge is too long for the body; PS_EXHAUSTED. */
ps_status revolved_plan(revolved_shape *shape, shape_size *size);
void revolved_fill(const revolved_shape *shape, ps_surface_mesh *mesh);
void revolved_release(revolved_shape *shape);

#endif
