#include "kernels/tdbem/radiated.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/facets.h"

int64_t ps_radiated_lags(const ps_radiated *r, double farthest)
{
    return (int64_t)floor(farthest / (r->dt * r->speed)) + 3;
}

int64_t ps_radiated_weights(const ps_radiated *r, int64_t lags)
{
    return 2 * lags * r->velocity->modes;
}

/* The cubic of values and slopes at both ends of [0, 1]: weights of both, at s; and of its slope.
 */
typedef struct cubic {
    double value[2], slope[2]; /* at the start, at the end */
} cubic;

static cubic cubic_at(double s)
{
    double s2 = s * s, s3 = s2 * s;
    return (cubic){{2 * s3 - 3 * s2 + 1, 3 * s2 - 2 * s3}, {s3 - 2 * s2 + s, s3 - s2}};
}

static cubic cubic_slope_at(double s)
{
    double s2 = s * s;
    return (cubic){{6 * s2 - 6 * s, 6 * s - 6 * s2}, {3 * s2 - 4 * s + 1, 3 * s2 - 2 * s}};
}

/* ---- one triangle, one point ---- */

typedef struct spreading {
    const ps_radiated *radiated;
    int64_t own; /* of a load: the triangle of x, which it sees edge on; -1: none */
    int64_t triangle, first, lags;
    const double *x, *normal; /* normal: of a load; NULL: of a field */
    double factor;
    double *out;
    double *seen; /* [triangle_count] of a load: how much of the surface each triangle sees */
} spreading;

/* factor (a s + b dt s')(t_n - delay dt) of every mode. */
static void add_delayed(const spreading *p, double delay, double factor, double a, double b)
{
    const ps_surface_velocity *v = p->radiated->velocity;
    double whole = floor(delay), s = 1 - (delay - whole);
    int64_t q = (int64_t)whole - p->first;
    const cubic f = cubic_at(s), g = cubic_slope_at(s);
    if (q < 0 || q + 1 >= p->lags) return;
    for (int64_t m = 0; m < v->modes; ++m) {
        double weight = factor * v->patterns[m * v->triangle_count + p->triangle];
        double *values = p->out + 2 * m * p->lags + q, *slopes = values + p->lags;
        for (int end = 0; end < 2; ++end) { /* the step before is one lag more */
            values[1 - end] += weight * (a * f.value[end] + b * g.value[end]);
            slopes[1 - end] += weight * (a * f.slope[end] + b * g.slope[end]);
        }
    }
}

/* -lambda = density s': G for fields, (x-y).n_x/(4 pi r^3) [.. + (r/c) d/dt] for loads, whose
 * integral over the step is left to the difference of its ends, as the growth of the combined
 * equation's G is. */
static void spread_point(void *context, const double barycentric[3], double weight)
{
    const spreading *p = context;
    const ps_radiated *r = p->radiated;
    double y[3], ray[3], shell = r->dt * r->speed;
    ps_triangle_place(&r->triangles[p->triangle], barycentric, y);
    ps_subtract3(p->x, y, ray);
    double distance = ps_norm3(ray), delay = distance / shell;
    if (distance == 0) return;
    weight *= p->factor / (4 * M_PI * distance);
    double field = p->normal ? r->combined / r->speed : 1;
    if (field > 0) add_delayed(p, delay, field * weight / r->dt, 0, 1);
    if (!p->normal || p->triangle == p->own) return;
    weight *= ps_dot3(ray, p->normal) / (distance * distance);
    p->seen[p->triangle] += weight;
    add_delayed(p, delay, -weight, 1, delay);
}

static void spread(spreading *p, const ps_triangle_rule *near, const ps_triangle_rule *far)
{
    const ps_radiated *r = p->radiated;
    for (p->triangle = 0; p->triangle < r->velocity->triangle_count; ++p->triangle) {
        const ps_triangle *t = &r->triangles[p->triangle];
        if (p->triangle == p->own && r->combined == 0) continue;
        /* Around a point of the triangle itself the rule without a point in the middle, which may
         * be that point. */
        bool away = p->triangle == p->own || ps_distance3(t->centroid, p->x) > 16 * t->radius;
        ps_facets_visit(t, p->x, away ? far : near, spread_point, p);
    }
}

/* ---- loads and fields ---- */

/* weights of s(t_n) - s(t_{n-1}) instead of s(t_n). */
static void difference(int64_t lags, double *weights)
{
    for (int64_t q = lags - 1; q > 0; --q) weights[q] -= weights[q - 1];
}

void ps_radiated_load(const ps_radiated *r, int64_t i, int64_t lags, double *out, double *seen,
                      double *work)
{
    const ps_triangle *t = &r->triangles[i];
    const ps_surface_velocity *v = r->velocity;
    int64_t size = ps_radiated_weights(r, lags);
    ps_triangle_rule near, far;
    (void)ps_triangle_rule_init(7, &near); /* there are such rules */
    (void)ps_triangle_rule_init(3, &far);
    memset(out, 0, (size_t)(3 * size) * sizeof *out);
    memset(seen, 0, (size_t)v->triangle_count * sizeof *seen);
    for (int q = 0; q < near.count; ++q) {
        double x[3], share = near.weight[q] * t->area * v->density;
        ps_triangle_place(t, near.barycentric[q], x);
        memset(work, 0, (size_t)size * sizeof *work);
        spreading p = {r, i, 0, 0, lags, x, t->normal, share, work, seen};
        spread(&p, &near, &far);
        for (int a = 0; a < 3; ++a)
            for (int64_t k = 0; k < size; ++k)
                out[a * size + k] += near.barycentric[q][a] * work[k];
    }
    for (int64_t k = 0; k < 3 * size; k += lags) difference(lags, out + k);
}

void ps_radiated_own(const ps_radiated *r, int64_t i, int64_t lags, double seen, double *out)
{
    const ps_surface_velocity *v = r->velocity;
    for (int64_t m = 0; m < v->modes; ++m) {
        double weight = seen / 3 * v->patterns[m * v->triangle_count + i];
        out[2 * m * lags] += weight;
        out[2 * m * lags + 1] -= weight;
    }
}

static void spread_direction(spreading *p, const double e[3], const ps_triangle_rule *rule)
{
    const ps_radiated *r = p->radiated;
    double shell = r->dt * r->speed;
    for (p->triangle = 0; p->triangle < r->velocity->triangle_count; ++p->triangle) {
        ps_point points[PS_RULE_POINTS_MAX];
        ps_triangle_points(&r->triangles[p->triangle], rule, 1, points);
        for (int q = 0; q < rule->count; ++q)
            add_delayed(p, -ps_dot3(e, points[q].x) / shell,
                        p->factor * points[q].weight / (4 * M_PI * r->dt), 0, 1);
    }
}

void ps_radiated_field(const ps_radiated *r, const double place[3], bool far_field, int64_t first,
                       int64_t lags, double *out)
{
    ps_triangle_rule near, far;
    (void)ps_triangle_rule_init(7, &near);
    (void)ps_triangle_rule_init(3, &far);
    spreading p = {r, -1, 0, first, lags, place, NULL, r->velocity->density, out, NULL};
    memset(out, 0, (size_t)ps_radiated_weights(r, lags) * sizeof *out);
    if (far_field)
        spread_direction(&p, place, &near);
    else
        spread(&p, &near, &far);
}

double ps_radiated_sum(const ps_surface_velocity *v, double dt, const double *weights,
                       int64_t first, int64_t lags, int64_t n)
{
    double sum = 0;
    int64_t begin = n - first - v->steps, end = n - first + 1;
    if (begin < 0) begin = 0;
    if (end > lags) end = lags;
    for (int64_t m = 0; m < v->modes; ++m) {
        const double *signal = v->signals + 2 * m * (v->steps + 1), *w = weights + 2 * m * lags;
        for (int64_t q = begin; q < end; ++q) {
            const double *s = signal + 2 * (n - first - q);
            sum += w[q] * s[0] + w[lags + q] * dt * s[1];
        }
    }
    return sum;
}
