/*
 * hard: which pairs of touching triangles fixed rules take wrong (specs/hbem.md, "Hard pairs").
 * One body for cores and devices.
 */
#ifndef PS_KERNELS_HBEM_HARD_H
#define PS_KERNELS_HBEM_HARD_H

#include <math.h>
#include <stdbool.h>

#include "kernels/hbem/surface.h"

#ifdef __CUDACC__
#define PS_HBEM_HARD_FUNCTION __device__ static inline
#else
#define PS_HBEM_HARD_FUNCTION static inline
#endif

/* The volume of three vectors. */
PS_HBEM_HARD_FUNCTION double hard_fan_volume(const double a[3], const double b[3],
                                             const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* The largest cosine between an edge of a at its corner l and a direction of b at its corner m. */
PS_HBEM_HARD_FUNCTION double hard_fan_edges(const ps_hbem_triangle *a, int l,
                                            const ps_hbem_triangle *b, int m)
{
    double side[2][3], length[2] = {0, 0}, best = -1;
    for (int f = 0; f < 2; ++f)
        for (int c = 0; c < 3; ++c) {
            side[f][c] = b->corner[(m + f + 1) % 3][c] - b->corner[m][c];
            length[f] += side[f][c] * side[f][c];
        }
    for (int e = 1; e < 3; ++e) {
        double edge[3], size = 0, height = 0, along[2] = {0, 0};
        for (int c = 0; c < 3; ++c) {
            edge[c] = a->corner[(l + e) % 3][c] - a->corner[l][c];
            size += edge[c] * edge[c];
            height += edge[c] * b->normal[c];
            for (int f = 0; f < 2; ++f) along[f] += edge[c] * side[f][c];
        }
        for (int f = 0; f < 2; ++f) best = fmax(best, along[f] / sqrt(size * length[f]));
        if (hard_fan_volume(side[0], edge, b->normal) >= 0 &&
            hard_fan_volume(edge, side[1], b->normal) >= 0)
            best = fmax(best, sqrt(fmax(0., 1 - height * height / size)));
    }
    return best;
}

/* The cosine of the least angle between two triangles, seen from their common corner. */
PS_HBEM_HARD_FUNCTION double hard_fan_cosine(const ps_hbem_triangle *a, const ps_hbem_triangle *b)
{
    double best = -1;
    for (int e = 0; e < 9; ++e)
        if (a->vertex[e / 3] == b->vertex[e % 3])
            best = fmax(hard_fan_edges(a, e / 3, b, e % 3), hard_fan_edges(b, e % 3, a, e / 3));
    return best;
}

/* Aspects are longest edges squared over twice the area: an isosceles right triangle has 2. Errors
 * of the singular rules, measured over random pairs, are below their eps of a row where the aspects
 * are up to that, areas up to fourfold and the faces at an edge at right angles or flatter, those
 * at a vertex 44 degrees apart; or, on nearly flat surfaces, aspects up to 2.6 and 35 degrees. */
PS_HBEM_HARD_FUNCTION bool ps_hbem_is_hard(const ps_hbem_triangle *a, const ps_hbem_triangle *b,
                                           int shared)
{
    double first = a->diameter * a->diameter / a->jacobian;
    double second = b->diameter * b->diameter / b->jacobian;
    double aspect = first > second ? first : second, normals = 0;
    double areas =
        a->jacobian > b->jacobian ? a->jacobian / b->jacobian : b->jacobian / a->jacobian;
    if (shared == 3) return aspect > 2.6;
    for (int c = 0; c < 3; ++c) normals += a->normal[c] * b->normal[c];
    bool flat = normals > .86, square = aspect <= 2.02 && areas <= 4;
    if (!square && !(flat && aspect <= 2.6 && areas <= 2)) return true;
    return shared == 2 ? normals < -.02 : hard_fan_cosine(a, b) > (flat ? .82 : .72);
}

#endif
