/*
 * facets: integrals over a triangle of what varies fast near a point: a rule on sub-triangles that
 * are split until their edges are below half their distance to the point.
 */
#ifndef PS_KERNELS_TDBEM_FACETS_H
#define PS_KERNELS_TDBEM_FACETS_H

#include "kernels/tdbem/geometry.h"
#include "kernels/tdbem/quadrature.h"

/* A point of the rule: barycentric coordinates of the whole triangle, weight in m^2. */
typedef void ps_facet_visit(void *context, const double barycentric[3], double weight);

/* Visits all points in a fixed order. Thread-safe. */
void ps_facets_visit(const ps_triangle *triangle, const double x[3], const ps_triangle_rule *rule,
                     ps_facet_visit *visit, void *context);

/* The point of the triangle with these coordinates. */
static inline void ps_triangle_place(const ps_triangle *triangle, const double barycentric[3],
                                     double out[3])
{
    for (int d = 0; d < 3; ++d)
        out[d] = barycentric[0] * triangle->vertex[0][d] + barycentric[1] * triangle->vertex[1][d] +
                 barycentric[2] * triangle->vertex[2][d];
}

#endif
