#include "kernels/hbem/polar.h"

#include <math.h>
#include <string.h>

#include "kernels/hbem/rules.h"

enum {
    POLAR_SIDE = PS_HBEM_POLAR_SIDE,
    POLAR_LINE = PS_HBEM_POLAR_LINE,
    POLAR_REST = PS_HBEM_POLAR_REST,
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
    const ps_hbem_triangle *outer, *inner;
    bool layer; /* the derivative along the inner triangle's normal */
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
    double t[3], m[3], length = 0, d = 0, a = 0;
    for (int c = 0; c < 3; ++c) t[c] = y->corner[(edge + 1) % 3][c] - y->corner[edge][c];
    for (int c = 0; c < 3; ++c) length += t[c] * t[c];
    length = sqrt(length);
    for (int c = 0; c < 3; ++c) t[c] /= length;
    for (int c = 0; c < 3; ++c)
        m[c] = t[(c + 1) % 3] * y->normal[(c + 2) % 3] - t[(c + 2) % 3] * y->normal[(c + 1) % 3];
    for (int c = 0; c < 3; ++c) d -= from[c] * m[c], a -= from[c] * t[c];
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
        double square = 0, height = 0;
        for (int c = 0; c < 3; ++c) from[l][c] = x[c] - y->corner[l][c];
        for (int c = 0; c < 3; ++c) square += from[l][c] * from[l][c];
        for (int c = 0; c < 3; ++c) height += from[l][c] * y->normal[c];
        if (square < least) h = height;
        least = fmin(least, square);
    }
    if (fabs(h) < 1e-14 * y->diameter) h = 0;
    for (int l = 0; l < 3; ++l) {
        double side[3];
        int next = (l + 1) % 3, last = (l + 2) % 3;
        for (int c = 0; c < 3; ++c) side[c] = y->corner[last][c] - y->corner[next][c];
        hat[l] = 0;
        for (int c = 0; c < 3; ++c)
            slope[l][c] = (y->normal[(c + 1) % 3] * side[(c + 2) % 3] -
                           y->normal[(c + 2) % 3] * side[(c + 1) % 3]) /
                          y->jacobian;
        for (int c = 0; c < 3; ++c) hat[l] += from[next][c] * slope[l][c];
        out[l] = 0;
    }
    for (int edge = 0; edge < 3; ++edge) polar_edge(p, from[edge], h, edge, hat, slope, out);
}

/* A part of the outer triangle: hats at its corners, and its share of the area. */
typedef struct polar_piece {
    double hat[3][3], share;
    double _Complex value[9];
} polar_piece;

static void polar_integrate(const polar_pair *p, polar_piece *piece)
{
    memset(piece->value, 0, sizeof piece->value);
    for (int q = 0; q < POLAR_SIDE * POLAR_SIDE; ++q) {
        double u = p->rules->side.node[q % POLAR_SIDE], v = p->rules->side.node[q / POLAR_SIDE];
        double of[3] = {1 - u, u * (1 - v), u * v}, hat[3] = {0}, x[3] = {0};
        double weight = p->rules->side.weight[q % POLAR_SIDE] *
                        p->rules->side.weight[q / POLAR_SIDE] * u * piece->share *
                        p->outer->jacobian / (16 * atan(1));
        double _Complex inner[3];
        for (int e = 0; e < 9; ++e) hat[e % 3] += of[e / 3] * piece->hat[e / 3][e % 3];
        for (int e = 0; e < 9; ++e) x[e % 3] += hat[e / 3] * p->outer->corner[e / 3][e % 3];
        polar_potentials(p, x, inner);
        for (int e = 0; e < 9; ++e) piece->value[e] += weight * hat[e / 3] * inner[e % 3];
    }
}

/* Halves across the longest edge. */
static void polar_halve(const polar_pair *p, const polar_piece *piece, polar_piece out[2])
{
    double corner[3][3] = {{0}}, longest = -1;
    int edge = 0;
    for (int e = 0; e < 27; ++e)
        corner[e / 9][e % 3] += piece->hat[e / 9][e / 3 % 3] * p->outer->corner[e / 3 % 3][e % 3];
    for (int a = 0; a < 3; ++a) {
        double square = 0;
        for (int c = 0; c < 3; ++c) square += pow(corner[(a + 1) % 3][c] - corner[a][c], 2);
        if (square > longest) edge = a;
        longest = fmax(longest, square);
    }
    for (int half = 0; half < 2; ++half) {
        out[half] = *piece;
        out[half].share /= 2;
        for (int l = 0; l < 3; ++l)
            out[half].hat[(edge + half) % 3][l] =
                (piece->hat[edge][l] + piece->hat[(edge + 1) % 3][l]) / 2;
    }
}

double ps_hbem_polar_moments(const ps_hbem_polar_rules *rules, const ps_hbem_triangle *outer,
                             const ps_hbem_triangle *inner, bool layer, double k, double error,
                             double _Complex values[9])
{
    polar_pair p = {outer, inner, layer, k, rules};
    polar_piece stack[POLAR_STACK] = {{.hat = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .share = 1}};
    double left = 0;
    int waiting = 1;
    memset(values, 0, 9 * sizeof *values);
    polar_integrate(&p, &stack[0]);
    for (int pieces = 0; waiting > 0; ++pieces) {
        polar_piece own = stack[--waiting], half[2], quarter[4];
        double most = 0;
        polar_halve(&p, &own, half);
        for (int h = 0; h < 2; ++h) polar_halve(&p, &half[h], &quarter[2 * h]);
        for (int q = 0; q < 4; ++q) polar_integrate(&p, &quarter[q]);
        for (int e = 0; e < 9; ++e) {
            double _Complex sum = 0;
            for (int q = 0; q < 4; ++q) sum += quarter[q].value[e];
            most = fmax(most, cabs(sum - own.value[e]));
        }
        if (most > error / 8 && pieces < POLAR_PIECES && waiting + 4 < POLAR_STACK) {
            memcpy(stack + waiting, quarter, sizeof quarter);
            waiting += 4;
            continue;
        }
        left += most;
        for (int e = 0; e < 36; ++e) values[e % 9] += quarter[e / 9].value[e % 9];
    }
    return left;
}
