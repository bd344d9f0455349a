#include "kernels/hbem/loads.h"

#include <math.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/rules.h"

/* e^{ikr}/(4 pi r), or its normal derivative. */
static void point_source(const ps_hbem_load *load, const double x[3], const double normal[3],
                         double out[2])
{
    double r[3] = {x[0] - load->vector[0], x[1] - load->vector[1], x[2] - load->vector[2]};
    double length = sqrt(ps_dot3(r, r)), kr = load->wavenumber * length;
    double size = 1 / (4 * M_PI * length), re = size * cos(kr), im = size * sin(kr);
    if (load->derivative) { /* g (ikr - 1) r.n / r^2 */
        double along = ps_dot3(r, normal) / (length * length), turned = re;
        re = along * (-re - kr * im);
        im = along * (kr * turned - im);
    }
    out[0] = re;
    out[1] = im;
}

static void plane_wave(const ps_hbem_load *load, const double x[3], const double normal[3],
                       double out[2])
{
    double phase = load->wavenumber * ps_dot3(load->vector, x);
    double slope = load->derivative ? load->wavenumber * ps_dot3(load->vector, normal) : 0;
    out[0] = load->derivative ? -slope * sin(phase) : cos(phase);
    out[1] = load->derivative ? slope * cos(phase) : sin(phase);
}

void ps_hbem_load_value(const ps_hbem_load *load, const ps_hbem_triangle *t, const double hat[3],
                        double out[2])
{
    double x[3] = {0};
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) x[c] += hat[l] * t->corner[l][c];
    out[0] = out[1] = 0;
    switch (load->kind) {
    case PS_LOAD_PLANE:
        plane_wave(load, x, t->normal, out);
        break;
    case PS_LOAD_POINT:
        point_source(load, x, t->normal, out);
        break;
    case PS_LOAD_LINEAR:
        out[0] = ps_dot3(load->vector, load->derivative ? t->normal : x);
        break;
    case PS_LOAD_VALUE:
        out[0] = load->vector[0];
        break;
    case PS_LOAD_TABLE:
        for (int l = 0; l < 3; ++l) out[0] += hat[l] * load->table[t->vertex[l]];
        break;
    }
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
