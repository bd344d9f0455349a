#include "kernels/hbem/pair_reference.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "kernels/hbem/rules.h"

/* Times that a triangle is quartered, and pieces at most; points of a side of the rule. */
enum { DEEPEST = 20, PIECES = 4000, POINTS = 4, MUCH = 16 };

/* A part of x: hats of x at its corners, and its share of the area. */
typedef struct piece {
    double hat[3][3], share, value[9];
    int depth;
} piece;

/* What is integrated over x: potentials of y's hats, or their derivatives along the normal of one
 * of the two. */
typedef enum potential { POTENTIAL_VALUE, POTENTIAL_INNER, POTENTIAL_OUTER } potential;

static void potentials_at(const ps_hbem_triangle *x, const ps_hbem_triangle *y, potential what,
                          const double at[3], double out[3])
{
    ps_hbem_closed inner;
    if (what == POTENTIAL_OUTER) {
        ps_hbem_closed_slopes(y, at, x->normal, out);
        return;
    }
    ps_hbem_closed_at(y, at, &inner);
    memcpy(out, what == POTENTIAL_INNER ? inner.slope : inner.inverse, 3 * sizeof *out);
}

static void integrate(const ps_hbem_triangle *x, const ps_hbem_triangle *y, potential what,
                      const ps_hbem_rule *rule, piece *p)
{
    memset(p->value, 0, sizeof p->value);
    for (int q = 0; q < rule->count; ++q) {
        double hat[3] = {0}, at[3] = {0};
        for (int a = 0; a < 3; ++a)
            for (int l = 0; l < 3; ++l) hat[l] += rule->hat[q][a] * p->hat[a][l];
        for (int l = 0; l < 3; ++l)
            for (int c = 0; c < 3; ++c) at[c] += hat[l] * x->corner[l][c];
        double of[3];
        potentials_at(x, y, what, at, of);
        double weight = rule->weight[q] * x->jacobian * p->share / (4 * M_PI);
        for (int e = 0; e < 9; ++e) p->value[e] += weight * hat[e / 3] * of[e % 3];
    }
}

/* Halves a piece at the middle of its longest edge. One halving may change nothing where it does
 * not cut across what is singular: two are compared with none. */
static void halve(const ps_hbem_triangle *x, const piece *p, piece out[2])
{
    double corner[3][3] = {{0}}, longest = -1;
    int edge = 0;
    for (int a = 0; a < 3; ++a)
        for (int l = 0; l < 3; ++l)
            for (int c = 0; c < 3; ++c) corner[a][c] += p->hat[a][l] * x->corner[l][c];
    for (int a = 0; a < 3; ++a) {
        double side[3];
        ps_subtract3(corner[(a + 1) % 3], corner[a], side);
        if (ps_dot3(side, side) > longest) edge = a;
        longest = fmax(longest, ps_dot3(side, side));
    }
    for (int half = 0; half < 2; ++half) {
        out[half] = *p;
        out[half].share = p->share / 2;
        out[half].depth = p->depth + 1;
        for (int l = 0; l < 3; ++l)
            out[half].hat[(edge + half) % 3][l] = (p->hat[edge][l] + p->hat[(edge + 1) % 3][l]) / 2;
    }
}

static void integrate_all(const ps_hbem_triangle *x, const ps_hbem_triangle *y, potential what,
                          double error, double out[9])
{
    ps_hbem_rule rule;
    piece stack[3 * DEEPEST + 8] = {{.hat = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .share = 1}};
    int waiting = 1;
    ps_hbem_rule_collapsed(POINTS, &rule);
    integrate(x, y, what, &rule, &stack[0]);
    memset(out, 0, 9 * sizeof *out);
    for (int pieces = 0; waiting > 0; ++pieces) {
        piece own = stack[--waiting], half[2], quarter[4];
        double most = 0;
        halve(x, &own, half);
        for (int h = 0; h < 2; ++h) halve(x, &half[h], &quarter[2 * h]);
        for (int q = 0; q < 4; ++q) integrate(x, y, what, &rule, &quarter[q]);
        for (int e = 0; e < 9; ++e) {
            double sum = 0;
            for (int q = 0; q < 4; ++q) sum += quarter[q].value[e];
            own.value[e] -= sum;
            most = fmax(most, fabs(own.value[e]));
        }
        if (most > error && own.depth < 2 * DEEPEST && pieces < PIECES) {
            memcpy(stack + waiting, quarter, sizeof quarter);
            waiting += 4;
            continue;
        }
        for (int q = 0; q < 4; ++q)
            for (int e = 0; e < 9; ++e) out[e] += quarter[q].value[e];
    }
}

/* The triangle without the normal is the outer one of a double layer: over the other one the
 * integrand grows as the logarithm of the distance to a common edge, which takes pieces without
 * end. Only where it is much the larger one, it is the inner one: on a large one beside a sliver
 * what counts is a strip, which few points on the whole do not see, and what is asked is little
 * beside its area. */
void ps_hbem_pair_reference(const ps_hbem_triangle *x, const ps_hbem_triangle *y, bool layer,
                            double error, double out[9])
{
    double turned[9];
    if (x->jacobian <= (layer ? MUCH : 1) * y->jacobian) {
        integrate_all(x, y, layer ? POTENTIAL_INNER : POTENTIAL_VALUE, error, out);
        return;
    }
    integrate_all(y, x, layer ? POTENTIAL_OUTER : POTENTIAL_VALUE, error, turned);
    for (int e = 0; e < 9; ++e) out[e] = turned[3 * (e % 3) + e / 3];
}

double ps_hbem_self_entry(const ps_hbem_triangle *x)
{
    double side[3], around = 0, sum = 0;
    for (int l = 0; l < 3; ++l)
        around += side[l] = ps_distance3(x->corner[(l + 1) % 3], x->corner[l]);
    /* P (P - 2a) (P - 2b) (P - 2c) = 4 J^2 gives the least of the differences without cancelling.
     */
    for (int l = 0; l < 3; ++l) {
        double b = around - 2 * side[(l + 1) % 3], c = around - 2 * side[(l + 2) % 3];
        double rest = around - 2 * side[l];
        if (rest < 1e-6 * around) rest = 4 * x->jacobian * x->jacobian / (around * b * c);
        sum -= log(rest / around) / side[l];
    }
    return x->jacobian * x->jacobian / 3 * sum / (4 * M_PI);
}
