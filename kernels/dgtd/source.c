#include "kernels/dgtd/source.h"

#include <math.h>

#include "kernels/dgtd/mesh.h"

enum { GAUSS = 6, THREADED_ELEMENTS = 256 };

static const double pi = 3.14159265358979323846;

#define LEAF static
#include "kernels/dgtd/incident_body.h"
#undef LEAF

void ps_dgtd_pulse_at(const ps_dgtd_pulse *x, double t, double out[3]) { pulse_at(x, t, out); }

void ps_dgtd_incident_at(const ps_dgtd_incident *x, const double point[3], double t, double e[3],
                         double h[3])
{
    incident_at(x, point, t, e, h);
}

static const double *corner(const ps_dgtd_body *body, int64_t e, int v)
{
    return body->vertices + 3 * (int64_t)body->tetrahedra[4 * e + v];
}

/* The ball about the centroid through the farthest vertex meets the ball of the source. */
static int has_part(const ps_dgtd_current *x, const ps_dgtd_body *body, int64_t e)
{
    double centre[3] = {0}, reach = 0, distance = 0;
    for (int v = 0; v < 4; ++v)
        for (int c = 0; c < 3; ++c) centre[c] += corner(body, e, v)[c] / 4;
    for (int v = 0; v < 4; ++v) {
        double square = 0;
        for (int c = 0; c < 3; ++c) square += pow(corner(body, e, v)[c] - centre[c], 2);
        reach = fmax(reach, sqrt(square));
    }
    for (int c = 0; c < 3; ++c) distance += pow(centre[c] - x->origin[c], 2);
    return sqrt(distance) < reach + x->radius;
}

int64_t ps_dgtd_current_count(const ps_dgtd_current *current, const ps_dgtd_body *body)
{
    int64_t count = 0;
    for (int64_t e = 0; e < body->elements; ++e) count += has_part(current, body, e);
    return count;
}

static double weight_at(const ps_dgtd_current *x, const double point[3])
{
    double square = 0, r3 = x->radius * x->radius * x->radius;
    for (int c = 0; c < 3; ++c) square += pow(point[c] - x->origin[c], 2);
    double rest = 1 - square / (x->radius * x->radius);
    return rest > 0 ? 105 / (32 * pi * r3) * rest * rest : 0;
}

/* moments[nodes] = 1/V int phi w over the element. */
static void moments_of(const ps_dgtd_current *x, const ps_dgtd_reference *reference,
                       const ps_dgtd_body *body, int64_t e, double *moments)
{
    double points[GAUSS], weights[GAUSS], values[PS_DGTD_MAX_NODES];
    ps_dgtd_gauss(GAUSS, points, weights);
    for (int n = 0; n < reference->nodes; ++n) moments[n] = 0;
    for (int q = 0; q < GAUSS * GAUSS * GAUSS; ++q) {
        int i = q / GAUSS / GAUSS, j = q / GAUSS % GAUSS, k = q % GAUSS;
        double a = 1 - points[i], b = 1 - points[j], place[3] = {0};
        double l[4] = {points[i], a * points[j], a * b * points[k], a * b * (1 - points[k])};
        for (int v = 0; v < 4; ++v)
            for (int c = 0; c < 3; ++c) place[c] += l[v] * corner(body, e, v)[c];
        double w = 6 * weights[i] * weights[j] * weights[k] * a * a * b * weight_at(x, place);
        ps_dgtd_reference_values(reference, l, values);
        for (int n = 0; n < reference->nodes; ++n) moments[n] += w * values[n];
    }
}

/* By Cholesky. */
void ps_dgtd_divide_by_mass(const ps_dgtd_reference *reference, double *b)
{
    int n = reference->nodes;
    double l[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = reference->mass[i * n + j] * 3 / 4;
            for (int k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    ps_dgtd_solve_lower(n, l, b);
}

void ps_dgtd_current_load(ps_dgtd_current *x, const ps_dgtd_reference *reference,
                          const ps_dgtd_body *body, double *integral)
{
    int64_t at = 0;
    int n = reference->nodes;
    for (int64_t e = 0; e < body->elements && at < x->count; ++e) {
        if (!has_part(x, body, e)) continue;
        double tangents[3][3], *load = x->loads + at * n;
        ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
        moments_of(x, reference, body, e, load);
        for (int i = 0; i < n; ++i) /* the polynomials add up to 1 */
            *integral += 4. / 3 * fabs(ps_dgtd_determinant(tangents)) * load[i];
        ps_dgtd_divide_by_mass(reference, load);
        x->slots[at++] = e;
    }
}

ps_status ps_dgtd_current_scale(ps_dgtd_current *x, const ps_dgtd_reference *reference,
                                double integral)
{
    if (!(integral > 0))
        return ps_fail(PS_INVALID,
                       "the current's ball of radius %g m at (%g, %g, %g) meets no element",
                       x->radius, x->origin[0], x->origin[1], x->origin[2]);
    for (int64_t i = 0; i < x->count * reference->nodes; ++i) x->loads[i] /= integral;
    return PS_OK;
}

ps_status ps_dgtd_current_fill(ps_dgtd_current *x, const ps_dgtd_reference *reference,
                               const ps_dgtd_body *body)
{
    double integral = 0;
    ps_dgtd_current_load(x, reference, body, &integral);
    return ps_dgtd_current_scale(x, reference, integral);
}

void ps_dgtd_current_apply(const ps_dgtd_current *x, const ps_dgtd_system *system, void *electric,
                           double t, int64_t begin, int64_t end)
{
    double p[3];
    int n = system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    ps_dgtd_pulse_at(&x->moment, t, p);
#pragma omp parallel for schedule(static) if (x->count > THREADED_ELEMENTS)
    for (int64_t k = 0; k < x->count; ++k) {
        int64_t slot = x->slots[k];
        if (slot < begin * lanes || slot >= end * lanes) continue;
        double scale = ps_dgtd_gain(system, PS_DGTD_E, slot) * p[1];
        for (int c = 0; c < 3; ++c)
            for (int i = 0; i < n; ++i) {
                double former = ps_dgtd_get(system, electric, slot, c, i);
                ps_dgtd_set_node(system, electric, slot, c, i,
                                 former - scale * x->axis[c] * x->loads[k * n + i]);
            }
    }
}

void ps_dgtd_current_work(const ps_dgtd_current *x, const ps_dgtd_system *system, const void *u,
                          double t, int64_t begin, int64_t end, double *work)
{
    double p[3];
    int n = system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    ps_dgtd_pulse_at(&x->moment, t, p);
    for (int64_t k = 0; k < x->count; ++k) {
        int64_t slot = x->slots[k];
        double tangents[3][3], sum = 0;
        if (slot < begin * lanes || slot >= end * lanes) continue;
        ps_dgtd_slot_tangents(system, slot, tangents);
        for (int i = 0; i < n; ++i) {
            double along = 0;
            for (int c = 0; c < 3; ++c) along += x->axis[c] * ps_dgtd_get(system, u, slot, c, i);
            for (int j = 0; j < n; ++j)
                sum += along * system->reference->mass[i * n + j] * x->loads[k * n + j];
        }
        work[slot / lanes] -= p[1] * fabs(ps_dgtd_determinant(tangents)) * sum;
    }
}
