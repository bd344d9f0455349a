#include "kernels/tdbem/geometry.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"

_Static_assert(sizeof(ps_triangle) == 32 * sizeof(double), "a triangle is four cache lines");

static void set_edges(ps_triangle *triangle)
{
    for (int e = 0; e < 3; ++e) {
        const double *p = triangle->vertex[e], *q = triangle->vertex[(e + 1) % 3];
        double *t = triangle->tangent[e];
        for (int c = 0; c < 3; ++c) t[c] = q[c] - p[c];
        triangle->length[e] = ps_norm3(t);
        for (int c = 0; c < 3; ++c) t[c] /= triangle->length[e];
    }
}

static void set_bounds(ps_triangle *triangle)
{
    for (int c = 0; c < 3; ++c)
        triangle->centroid[c] =
            (triangle->vertex[0][c] + triangle->vertex[1][c] + triangle->vertex[2][c]) / 3;
    triangle->radius = 0;
    for (int v = 0; v < 3; ++v) {
        double out[3];
        for (int c = 0; c < 3; ++c) out[c] = triangle->vertex[v][c] - triangle->centroid[c];
        triangle->radius = fmax(triangle->radius, ps_norm3(out));
    }
}

ps_status ps_triangles_init(const double *vertices, const int32_t *triangles, int64_t count,
                            ps_triangle *out)
{
    for (int64_t t = 0; t < count; ++t) {
        ps_triangle *triangle = out + t;
        memset(triangle, 0, sizeof *triangle);
        triangle->cut = 1;
        for (int v = 0; v < 3; ++v)
            memcpy(triangle->vertex[v], vertices + 3 * (int64_t)triangles[3 * t + v],
                   3 * sizeof(double));
        set_edges(triangle);
        double u[3], w[3], normal[3];
        for (int c = 0; c < 3; ++c) {
            u[c] = triangle->vertex[1][c] - triangle->vertex[0][c];
            w[c] = triangle->vertex[2][c] - triangle->vertex[0][c];
        }
        ps_cross3(u, w, normal);
        double twice = ps_norm3(normal), longest = ps_triangle_longest_edge(triangle);
        if (!(twice > 1e-14 * longest * longest))
            return ps_fail(PS_INVALID,
                           "triangle %lld has no area (2 A = %.3g m^2, longest edge %.3g m); "
                           "remove degenerate triangles, e.g. with penstock-mesh-import --weld",
                           (long long)t, twice, longest);
        triangle->area = twice / 2;
        for (int c = 0; c < 3; ++c) triangle->normal[c] = normal[c] / twice;
        set_bounds(triangle);
    }
    return PS_OK;
}

double ps_triangle_longest_edge(const ps_triangle *triangle)
{
    return fmax(triangle->length[0], fmax(triangle->length[1], triangle->length[2]));
}

double ps_triangles_extent(const ps_triangle *triangles, int64_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t t = 0; t < count; ++t)
        for (int v = 0; v < 3; ++v)
            for (int c = 0; c < 3; ++c) {
                low[c] = fmin(low[c], triangles[t].vertex[v][c]);
                high[c] = fmax(high[c], triangles[t].vertex[v][c]);
            }
    double side[3];
    for (int c = 0; c < 3; ++c) side[c] = count ? high[c] - low[c] : 0;
    return ps_norm3(side);
}

double ps_triangles_thickness(const ps_triangle *triangles, int64_t count)
{
    double area = 0, volume = 0;
    for (int64_t t = 0; t < count; ++t) {
        area += triangles[t].area;
        volume += triangles[t].area / 3 * ps_dot3(triangles[t].centroid, triangles[t].normal);
    }
    return 2 * volume / area / sqrt(area / (4 * M_PI));
}

double ps_triangles_mean_edge(const ps_triangle *triangles, int64_t count)
{
    double sum = 0;
    for (int64_t t = 0; t < count; ++t)
        for (int e = 0; e < 3; ++e) sum += triangles[t].length[e];
    return count ? sum / (double)(3 * count) : 0;
}
