#include "kernels/dgtd/mode_error.h"

#include <math.h>

#include "kernels/dgtd/mesh.h"

enum { SIDE_MAX = PS_DGTD_MAX_ORDER + 5, POINTS_MAX = SIDE_MAX * SIDE_MAX * SIDE_MAX };

/* Points of a tetrahedron, their weights (which add up to 1) and the polynomials there. */
typedef struct rule {
    int count;
    double l[POINTS_MAX][4], weight[POINTS_MAX], values[POINTS_MAX][PS_DGTD_MAX_NODES];
} rule;

static void rule_init(rule *x, const ps_dgtd_reference *reference)
{
    int side = reference->order + 5;
    double points[SIDE_MAX], weights[SIDE_MAX];
    ps_dgtd_gauss(side, points, weights);
    x->count = side * side * side;
    for (int q = 0; q < x->count; ++q) {
        int i = q / side / side, j = q / side % side, k = q % side;
        double *l = x->l[q], a = 1 - points[i], b = 1 - points[j];
        l[0] = points[i];
        l[1] = a * points[j];
        l[2] = a * b * points[k];
        l[3] = a * b * (1 - points[k]);
        x->weight[q] = 6 * weights[i] * weights[j] * weights[k] * a * a * b;
        ps_dgtd_reference_values(reference, l, x->values[q]);
    }
}

/* Squared distance at one point, node[3][nodes] being the field's values. */
static double distance(const ps_dgtd_mode *mode, const ps_dgtd_body *body, int64_t e,
                       const double l[4], double t, ps_dgtd_field which, const double *values,
                       const double node[3][PS_DGTD_MAX_NODES], int nodes)
{
    double point[3] = {0}, exact[2][3], sum = 0;
    for (int v = 0; v < 4; ++v)
        for (int c = 0; c < 3; ++c)
            point[c] += l[v] * body->vertices[3 * (int64_t)body->tetrahedra[4 * e + v] + c];
    ps_dgtd_mode_at(mode, point, t, exact[PS_DGTD_E], exact[PS_DGTD_H]);
    for (int c = 0; c < 3; ++c) {
        double difference = -exact[which][c];
        for (int n = 0; n < nodes; ++n) difference += values[n] * node[c][n];
        sum += difference * difference;
    }
    return sum;
}

static double element_error(const ps_dgtd_mode *mode, const ps_dgtd_system *system,
                            const ps_dgtd_body *body, const rule *x, int64_t e, double t,
                            ps_dgtd_field which, const void *field)
{
    double tangents[3][3], node[3][PS_DGTD_MAX_NODES], sum = 0;
    int nodes = system->reference->nodes;
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
    for (int c = 0; c < 3; ++c)
        for (int n = 0; n < nodes; ++n) node[c][n] = ps_dgtd_get(system, field, e, c, n);
    for (int q = 0; q < x->count; ++q)
        sum += x->weight[q] * distance(mode, body, e, x->l[q], t, which, x->values[q],
                                       (const double(*)[PS_DGTD_MAX_NODES])node, nodes);
    return sum * 4 / 3 * fabs(ps_dgtd_determinant(tangents));
}

double ps_dgtd_mode_error(const ps_dgtd_mode *mode, const ps_dgtd_system *system,
                          const ps_dgtd_body *body, ps_dgtd_field which, const void *field,
                          double t, double *squares)
{
    rule x;
    double sum = 0;
    rule_init(&x, system->reference);
#pragma omp parallel for
    for (int64_t e = 0; e < body->elements; ++e)
        squares[e] = element_error(mode, system, body, &x, e, t, which, field);
    for (int64_t e = 0; e < body->elements; ++e) sum += squares[e];
    return sum;
}
