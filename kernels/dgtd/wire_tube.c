#include "kernels/dgtd/wire_tube.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"

/* Gauss points along an edge of an element: of its longest edge over R or two segments. */
enum { POINTS_LEAST = 8, POINTS_MOST = 28, POINTS_EACH = 8 };

static const double pi = 3.14159265358979323846;

double ps_dgtd_wire_density(double v) { return (8 - 20 * v) * (1 - v) * (1 - v) / pi; }

static const double *corner(const ps_dgtd_body *body, int64_t e, int v)
{
    return body->vertices + 3 * (int64_t)body->tetrahedra[4 * e + v];
}

/* How far a point lies along the segment from its first end, in metres; `away` is the way to it. */
static double along(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x, int64_t k,
                    const double point[3], double away[3])
{
    ps_subtract3(point, shape->points[k], away);
    return ps_dot3(away, x->directions[k]);
}

/* Its distance from the segment's line. */
static double across(const ps_dgtd_wire *x, int64_t k, const double away[3], double s)
{
    double out[3];
    for (int c = 0; c < 3; ++c) out[c] = away[c] - s * x->directions[k][c];
    return ps_norm3(out);
}

/* A ball about the centroid, and the longest edge. */
typedef struct ball {
    double centre[3], radius, edge;
} ball;

static ball ball_of(const ps_dgtd_body *body, int64_t e)
{
    ball out = {.radius = 0};
    for (int v = 0; v < 4; ++v)
        for (int c = 0; c < 3; ++c) out.centre[c] += corner(body, e, v)[c] / 4;
    for (int v = 0; v < 4; ++v) {
        out.radius = fmax(out.radius, ps_distance3(corner(body, e, v), out.centre));
        for (int w = 0; w < v; ++w)
            out.edge = fmax(out.edge, ps_distance3(corner(body, e, v), corner(body, e, w)));
    }
    return out;
}

static bool is_near(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x, int64_t k,
                    const ball *b)
{
    double away[3], s = along(shape, x, k, b->centre, away), part = s / x->lengths[k], over = 0;
    if (part < 0) over = -part * x->lengths[k];
    if (part > 1) over = (part - 1) * x->lengths[k];
    return over < b->radius && across(x, k, away, s) < shape->width + b->radius;
}

/* Rules along an edge by their numbers of points, made when they are first taken: pairs that follow
 * each other take different ones. */
typedef struct edge_rules {
    bool made[POINTS_MOST + 1];
    double points[POINTS_MOST + 1][POINTS_MOST], weights[POINTS_MOST + 1][POINTS_MOST];
} edge_rules;

/* Weights of a segment in an element; their sum is what the element has of int g dV. A point too
 * many at a segment's end is one too few of its neighbour, whose hat goes on: hats are better known
 * than segments. Noise of weights is a current that radiates nothing and stores energy, -i/(w eps)
 * of its square: they are to be known to a few 1e-3. */
static double weigh(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x,
                    const ps_dgtd_reference *reference, const ps_dgtd_body *body, int64_t e,
                    const ball *b, edge_rules *rules, const ps_dgtd_wire_pair *pair)
{
    double values[PS_DGTD_MAX_NODES], sum = 0, t[3][3];
    double fine = fmin(shape->width, 2 * x->lengths[pair->segment]);
    int n = (int)fmin(POINTS_MOST, fmax(POINTS_LEAST, ceil(POINTS_EACH * b->edge / fine)));
    int nodes = reference->nodes;
    const double *points = rules->points[n], *weights = rules->weights[n];
    if (!rules->made[n]) ps_dgtd_gauss(n, rules->points[n], rules->weights[n]);
    rules->made[n] = true;
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, t);
    double volume = 4. / 3 * fabs(ps_dgtd_determinant((const double(*)[3])t));
    for (int q = 0; q < n * n * n; ++q) {
        double u = points[q / n / n], v = points[q / n % n], w = points[q % n], at[3] = {0},
               away[3];
        double l[4] = {u, (1 - u) * v, (1 - u) * (1 - v) * w, (1 - u) * (1 - v) * (1 - w)};
        for (int i = 0; i < 4; ++i)
            for (int c = 0; c < 3; ++c) at[c] += l[i] * corner(body, e, i)[c];
        double metres = along(shape, x, pair->segment, at, away);
        double s = metres / x->lengths[pair->segment];
        if (s < 0 || s > 1) continue;
        double off = across(x, pair->segment, away, metres);
        double rest = 1 - off * off / (shape->width * shape->width);
        if (rest <= 0) continue;
        double part = 6 * volume * weights[q / n / n] * weights[q / n % n] * weights[q % n] *
                      (1 - u) * (1 - u) * (1 - v) * ps_dgtd_wire_density(1 - rest) /
                      (shape->width * shape->width);
        ps_dgtd_reference_values(reference, l, values);
        for (int i = 0; i < nodes; ++i) {
            pair->weights[i] += part * values[i] * (1 - s);
            pair->weights[nodes + i] += part * values[i] * s;
        }
        sum += part;
    }
    for (int h = 0; h < 2; ++h) {
        double *load = pair->loads + h * nodes;
        memcpy(load, pair->weights + h * nodes, (size_t)nodes * sizeof *load);
        ps_dgtd_divide_by_mass(reference, load);
        for (int i = 0; i < nodes; ++i) load[i] /= volume;
    }
    return sum;
}

void ps_dgtd_wire_list(const ps_dgtd_wire_shape *shape, const ps_dgtd_body *body, bool list,
                       ps_dgtd_wire *x)
{
    x->elements = x->pairs = 0;
    for (int64_t e = 0; e < body->elements; ++e) {
        int64_t before = x->pairs;
        ball b = ball_of(body, e);
        for (int64_t k = 0; k < x->segments; ++k) {
            if (!is_near(shape, x, k, &b)) continue;
            if (list) x->pair[x->pairs].segment = (int32_t)k;
            ++x->pairs;
        }
        if (x->pairs == before) continue;
        if (list) x->slots[x->elements] = e, x->first[x->elements] = before;
        ++x->elements;
    }
    if (list) x->first[x->elements] = x->pairs;
}

void ps_dgtd_wire_weigh(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                        const ps_dgtd_body *body, ps_dgtd_wire *x)
{
    int64_t each = 4 * reference->nodes;
    edge_rules rules = {.made = {false}};
    for (int64_t i = 0; i < x->elements; ++i) {
        ball b = ball_of(body, x->slots[i]);
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p) {
            ps_dgtd_wire_pair *pair = x->pair + p;
            pair->weights = x->values + p * each;
            pair->loads = pair->weights + each / 2;
            x->covered[pair->segment] +=
                weigh(shape, x, reference, body, x->slots[i], &b, &rules, pair) /
                x->lengths[pair->segment];
        }
    }
}
