/*
 * quadrature: symmetric Gauss rules on triangles (Dunavant 1985) and Gauss-Legendre in time.
 */
#ifndef PS_KERNELS_TDBEM_QUADRATURE_H
#define PS_KERNELS_TDBEM_QUADRATURE_H

#include "kernels/tdbem/geometry.h"

enum { PS_RULE_POINTS_MAX = 12 };

/* Barycentric points; the weights sum to 1, so that sum_q weight_q f(x_q) is the mean of f. */
typedef struct ps_triangle_rule {
    int count;
    double barycentric[PS_RULE_POINTS_MAX][3];
    double weight[PS_RULE_POINTS_MAX];
} ps_triangle_rule;

/* The rule with 1, 3, 6, 7 or 12 points (exact for degree 1, 2, 4, 5, 6). PS_USAGE for any
 * other number. One point is there for tests: as an outer rule it is unstable (guide 2.5). */
ps_status ps_triangle_rule_init(int points, ps_triangle_rule *out);

/* A point with its weight (area included, m^2) and its barycentric coordinates. */
typedef struct ps_point {
    double x[3], weight;
    double barycentric[3], spare;
} ps_point;

/* The points of `rule` on each of the parts^2 equal sub-triangles; out[parts^2 * rule->count];
 * barycentric coordinates are those of the whole triangle. */
void ps_triangle_points(const ps_triangle *triangle, const ps_triangle_rule *rule, int parts,
                        ps_point *out);

/* Three-point Gauss-Legendre rule on [0, 1]; weights sum to 1. */
extern const double ps_gauss3_node[3], ps_gauss3_weight[3];

#endif
