/*
 * polar: moments of a pair of triangles by nothing that matrix entries use: the inner triangle is
 * taken in polar coordinates about the foot of the point, along the radius in closed form (the
 * smooth rest of waves by Gauss), along each edge by Gauss in u, l = |d| sinh u, d the distance of
 * the edge's line; the outer triangle is cut along the inner one's edges, as seen along its normal,
 * and each part is a collapsed square whose rectangles are halved across the direction that changes
 * more, until 49 points on them and on their halves agree: so that what varies fast across an edge
 * and not along it takes few pieces, however long the edge.
 * Hundreds of times as dear as the rules: what these are held against. Radial and angular coordinates
 * with a sinh along edges after Khayat and Wilton, IEEE Trans. Antennas Propag. 53 (2005) 3180.
 */
#ifndef PS_KERNELS_HBEM_POLAR_H
#define PS_KERNELS_HBEM_POLAR_H

#include <complex.h>
#include <stdbool.h>

#include "kernels/hbem/surface.h"

enum { PS_HBEM_POLAR_SIDE = 7, PS_HBEM_POLAR_LINE = 14, PS_HBEM_POLAR_REST = 10 };

/* Gauss on [0, 1]. */
typedef struct ps_hbem_polar_rule {
    double node[PS_HBEM_POLAR_LINE], weight[PS_HBEM_POLAR_LINE];
} ps_hbem_polar_rule;

typedef struct ps_hbem_polar_rules {
    ps_hbem_polar_rule side, line, rest;
} ps_hbem_polar_rules;

void ps_hbem_polar_rules_init(ps_hbem_polar_rules *rules);

/* values[hat of outer][hat of inner] of g = e^{ikr}/(4 pi r), with `layer` of its derivative along
 * the inner triangle's normal, to about `error` each (absolute); what is estimated to be left is
 * returned. The triangles may touch or be one. Thread-safe. */
double ps_hbem_polar_moments(const ps_hbem_polar_rules *rules, const ps_hbem_triangle *outer,
                             const ps_hbem_triangle *inner, bool layer, double k, double error,
                             double _Complex values[9]);

#endif
