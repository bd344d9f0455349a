/*
 * geometry: what the interaction integrals need of each flat triangle, in one record.
 *
 * A record holds 32 doubles (four cache lines), because lanes gather whole triangles at random.
 * Edge e runs from vertex e to vertex e+1 (mod 3), counterclockwise about the normal. Its inner
 * quantities: unit tangent t_e, length l_e, outward in-plane normal m_e = t_e x n. The hat of
 * vertex a (opposite edge e = a+1) has
 *     phi_a(x) = m_e.(v_e - x) l_e / (2 A),  grad phi_a = -m_e l_e / (2 A),
 *     local curl = t_e l_e / (2 A)   (guide 2.3: (v_{a+2} - v_{a+1}) / (2 A)).
 */
#ifndef PS_KERNELS_TDBEM_GEOMETRY_H
#define PS_KERNELS_TDBEM_GEOMETRY_H

#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_triangle {
    double vertex[3][3];  /* m                                                               */
    double normal[3];     /* unit, outward for counterclockwise triangles                    */
    double tangent[3][3]; /* of edge e, unit                                                 */
    double length[3];     /* of edge e, m                                                    */
    double centroid[3];   /* m                                                               */
    double area;          /* m^2                                                             */
    double radius;        /* of the bounding sphere about the centroid, m                    */
    double cut; /* parts of an edge for the outer rule, at least: 1 unless cut.h says so  */
    double spare[2];
} ps_triangle;

/* Fills out[count] from vertices[...][3] and triangles[count][3] (vertex numbers). Local,
 * thread-safe. PS_INVALID with the number of the first triangle without area. */
ps_status ps_triangles_init(const double *vertices, const int32_t *triangles, int64_t count,
                            ps_triangle *out);

/* Longest edge of a triangle, m. */
double ps_triangle_longest_edge(const ps_triangle *triangle);

/* Diagonal of the bounding box of all vertices: an upper bound of the largest vertex distance
 * lmax, m. */
double ps_triangles_extent(const ps_triangle *triangles, int64_t count);

/* Mean thickness of a closed surface over the radius of the sphere of its area, 2 V/A over
 * sqrt(A/4 pi): 2/3 for a sphere, small for thin bodies. */
double ps_triangles_thickness(const ps_triangle *triangles, int64_t count);

/* Mean edge length h (every edge counted once per triangle), m. */
double ps_triangles_mean_edge(const ps_triangle *triangles, int64_t count);

#endif
