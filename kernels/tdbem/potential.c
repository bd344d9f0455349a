#include "kernels/tdbem/potential.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/facets.h"
#include "kernels/tdbem/shell_integral.h"

void ps_potential_reach(int64_t triangle_count, const ps_triangle *triangles,
                        const int32_t *corners, double *reach)
{
    for (int64_t t = 0; t < triangle_count; ++t)
        for (int e = 0; e < 3; ++e) {
            double length = triangles[t].length[e];
            double *ends[2] = {&reach[corners[3 * t + e]], &reach[corners[3 * t + (e + 1) % 3]]};
            for (int v = 0; v < 2; ++v)
                if (length > *ends[v]) *ends[v] = length;
        }
}

/* ---- which lags an unknown reaches ---- */

/* Middle and radius of a ball around the support of unknown j. */
static const double *support(const ps_potential *p, int64_t j, double *radius)
{
    *radius = (p->hard ? p->reach[j] : p->triangles[j].radius) * (1 + 1e-9);
    return p->hard ? p->vertices + 3 * j : p->triangles[j].centroid;
}

static void lag_range(const ps_potential *p, const ps_receiver *receiver, int64_t j, int64_t *first,
                      int64_t *last)
{
    double radius, shell = p->dt * p->speed;
    const double *middle = support(p, j, &radius);
    if (receiver->far_field) {
        double s = ps_dot3(receiver->place, middle) / shell + .5, half = radius / shell;
        *first = -(int64_t)floor(s + half) - 1;
        *last = -(int64_t)floor(s - half) + p->hard;
    } else {
        double r = ps_distance3(receiver->place, middle), lags = (double)p->lags;
        *first = (int64_t)fmin(floor(fmax(r - radius, 0) / shell), lags + 1);
        *last = (int64_t)fmin(floor((r + radius) / shell) + p->hard, lags);
    }
}

void ps_potential_extent(const ps_potential *potential, const ps_receiver *receiver,
                         ps_lag_rows *rows, int64_t *lowest, int64_t *highest)
{
    *lowest = INT32_MAX;
    *highest = INT32_MIN;
    rows->offset[0] = 0;
    for (int64_t j = 0; j < potential->unknowns; ++j) {
        int64_t first, last;
        lag_range(potential, receiver, j, &first, &last);
        rows->first[j] = (int32_t)first;
        rows->offset[j + 1] = rows->offset[j] + last - first + 1;
        if (first > last) first = last; /* nothing arrives in time */
        if (first < *lowest) *lowest = first;
        if (last > *highest) *highest = last;
    }
}

static void add_weight(ps_lag_rows *rows, int64_t j, int64_t lag, double weight)
{
    int64_t at = rows->offset[j] + lag - rows->first[j];
    if (at >= rows->offset[j] && at < rows->offset[j + 1]) rows->values[at] += weight;
}

/* ---- points: exact shells ---- */

enum { SHELL_ARRAYS = 9 }; /* at most: 1/r, 1, r, hats and their flux */

static int64_t shell_capacity(const ps_potential *p)
{
    double largest = 0;
    for (int64_t t = 0; t < p->triangle_count; ++t)
        if (p->triangles[t].radius > largest) largest = p->triangles[t].radius;
    return ps_shell_bound(largest, p->dt * p->speed);
}

/* Integrals that a point needs: 1/r alone, with the hats, or with their flux, too. */
static int shell_arrays(const ps_potential *p)
{
    return !p->hard ? 1 : p->lined ? SHELL_ARRAYS - 3 : SHELL_ARRAYS;
}

int64_t ps_potential_workspace(const ps_potential *potential)
{
    return shell_arrays(potential) * shell_capacity(potential) * PS_LANES;
}

/* What a density that is constant over a step, (a^n - a^{n-1})/(c dt), has at corner a. */
static void add_slope(const ps_potential *p, int64_t triangle, int a, int64_t lag, double weight,
                      ps_lag_rows *rows)
{
    int64_t j = p->corners[3 * triangle + a];
    double each = weight / (p->dt * p->speed);
    add_weight(rows, j, lag, each);
    add_weight(rows, j, lag + 1, -each);
}

/* At r = (lag + part) D the hats in time at lags lag and lag + 1 have phi/r + phi_t/c =
 * ((lag + 1) a - lag a')/r, whatever the part: what is left is the flux of the hat in space. */
static void add_flux(const ps_potential *p, int64_t triangle, int a, int64_t lag, double flux,
                     ps_lag_rows *rows)
{
    int64_t j = p->corners[3 * triangle + a];
    add_weight(rows, j, lag, (double)(lag + 1) * flux);
    add_weight(rows, j, lag + 1, -(double)lag * flux);
}

static void add_shell(const ps_potential *p, const ps_shell_values *values, int64_t triangle,
                      int64_t lane, int64_t i, ps_lag_rows *rows)
{
    int64_t lag = values->first[lane] + i;
    if (!p->hard) add_weight(rows, triangle, lag, values->inverse[i][lane] / (4 * M_PI));
    for (int a = 0; p->hard && !p->lined && a < 3; ++a)
        add_flux(p, triangle, a, lag, values->flux[a][i][lane] / (4 * M_PI), rows);
    for (int a = 0; p->lined && p->lined[triangle] && a < 3; ++a)
        add_slope(p, triangle, a, lag, values->hat[a][i][lane] / (4 * M_PI), rows);
}

static ps_shell_values shell_values(const ps_potential *p, double *workspace)
{
    int64_t capacity = shell_capacity(p), each = capacity * PS_LANES;
    ps_shell_values out = {.capacity = capacity, .inverse = (void *)workspace};
    if (!p->hard) return out;
    out.one = (void *)(workspace + each);
    out.distance = (void *)(workspace + 2 * each);
    for (int a = 0; a < 3; ++a) {
        out.hat[a] = (void *)(workspace + (3 + a) * each);
        if (!p->lined) out.flux[a] = (void *)(workspace + (6 + a) * each);
    }
    return out;
}

static void point_weights(const ps_potential *p, const ps_receiver *receiver, ps_lag_rows *rows,
                          double *workspace)
{
    const ps_shell_functions *shells = ps_shell_functions_here();
    ps_shell_lanes lanes;
    ps_shell_values out = shell_values(p, workspace);
    if (rows->offset[p->unknowns] == 0) return; /* nothing arrives in time */
    for (int64_t t = 0; t < p->triangle_count; t += PS_LANES) {
        int64_t used = p->triangle_count - t < PS_LANES ? p->triangle_count - t : PS_LANES;
        for (int64_t lane = 0; lane < PS_LANES; ++lane)
            ps_shell_lanes_set(&lanes, (int)lane, receiver->place,
                               &p->triangles[t + (lane < used ? lane : 0)]);
        (!p->hard   ? shells->soft
         : p->lined ? shells->hats
                    : shells->flux)(&lanes, p->dt * p->speed, &out);
        for (int64_t lane = 0; lane < used; ++lane)
            for (int64_t i = 0; i < out.count[lane] && i < out.capacity; ++i)
                add_shell(p, &out, t + lane, lane, i, rows);
    }
}

/* ---- sound-soft and linings, directions ---- */

/* A density of the middles of steps at one point of a triangle. */
static void add_middle(const ps_potential *p, int64_t triangle, const double barycentric[3],
                       int64_t lag, double weight, ps_lag_rows *rows)
{
    if (!p->lined) add_weight(rows, triangle, lag, weight);
    for (int a = 0; p->lined && a < 3; ++a)
        add_slope(p, triangle, a, lag, weight * barycentric[a], rows);
}

static void single_direction(const ps_potential *p, const ps_receiver *receiver,
                             const ps_triangle_rule *rule, ps_lag_rows *rows)
{
    double shell = p->dt * p->speed;
    for (int64_t t = 0; t < p->triangle_count; ++t) {
        ps_point points[PS_RULE_POINTS_MAX];
        if (p->lined && !p->lined[t]) continue;
        ps_triangle_points(&p->triangles[t], rule, 1, points);
        for (int q = 0; q < rule->count; ++q) {
            double s = ps_dot3(receiver->place, points[q].x) / shell + .5, whole = floor(s);
            double part = s - whole, weight = points[q].weight / (4 * M_PI);
            const double *at = rule->barycentric[q];
            add_middle(p, t, at, -(int64_t)whole, (1 - part) * weight, rows);
            add_middle(p, t, at, -(int64_t)whole - 1, part * weight, rows);
        }
    }
}

/* ---- sound-hard, directions ---- */

/* phi_t at n + s by the differences of steps, which stand at half steps. */
static void hard_direction_at(const ps_potential *p, int64_t triangle, const double e[3],
                              const double barycentric[3], double weight, ps_lag_rows *rows)
{
    const ps_triangle *geometry = &p->triangles[triangle];
    double y[3], shell = p->dt * p->speed;
    ps_triangle_place(geometry, barycentric, y);
    double s = ps_dot3(e, y) / shell + .5, whole = floor(s), part = s - whole;
    double scale = weight * ps_dot3(e, geometry->normal) / (4 * M_PI * shell);
    for (int a = 0; a < 3; ++a) {
        int64_t j = p->corners[3 * triangle + a], lag = -(int64_t)whole;
        double factor = scale * barycentric[a];
        add_weight(rows, j, lag - 1, factor * part);
        add_weight(rows, j, lag, factor * (1 - 2 * part));
        add_weight(rows, j, lag + 1, factor * (part - 1));
    }
}

static void hard_direction(const ps_potential *p, const ps_receiver *receiver,
                           const ps_triangle_rule *rule, ps_lag_rows *rows)
{
    for (int64_t t = 0; t < p->triangle_count; ++t)
        for (int q = 0; q < rule->count; ++q)
            hard_direction_at(p, t, receiver->place, rule->barycentric[q],
                              rule->weight[q] * p->triangles[t].area, rows);
}

void ps_potential_weights(const ps_potential *potential, const ps_receiver *receiver,
                          ps_lag_rows *rows, double *workspace)
{
    ps_triangle_rule rule;
    (void)ps_triangle_rule_init(7, &rule); /* 7 is one of the rules */
    memset(rows->values, 0, (size_t)rows->offset[potential->unknowns] * sizeof *rows->values);
    if (!receiver->far_field)
        point_weights(potential, receiver, rows, workspace);
    else if (potential->hard && !potential->lined)
        hard_direction(potential, receiver, &rule, rows);
    else
        single_direction(potential, receiver, &rule, rows);
}
