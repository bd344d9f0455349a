#include "kernels/hbem/closed.h"

#include <math.h>

#include "kernels/common/vec3.h"

/* Of the diameter: what counts as in the plane, and as on the line of an edge. */
static const double flat = 1e-10, thin = 1e-14;

/* x as the corners see it: x - v_l and its length; (x - v).n, 0 in the plane. */
typedef struct view {
    double from[3][3], distance[3], height;
} view;

static void look(const ps_hbem_triangle *t, const double x[3], view *v)
{
    int nearest = 0;
    double size = 0;
    for (int l = 0; l < 3; ++l) {
        for (int c = 0; c < 3; ++c) v->from[l][c] = x[c] - t->corner[l][c];
        v->distance[l] = sqrt(ps_dot3(v->from[l], v->from[l]));
        if (v->distance[l] < v->distance[nearest]) nearest = l;
    }
    for (int c = 0; c < 3; ++c) size = fmax(size, fabs(x[c]));
    v->height = ps_dot3(v->from[nearest], t->normal);
    if (fabs(v->height) <= flat * t->diameter + 4e-16 * size) v->height = 0;
}

static double angle_of(const ps_hbem_triangle *t, const view *v)
{
    const double *r = v->distance;
    if (v->height == 0) return 0;
    double below = r[0] * r[1] * r[2] + ps_dot3(v->from[0], v->from[1]) * r[2] +
                   ps_dot3(v->from[1], v->from[2]) * r[0] + ps_dot3(v->from[2], v->from[0]) * r[1];
    return 2 * atan2(t->jacobian * v->height, below);
}

/* int 1/R along an edge from lm to lp, at the distance sqrt(square) from its line. */
static double edge_log(double lm, double lp, double rm, double rp, double square)
{
    if (lm >= 0) return log((rp + lp) / (rm + lm));
    if (lp <= 0) return log((rm - lm) / (rp - lp));
    return log((rp + lp) * (rm - lm) / square);
}

/* Sums over the edges i with outward normals m_i in the plane: of p_i and m_i times the integrals
 * of 1/R, R and R^3 along them. */
typedef struct edge_sums {
    double p_log, p_length, least;
    double m_log[3], m_length[3], m_cube[3];
    double rim[3][3]; /* m_i int phi_l / R along them */
} edge_sums;

static void add_edge(const ps_hbem_triangle *t, const view *v, int i, edge_sums *s)
{
    int next = (i + 1) % 3;
    double along[3], out[3];
    for (int c = 0; c < 3; ++c) along[c] = t->corner[next][c] - t->corner[i][c];
    double length = sqrt(ps_dot3(along, along));
    for (int c = 0; c < 3; ++c) along[c] /= length;
    ps_cross3(along, t->normal, out);
    double lm = -ps_dot3(v->from[i], along), lp = lm + length, p = -ps_dot3(v->from[i], out);
    double square = p * p + v->height * v->height, rm = v->distance[i], rp = v->distance[next];
    bool on_line = square <= thin * thin * t->diameter * t->diameter;
    double f = on_line ? 0 : edge_log(lm, lp, rm, rp, square);
    double first = (lp * rp - lm * rm + square * f) / 2;
    double third = (lp * rp * rp * rp - lm * rm * rm * rm + 3 * square * first) / 4;
    s->p_log += p * f;
    s->p_length += p * first;
    s->least = fmin(s->least, p);
    for (int c = 0; c < 3; ++c) {
        s->m_log[c] += out[c] * f;
        s->m_length[c] += out[c] * first;
        s->m_cube[c] += out[c] * third;
        s->rim[i][c] += out[c] * (lp * f - (rp - rm)) / length;
        s->rim[next][c] += out[c] * ((rp - rm) - lm * f) / length;
    }
}

/* The gradient of hat l. */
static void hat_slope(const ps_hbem_triangle *t, int l, double slope[3])
{
    double edge[3];
    for (int c = 0; c < 3; ++c) edge[c] = t->corner[(l + 2) % 3][c] - t->corner[(l + 1) % 3][c];
    ps_cross3(t->normal, edge, slope);
    for (int c = 0; c < 3; ++c) slope[c] /= t->jacobian;
}

void ps_hbem_closed_at(const ps_hbem_triangle *t, const double x[3], ps_hbem_closed *out)
{
    view v;
    edge_sums s = {.least = INFINITY};
    look(t, x, &v);
    for (int i = 0; i < 3; ++i) add_edge(t, &v, i, &s);
    double h = v.height, angle = angle_of(t, &v);
    double inverse = s.p_log - h * angle, length = (h * h * inverse + s.p_length) / 3;
    out->height = h;
    out->on = h == 0 && s.least >= -flat * t->diameter;
    for (int l = 0; l < 3; ++l) {
        double slope[3];
        hat_slope(t, l, slope);
        double hat = ps_dot3(v.from[(l + 1) % 3], slope);
        out->hat[l] = hat;
        out->inverse[l] = hat * inverse + ps_dot3(slope, s.m_length);
        out->length[l] = hat * length + ps_dot3(slope, s.m_cube) / 3;
        out->slope[l] = hat * angle - h * ps_dot3(slope, s.m_log);
    }
}

void ps_hbem_closed_slopes(const ps_hbem_triangle *t, const double x[3], const double normal[3],
                           double out[3])
{
    view v;
    edge_sums s = {.least = INFINITY};
    look(t, x, &v);
    for (int i = 0; i < 3; ++i) add_edge(t, &v, i, &s);
    double h = v.height, angle = angle_of(t, &v), inverse = s.p_log - h * angle;
    for (int l = 0; l < 3; ++l) {
        double slope[3];
        hat_slope(t, l, slope);
        double across = ps_dot3(v.from[(l + 1) % 3], slope) * angle - h * ps_dot3(slope, s.m_log);
        out[l] =
            ps_dot3(normal, slope) * inverse - ps_dot3(normal, s.rim[l]) - ps_dot3(normal, t->normal) * across;
    }
}

int ps_hbem_where(const ps_hbem_surface *surface, const double x[3], double *inner)
{
    double sum = 0;
    bool on = false;
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &surface->triangles[t];
        view v;
        look(at, x, &v);
        sum -= angle_of(at, &v);
        if (v.height != 0 || on || fmin(v.distance[0], v.distance[1]) > 1.1 * at->diameter)
            continue;
        ps_hbem_closed all;
        ps_hbem_closed_at(at, x, &all);
        on = all.on;
    }
    *inner = sum / (4 * M_PI);
    return on ? 0 : *inner > .5 ? -1 : 1;
}
