#include "kernels/dgtd/wire_tube.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"

/* Points of the tube: in rho^2 and the angle; along a segment in a length R, at least, at most. */
enum { RADII = 12, ANGLES = 24, ALONG_EACH = 24, ALONG_LEAST = 4, ALONG_MOST = 48 };

static const double pi = 3.14159265358979323846;

double ps_dgtd_wire_density(double v) { return (8 - 20 * v) * (1 - v) * (1 - v) / pi; }

/* ---- elements ---- */

static const double *corner(const ps_dgtd_body *body, int64_t e, int v)
{
    return body->vertices + 3 * (int64_t)body->tetrahedra[4 * e + v];
}

/* A ball about the centroid. */
typedef struct ball {
    double centre[3], radius;
} ball;

static ball ball_of(const ps_dgtd_body *body, int64_t e)
{
    ball out = {.radius = 0};
    for (int v = 0; v < 4; ++v)
        for (int c = 0; c < 3; ++c) out.centre[c] += corner(body, e, v)[c] / 4;
    for (int v = 0; v < 4; ++v)
        out.radius = fmax(out.radius, ps_distance3(corner(body, e, v), out.centre));
    return out;
}

/* May the tube about a segment reach into a ball? */
static bool is_near(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x, int64_t k, const ball *b)
{
    double away[3], across[3];
    ps_subtract3(b->centre, shape->points[k], away);
    double s = ps_dot3(away, x->directions[k]), over = fmax(-s, s - x->lengths[k]);
    for (int c = 0; c < 3; ++c) across[c] = away[c] - s * x->directions[k][c];
    return ps_norm3(across) < shape->width + b->radius && over < b->radius;
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

/* The faces of an element, opposite to its vertices: corners in an order that both elements at a
 * face, of whatever rank, have alike, so that rounding gives a point on it to one of them. */
typedef struct facing {
    ball ball;
    const double *at[4][3];
    double whole[4]; /* six volumes of the element by this face, with a sign */
} facing;

static bool is_before(const double *a, const double *b)
{
    for (int c = 0; c < 3; ++c)
        if (a[c] != b[c]) return a[c] < b[c];
    return false;
}

static double six_volumes(const double *const face[3], const double point[3])
{
    double a[3], b[3], away[3], normal[3];
    ps_subtract3(face[1], face[0], a), ps_subtract3(face[2], face[0], b);
    ps_subtract3(point, face[0], away);
    ps_cross3(a, b, normal);
    return ps_dot3(normal, away);
}

static facing facing_of(const ps_dgtd_body *body, int64_t e)
{
    facing out = {.ball = ball_of(body, e)};
    for (int f = 0; f < 4; ++f) {
        const double **at = out.at[f];
        for (int i = 0; i < 3; ++i) at[i] = corner(body, e, (f + 1 + i) % 4);
        for (int i = 0; i < 3; ++i) { /* bubbles */
            int k = i % 2;
            const double *first = at[k];
            if (!is_before(at[k + 1], first)) continue;
            at[k] = at[k + 1], at[k + 1] = first;
        }
        out.whole[f] = six_volumes(at, corner(body, e, f));
    }
    return out;
}

/* Is the point in the element, and then where? */
static bool locate(const facing *x, const double point[3], double barycentric[4])
{
    if (ps_distance3(point, x->ball.centre) > x->ball.radius * (1 + 1e-9)) return false;
    for (int f = 0; f < 4; ++f) {
        double part = six_volumes(x->at[f], point);
        if (part == 0 ? x->whole[f] < 0 : (part > 0) != (x->whole[f] > 0)) return false;
        barycentric[f] = part / x->whole[f];
    }
    return true;
}

/* ---- points of the tube ---- */

/* A rule on a segment's cylinder that is exact for polynomials whatever the mesh: Gauss's along it and
 * in rho^2, equal angles; the angles of a ring are turned against those of its neighbours. */
typedef struct tube {
    int along;
    double s[ALONG_MOST], s_weight[ALONG_MOST], v[RADII], v_weight[RADII];
    double across[2][3];
} tube;

static tube tube_of(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x, int64_t k)
{
    const double *t = x->directions[k];
    int least = fabs(t[0]) <= fabs(t[1]) && fabs(t[0]) <= fabs(t[2]) ? 0 : fabs(t[1]) <= fabs(t[2]) ? 1 : 2;
    double axis[3] = {0}, size;
    tube out = {.along = (int)fmin(ALONG_MOST,
                                   fmax(ALONG_LEAST, ceil(ALONG_EACH * x->lengths[k] / shape->width)))};
    ps_dgtd_gauss(out.along, out.s, out.s_weight);
    ps_dgtd_gauss(RADII, out.v, out.v_weight);
    axis[least] = 1;
    ps_cross3(t, axis, out.across[0]);
    size = ps_norm3(out.across[0]);
    for (int c = 0; c < 3; ++c) out.across[0][c] /= size;
    ps_cross3(t, out.across[0], out.across[1]);
    return out;
}

/* Point q of segment k: its place, how far along it is, and the weight. */
static double point_of(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x, const tube *rule,
                       int64_t k, int q, double point[3], double *s)
{
    int i = q / (RADII * ANGLES), j = q / ANGLES % RADII, ring = (int)(k % 4096) * rule->along + i;
    double turn = .618033988749895 * ring + .7548776662466927 * j;
    double angle = 2 * pi * (q % ANGLES + turn - floor(turn)) / ANGLES;
    double rho = shape->width * sqrt(rule->v[j]);
    *s = rule->s[i];
    for (int c = 0; c < 3; ++c)
        point[c] = shape->points[k][c] + *s * x->lengths[k] * x->directions[k][c] +
                   rho * (cos(angle) * rule->across[0][c] + sin(angle) * rule->across[1][c]);
    return x->lengths[k] * rule->s_weight[i] * rule->v_weight[j] * pi *
           ps_dgtd_wire_density(rule->v[j]) / ANGLES;
}

/* Weights of a segment in an element: how many points of it are there; *sum gets what it has of int g dV. */
static int weigh_pair(const ps_dgtd_wire_shape *shape, const ps_dgtd_wire *x,
                         const ps_dgtd_reference *reference, const facing *element,
                         const ps_dgtd_wire_pair *pair, double *sum)
{
    int nodes = reference->nodes, count = 0;
    double values[PS_DGTD_MAX_NODES], point[3], l[4], s;
    tube rule = tube_of(shape, x, pair->segment);
    for (int q = 0; q < rule.along * RADII * ANGLES; ++q) {
        double part = point_of(shape, x, &rule, pair->segment, q, point, &s);
        if (!locate(element, point, l)) continue;
        ps_dgtd_reference_values(reference, l, values);
        for (int i = 0; i < nodes; ++i) {
            pair->weights[i] += part * values[i] * (1 - s);
            pair->weights[nodes + i] += part * values[i] * s;
        }
        *sum += part;
        ++count;
    }
    for (int h = 0; h < 2; ++h) {
        double *load = pair->loads + h * nodes;
        memcpy(load, pair->weights + h * nodes, (size_t)nodes * sizeof *load);
        ps_dgtd_divide_by_mass(reference, load);
        for (int i = 0; i < nodes; ++i) load[i] /= fabs(element->whole[0]) / 6;
    }
    return count;
}

void ps_dgtd_wire_weigh(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                        const ps_dgtd_body *body, ps_dgtd_wire *x)
{
    int64_t each = 4 * reference->nodes, elements = 0, pairs = 0;
    for (int64_t i = 0, first = 0, end; i < x->elements; ++i, first = end) {
        facing element = facing_of(body, x->slots[i]);
        int64_t before = pairs;
        end = x->first[i + 1];
        for (int64_t p = first; p < end; ++p) {
            double *weights = x->values + pairs * each, sum = 0;
            ps_dgtd_wire_pair pair = {x->pair[p].segment, weights, weights + each / 2};
            if (weigh_pair(shape, x, reference, &element, &pair, &sum) == 0) continue;
            x->covered[pair.segment] += sum / x->lengths[pair.segment];
            x->pair[pairs++] = pair;
        }
        if (pairs == before) continue;
        x->slots[elements] = x->slots[i], x->first[elements++] = before;
    }
    x->first[elements] = pairs;
    x->elements = elements, x->pairs = pairs;
}
