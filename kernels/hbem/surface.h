/*
 * surface: triangles of a surface with what Galerkin boundary elements need of them, and the spaces
 * P0, P1 and DP1 on them (specs/hbem.md).
 *
 * An item (t, l) is hat l of triangle t, numbered 3 t + l. A function of any of the three spaces is
 * a sum of items: P0 the three of its triangle, P1 one in every triangle at its vertex, DP1 one.
 */
#ifndef PS_KERNELS_HBEM_SURFACE_H
#define PS_KERNELS_HBEM_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/hbem_kinds.h"
#include "runtime/status.h"

typedef struct ps_hbem_triangle {
    double corner[3][3]; /* m                                                            */
    double normal[3];    /* unit, outward where vertices are counterclockwise from outside */
    double jacobian;     /* twice the area, m^2                                          */
    double centroid[3];
    double radius;   /* largest distance of a corner from the centroid, m                */
    double diameter; /* longest edge, m                                                  */
    int32_t vertex[3];
    int32_t spare;
} ps_hbem_triangle;

typedef struct ps_hbem_surface {
    int64_t vertex_count, triangle_count;
    const double *vertices;      /* [vertex_count][3], borrowed   */
    ps_hbem_triangle *triangles; /* [triangle_count], the caller's */
} ps_hbem_surface;

/* Fills `triangles[triangle_count]` (the caller's memory) from corners[triangle_count][3].
 * PS_INVALID with the first triangle that has a vertex out of range, a vertex that is not finite,
 * or no area. */
ps_status ps_hbem_surface_init(ps_hbem_surface *surface, const double *vertices,
                               int64_t vertex_count, const int32_t *corners, int64_t triangle_count,
                               ps_hbem_triangle *triangles);

/* PS_INVALID where the surface is not closed and consistently oriented (the moments of its normals
 * do not vanish) or its normals point inward: what exterior problems need. */
ps_status ps_hbem_surface_check_closed(const ps_hbem_surface *surface);

/* All arrays are the caller's. Functions are numbered in the order at hand: that of the mesh at
 * first, that of a cluster tree after ps_hbem_space_reorder. */
typedef struct ps_hbem_space {
    ps_hbem_space_kind kind;
    const ps_hbem_surface *surface;
    int64_t dofs;
    int64_t *start;  /* [dofs + 1] the items of function i are item[start[i]] .. */
    int64_t *item;   /* [3 * triangle_count], ascending                         */
    int32_t *dof_of; /* [3 * triangle_count] the function that an item belongs to; -1: none      */
} ps_hbem_space;

/* Functions of a space: triangles, vertices that have a triangle (all vertices count), 3 a
 * triangle. */
int64_t ps_hbem_space_dofs(ps_hbem_space_kind kind, const ps_hbem_surface *surface);

/* Fills the arrays. A vertex without triangles gives a function without items. */
void ps_hbem_space_init(ps_hbem_space *space, ps_hbem_space_kind kind,
                        const ps_hbem_surface *surface, int64_t *start, int64_t *item,
                        int32_t *dof_of);

/* Half of a surface that is a body and behind it its image: triangle T + t is triangle t mirrored,
 * its corners `turned` to 0, 2, 1 where that takes an odd number of planes. */
typedef struct ps_hbem_half {
    int64_t vertices, triangles; /* of the body */
    bool image, turned;
} ps_hbem_half;

/* The functions of the body on one half; on the image function i is that of the body mirrored.
 * Items of the other half belong to none. Arrays as above, start[functions of the body + 1]. */
void ps_hbem_space_init_half(ps_hbem_space *space, ps_hbem_space_kind kind,
                             const ps_hbem_surface *surface, const ps_hbem_half *half,
                             int64_t *start, int64_t *item, int32_t *dof_of);

/* Renumbers: function p becomes what order[p] was. order[dofs] is a permutation; scratch[dofs]
 * int32. */
void ps_hbem_space_reorder(ps_hbem_space *space, const int64_t *order, int32_t *scratch);

/* Mass: values[i] of M x with M_ij = int phi_i psi_j (m^2 times x); both spaces on one surface.
 * x[trial->dofs], y[test->dofs], overwritten. */
void ps_hbem_mass_apply(const ps_hbem_space *test, const ps_hbem_space *trial, const double *x,
                        double *y);

/* int phi_i, m^2; out[dofs]. */
void ps_hbem_space_integrals(const ps_hbem_space *space, double *out);

/* Surface curl of hat l, times J: v_{l+2} - v_{l+1} (numerics guide 2, (4)). out[3], m. */
void ps_hbem_curl(const ps_hbem_triangle *triangle, int l, double out[3]);

/* Elements a wavelength: 2 pi / (k h), h the mean of the triangles' longest edges; infinite for
 * k = 0. Galerkin elements want 6 and more. */
double ps_hbem_elements_per_wavelength(const ps_hbem_surface *surface, double wavenumber);

/* PS_INVALID below 4 elements a wavelength, where a solution would be worth nothing. */
ps_status ps_hbem_check_wavelength(const ps_hbem_surface *surface, double wavenumber);

#endif
