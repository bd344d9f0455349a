/*
 * narrow: which regular rule a pair of triangles that do not touch takes: by their distance over
 * the longer diameter, and of needles, triangles with one short edge, a narrow one. Across a needle
 * there is nothing to resolve at a distance that is large against its short edge: n x 3 points, n
 * from the corner opposite the short edge, are as good as a rule for all directions (specs/hbem.md,
 * "Quadrature"). One body for cores and devices.
 */
#ifndef PS_KERNELS_HBEM_NARROW_H
#define PS_KERNELS_HBEM_NARROW_H

#include "kernels/hbem/hard.h"
#include "kernels/hbem/rules.h"

/* Points across; kinds of close pairs on a device: those of device_kernels.h, then narrow ones by
 * their rule, of which those of the first two rules are empty. */
enum {
    PS_HBEM_ACROSS = 3,
    PS_HBEM_ALONG_MOST = 8,
    PS_HBEM_CLOSE_NARROW = PS_PAIR_CONTACTS + PS_HBEM_RULES + 1,
    PS_HBEM_CLOSE_KINDS = PS_HBEM_CLOSE_NARROW + PS_HBEM_RULES
};

/* Points along in place of a regular rule; 0: its own are as few. */
PS_HBEM_HARD_FUNCTION int ps_hbem_narrow_along(int rule)
{
    return rule < 2 ? 0 : rule == 2 ? 5 : rule == 3 ? 6 : 8;
}

/* Kept inside [0, 1], and the lesser of two: instructions, where fmin and fmax are calls on cores.
 */
PS_HBEM_HARD_FUNCTION double narrow_inside(double t) { return t < 0 ? 0 : t > 1 ? 1 : t; }
PS_HBEM_HARD_FUNCTION double narrow_lesser(double a, double b) { return a < b ? a : b; }

/* The square of the distance of two segments, from p along u and from q along v: the parameter of
 * the nearest point of one line, then of the other one and of the first again, each kept inside its
 * segment (Ericson, Real-Time Collision Detection, 5.1.9, without branches). */
PS_HBEM_HARD_FUNCTION double narrow_segments(const double p[3], const double u[3],
                                             const double q[3], const double v[3])
{
    double a = 0, b = 0, c = 0, e = 0, f = 0, square = 0;
    for (int k = 0; k < 3; ++k) {
        const double r = p[k] - q[k];
        a += u[k] * u[k];
        b += u[k] * v[k];
        c += u[k] * r;
        e += v[k] * v[k];
        f += v[k] * r;
    }
    const double across = a * e - b * b;
    double s = across > 0 ? narrow_inside((b * f - c * e) / across) : 0;
    const double t = narrow_inside((b * s + f) / e);
    s = narrow_inside((b * t - c) / a);
    for (int k = 0; k < 3; ++k) {
        const double d = p[k] - q[k] + s * u[k] - t * v[k];
        square += d * d;
    }
    return square;
}

/* The square of the distance of a point from the plane of a triangle, where its foot is inside;
 * else `none`. */
PS_HBEM_HARD_FUNCTION double narrow_above(const ps_hbem_triangle *t, const double edge[3][3],
                                          const double p[3], double none)
{
    double height = 0;
    for (int l = 0; l < 3; ++l) {
        const double r[3] = {p[0] - t->corner[l][0], p[1] - t->corner[l][1],
                             p[2] - t->corner[l][2]};
        if (hard_fan_volume(t->normal, edge[l], r) < 0) return none;
        if (l == 0) height = t->normal[0] * r[0] + t->normal[1] * r[1] + t->normal[2] * r[2];
    }
    return height * height;
}

/* The distance of two triangles that do not cross each other: of two edges, or of a corner and the
 * other face. */
PS_HBEM_HARD_FUNCTION double narrow_distance(const ps_hbem_triangle *x, const ps_hbem_triangle *y)
{
    double edge[2][3][3], least = 1e300;
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) {
            edge[0][l][c] = x->corner[(l + 1) % 3][c] - x->corner[l][c];
            edge[1][l][c] = y->corner[(l + 1) % 3][c] - y->corner[l][c];
        }
    for (int e = 0; e < 9; ++e)
        least = narrow_lesser(least, narrow_segments(x->corner[e / 3], edge[0][e / 3],
                                                     y->corner[e % 3], edge[1][e % 3]));
    for (int l = 0; l < 3; ++l) {
        least = narrow_lesser(least, narrow_above(x, edge[0], y->corner[l], least));
        least = narrow_lesser(least, narrow_above(y, edge[1], x->corner[l], least));
    }
    return sqrt(least);
}

/* The corner opposite the shortest edge, where that is at most `width` long and its triangle a
 * needle; else -1. Where it is, there is no second edge as short. */
PS_HBEM_HARD_FUNCTION int ps_hbem_needle(const ps_hbem_triangle *t, double width)
{
    double least = 1e300, bound = fmin(width, t->diameter / 2.9);
    int apex = -1;
    for (int l = 0; l < 3; ++l) {
        double square = 0;
        for (int c = 0; c < 3; ++c) {
            double d = t->corner[(l + 1) % 3][c] - t->corner[l][c];
            square += d * d;
        }
        if (square >= least) continue;
        least = square;
        apex = (l + 2) % 3;
    }
    return least <= bound * bound ? apex : -1;
}

/* Whether two triangles so far apart take narrow rules, where the first regular one is good enough
 * from `reach` diameters on; their apices. */
PS_HBEM_HARD_FUNCTION bool narrow_are_needles(const ps_hbem_triangle *x, const ps_hbem_triangle *y,
                                              double distance, double reach, int apex[2])
{
    apex[0] = ps_hbem_needle(x, distance / reach);
    apex[1] = ps_hbem_needle(y, distance / reach);
    return apex[0] >= 0 && apex[1] >= 0;
}

/* The rule of two triangles without a common corner, with the apices where it is PS_HBEM_RULES more
 * than a regular one, a narrow one in its place; -1: they are nearer than from[rules - 1]
 * diameters.
 */
PS_HBEM_HARD_FUNCTION int ps_hbem_rule_of(const double *from, int rules, const ps_hbem_triangle *x,
                                          const ps_hbem_triangle *y, int apex[2])
{
    double diameter = fmax(x->diameter, y->diameter), square = 0, distance;
    int r = 0;
    for (int c = 0; c < 3; ++c) {
        const double d = x->centroid[c] - y->centroid[c];
        square += d * d;
    }
    if (sqrt(square) - x->radius - y->radius >= from[0] * diameter) return 0;
    distance = narrow_distance(x, y);
    while (r < rules && distance < from[r] * diameter) ++r;
    if (r == rules) return -1;
    if (ps_hbem_narrow_along(r) && narrow_are_needles(x, y, distance, from[0], apex))
        return PS_HBEM_RULES + r;
    return r;
}

/* Point q of a narrow rule with these Gauss points along and across on [0, 1]: hats, of which hat 1
 * is the apex, and weight. */
PS_HBEM_HARD_FUNCTION void ps_hbem_narrow_point(const double (*along)[2], int q, double out[4])
{
    const int j = q % PS_HBEM_ACROSS;
    const double node = .5 + (j - 1) * sqrt(.15), share = (j == 1 ? 8. : 5.) / 18;
    const double u = along[q / PS_HBEM_ACROSS][0];
    out[1] = u;
    out[2] = node * (1 - u);
    out[0] = 1 - u - out[2];
    out[3] = share * along[q / PS_HBEM_ACROSS][1] * (1 - u);
}

/* The narrow rule with n points along. 1 <= n <= PS_HBEM_ALONG_MOST. */
void ps_hbem_rule_narrow(int n, ps_hbem_rule *out);

#endif
