/*
 * loads: int f phi_i for given functions f on a surface, by the rule of 6 points, on parts of
 * triangles where a source is near; plane waves, point sources and other harmonic functions, and
 * their normal derivatives.
 */
#ifndef PS_KERNELS_HBEM_LOADS_H
#define PS_KERNELS_HBEM_LOADS_H

#include <stdbool.h>

#include "formats/reflectors.h"
#include "kernels/hbem/surface.h"

typedef enum ps_load_kind {
    PS_LOAD_PLANE,  /* e^{ik d.x}, d = vector of length 1 */
    PS_LOAD_POINT,  /* g = e^{ikr}/(4 pi r), r = |x - vector| */
    PS_LOAD_DIPOLE, /* axis . grad g with respect to `vector`, m */
    PS_LOAD_LINEAR, /* vector . x                         */
    PS_LOAD_VALUE,  /* vector[0], which is its own derivative */
    PS_LOAD_TABLE,  /* numbers of vertices, linear between, or of triangles */
    PS_LOAD_NONE    /* 0 */
} ps_load_kind;

/* Numbers of places: 1 real, 2 with an imaginary part, 3 or 6 of a gradient, real parts first. */
typedef struct ps_hbem_sampled {
    const double *values; /* [vertices or triangles][components] */
    int components;
    bool on_points;
} ps_hbem_sampled;

typedef struct ps_hbem_load {
    ps_load_kind kind;
    double wavenumber, vector[3], axis[3];
    double absorption; /* the imaginary part of k, Np/m: waves are 1 at the origin */
    ps_hbem_sampled sampled[2]; /* of a table: f, and d_n f or the gradient of f */
    bool derivative;     /* d_n f instead of f */
    const ps_reflectors *mirrors; /* f and, times their signs, its images; NULL: f alone; not of tables */
} ps_hbem_load;

/* f, or its derivative along `normal`, at a place; not for tables. out[2]. */
void ps_hbem_load_at(const ps_hbem_load *load, const double x[3], const double normal[3],
                     double out[2]);
/* f at a point of a triangle given by its hats. out[2]. */
void ps_hbem_load_value(const ps_hbem_load *load, const ps_hbem_surface *surface, int64_t triangle,
                        const double hat[3], double out[2]);

/* out[parts][dofs] = int f phi_i; parts 1: the real part. items[parts][3 triangle_count] is
 * scratch. A value that is not finite gives one in `out`. */
void ps_hbem_load_vector(const ps_hbem_load *load, const ps_hbem_space *space, int parts,
                         double *items, double *out);

#endif
