/*
 * adaptive_entry: converged shell integrals of a pair of triangles, for tests: the outer triangle
 * is cut in four until the 12-point rule on it and on its parts agree.
 */
#ifndef PS_TESTS_SUPPORT_ADAPTIVE_ENTRY_H
#define PS_TESTS_SUPPORT_ADAPTIVE_ENTRY_H

#include <math.h>
#include <string.h>

#include "kernels/tdbem/quadrature.h"
#include "kernels/tdbem/shell_integral.h"
#include "tests/check.h"
#include "tests/support/distance.h"

/* The first levels are always cut: a shell that only grazes the triangle is easily missed. */
enum { ADAPTIVE_SHELLS = 64, ADAPTIVE_DEPTH = 14, ADAPTIVE_FORCED = 5 };

/* out[l] = int_outer int_inner [shell l] 1/(4 pi r), l < count, by the 12-point rule. */
static inline void adaptive_rule(const ps_triangle *outer, const ps_triangle *inner, double shell,
                                 int count, double *out)
{
    static double values[ADAPTIVE_SHELLS][PS_LANES] __attribute__((aligned(64)));
    ps_shell_values shells = {.capacity = ADAPTIVE_SHELLS, .inverse = values};
    ps_triangle_rule rule;
    ps_point points[PS_RULE_POINTS_MAX];
    ps_shell_lanes lanes;
    check_ok(ps_triangle_rule_init(12, &rule));
    ps_triangle_points(outer, &rule, 1, points);
    memset(out, 0, (size_t)count * sizeof *out);
    for (int first = 0; first < 12; first += PS_LANES) {
        int used = 12 - first < PS_LANES ? 12 - first : PS_LANES;
        for (int c = 0; c < PS_LANES; ++c)
            ps_shell_lanes_set(&lanes, c, points[first + (c < used ? c : 0)].x, inner);
        assert_true(ps_shell_functions_here()->soft(&lanes, shell, &shells) <= ADAPTIVE_SHELLS);
        for (int c = 0; c < used; ++c)
            for (int64_t i = 0; i < shells.count[c]; ++i)
                if (shells.first[c] + i < count)
                    out[shells.first[c] + i] +=
                        points[first + c].weight * values[i][c] / (4 * 3.14159265358979323846);
    }
}

static inline void adaptive_part(const ps_triangle *outer, const ps_triangle *inner, double shell,
                                 double tolerance, int depth, int count, const double *whole,
                                 double *out)
{
    static const int32_t parts[4][3] = {{0, 3, 5}, {1, 4, 3}, {2, 5, 4}, {3, 4, 5}};
    double corner[6][3], sums[4][ADAPTIVE_SHELLS], worst = 0;
    ps_triangle part[4];
    for (int v = 0; v < 3; ++v)
        for (int c = 0; c < 3; ++c) {
            corner[v][c] = outer->vertex[v][c];
            corner[3 + v][c] = (outer->vertex[v][c] + outer->vertex[(v + 1) % 3][c]) / 2;
        }
    check_ok(ps_triangles_init(&corner[0][0], &parts[0][0], 4, part));
    for (int p = 0; p < 4; ++p) adaptive_rule(&part[p], inner, shell, count, sums[p]);
    for (int l = 0; l < count; ++l)
        worst = worse_of(worst, fabs(sums[0][l] + sums[1][l] + sums[2][l] + sums[3][l] - whole[l]));
    for (int p = 0; p < 4; ++p) {
        if ((worst > tolerance || depth > ADAPTIVE_DEPTH - ADAPTIVE_FORCED) && depth > 0)
            adaptive_part(&part[p], inner, shell, tolerance / 2, depth - 1, count, sums[p], out);
        else
            for (int l = 0; l < count; ++l) out[l] += sums[p][l];
    }
}

/* S_l(outer, inner) for l < count, to about `tolerance`. */
static inline void adaptive_entry(const ps_triangle *outer, const ps_triangle *inner, double shell,
                                  double tolerance, int count, double *out)
{
    double whole[ADAPTIVE_SHELLS];
    adaptive_rule(outer, inner, shell, count, whole);
    memset(out, 0, (size_t)count * sizeof *out);
    adaptive_part(outer, inner, shell, tolerance, ADAPTIVE_DEPTH, count, whole, out);
}

#endif
