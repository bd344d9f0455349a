#include "kernels/tdbem/load.h"

#include <math.h>
#include <string.h>

#include "kernels/tdbem/quadrature.h"

enum { SPACE_POINTS = 7, TIME_POINTS = 3, THREADED = 4096 };

int64_t ps_load_unknowns(const ps_load *load)
{
    return load->formulation == PS_SOUND_HARD ? load->mesh->vertex_count
                                              : load->mesh->triangle_count;
}

int64_t ps_load_workspace(const ps_load *load)
{
    return load->formulation == PS_SOUND_HARD ? 3 * load->mesh->triangle_count : 0;
}

typedef struct panel {
    const double *corner[3];
    double normal[3]; /* outward, of length 2 area */
    double area;
} panel;

static panel panel_of(const ps_surface_mesh *mesh, int64_t triangle)
{
    panel t;
    double u[3], v[3];
    for (int a = 0; a < 3; ++a)
        t.corner[a] = mesh->vertices + 3 * mesh->triangles[3 * triangle + a];
    for (int k = 0; k < 3; ++k) {
        u[k] = t.corner[1][k] - t.corner[0][k];
        v[k] = t.corner[2][k] - t.corner[0][k];
    }
    for (int k = 0; k < 3; ++k)
        t.normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    t.area =
        sqrt(t.normal[0] * t.normal[0] + t.normal[1] * t.normal[1] + t.normal[2] * t.normal[2]) / 2;
    return t;
}

static void panel_point(const panel *t, const double *at, double *x)
{
    for (int k = 0; k < 3; ++k)
        x[k] = at[0] * t->corner[0][k] + at[1] * t->corner[1][k] + at[2] * t->corner[2][k];
}

/* int_T u_inc(t), less its value a step before for the M-form. */
static double panel_pressure(const ps_load *load, const ps_triangle_rule *rule, const panel *t,
                             int64_t n)
{
    bool difference = load->formulation == PS_SOUND_SOFT_M && n > 1;
    double now = (double)n * load->dt, before = (double)(n - 1) * load->dt, sum = 0, x[3];
    for (int p = 0; p < rule->count; ++p) {
        panel_point(t, rule->barycentric[p], x);
        for (int e = 0; e < load->incident->count; ++e) {
            const ps_emitter *emitter = &load->incident->emitters[e];
            ps_arrival a = ps_emitter_arrival(emitter, load->incident->speed, x, NULL);
            double f = ps_pulse_value(emitter, now - a.retardation);
            if (difference) f -= ps_pulse_value(emitter, before - a.retardation);
            sum += rule->weight[p] * a.value * f;
        }
    }
    return t->area * sum;
}

/* int over a step of |n| d u_inc/dn from one emitter at one point. */
static double step_slope(const ps_emitter *emitter, const ps_arrival *a, double start, double dt)
{
    double sum = 0;
    for (int g = 0; g < TIME_POINTS; ++g) {
        double q = start + ps_gauss3_node[g] * dt - a->retardation;
        double f = a->along[0] != 0 ? a->along[0] * ps_pulse_value(emitter, q) : 0;
        sum += ps_gauss3_weight[g] * (f + a->along[1] * ps_pulse_slope(emitter, q));
    }
    return dt * sum;
}

/* corners[3] = int over the step and the triangle of phi_a d_n u_inc. */
static void panel_slopes(const ps_load *load, const ps_triangle_rule *rule, const panel *t,
                         int64_t n, double *corners)
{
    double start = (double)(n - 1) * load->dt, x[3];
    corners[0] = corners[1] = corners[2] = 0;
    for (int p = 0; p < rule->count; ++p) {
        panel_point(t, rule->barycentric[p], x);
        double sum = 0;
        for (int e = 0; e < load->incident->count; ++e) {
            const ps_emitter *emitter = &load->incident->emitters[e];
            if (emitter->kind == PS_EMITTER_UNIFORM) continue;
            ps_arrival a = ps_emitter_arrival(emitter, load->incident->speed, x, t->normal);
            sum += step_slope(emitter, &a, start, load->dt);
        }
        for (int a = 0; a < 3; ++a)
            corners[a] += rule->weight[p] / 2 * rule->barycentric[p][a] * sum;
    }
}

static void evaluate_hard(const ps_load *load, const ps_triangle_rule *rule, int64_t n, double *out,
                          double *corners)
{
    const ps_surface_mesh *mesh = load->mesh;
#pragma omp parallel for schedule(static) if (mesh->triangle_count > THREADED)
    for (int64_t i = 0; i < mesh->triangle_count; ++i) {
        panel t = panel_of(mesh, i);
        panel_slopes(load, rule, &t, n, corners + 3 * i);
    }
    memset(out, 0, (size_t)mesh->vertex_count * sizeof *out);
    for (int64_t c = 0; c < 3 * mesh->triangle_count; ++c) out[mesh->triangles[c]] += corners[c];
}

void ps_load_evaluate(const ps_load *load, int64_t n, double *out, double *workspace)
{
    ps_triangle_rule rule;
    if (ps_triangle_rule_init(SPACE_POINTS, &rule) != PS_OK)
        rule.count = 0; /* there is such a rule */
    if (load->formulation == PS_SOUND_HARD) {
        evaluate_hard(load, &rule, n, out, workspace);
        return;
    }
    int64_t count = load->mesh->triangle_count;
#pragma omp parallel for schedule(static) if (count > THREADED)
    for (int64_t i = 0; i < count; ++i) {
        panel t = panel_of(load->mesh, i);
        out[i] = -panel_pressure(load, &rule, &t, n);
    }
}
