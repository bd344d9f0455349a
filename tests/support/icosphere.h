/*
 * icosphere: sphere meshes for tests: the icosahedron, each triangle cut in four `levels` times,
 * all vertices on the sphere. 20 * 4^levels triangles: 80, 320, 1280 for levels 1, 2, 3.
 *
 * Vertices and triangles are in the order of shared/numerics/tdbem-ref/sphere80-mesh.txt, so
 * that its reference numbers apply; normals point outward.
 */
#ifndef PS_TESTS_SUPPORT_ICOSPHERE_H
#define PS_TESTS_SUPPORT_ICOSPHERE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/random.h"

typedef struct icosphere {
    int64_t vertex_count, triangle_count;
    double *vertices;   /* [vertex_count][3]   */
    int32_t *triangles; /* [triangle_count][3] */
} icosphere;

static inline void icosphere_release(icosphere *mesh)
{
    PS_FREE(mesh->vertices, mesh->triangles);
    memset(mesh, 0, sizeof *mesh);
}

/* Appends the point `p`, pushed onto the unit sphere. */
static inline int32_t icosphere_push(icosphere *mesh, const double p[3])
{
    double r = ps_norm3(p);
    for (int c = 0; c < 3; ++c) mesh->vertices[3 * mesh->vertex_count + c] = p[c] / r;
    return (int32_t)mesh->vertex_count++;
}

/* The vertex in the middle of an edge, made when first asked for. Every vertex has eight slots for
 * the edges to higher vertices met so far: seen[slot][2] is the other end and the middle. */
static inline int32_t icosphere_middle(icosphere *mesh, int32_t a, int32_t b, int32_t *seen,
                                       int64_t *slots)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (int64_t s = low * 8; s < low * 8 + 8; ++s) {
        if (slots[s] && seen[2 * s] == high) return seen[2 * s + 1];
        if (slots[s]) continue;
        double p[3];
        for (int c = 0; c < 3; ++c) p[c] = mesh->vertices[3 * a + c] + mesh->vertices[3 * b + c];
        slots[s] = 1;
        seen[2 * s] = high;
        return seen[2 * s + 1] = icosphere_push(mesh, p);
    }
    abort(); /* a vertex has at most six neighbours */
}

/* Every triangle (a, b, c) becomes (a, ab, ca) (b, bc, ab) (c, ca, bc) (ab, bc, ca). */
static inline void icosphere_refine(icosphere *mesh)
{
    PS_SCOPED_MEMORY int32_t *old = mesh->triangles;
    int64_t count = mesh->triangle_count, before = mesh->vertex_count;
    PS_SCOPED_MEMORY int32_t *seen = calloc((size_t)before * 16, sizeof *seen);
    PS_SCOPED_MEMORY int64_t *slots = calloc((size_t)before * 8, sizeof *slots);
    mesh->vertices = realloc(mesh->vertices, (size_t)(4 * before) * 3 * sizeof(double));
    mesh->triangles = malloc((size_t)count * 12 * sizeof *mesh->triangles);
    for (int64_t t = 0; t < count; ++t) {
        const int32_t *v = old + 3 * t;
        int32_t m[3];
        for (int c = 0; c < 3; ++c)
            m[c] = icosphere_middle(mesh, v[c], v[(c + 1) % 3], seen, slots);
        int32_t *out = mesh->triangles + 12 * t;
        for (int c = 0; c < 3; ++c) {
            out[3 * c] = v[c];
            out[3 * c + 1] = m[c];
            out[3 * c + 2] = m[(c + 2) % 3];
            out[9 + c] = m[c];
        }
    }
    mesh->triangle_count = 4 * count;
}

/* Unit sphere of 20 * 4^levels triangles, in the caller's struct; icosphere_release frees it. */
static inline void icosphere_init(icosphere *mesh, int levels)
{
    static const int32_t faces[20][3] = {
        {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
        {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
        {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    double g = (1 + sqrt(5.0)) / 2;
    const double corners[12][3] = {{-1, g, 0}, {1, g, 0}, {-1, -g, 0}, {1, -g, 0},
                                   {0, -1, g}, {0, 1, g}, {0, -1, -g}, {0, 1, -g},
                                   {g, 0, -1}, {g, 0, 1}, {-g, 0, -1}, {-g, 0, 1}};
    memset(mesh, 0, sizeof *mesh);
    mesh->vertices = malloc(12 * 3 * sizeof(double));
    mesh->triangles = malloc(sizeof faces);
    memcpy(mesh->triangles, faces, sizeof faces);
    mesh->triangle_count = 20;
    for (int v = 0; v < 12; ++v) icosphere_push(mesh, corners[v]);
    for (int l = 0; l < levels; ++l) icosphere_refine(mesh);
}

/* Total area of the flat triangles. */
static inline double icosphere_area(const icosphere *mesh)
{
    double area = 0;
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        const double *p[3];
        double u[3], w[3];
        for (int c = 0; c < 3; ++c) p[c] = mesh->vertices + 3 * mesh->triangles[3 * t + c];
        for (int c = 0; c < 3; ++c) {
            u[c] = p[1][c] - p[0][c];
            w[c] = p[2][c] - p[0][c];
        }
        double x = u[1] * w[2] - u[2] * w[1], y = u[2] * w[0] - u[0] * w[2];
        double z = u[0] * w[1] - u[1] * w[0];
        area += sqrt(x * x + y * y + z * z) / 2;
    }
    return area;
}

/* Scales all vertices: the tables of the guide use factor = sqrt(4 pi / area). */
static inline void icosphere_scale(icosphere *mesh, double factor)
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i) mesh->vertices[i] *= factor;
}

static inline void icosphere_scale_to_area(icosphere *mesh)
{
    icosphere_scale(mesh, sqrt(4 * 3.14159265358979323846 / icosphere_area(mesh)));
}

/* Moves every vertex by up to `amount` in each coordinate: no two edges alike any more. */
static inline void icosphere_jitter(icosphere *mesh, double amount)
{
    uint64_t z = 1;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i)
        mesh->vertices[i] += amount * (2 * congruence_uniform(&z) - 1);
}

/* Mean edge length h. */
static inline double icosphere_mean_edge(const icosphere *mesh)
{
    double sum = 0;
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i) {
        const double *p = mesh->vertices + 3 * mesh->triangles[i];
        const double *q = mesh->vertices + 3 * mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
        sum += sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                    (p[2] - q[2]) * (p[2] - q[2]));
    }
    return sum / (double)(3 * mesh->triangle_count);
}

#endif
