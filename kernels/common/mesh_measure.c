#include "kernels/common/mesh_measure.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void subtract(const double *a, const double *b, double out[3])
{
    for (int i = 0; i < 3; ++i) out[i] = a[i] - b[i];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double norm(const double *a) { return sqrt(dot(a, a)); }

static double distance(const double *a, const double *b)
{
    double d[3];
    subtract(a, b, d);
    return norm(d);
}

void ps_triangle_normal(const double *a, const double *b, const double *c, double out[3])
{
    double u[3], v[3];
    subtract(b, a, u);
    subtract(c, a, v);
    cross(u, v, out);
}

double ps_triangle_area(const double *a, const double *b, const double *c)
{
    double n[3];
    ps_triangle_normal(a, b, c, n);
    return 0.5 * norm(n);
}

double ps_tetrahedron_volume(const double *a, const double *b, const double *c, const double *d)
{
    double n[3], w[3];
    ps_triangle_normal(a, b, c, n);
    subtract(d, a, w);
    return dot(n, w) / 6;
}

/* r_in = 2A/(l1+l2+l3), R = l1 l2 l3/(4A). */
double ps_triangle_quality(const double *a, const double *b, const double *c)
{
    double x = distance(a, b), y = distance(b, c), z = distance(c, a);
    double area = ps_triangle_area(a, b, c), bottom = (x + y + z) * x * y * z;
    return bottom > 0 ? 16 * area * area / bottom : 0;
}

/* r_in = 3V/S; R = |u^2 (v x w) + v^2 (w x u) + w^2 (u x v)|/(12 V) with the edges u, v, w
 * from one vertex. */
double ps_tetrahedron_quality(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], vw[3], wu[3], uv[3], sum[3];
    subtract(b, a, u);
    subtract(c, a, v);
    subtract(d, a, w);
    cross(v, w, vw);
    cross(w, u, wu);
    cross(u, v, uv);
    for (int i = 0; i < 3; ++i) sum[i] = dot(u, u) * vw[i] + dot(v, v) * wu[i] + dot(w, w) * uv[i];
    double volume = fabs(dot(u, vw)) / 6;
    double surface = 0.5 * (norm(vw) + norm(wu) + norm(uv)) + ps_triangle_area(b, c, d);
    double bottom = surface * norm(sum);
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
    double length = distance(a, b);
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
static double solid_angle(const double *a, const double *b, const double *c, const double *point)
{
    double u[3], v[3], w[3], vw[3];
    subtract(a, point, u);
    subtract(b, point, v);
    subtract(c, point, w);
    cross(v, w, vw);
    double x = norm(u), y = norm(v), z = norm(w);
    return 2 * atan2(dot(u, vw), x * y * z + dot(u, v) * z + dot(v, w) * x + dot(w, u) * y);
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
        double angle = solid_angle(vertices + 3 * (int64_t)v[0], vertices + 3 * (int64_t)v[1],
                                   vertices + 3 * (int64_t)v[2], point);
        sum += flip && flip[t] ? -angle : angle;
    }
    return sum / (4 * M_PI);
}
