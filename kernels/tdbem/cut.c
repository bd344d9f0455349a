#include "kernels/tdbem/cut.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/common/vec3.h"

static const double close_to = 1. / 20, very_close = 1. / 100; /* of the longest edge */

/* Outward distance of u = x - vertex e from the line of edge e, in the plane: (t x n).u. */
static double outside(const ps_triangle *triangle, int e, const double u[3])
{
    const double *t = triangle->tangent[e], *n = triangle->normal;
    const double m[3] = {t[1] * n[2] - t[2] * n[1], t[2] * n[0] - t[0] * n[2],
                         t[0] * n[1] - t[1] * n[0]};
    return ps_dot3(m, u);
}

double ps_triangle_distance(const ps_triangle *triangle, const double x[3])
{
    double least = INFINITY, height = 0; /* least: squared, from the edges */
    bool inside = true;
    for (int e = 0; e < 3; ++e) {
        double u[3], w[3];
        for (int c = 0; c < 3; ++c) u[c] = x[c] - triangle->vertex[e][c];
        double s = fmin(fmax(ps_dot3(u, triangle->tangent[e]), 0), triangle->length[e]);
        for (int c = 0; c < 3; ++c) w[c] = u[c] - s * triangle->tangent[e][c];
        least = fmin(least, ps_dot3(w, w));
        inside = inside && outside(triangle, e, u) <= 0;
        height = fabs(ps_dot3(u, triangle->normal));
    }
    return inside ? height : sqrt(least);
}

/* ---- sorted along x ---- */

static _Thread_local const ps_triangle *sorted_triangles;

static int compare_x(const void *a, const void *b)
{
    int32_t s = *(const int32_t *)a, t = *(const int32_t *)b;
    double x = sorted_triangles[s].centroid[0], y = sorted_triangles[t].centroid[0];
    return x != y ? (x > y) - (x < y) : (s > t) - (s < t);
}

/* The least of `gap` and the distance from x to triangle t, computed only where its bounding sphere
 * is nearer than `gap`. */
static double nearer(const ps_triangle *t, const double x[3], double gap)
{
    const double u[3] = {x[0] - t->centroid[0], x[1] - t->centroid[1], x[2] - t->centroid[2]};
    double reach = t->radius + gap;
    return ps_dot3(u, u) >= reach * reach ? gap : fmin(gap, ps_triangle_distance(t, x));
}

/* g of the triangle at place p of the order; `widest`: the largest bounding sphere. */
static double gap_at(const ps_triangle *triangles, int64_t count, const int32_t *order, int64_t p,
                     double widest)
{
    const ps_triangle *own = &triangles[order[p]];
    const double *x = own->centroid;
    double gap = 2 * own->area / (3 * ps_triangle_longest_edge(own));
    for (int step = -1; step <= 1; step += 2)
        for (int64_t q = p + step; q >= 0 && q < count; q += step) {
            const ps_triangle *t = &triangles[order[q]];
            if (fabs(t->centroid[0] - x[0]) > gap + widest) break;
            gap = nearer(t, x, gap);
        }
    return gap;
}

void ps_triangles_set_cut(ps_triangle *triangles, int64_t count, int32_t *order)
{
    double widest = 0;
    for (int64_t t = 0; t < count; ++t) {
        order[t] = (int32_t)t;
        widest = fmax(widest, triangles[t].radius);
    }
    sorted_triangles = triangles;
    qsort(order, (size_t)count, sizeof *order, compare_x);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t p = 0; p < count; ++p) {
        ps_triangle *own = &triangles[order[p]];
        double gap = gap_at(triangles, count, order, p, widest);
        double longest = ps_triangle_longest_edge(own);
        own->cut = 1 + (gap < close_to * longest) + (gap < very_close * longest);
    }
}
