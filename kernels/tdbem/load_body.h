/*
 * load_body: the load of one triangle (kernels/tdbem/load.h), for the host and for devices: the
 * includer defines LEAF, what goes before a function, and includes incident_body.h before.
 */

enum { SPACE_POINTS = PS_LOAD_SPACE_POINTS, TIME_POINTS = PS_LOAD_TIME_POINTS };

/* All that a load depends on but the mesh. */
typedef struct wave {
    ps_formulation formulation;
    double dt;
    double pressure; /* alpha/c of the combined field equation, s/m */
    ps_triangle_rule rule;
    double node[TIME_POINTS], weight[TIME_POINTS]; /* in time, on [0, 1] */
    ps_incident incident;
} wave;

typedef struct panel {
    const double *corner[3];
    double normal[3]; /* outward, of length 2 area */
    double area;
} panel;

LEAF panel panel_of(const double *vertices, const int32_t *triangles, int64_t triangle)
{
    panel t;
    double u[3], v[3];
    for (int a = 0; a < 3; ++a) t.corner[a] = vertices + 3 * triangles[3 * triangle + a];
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

LEAF void panel_point(const panel *t, const double *at, double *x)
{
    for (int k = 0; k < 3; ++k)
        x[k] = at[0] * t->corner[0][k] + at[1] * t->corner[1][k] + at[2] * t->corner[2][k];
}

/* int_T u_inc(t), less its value a step before for the M-form. */
LEAF double panel_pressure(const wave *w, const panel *t, int64_t n)
{
    bool difference = w->formulation == PS_SOUND_SOFT_M && n > 1;
    double now = (double)n * w->dt, before = (double)(n - 1) * w->dt, sum = 0, x[3];
    for (int p = 0; p < w->rule.count; ++p) {
        panel_point(t, w->rule.barycentric[p], x);
        for (int e = 0; e < w->incident.count; ++e) {
            const ps_emitter *emitter = &w->incident.emitters[e];
            ps_arrival a = emitter_arrival(emitter, w->incident.speed, x, NULL);
            double f = pulse_value(emitter, now - a.retardation);
            if (difference) f -= pulse_value(emitter, before - a.retardation);
            sum += w->rule.weight[p] * a.value * f;
        }
    }
    return t->area * sum;
}

/* int over a step of |n| d u_inc/dn from one emitter at one point. */
LEAF double step_slope(const wave *w, const ps_emitter *emitter, const ps_arrival *a, double start)
{
    double sum = 0;
    for (int g = 0; g < TIME_POINTS; ++g) {
        double q = start + w->node[g] * w->dt - a->retardation;
        double f = a->along[0] != 0 ? a->along[0] * pulse_value(emitter, q) : 0;
        sum += w->weight[g] * (f + a->along[1] * pulse_slope(emitter, q));
    }
    return w->dt * sum;
}

/* alpha/c |n| times what u_inc grows by in a step, from one emitter at one point. */
LEAF double step_pressure(const wave *w, const ps_emitter *emitter, const ps_arrival *a,
                          double size, int64_t n)
{
    double f = pulse_value(emitter, (double)n * w->dt - a->retardation);
    if (n > 1) f -= pulse_value(emitter, (double)(n - 1) * w->dt - a->retardation);
    return w->pressure * size * a->value * f;
}

/* corners[3] = int over the step and the triangle of phi_a d_n u_inc, and the combined part. */
LEAF void panel_slopes(const wave *w, const panel *t, int64_t n, double *corners)
{
    double start = (double)(n - 1) * w->dt, x[3];
    corners[0] = corners[1] = corners[2] = 0;
    for (int p = 0; p < w->rule.count; ++p) {
        panel_point(t, w->rule.barycentric[p], x);
        double sum = 0;
        for (int e = 0; e < w->incident.count; ++e) {
            const ps_emitter *emitter = &w->incident.emitters[e];
            if (emitter->kind == PS_EMITTER_UNIFORM) continue;
            ps_arrival a = emitter_arrival(emitter, w->incident.speed, x, t->normal);
            sum += step_slope(w, emitter, &a, start);
            if (w->pressure > 0) sum += step_pressure(w, emitter, &a, 2 * t->area, n);
        }
        for (int a = 0; a < 3; ++a)
            corners[a] += w->rule.weight[p] / 2 * w->rule.barycentric[p][a] * sum;
    }
}
