#include "kernels/hbem/polar.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/rules.h"

enum {
    POLAR_SIDE = PS_HBEM_POLAR_SIDE,
    POLAR_LINE = PS_HBEM_POLAR_LINE,
    POLAR_REST = PS_HBEM_POLAR_REST,
    POLAR_CORNERS = 8,
    POLAR_STACK = 200,
    POLAR_PIECES = 3000
};

void ps_hbem_polar_rules_init(ps_hbem_polar_rules *rules)
{
    ps_hbem_gauss(POLAR_SIDE, rules->side.node, rules->side.weight);
    ps_hbem_gauss(POLAR_LINE, rules->line.node, rules->line.weight);
    ps_hbem_gauss(POLAR_REST, rules->rest.node, rules->rest.weight);
}

typedef struct polar_pair {
    const ps_hbem_triangle *outer, *inner; /* about a corner of the inner one */
    bool one;                              /* the outer triangle is the inner one */
    bool layer;                            /* the derivative along the inner triangle's normal */
    double k;
    const ps_hbem_polar_rules *rules;
} polar_pair;

/* out[j] = int_0^rho q(r) s^(1 + j) ds, r^2 = s^2 + h^2; q = e^{ikr}/r, or h times minus its
 * derivative over r. */
static void polar_radial(const polar_pair *p, double h, double rho, double _Complex out[2])
{
    double size = fabs(h), r = hypot(rho, h), k = p->k;
    double angle = size > 0 ? asinh(rho / size) : 0;
    if (p->layer) {
        out[0] = size > 0 ? copysign(rho * rho / (r * (r + size)), h) : 0;
        out[1] = h * (angle - rho / r);
    } else {
        out[0] = rho * rho / (r + size);
        out[1] = (rho * r - h * h * angle) / 2;
    }
    for (int q = 0; k != 0 && q < POLAR_REST; ++q) {
        double t = p->rules->rest.node[q], s = rho * t * t, at = hypot(s, h);
        double weight = p->rules->rest.weight[q] * 2 * rho * t * s;
        double _Complex wave = cexp(I * k * at), left;
        left = p->layer ? h * ((1 - I * k * at) * wave - 1) / (at * at * at) : (wave - 1) / at;
        out[0] += weight * left;
        out[1] += weight * s * left;
    }
}

/* Adds what lies between the foot of x and one edge. */
static void polar_edge(const polar_pair *p, const double from[3], double h, int edge,
                       const double hat[3], const double slope[3][3], double _Complex out[3])
{
    const ps_hbem_triangle *y = p->inner;
    double t[3], m[3];
    ps_subtract3(y->corner[(edge + 1) % 3], y->corner[edge], t);
    double length = ps_norm3(t);
    for (int c = 0; c < 3; ++c) t[c] /= length;
    ps_cross3(t, y->normal, m);
    double d = -ps_dot3(from, m), a = -ps_dot3(from, t);
    if (fabs(d) < 1e-14 * length) return;
    double begin = asinh(a / fabs(d)), end = asinh((a + length) / fabs(d));
    int panels = 1 + (int)((end - begin) / 2);
    for (int n = 0; n < panels * POLAR_LINE; ++n) {
        double wide = (end - begin) / panels;
        double u = begin + wide * (n / POLAR_LINE + p->rules->line.node[n % POLAR_LINE]);
        double weight = copysign(wide * p->rules->line.weight[n % POLAR_LINE] / cosh(u), d);
        double l = fabs(d) * sinh(u), rho = fabs(d) * cosh(u);
        double _Complex radial[2];
        polar_radial(p, h, rho, radial);
        for (int f = 0; f < 3; ++f) {
            double along = 0;
            for (int c = 0; c < 3; ++c) along += slope[f][c] * (d * m[c] + l * t[c]) / rho;
            out[f] += weight * (hat[f] * radial[0] + along * radial[1]);
        }
    }
}

/* out[hat of the inner triangle] at x, 4 pi times. */
static void polar_potentials(const polar_pair *p, const double x[3], double _Complex out[3])
{
    const ps_hbem_triangle *y = p->inner;
    double from[3][3], slope[3][3], hat[3], h = 0, least = INFINITY;
    for (int l = 0; l < 3; ++l) {
        ps_subtract3(x, y->corner[l], from[l]);
        double square = ps_dot3(from[l], from[l]);
        if (square < least) h = ps_dot3(from[l], y->normal);
        least = fmin(least, square);
    }
    if (p->one || fabs(h) < 1e-14 * y->diameter) h = 0;
    for (int l = 0; l < 3; ++l) {
        double side[3];
        int next = (l + 1) % 3, last = (l + 2) % 3;
        ps_subtract3(y->corner[last], y->corner[next], side);
        ps_cross3(y->normal, side, slope[l]);
        for (int c = 0; c < 3; ++c) slope[l][c] /= y->jacobian;
        hat[l] = ps_dot3(from[next], slope[l]);
        out[l] = 0;
    }
    for (int edge = 0; edge < 3; ++edge) polar_edge(p, from[edge], h, edge, hat, slope, out);
}

/* ---- the outer triangle ---- */

/* A convex part of the outer triangle, by the hats at its corners. */
typedef struct polar_part {
    int corners;
    double hat[POLAR_CORNERS][3];
} polar_part;

/* A rectangle of the square that collapses to a triangle at its first corner. */
typedef struct polar_piece {
    double begin[2], size[2];
    double _Complex value[9];
} polar_piece;

static void polar_at(const polar_pair *p, const double hat[3], double x[3])
{
    for (int c = 0; c < 3; ++c) x[c] = 0;
    for (int e = 0; e < 9; ++e) x[e % 3] += hat[e / 3] * p->outer->corner[e / 3][e % 3];
}

/* How far a point of the outer triangle lies outside of the plane that stands on an edge of the
 * inner one; 0 within rounding. */
static double polar_outside(const polar_pair *p, int edge, const double hat[3])
{
    const ps_hbem_triangle *y = p->inner;
    const double *from = y->corner[edge], *to = y->corner[(edge + 1) % 3];
    double x[3], out = 0, square = 0;
    polar_at(p, hat, x);
    for (int c = 0; c < 3; ++c) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        square += (to[c] - from[c]) * (to[c] - from[c]);
        out += ((to[a] - from[a]) * y->normal[b] - (to[b] - from[b]) * y->normal[a]) *
               (x[c] - from[c]);
    }
    out /= sqrt(square);
    return fabs(out) < 1e-12 * (p->outer->diameter + y->diameter) ? 0 : out;
}

/* The two sides of a part; one of them has no corner where the plane does not cut it. */
static void polar_cut(const polar_pair *p, int edge, const polar_part *part, polar_part side[2])
{
    double out[POLAR_CORNERS];
    side[0].corners = side[1].corners = 0;
    for (int l = 0; l < part->corners; ++l) out[l] = polar_outside(p, edge, part->hat[l]);
    for (int l = 0; l < part->corners; ++l) {
        int next = (l + 1) % part->corners;
        const double *here = part->hat[l], *there = part->hat[next];
        for (int s = 0; s < 2; ++s)
            if (s ? out[l] >= 0 : out[l] <= 0)
                memcpy(side[s].hat[side[s].corners++], here, sizeof side[s].hat[0]);
        if (out[l] * out[next] >= 0) continue;
        double share = out[l] / (out[l] - out[next]);
        for (int s = 0; s < 2; ++s, side[s - 1].corners++)
            for (int c = 0; c < 3; ++c)
                side[s].hat[side[s].corners][c] = here[c] + share * (there[c] - here[c]);
    }
    /* What only touches the plane is on one side of it. */
    double low = 0, high = 0;
    for (int l = 0; l < part->corners; ++l) low = fmin(low, out[l]), high = fmax(high, out[l]);
    if (high == 0)
        side[1].corners = 0;
    else if (low == 0)
        side[0].corners = 0;
}

/* Twice the area of a triangle of hats, of the outer one's. */
static double polar_share(const double *hat[3])
{
    double a = hat[1][0] - hat[0][0], b = hat[1][1] - hat[0][1];
    return fabs(a * (hat[2][1] - hat[0][1]) - b * (hat[2][0] - hat[0][0]));
}

static void polar_integrate(const polar_pair *p, const double *corner[3], polar_piece *piece)
{
    double scale =
        polar_share(corner) * piece->size[0] * piece->size[1] * p->outer->jacobian / (16 * atan(1));
    memset(piece->value, 0, sizeof piece->value);
    for (int q = 0; q < POLAR_SIDE * POLAR_SIDE; ++q) {
        double u = piece->begin[0] + piece->size[0] * p->rules->side.node[q % POLAR_SIDE];
        double v = piece->begin[1] + piece->size[1] * p->rules->side.node[q / POLAR_SIDE];
        double of[3] = {1 - u, u * (1 - v), u * v}, hat[3] = {0}, x[3];
        double weight = p->rules->side.weight[q % POLAR_SIDE] *
                        p->rules->side.weight[q / POLAR_SIDE] * u * scale;
        double _Complex inner[3];
        for (int e = 0; e < 9; ++e) hat[e % 3] += of[e / 3] * corner[e / 3][e % 3];
        polar_at(p, hat, x);
        polar_potentials(p, x, inner);
        for (int e = 0; e < 9; ++e) piece->value[e] += weight * hat[e / 3] * inner[e % 3];
    }
}

/* Halves a piece in both directions; returns the direction that changes more, and by how much. */
static int polar_halve(const polar_pair *p, const double *corner[3], const polar_piece *piece,
                       polar_piece half[2][2], double *change)
{
    double most[2] = {0};
    for (int way = 0; way < 2; ++way) {
        for (int h = 0; h < 2; ++h) {
            half[way][h] = *piece;
            half[way][h].size[way] /= 2;
            half[way][h].begin[way] += h * half[way][h].size[way];
            polar_integrate(p, corner, &half[way][h]);
        }
        for (int e = 0; e < 9; ++e)
            most[way] = fmax(most[way],
                             cabs(half[way][0].value[e] + half[way][1].value[e] - piece->value[e]));
    }
    int way = most[1] > most[0];
    *change = most[way];
    return way;
}

/* Adds a triangle of the outer one; returns what is left. */
static double polar_triangle(const polar_pair *p, const double *corner[3], double error,
                             double _Complex values[9])
{
    polar_piece stack[POLAR_STACK] = {{.size = {1, 1}}};
    double left = 0;
    int waiting = 1;
    polar_integrate(p, corner, &stack[0]);
    for (int pieces = 0; waiting > 0; ++pieces) {
        polar_piece own = stack[--waiting], half[2][2];
        double change;
        int way = polar_halve(p, corner, &own, half, &change);
        if (change > error && pieces < POLAR_PIECES && waiting + 2 < POLAR_STACK) {
            memcpy(stack + waiting, half[way], sizeof half[way]);
            waiting += 2;
            continue;
        }
        left += change;
        for (int e = 0; e < 9; ++e) {
            for (int h = 0; h < 4; ++h) values[e] += half[h / 2][h % 2].value[e];
            values[e] -= own.value[e];
        }
    }
    return left;
}

double ps_hbem_polar_moments(const ps_hbem_polar_rules *rules, const ps_hbem_triangle *outer,
                             const ps_hbem_triangle *inner, bool layer, double k, double error,
                             double _Complex values[9])
{
    /* Far from the origin a height above a triangle would be lost in the rounding of its corners.
     */
    ps_hbem_triangle local[2] = {*outer, *inner};
    bool one = true;
    for (int e = 0; e < 18; ++e) local[e / 9].corner[e % 9 / 3][e % 3] -= inner->corner[0][e % 3];
    for (int e = 0; e < 9; ++e)
        one = one && local[0].corner[e / 3][e % 3] == local[1].corner[e / 3][e % 3];
    polar_pair p = {&local[0], &local[1], one, layer, k, rules};
    polar_part part[8] = {{3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    double left = 0;
    int parts = 1;
    memset(values, 0, 9 * sizeof *values);
    for (int edge = 0; edge < 3; ++edge)
        for (int i = 0, end = parts; i < end; ++i) {
            polar_part side[2];
            polar_cut(&p, edge, &part[i], side);
            if (side[0].corners > 0 && side[1].corners > 0) part[parts++] = side[1];
            part[i] = side[side[0].corners == 0];
        }
    for (int i = 0; i < parts; ++i)
        for (int l = 2; l < part[i].corners; ++l) {
            const double *corner[3] = {part[i].hat[0], part[i].hat[l - 1], part[i].hat[l]};
            if (polar_share(corner) > 0) left += polar_triangle(&p, corner, error / 8, values);
        }
    return left;
}
