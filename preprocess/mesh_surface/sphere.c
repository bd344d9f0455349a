/*
 * Vertices stand in rings from the north pole (ring 0) to the south pole (ring 2n): ring m has four
 * sides of s = min(m, 2n - m) points, the lattice points of the octahedron |x| + |y| + |z| = n at
 * z = n - m. So every number is known without search.
 */
#include <math.h>

#include "preprocess/mesh_surface/shapes.h"

shape_size sphere_size(int64_t n) { return (shape_size){4 * n * n + 2, 8 * n * n}; }

static int64_t side_of(int64_t n, int64_t m) { return m < n ? m : 2 * n - m; }

static int64_t ring_first(int64_t n, int64_t m)
{
    int64_t s = side_of(n, m);
    if (m <= n) return m ? 1 + 2 * s * (s - 1) : 0;
    return 4 * n * n + 2 - (2 * s * (s + 1) + 1);
}

/* Point i of side q; i = s is the first of the next side. */
static int32_t ring_vertex(int64_t n, int64_t m, int64_t q, int64_t i)
{
    int64_t s = side_of(n, m);
    return (int32_t)(ring_first(n, m) + (s ? (q * s + i) % (4 * s) : 0));
}

static void fill_ring(int64_t n, int64_t m, double radius, ps_surface_mesh *mesh)
{
    static const int axes[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    int64_t s = side_of(n, m), points = s ? 4 * s : 1;
    for (int64_t p = 0; p < points; ++p) {
        int64_t q = s ? p / s : 0, i = s ? p % s : 0;
        const int *from = axes[q], *to = axes[(q + 1) % 4];
        double x = (double)((s - i) * from[0] + i * to[0]);
        double y = (double)((s - i) * from[1] + i * to[1]), z = (double)(n - m);
        double *out = mesh->vertices + 3 * (ring_first(n, m) + p);
        double scale = radius / sqrt(x * x + y * y + z * z);
        out[0] = scale * x;
        out[1] = scale * y;
        out[2] = scale * z;
    }
}

static int32_t *add_triangle(int32_t *to, int32_t a, int32_t b, int32_t c, bool turn)
{
    to[0] = a;
    to[1] = turn ? c : b;
    to[2] = turn ? b : c;
    return to + 3;
}

/* The triangles between rings m and m + 1; `narrow` is the ring of shorter sides. */
static void fill_band(int64_t n, int64_t m, ps_surface_mesh *mesh)
{
    bool south = m >= n;
    int64_t s = south ? 2 * n - 1 - m : m, narrow = south ? m + 1 : m, wide = south ? m : m + 1;
    int64_t first = south ? 8 * n * n - 4 * (s + 1) * (s + 1) : 4 * s * s;
    int32_t *to = mesh->triangles + 3 * first;
    for (int64_t q = 0; q < 4; ++q)
        for (int64_t i = 0; i <= s; ++i) {
            int32_t a = ring_vertex(n, narrow, q, i), b = ring_vertex(n, wide, q, i),
                    c = ring_vertex(n, wide, q, i + 1);
            to = add_triangle(to, a, b, c, south);
            if (i < s) to = add_triangle(to, a, c, ring_vertex(n, narrow, q, i + 1), south);
        }
}

void sphere_fill(int64_t n, double radius, ps_surface_mesh *mesh)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 8) nowait
        for (int64_t m = 0; m <= 2 * n; ++m) fill_ring(n, m, radius, mesh);
#pragma omp for schedule(dynamic, 8)
        for (int64_t m = 0; m < 2 * n; ++m) fill_band(n, m, mesh);
    }
}
