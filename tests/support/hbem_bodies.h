/*
 * hbem_bodies: large bodies for benchmarks: a hull as long as the paper's submarine.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_BODIES_H
#define PS_TESTS_SUPPORT_HBEM_BODIES_H

#include "tests/support/hbem_case.h"

/* Vertex of a box of half sides (length, n, n) on the hull: a cylinder of radius 1 in units of n
 * cells, with half spheres at its ends. */
static inline int32_t hbem_hull_vertex(hbem_case *c, int32_t *known, int length, int n,
                                       const int at[3])
{
    int64_t width = 2 * n + 1, index = at[0] + length;
    for (int e = 1; e < 3; ++e) index = index * width + at[e] + n;
    if (known[index] == 0) {
        double p[3], *to = c->vertices + 3 * c->vertex_count, square = 0;
        int beyond = abs(at[0]) - (length - n);
        for (int e = 0; e < 3; ++e) p[e] = at[e];
        p[0] = beyond > 0 ? at[0] < 0 ? -beyond : beyond : 0;
        for (int e = 0; e < 3; ++e) square += p[e] * p[e];
        for (int e = 0; e < 3; ++e) to[e] = n * p[e] / sqrt(square);
        to[0] += at[0] - p[0];
        known[index] = (int32_t)++c->vertex_count;
    }
    return known[index] - 1;
}

/* The faces of the box, two triangles a cell. */
static inline void hbem_hull_make(hbem_case *c, int n, double half)
{
    const double radius = 3.6;
    const int size[3] = {(int)(n * half / radius), n, n};
    memset(c, 0, sizeof *c);
    int64_t most = 8 * ((int64_t)size[0] * n * 4 + 2 * (int64_t)n * n);
    PS_SCOPED_MEMORY int32_t *known =
        calloc((size_t)(2 * size[0] + 1) * (size_t)(2 * n + 1) * (size_t)(2 * n + 1), 4);
    c->vertices = calloc((size_t)most, 3 * sizeof *c->vertices);
    c->corners = calloc((size_t)most, 3 * sizeof *c->corners);
    c->triangles = calloc((size_t)most, sizeof *c->triangles);
    for (int face = 0; face < 6; ++face) {
        int axis = face / 2, up = face % 2, a = (axis + (up ? 1 : 2)) % 3, b = 3 - axis - a;
        for (int i = -size[a]; i < size[a]; ++i)
            for (int j = -size[b]; j < size[b]; ++j) {
                static const int corner[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
                for (int e = 0; e < 6; ++e) {
                    int at[3];
                    at[axis] = up ? size[axis] : -size[axis];
                    at[a] = i + corner[e][0];
                    at[b] = j + corner[e][1];
                    c->corners[3 * c->triangle_count + e] =
                        hbem_hull_vertex(c, known, size[0], n, at);
                }
                c->triangle_count += 2;
            }
    }
    for (int64_t e = 0; e < 3 * c->vertex_count; ++e) c->vertices[e] *= radius / n;
    hbem_case_surface(c);
}

#endif
