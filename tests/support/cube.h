/*
 * cube: the unit cube, each face cut in side x side squares of two triangles; 108 triangles for
 * side 3. Outward normals. In the mesh structure of icosphere.h.
 */
#ifndef PS_TESTS_SUPPORT_CUBE_H
#define PS_TESTS_SUPPORT_CUBE_H

#include "tests/support/icosphere.h"

/* The vertex at p, found or appended. */
static inline int32_t cube_vertex(icosphere *mesh, const double p[3])
{
    for (int64_t v = 0; v < mesh->vertex_count; ++v) {
        const double *q = mesh->vertices + 3 * v;
        if (fabs(p[0] - q[0]) + fabs(p[1] - q[1]) + fabs(p[2] - q[2]) < 1e-12) return (int32_t)v;
    }
    memcpy(mesh->vertices + 3 * mesh->vertex_count, p, 3 * sizeof *p);
    return (int32_t)mesh->vertex_count++;
}

/* Square (i, j) of the face where coordinate `axis` is `level` (0 or 1). */
static inline void cube_square(icosphere *mesh, int axis, int level, int i, int j, int side)
{
    int32_t corner[4];
    for (int q = 0; q < 4; ++q) {
        double p[3];
        p[axis] = level;
        p[(axis + 1) % 3] = (double)(i + (q == 1 || q == 2)) / side;
        p[(axis + 2) % 3] = (double)(j + (q >= 2)) / side;
        corner[q] = cube_vertex(mesh, p);
    }
    const int32_t up[6] = {corner[0], corner[1], corner[2], corner[0], corner[2], corner[3]};
    const int32_t down[6] = {corner[0], corner[2], corner[1], corner[0], corner[3], corner[2]};
    memcpy(mesh->triangles + 3 * mesh->triangle_count, level ? up : down, sizeof up);
    mesh->triangle_count += 2;
}

/* icosphere_release frees. */
static inline void cube_init(icosphere *mesh, int side)
{
    memset(mesh, 0, sizeof *mesh);
    size_t triangles = 12 * (size_t)(side * side);
    mesh->triangles = malloc(triangles * 3 * sizeof *mesh->triangles);
    mesh->vertices = malloc(triangles * 3 * 3 * sizeof *mesh->vertices);
    for (int axis = 0; axis < 3; ++axis)
        for (int level = 0; level < 2; ++level)
            for (int s = 0; s < side * side; ++s)
                cube_square(mesh, axis, level, s % side, s / side, side);
}

#endif
