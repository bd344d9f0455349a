#include "kernels/hbem/loads.h"

#include <math.h>

#include "kernels/common/complex_pair.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/rules.h"

/* g = e^{ikr}/(4 pi r) and its first two derivatives by r. */
static void radial(const ps_hbem_load *load, double r, double complex g[3])
{
    double k = load->wavenumber, loss = load->absorption;
    double complex slope = I * k - (loss + 1 / r);
    g[0] = (cos(k * r) + I * sin(k * r)) / (4 * M_PI * r) * exp(-loss * r);
    g[1] = g[0] * slope;
    g[2] = g[0] * (slope * slope + 1 / (r * r));
}

static double complex point_source(const ps_hbem_load *load, const double x[3],
                                   const double normal[3])
{
    double r[3] = {x[0] - load->vector[0], x[1] - load->vector[1], x[2] - load->vector[2]};
    double length = ps_norm3(r);
    double complex g[3];
    radial(load, length, g);
    return load->derivative ? g[1] * ps_dot3(r, normal) / length : g[0];
}

/* -g' D.e, e = r/|r|; its derivative is -(g'' - g'/r) (D.e) (n.e) - g'/r D.n. */
static double complex dipole(const ps_hbem_load *load, const double x[3], const double normal[3])
{
    double r[3] = {x[0] - load->vector[0], x[1] - load->vector[1], x[2] - load->vector[2]};
    double length = ps_norm3(r), along = ps_dot3(load->axis, r) / length;
    double complex g[3];
    radial(load, length, g);
    if (!load->derivative) return -g[1] * along;
    return -(g[2] - g[1] / length) * along * ps_dot3(r, normal) / length -
           g[1] / length * ps_dot3(load->axis, normal);
}

/* Of an absorbing medium. */
static void damped_wave(const ps_hbem_load *load, const double x[3], const double normal[3],
                        double out[2])
{
    double complex k = load->wavenumber + I * load->absorption;
    double complex value = cexp(I * k * ps_dot3(load->vector, x));
    if (load->derivative) value *= I * k * ps_dot3(load->vector, normal);
    ps_complex_put(value, out);
}

static void plane_wave(const ps_hbem_load *load, const double x[3], const double normal[3],
                       double out[2])
{
    double phase = load->wavenumber * ps_dot3(load->vector, x);
    double slope = load->derivative ? load->wavenumber * ps_dot3(load->vector, normal) : 0;
    out[0] = load->derivative ? -slope * sin(phase) : cos(phase);
    out[1] = load->derivative ? slope * cos(phase) : sin(phase);
}

static void load_alone(const ps_hbem_load *load, const double x[3], const double normal[3],
                       double out[2])
{
    out[0] = out[1] = 0;
    switch (load->kind) {
    case PS_LOAD_PLANE:
        if (load->absorption > 0)
            damped_wave(load, x, normal, out);
        else
            plane_wave(load, x, normal, out);
        break;
    case PS_LOAD_POINT:
        ps_complex_put(point_source(load, x, normal), out);
        break;
    case PS_LOAD_DIPOLE:
        ps_complex_put(dipole(load, x, normal), out);
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

/* The image of f at x is f at the image of x. */
void ps_hbem_load_at(const ps_hbem_load *load, const double x[3], const double normal[3],
                     double out[2])
{
    load_alone(load, x, normal, out);
    for (int copy = 1; load->mirrors && copy < ps_reflectors_images(load->mirrors); ++copy) {
        double place[3], direction[3], own[2], sign = ps_reflectors_sign(load->mirrors, copy);
        ps_reflectors_point(load->mirrors, copy, x, place);
        ps_reflectors_vector(load->mirrors, copy, normal, direction);
        load_alone(load, place, direction, own);
        for (int part = 0; part < 2; ++part) out[part] += sign * own[part];
    }
}

/* A gradient is taken along the normal of the triangle. */
static void add_sampled(const ps_hbem_sampled *s, const ps_hbem_triangle *t, int64_t triangle,
                        const double hat[3], double out[2])
{
    int each = s->components % 3 == 0 ? 3 : 1;
    for (int l = 0; l < (s->on_points ? 3 : 1); ++l) {
        const double *at = s->values + s->components * (s->on_points ? t->vertex[l] : triangle);
        double share = s->on_points ? hat[l] : 1;
        for (int c = 0; c < s->components; ++c)
            out[c / each] += share * at[c] * (each == 3 ? t->normal[c % 3] : 1);
    }
}

void ps_hbem_load_value(const ps_hbem_load *load, const ps_hbem_surface *surface, int64_t triangle,
                        const double hat[3], double out[2])
{
    const ps_hbem_triangle *t = &surface->triangles[triangle];
    double x[3] = {0};
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) x[c] += hat[l] * t->corner[l][c];
    ps_hbem_load_at(load, x, t->normal, out);
    if (load->kind == PS_LOAD_TABLE) add_sampled(&load->sampled[load->derivative], t, triangle, hat, out);
}

/* A part of a triangle, by the hats of its corners. */
typedef struct load_part {
    double hat[3][3], share; /* of the triangle's area */
} load_part;

/* The rule is of degree 4: its error falls with (diameter / 2 distance)^5, to some 1e-5 here. */
enum { PART_DISTANCE = 3, PART_DEPTH = 60 };

/* The longest edge of a part that lies too near to a source for one rule, or -1. */
static int edge_to_halve(const ps_hbem_load *load, const ps_hbem_triangle *t, const load_part *part)
{
    double x[3][3] = {{0}}, away[3], edge[3], longest = 0;
    int found = -1;
    if (load->kind != PS_LOAD_POINT && load->kind != PS_LOAD_DIPOLE) return -1;
    for (int i = 0; i < 3; ++i)
        for (int l = 0; l < 3; ++l)
            for (int c = 0; c < 3; ++c) x[i][c] += part->hat[i][l] * t->corner[l][c];
    for (int i = 0; i < 3; ++i) {
        for (int c = 0; c < 3; ++c) edge[c] = x[(i + 1) % 3][c] - x[i][c];
        if (ps_norm3(edge) > longest) longest = ps_norm3(edge), found = i;
    }
    for (int c = 0; c < 3; ++c) away[c] = (x[0][c] + x[1][c] + x[2][c]) / 3 - load->vector[c];
    return PART_DISTANCE * longest > ps_norm3(away) ? found : -1;
}

static void add_part(const ps_hbem_load *load, const ps_hbem_surface *surface, int64_t triangle,
                     const ps_hbem_rule *rule, const load_part *part, double sum[2][3])
{
    double jacobian = surface->triangles[triangle].jacobian;
    for (int q = 0; q < rule->count; ++q) {
        double hat[3] = {0}, value[2];
        for (int i = 0; i < 3; ++i)
            for (int l = 0; l < 3; ++l) hat[l] += rule->hat[q][i] * part->hat[i][l];
        ps_hbem_load_value(load, surface, triangle, hat, value);
        for (int p = 0; p < 2; ++p)
            for (int l = 0; l < 3; ++l)
                sum[p][l] += rule->weight[q] * part->share * jacobian * hat[l] * value[p];
    }
}

/* int f hat over a triangle: halved across its longest edges until each part is small beside its
 * distance from a source. A half goes on, the other one waits: a halving leaves one part more. */
static void add_triangle(const ps_hbem_load *load, const ps_hbem_surface *surface, int64_t triangle,
                         const ps_hbem_rule *rule, double sum[2][3])
{
    const ps_hbem_triangle *t = &surface->triangles[triangle];
    load_part waiting[PART_DEPTH + 1] = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 1}};
    for (int count = 1; count > 0;) {
        load_part part = waiting[--count];
        int edge = count < PART_DEPTH ? edge_to_halve(load, t, &part) : -1;
        if (edge < 0 || part.share < 1e-12) {
            add_part(load, surface, triangle, rule, &part, sum);
            continue;
        }
        load_part *half = &waiting[count];
        part.share /= 2;
        half[0] = half[1] = part;
        for (int l = 0; l < 3; ++l)
            half[0].hat[edge][l] = half[1].hat[(edge + 1) % 3][l] =
                (part.hat[edge][l] + part.hat[(edge + 1) % 3][l]) / 2;
        count += 2;
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
        double sum[2][3] = {{0}};
        add_triangle(load, space->surface, t, &rule, sum);
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
