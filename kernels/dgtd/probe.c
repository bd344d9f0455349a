#include "kernels/dgtd/probe.h"

#include <math.h>

#include "kernels/dgtd/mesh.h"

static const double tolerance = 1e-9;

static double triple(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Barycentric coordinates of a point in an element. */
static void coordinates(const ps_dgtd_body *body, int64_t e, const double point[3], double l[4])
{
    double t[3][3], d[3];
    const double *origin = body->vertices + 3 * (int64_t)body->tetrahedra[4 * e];
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, t);
    for (int c = 0; c < 3; ++c) d[c] = (point[c] - origin[c]) / 2;
    double det = ps_dgtd_determinant(t);
    l[1] = triple(d, t[1], t[2]) / det;
    l[2] = triple(t[0], d, t[2]) / det;
    l[3] = triple(t[0], t[1], d) / det;
    l[0] = 1 - l[1] - l[2] - l[3];
}

/* Is the point in the element's box, a little enlarged? Spares most of the divisions. */
static int in_box(const ps_dgtd_body *body, int64_t e, const double point[3])
{
    for (int c = 0; c < 3; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < 4; ++v) {
            double x = body->vertices[3 * (int64_t)body->tetrahedra[4 * e + v] + c];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        double room = 1e-6 * (high - low);
        if (point[c] < low - room || point[c] > high + room) return 0;
    }
    return 1;
}

static int holds(const ps_dgtd_body *body, int64_t e, const double point[3])
{
    double l[4];
    if (!in_box(body, e, point)) return 0;
    coordinates(body, e, point, l);
    return fmin(fmin(l[0], l[1]), fmin(l[2], l[3])) >= -tolerance;
}

int64_t ps_dgtd_probe_find(const ps_dgtd_body *body, const int32_t *numbers, const double point[3])
{
    int64_t best = INT64_MAX; /* number << 32 | element */
#pragma omp parallel for reduction(min : best)
    for (int64_t e = 0; e < body->elements; ++e)
        if (holds(body, e, point)) {
            int64_t key = ((int64_t)(numbers ? numbers[e] : e) << 32) | e;
            best = key < best ? key : best;
        }
    return best == INT64_MAX ? -1 : best & 0xffffffff;
}

void ps_dgtd_probe_set(ps_dgtd_probe *probe, const ps_dgtd_body *body,
                       const ps_dgtd_reference *reference, int64_t element, const double point[3])
{
    double l[4];
    coordinates(body, element, point, l);
    probe->slot = element;
    ps_dgtd_reference_values(reference, l, probe->weights);
}

void ps_dgtd_probe_value(const ps_dgtd_probe *probe, const ps_dgtd_system *system,
                         const void *field, double out[3])
{
    for (int c = 0; c < 3; ++c) {
        out[c] = 0;
        for (int n = 0; n < system->reference->nodes; ++n)
            out[c] += probe->weights[n] * ps_dgtd_get(system, field, probe->slot, c, n);
    }
}
