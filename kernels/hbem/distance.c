#include "kernels/hbem/distance.h"

#include <math.h>

#include "kernels/common/vec3.h"

/* Over the triangle to its plane, else to its edges. */
static double triangle_distance(const ps_hbem_triangle *t, const double x[3])
{
    double least = INFINITY, height = 0; /* least: squared, from the edges */
    int inside = 1;
    for (int e = 0; e < 3; ++e) {
        double u[3], side[3], out[3], w[3];
        ps_subtract3(x, t->corner[e], u);
        ps_subtract3(t->corner[(e + 1) % 3], t->corner[e], side);
        ps_cross3(side, t->normal, out);
        double s = fmin(fmax(ps_dot3(u, side) / ps_dot3(side, side), 0), 1);
        for (int c = 0; c < 3; ++c) w[c] = u[c] - s * side[c];
        least = fmin(least, ps_dot3(w, w));
        inside = inside && ps_dot3(out, u) <= 0;
        height = fabs(ps_dot3(u, t->normal));
    }
    return inside ? height : sqrt(least);
}

double ps_hbem_surface_distance(const ps_hbem_surface *surface, const double x[3], double *edge)
{
    double least = INFINITY;
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &surface->triangles[t];
        if (ps_distance3(x, at->centroid) - at->radius >= least) continue;
        double d = triangle_distance(at, x);
        if (d >= least) continue;
        least = d;
        *edge = at->diameter;
    }
    return least;
}
