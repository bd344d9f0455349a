#include "kernels/tdbem/sound.h"

#include <math.h>
#include <string.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "kernels/tdbem/quadrature.h"

/* ---- signals ---- */

/* From 0 to 1 over [0, 1], with three derivatives that are 0 at both ends; out = value, slope. */
static void ramp(double s, double out[2])
{
    out[0] = s >= 1, out[1] = 0;
    if (s <= 0 || s >= 1) return;
    double s3 = s * s * s;
    out[0] = s3 * s * (35 + s * (-84 + s * (70 - 20 * s)));
    out[1] = 140 * s3 * (1 - s) * (1 - s) * (1 - s);
}

/* The cubic that has values and slopes of both neighbours: its slope is the slope of the signal. */
static void recorded(const ps_signal *g, double tau, double out[2])
{
    double at = (tau - g->start) / g->step, h = g->step;
    int64_t k = (int64_t)floor(at);
    out[0] = out[1] = 0;
    if (!(at >= 0) || k + 1 >= g->count) return;
    const double *a = g->samples + 2 * k, *b = a + 2;
    double s = at - (double)k, d = b[0] - a[0];
    double c2 = 3 * d - h * (2 * a[1] + b[1]), c3 = -2 * d + h * (a[1] + b[1]);
    out[0] = a[0] + s * (h * a[1] + s * (c2 + s * c3));
    out[1] = a[1] + s * (2 * c2 + 3 * s * c3) / h;
}

static void tone(const ps_signal *g, double tau, double out[2])
{
    double up[2] = {1, 0}, w = 2 * M_PI * g->frequency;
    out[0] = out[1] = 0;
    if (tau <= 0) return;
    if (g->ramp > 0) {
        ramp(tau / g->ramp, up);
        up[1] /= g->ramp;
    }
    double c = cos(w * tau), s = sin(w * tau);
    out[0] = up[0] * c;
    out[1] = up[1] * c - w * up[0] * s;
}

void ps_signal_at(const ps_signal *g, double tau, double out[2])
{
    if (g->kind == PS_SIGNAL_RECORDED) {
        recorded(g, tau, out);
    } else if (g->kind == PS_SIGNAL_TONE) {
        tone(g, tau, out);
    } else {
        out[0] = ps_pulse_value(&g->pulse, tau - g->pulse.delay);
        out[1] = ps_pulse_slope(&g->pulse, tau - g->pulse.delay);
    }
    out[0] *= g->amplitude;
    out[1] *= g->amplitude;
}

/* ---- motion ---- */

/* out = a turned by angle about axis (Rodrigues). */
static void turn(const double axis[3], double angle, const double a[3], double out[3])
{
    double cross[3], c = cos(angle), s = sin(angle), along = ps_dot3(axis, a) * (1 - c);
    ps_cross3(axis, a, cross);
    for (int k = 0; k < 3; ++k) out[k] = c * a[k] + s * cross[k] + along * axis[k];
}

void ps_sound_motion(const ps_sound *sound, double tau, double place[3], double velocity[3],
                     double acceleration[3])
{
    double arm[3], turned[3], spin[3], swing[3], pull[3];
    ps_subtract3(sound->place, sound->centre, arm);
    turn(sound->axis, sound->turning * tau, arm, turned);
    for (int k = 0; k < 3; ++k) spin[k] = sound->turning * sound->axis[k];
    ps_cross3(spin, turned, swing);
    ps_cross3(spin, swing, pull);
    for (int k = 0; k < 3; ++k) {
        place[k] = sound->centre[k] + turned[k] + sound->velocity[k] * tau;
        velocity[k] = swing[k] + sound->velocity[k];
        acceleration[k] = pull[k];
    }
}

/* The part of the velocity along the axis adds in square, the rest at worst straight. */
ps_sound ps_sound_in_flow(const ps_sound *sound, const double flow[3])
{
    ps_sound out = *sound;
    for (int k = 0; k < 3 && sound->kind != PS_SOUND_PLANE; ++k) out.velocity[k] -= flow[k];
    return out;
}

double ps_sound_speed(const ps_sound *sound)
{
    double arm[3], swing[3];
    ps_subtract3(sound->place, sound->centre, arm);
    ps_cross3(sound->axis, arm, swing);
    double round = fabs(sound->turning) * ps_norm3(swing), along = 0, across = 0;
    if (round == 0) return ps_norm3(sound->velocity);
    along = ps_dot3(sound->velocity, sound->axis);
    double squared = ps_dot3(sound->velocity, sound->velocity) - along * along;
    across = sqrt(squared > 0 ? squared : 0) + round;
    return sqrt(along * along + across * across);
}

/* ---- fields ---- */

/* What the formulas need at the retarded time. */
typedef struct emission {
    double tau, r, w, mach[3], way[3], drift[3]; /* M, Rh, dM/dtau c = dv/dtau */
} emission;

static emission emission_of(const ps_sound *sound, double c, const double x[3], double t)
{
    emission e;
    double place[3], velocity[3], acceleration[3], way[3];
    ps_sound_motion(sound, t, place, velocity, acceleration);
    e.tau = t - ps_distance3(x, place) / c;
    for (int i = 0; i < 60; ++i) {
        ps_sound_motion(sound, e.tau, place, velocity, acceleration);
        ps_subtract3(x, place, way);
        e.r = ps_norm3(way);
        e.w = 1 - ps_dot3(velocity, way) / (e.r * c);
        double step = (e.tau + e.r / c - t) / e.w;
        e.tau -= step;
        if (fabs(step) <= 4e-16 * (fabs(t) + e.r / c)) break;
    }
    for (int k = 0; k < 3; ++k) {
        e.mach[k] = velocity[k] / c;
        e.way[k] = way[k] / e.r;
        e.drift[k] = acceleration[k];
    }
    return e;
}

/* r dMr/dtau/c + Mr - M^2 */
static double near_term(double c, const emission *e)
{
    return ps_dot3(e->drift, e->way) * e->r / (c * c) + 1 - e->w - ps_dot3(e->mach, e->mach);
}

static double force_field(double c, const emission *e, const double force[3],
                          const double change[3])
{
    double fr = ps_dot3(force, e->way), rw2 = e->r * e->w * e->w;
    return (ps_dot3(change, e->way) / (c * rw2) + (fr - ps_dot3(force, e->mach)) / (e->r * rw2) +
            fr * near_term(c, e) / (e->r * rw2 * e->w)) /
           (4 * M_PI);
}

static double panel_field(const ps_sound *sound, double c, const emission *e)
{
    double flux[2], part[2], force[3], change[3], rw2 = e->r * e->w * e->w;
    ps_signal_at(&sound->panel[0], e->tau, flux);
    for (int k = 0; k < 3; ++k) {
        ps_signal_at(&sound->panel[k + 1], e->tau, part);
        force[k] = part[0];
        change[k] = part[1];
    }
    return (flux[1] / rw2 + flux[0] * c * near_term(c, e) / (e->r * rw2 * e->w)) / (4 * M_PI) +
           force_field(c, e, force, change);
}

static double dipole_field(const ps_sound *sound, double c, const emission *e)
{
    double force[3], change[3], q[2], spin[3], turned[3];
    ps_signal_at(&sound->signal, e->tau, q);
    turn(sound->axis, sound->turning * e->tau, sound->force, turned);
    for (int k = 0; k < 3; ++k) spin[k] = sound->turning * sound->axis[k];
    ps_cross3(spin, turned, change);
    for (int k = 0; k < 3; ++k) {
        force[k] = q[0] * turned[k];
        change[k] = q[1] * turned[k] + q[0] * change[k];
    }
    return force_field(c, e, force, change);
}

static double plane_time(const ps_sound *sound, double c, const double x[3], double t)
{
    double away[3];
    ps_subtract3(x, sound->centre, away);
    return t - ps_dot3(sound->place, away) / c;
}

double ps_sound_field(const ps_sound *sound, double c, const double x[3], double t)
{
    double q[2];
    if (sound->kind == PS_SOUND_PLANE) {
        ps_signal_at(&sound->signal, plane_time(sound, c, x, t), q);
        return q[0];
    }
    emission e = emission_of(sound, c, x, t);
    if (sound->kind == PS_SOUND_DIPOLE) return dipole_field(sound, c, &e);
    if (sound->kind == PS_SOUND_PANEL) return panel_field(sound, c, &e);
    ps_signal_at(&sound->signal, e.tau, q);
    return q[0] / (4 * M_PI * e.r * e.w);
}

static double monopole_slope(const ps_sound *sound, double c, const double x[3], const double v[3],
                             double t)
{
    double q[2];
    emission e = emission_of(sound, c, x, t);
    ps_signal_at(&sound->signal, e.tau, q);
    double m2 = ps_dot3(e.mach, e.mach), along = ps_dot3(e.way, v);
    double bend = 1 - m2 + e.r * ps_dot3(e.way, e.drift) / (c * c);
    return -(q[1] / c * along / (e.r * e.w * e.w) +
             q[0] * (bend * along / e.w - ps_dot3(e.mach, v)) / (e.r * e.r * e.w * e.w)) /
           (4 * M_PI);
}

double ps_sound_slope(const ps_sound *sound, double c, const double x[3], const double v[3],
                      double t, double reach)
{
    double q[2], sum = 0;
    if (sound->kind == PS_SOUND_PLANE) {
        ps_signal_at(&sound->signal, plane_time(sound, c, x, t), q);
        return -q[1] * ps_dot3(sound->place, v) / c;
    }
    if (sound->kind == PS_SOUND_MONOPOLE) return monopole_slope(sound, c, x, v, t);
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    for (int i = 0; i < 4; ++i) {
        double y[3];
        for (int k = 0; k < 3; ++k) y[k] = x[k] + at[i] * reach * v[k];
        sum += weight[i] * ps_sound_field(sound, c, y, t);
    }
    return sum / (12 * reach);
}

/* ---- loads ---- */

enum { SPACE_POINTS = PS_LOAD_SPACE_POINTS, TIME_POINTS = PS_LOAD_TIME_POINTS, THREADED = 256 };

/* A receiver in the flow, as the fluid sees it. */
static void carry(const ps_sounds *s, double t, double y[3])
{
    for (int k = 0; k < 3; ++k) y[k] -= s->flow[k] * t;
}

/* The image of a source is heard at x as the source itself at x mirrored. */
static double pressure(const ps_sounds *s, const double x[3], double t)
{
    double sum = 0;
    for (int m = 0; m < ps_reflectors_images(&s->mirrors); ++m) {
        double y[3], sign = ps_reflectors_sign(&s->mirrors, m);
        ps_reflectors_point(&s->mirrors, m, x, y);
        carry(s, t, y);
        for (int i = 0; i < s->count; ++i)
            sum += sign * ps_sound_field(&s->sounds[i], s->speed, y, t);
    }
    return sum;
}

static double slope(const ps_sounds *s, const double x[3], const double v[3], double t)
{
    double sum = 0, reach = 1e-2 * s->edge;
    for (int m = 0; m < ps_reflectors_images(&s->mirrors); ++m) {
        double y[3], u[3], sign = ps_reflectors_sign(&s->mirrors, m);
        ps_reflectors_point(&s->mirrors, m, x, y);
        carry(s, t, y);
        ps_reflectors_vector(&s->mirrors, m, v, u);
        for (int i = 0; i < s->count; ++i)
            sum += sign * ps_sound_slope(&s->sounds[i], s->speed, y, u, t, reach);
    }
    return sum;
}

/* values[3] = the load of triangle i: of its corners (sound-hard), or values[0] of itself. */
static void triangle_load(const ps_sounds *s, const ps_load *load, const ps_triangle_rule *rule,
                          int64_t i, int64_t n, double *values)
{
    const int32_t *corners = load->mesh->triangles + 3 * i;
    const double *p[3], dt = load->dt, start = (double)(n - 1) * dt;
    double normal[3];
    bool before = load->formulation == PS_SOUND_SOFT_M && n > 1;
    for (int a = 0; a < 3; ++a) p[a] = load->mesh->vertices + 3 * (int64_t)corners[a];
    ps_triangle_normal(p[0], p[1], p[2], normal);
    double area = ps_norm3(normal) / 2;
    for (int k = 0; k < 3; ++k) normal[k] /= 2 * area;
    values[0] = values[1] = values[2] = 0;
    for (int j = 0; j < rule->count; ++j) {
        const double *b = rule->barycentric[j], weight = area * rule->weight[j];
        double x[3], sum = 0;
        for (int k = 0; k < 3; ++k) x[k] = b[0] * p[0][k] + b[1] * p[1][k] + b[2] * p[2][k];
        if (load->formulation != PS_SOUND_HARD) {
            sum = pressure(s, x, (double)n * dt) - (before ? pressure(s, x, start) : 0);
            values[0] -= weight * sum;
            continue;
        }
        for (int g = 0; g < TIME_POINTS; ++g)
            sum += dt * ps_gauss3_weight[g] * slope(s, x, normal, start + ps_gauss3_node[g] * dt);
        if (load->combined > 0)
            sum += load->combined / s->speed *
                   (pressure(s, x, (double)n * dt) - (n > 1 ? pressure(s, x, start) : 0));
        for (int a = 0; a < 3; ++a) values[a] += weight * b[a] * sum;
    }
}

void ps_sounds_load(const ps_sounds *s, const ps_load *load, int64_t n, double *out,
                    double *workspace)
{
    int64_t count = load->mesh->triangle_count;
    bool hard = load->formulation == PS_SOUND_HARD;
    ps_triangle_rule rule;
    if (ps_triangle_rule_init(SPACE_POINTS, &rule) != PS_OK) rule.count = 0; /* there is one */
#pragma omp parallel for schedule(static) if (count > THREADED)
    for (int64_t i = 0; i < count; ++i) {
        double values[3];
        triangle_load(s, load, &rule, i, n, values);
        if (hard)
            memcpy(workspace + 3 * i, values, sizeof values);
        else
            out[i] = values[0];
    }
    if (!hard) return;
    memset(out, 0, (size_t)load->mesh->vertex_count * sizeof *out);
    for (int64_t c = 0; c < 3 * count; ++c) out[load->mesh->triangles[c]] += workspace[c];
}
