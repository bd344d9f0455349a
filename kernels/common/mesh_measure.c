#include "kernels/common/mesh_measure.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/vec3.h"

void ps_triangle_normal(const double *a, const double *b, const double *c, double out[3])
{
    double u[3], v[3];
    ps_subtract3(b, a, u);
    ps_subtract3(c, a, v);
    ps_cross3(u, v, out);
}

double ps_triangle_area(const double *a, const double *b, const double *c)
{
    double n[3];
    ps_triangle_normal(a, b, c, n);
    return 0.5 * ps_norm3(n);
}

double ps_tetrahedron_volume(const double *a, const double *b, const double *c, const double *d)
{
    double n[3], w[3];
    ps_triangle_normal(a, b, c, n);
    ps_subtract3(d, a, w);
    return ps_dot3(n, w) / 6;
}

/* r_in = 2A/(l1+l2+l3), R = l1 l2 l3/(4A). */
double ps_triangle_quality(const double *a, const double *b, const double *c)
{
    double x = ps_distance3(a, b), y = ps_distance3(b, c), z = ps_distance3(c, a);
    double area = ps_triangle_area(a, b, c), bottom = (x + y + z) * x * y * z;
    return bottom > 0 ? 16 * area * area / bottom : 0;
}

/* r_in = 3V/S; R = |u^2 (v x w) + v^2 (w x u) + w^2 (u x v)|/(12 V) with the edges u, v, w
 * from one vertex. */
double ps_tetrahedron_quality(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], vw[3], wu[3], uv[3], sum[3];
    ps_subtract3(b, a, u);
    ps_subtract3(c, a, v);
    ps_subtract3(d, a, w);
    ps_cross3(v, w, vw);
    ps_cross3(w, u, wu);
    ps_cross3(u, v, uv);
    for (int i = 0; i < 3; ++i)
        sum[i] = ps_dot3(u, u) * vw[i] + ps_dot3(v, v) * wu[i] + ps_dot3(w, w) * uv[i];
    double volume = fabs(ps_dot3(u, vw)) / 6;
    double surface = 0.5 * (ps_norm3(vw) + ps_norm3(wu) + ps_norm3(uv)) + ps_triangle_area(b, c, d);
    double bottom = surface * ps_norm3(sum);
    return bottom > 0 ? 108 * volume * volume / bottom : 0;
}

static double cell_size_of(const double *const v[4], int size)
{
    return size == 3 ? ps_triangle_area(v[0], v[1], v[2])
                     : ps_tetrahedron_volume(v[0], v[1], v[2], v[3]);
}

static double cell_quality_of(const double *const v[4], int size)
{
    return size == 3 ? ps_triangle_quality(v[0], v[1], v[2])
                     : ps_tetrahedron_quality(v[0], v[1], v[2], v[3]);
}

static void remember_worst(ps_cell_figures *out, double quality, const double *const v[4], int size)
{
    if (quality >= out->quality_min) return;
    out->quality_min = quality;
    for (int i = 0; i < 3; ++i) {
        out->worst_place[i] = 0;
        for (int k = 0; k < size; ++k) out->worst_place[i] += v[k][i] / size;
    }
}

static double low_percentile(const int64_t histogram[PS_QUALITY_BINS], int64_t count)
{
    int64_t below = 0;
    for (int bin = 0; bin < PS_QUALITY_BINS; ++bin) {
        below += histogram[bin];
        if (100 * below >= count) return (bin + 0.5) / PS_QUALITY_BINS;
    }
    return 1;
}

void ps_cells_measure(const double *vertices, const int32_t *cells, int64_t count, int size,
                      int64_t histogram[PS_QUALITY_BINS], ps_cell_figures *out)
{
    memset(histogram, 0, PS_QUALITY_BINS * sizeof *histogram);
    *out = (ps_cell_figures){.size_min = DBL_MAX, .quality_min = DBL_MAX};
    for (int64_t cell = 0; cell < count; ++cell) {
        const double *v[4] = {0};
        for (int k = 0; k < size; ++k) v[k] = vertices + 3 * (int64_t)cells[size * cell + k];
        double measure = cell_size_of(v, size), quality = cell_quality_of(v, size);
        out->size_sum += measure;
        out->size_min = fmin(out->size_min, measure);
        out->quality_mean += quality;
        int bin = (int)(quality * PS_QUALITY_BINS);
        ++histogram[bin < 0 ? 0 : bin >= PS_QUALITY_BINS ? PS_QUALITY_BINS - 1 : bin];
        remember_worst(out, quality, v, size);
    }
    if (count > 0) out->quality_mean /= (double)count;
    out->quality_low = low_percentile(histogram, count);
}

void ps_edge_figures_start(ps_edge_figures *figures)
{
    *figures = (ps_edge_figures){.min = DBL_MAX};
}

void ps_edge_figures_add(ps_edge_figures *figures, const double *a, const double *b)
{
    double length = ps_distance3(a, b);
    ++figures->count;
    figures->mean += length;
    figures->min = fmin(figures->min, length);
    figures->max = fmax(figures->max, length);
}

void ps_edge_figures_end(ps_edge_figures *figures)
{
    if (figures->count > 0)
        figures->mean /= (double)figures->count;
    else
        figures->min = 0;
}

void ps_parts_volumes(const double *vertices, const int32_t *triangles, int64_t count,
                      const int32_t *part, const uint8_t *flip, const double origin[3],
                      int64_t parts, double *volumes)
{
    memset(volumes, 0, (size_t)parts * sizeof *volumes);
    for (int64_t t = 0; t < count; ++t) {
        const int32_t *v = triangles + 3 * t;
        double volume =
            ps_tetrahedron_volume(origin, vertices + 3 * (int64_t)v[0],
                                  vertices + 3 * (int64_t)v[1], vertices + 3 * (int64_t)v[2]);
        volumes[part[t]] += flip && flip[t] ? -volume : volume;
    }
}

/* tan(angle/2) = a.(b x c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|) */
double ps_solid_angle(const double *a, const double *b, const double *c, const double *point)
{
    double u[3], v[3], w[3], vw[3];
    ps_subtract3(a, point, u);
    ps_subtract3(b, point, v);
    ps_subtract3(c, point, w);
    ps_cross3(v, w, vw);
    double x = ps_norm3(u), y = ps_norm3(v), z = ps_norm3(w);
    return 2 * atan2(ps_dot3(u, vw),
                     x * y * z + ps_dot3(u, v) * z + ps_dot3(v, w) * x + ps_dot3(w, u) * y);
}

double ps_winding_number(const double *vertices, const int32_t *triangles, int64_t count,
                         const int32_t *part, const uint8_t *flip, int32_t which,
                         const double point[3])
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t t = 0; t < count; ++t) {
        if (part && part[t] != which) continue;
        const int32_t *v = triangles + 3 * t;
        double angle = ps_solid_angle(vertices + 3 * (int64_t)v[0], vertices + 3 * (int64_t)v[1],
                                      vertices + 3 * (int64_t)v[2], point);
        sum += flip && flip[t] ? -angle : angle;
    }
    return sum / (4 * M_PI);
}

/* Over the triangle to its plane, else to its edges. */
static double distance_of(double corner[3][3], const double x[3])
{
    double least = INFINITY, normal[3], up[3]; /* least: squared, from the edges */
    bool inside = true;
    ps_triangle_normal(corner[0], corner[1], corner[2], normal);
    ps_subtract3(x, corner[0], up);
    double height = fabs(ps_dot3(up, normal)) / ps_norm3(normal);
    for (int e = 0; e < 3; ++e) {
        double u[3], side[3], out[3], w[3];
        ps_subtract3(x, corner[e], u);
        ps_subtract3(corner[(e + 1) % 3], corner[e], side);
        ps_cross3(side, normal, out);
        double s = fmin(fmax(ps_dot3(u, side) / ps_dot3(side, side), 0), 1);
        for (int c = 0; c < 3; ++c) w[c] = u[c] - s * side[c];
        least = fmin(least, ps_dot3(w, w));
        inside = inside && ps_dot3(out, u) <= 0;
    }
    return inside ? height : sqrt(least);
}

double ps_surface_distance(const double *vertices, const int32_t *triangles, int64_t count,
                           const double place[3], double *edge)
{
    double least = INFINITY;
    for (int64_t t = 0; t < count; ++t) {
        double corner[3][3], longest = 0;
        for (int i = 0; i < 3; ++i)
            memcpy(corner[i], vertices + 3 * triangles[3 * t + i], sizeof corner[i]);
        for (int i = 0; i < 3; ++i)
            longest = fmax(longest, ps_distance3(corner[i], corner[(i + 1) % 3]));
        if (ps_distance3(place, corner[0]) - longest >= least) continue;
        double distance = distance_of(corner, place);
        if (distance >= least) continue;
        least = distance;
        *edge = longest;
    }
    return least;
}
