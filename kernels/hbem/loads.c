#include "kernels/hbem/loads.h"

#include <complex.h>
#include <math.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/rules.h"

/* g = e^{ikr}/(4 pi r) and its first two derivatives by r. */
static void radial(double k, double r, double complex g[3])
{
    double complex slope = I * k - 1 / r;
    g[0] = (cos(k * r) + I * sin(k * r)) / (4 * M_PI * r);
    g[1] = g[0] * slope;
    g[2] = g[0] * (slope * slope + 1 / (r * r));
}

static double complex point_source(const ps_hbem_load *load, const double x[3],
                                   const double normal[3])
{
    double r[3] = {x[0] - load->vector[0], x[1] - load->vector[1], x[2] - load->vector[2]};
    double length = ps_norm3(r);
    double complex g[3];
    radial(load->wavenumber, length, g);
    return load->derivative ? g[1] * ps_dot3(r, normal) / length : g[0];
}

/* -g' D.e, e = r/|r|; its derivative is -(g'' - g'/r) (D.e) (n.e) - g'/r D.n. */
static double complex dipole(const ps_hbem_load *load, const double x[3], const double normal[3])
{
    double r[3] = {x[0] - load->vector[0], x[1] - load->vector[1], x[2] - load->vector[2]};
    double length = ps_norm3(r), along = ps_dot3(load->axis, r) / length;
    double complex g[3];
    radial(load->wavenumber, length, g);
    if (!load->derivative) return -g[1] * along;
    return -(g[2] - g[1] / length) * along * ps_dot3(r, normal) / length -
           g[1] / length * ps_dot3(load->axis, normal);
}

static void plane_wave(const ps_hbem_load *load, const double x[3], const double normal[3],
                       double out[2])
{
    double phase = load->wavenumber * ps_dot3(load->vector, x);
    double slope = load->derivative ? load->wavenumber * ps_dot3(load->vector, normal) : 0;
    out[0] = load->derivative ? -slope * sin(phase) : cos(phase);
    out[1] = load->derivative ? slope * cos(phase) : sin(phase);
}

static void split(double complex value, double out[2])
{
    out[0] = creal(value);
    out[1] = cimag(value);
}

void ps_hbem_load_at(const ps_hbem_load *load, const double x[3], const double normal[3],
                     double out[2])
{
    out[0] = out[1] = 0;
    switch (load->kind) {
    case PS_LOAD_PLANE:
        plane_wave(load, x, normal, out);
        break;
    case PS_LOAD_POINT:
        split(point_source(load, x, normal), out);
        break;
    case PS_LOAD_DIPOLE:
        split(dipole(load, x, normal), out);
        break;
    case PS_LOAD_LINEAR:
        out[0] = ps_dot3(load->vector, load->derivative ? normal : x);
        break;
    case PS_LOAD_VALUE:
        out[0] = load->vector[0];
        break;
    case PS_LOAD_TABLE:
    case PS_LOAD_NONE:
        break;
    }
}

void ps_hbem_load_value(const ps_hbem_load *load, const ps_hbem_triangle *t, const double hat[3],
                        double out[2])
{
    double x[3] = {0};
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) x[c] += hat[l] * t->corner[l][c];
    ps_hbem_load_at(load, x, t->normal, out);
    for (int l = 0; l < 3 && load->kind == PS_LOAD_TABLE; ++l)
        out[0] += hat[l] * load->table[t->vertex[l]];
}

void ps_hbem_load_vector(const ps_hbem_load *load, const ps_hbem_space *space, int parts,
                         double *items, double *out)
{
    int64_t triangles = space->surface->triangle_count;
    ps_hbem_rule rule;
    ps_hbem_rule_six(&rule);
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < triangles; ++t) {
        const ps_hbem_triangle *at = &space->surface->triangles[t];
        double sum[2][3] = {{0}}, value[2];
        for (int q = 0; q < rule.count; ++q) {
            ps_hbem_load_value(load, at, rule.hat[q], value);
            for (int part = 0; part < 2; ++part)
                for (int l = 0; l < 3; ++l)
                    sum[part][l] += rule.weight[q] * at->jacobian * rule.hat[q][l] * value[part];
        }
        for (int part = 0; part < parts; ++part)
            for (int l = 0; l < 3; ++l) items[3 * (part * triangles + t) + l] = sum[part][l];
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < space->dofs; ++i)
        for (int part = 0; part < parts; ++part) {
            double sum = 0;
            for (int64_t e = space->start[i]; e < space->start[i + 1]; ++e)
                sum += items[3 * part * triangles + space->item[e]];
            out[part * space->dofs + i] = sum;
        }
}
