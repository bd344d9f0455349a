#include "kernels/dgtd/face_rule.h"

#include <string.h>

void ps_dgtd_face_rule_init(ps_dgtd_face_rule *rule, const ps_dgtd_reference *reference, int side)
{
    double x[PS_DGTD_FACE_SIDE], w[PS_DGTD_FACE_SIDE];
    ps_dgtd_gauss(side, x, w);
    rule->count = side * side;
    for (int q = 0; q < rule->count; ++q) {
        double a = x[q / side], b = x[q % side];
        rule->l[q][0] = a;
        rule->l[q][1] = (1 - a) * b;
        rule->l[q][2] = (1 - a) * (1 - b);
        rule->weight[q] = 2 * w[q / side] * w[q % side] * (1 - a);
        for (int f = 0; f < 4; ++f) {
            double l[4] = {0};
            for (int v = 0; v < 3; ++v) l[ps_dgtd_face_vertices[f][v]] = rule->l[q][v];
            ps_dgtd_reference_values(reference, l, rule->shape[f][q]);
        }
    }
}

void ps_dgtd_face_rule_point(const ps_dgtd_face_rule *rule, const double *vertices,
                             const int32_t element[4], int face, int q, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int v = 0; v < 3; ++v) {
        const double *x = vertices + 3 * (int64_t)element[ps_dgtd_face_vertices[face][v]];
        for (int c = 0; c < 3; ++c) out[c] += rule->l[q][v] * x[c];
    }
}
