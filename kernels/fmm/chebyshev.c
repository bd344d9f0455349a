#include "kernels/fmm/chebyshev.h"

#include <math.h>
#include <stddef.h>

/* T_n(x) and n U_{n-1}(x) = T_n'(x) for n < order. */
static void polynomials_at(int order, double x, double *t, double *slope)
{
    double u_before = 0, u = 1; /* U_{n-2}, U_{n-1} */
    for (int n = 0; n < order; ++n) {
        t[n] = n == 0 ? 1 : n == 1 ? x : 2 * x * t[n - 1] - t[n - 2];
        slope[n] = n == 0 ? 0 : n * u;
        if (n == 0) continue;
        double next = 2 * x * u - u_before;
        u_before = u;
        u = next;
    }
}

/* cos((2a+1) pi / (2l)), odd about the middle to the bit. */
static double node(int order, int a)
{
    if (2 * a + 1 == order) return 0;
    if (2 * a + 1 > order) return -node(order, order - 1 - a);
    return cos((2 * a + 1) * M_PI / (2 * order));
}

void ps_fmm_interpolation_at(const ps_fmm_interpolation *interpolation, double x, double *values,
                             double *slopes)
{
    double t[PS_FMM_ORDER_MAX], slope[PS_FMM_ORDER_MAX];
    int order = interpolation->order;
    polynomials_at(order, x, t, slope);
    for (int a = 0; a < order; ++a) {
        double value = 0, derivative = 0;
        for (int n = 0; n < order; ++n) {
            value += interpolation->polynomials[n][a] * t[n];
            derivative += interpolation->polynomials[n][a] * slope[n];
        }
        values[a] = value;
        if (slopes) slopes[a] = derivative;
    }
}

ps_status ps_fmm_interpolation_init(ps_fmm_interpolation *interpolation, int order)
{
    if (order < 1 || order > PS_FMM_ORDER_MAX)
        return ps_fail(PS_USAGE, "an interpolation of %d points per axis; 1 to %d are possible",
                       order, PS_FMM_ORDER_MAX);
    *interpolation = (ps_fmm_interpolation){.order = order, .points = order * order * order};
    for (int a = 0; a < order; ++a) interpolation->nodes[a] = node(order, a);
    for (int a = 0; a < order; ++a) {
        double t[PS_FMM_ORDER_MAX], slope[PS_FMM_ORDER_MAX];
        polynomials_at(order, interpolation->nodes[a], t, slope);
        for (int n = 0; n < order; ++n)
            interpolation->polynomials[n][a] = (n == 0 ? 1.0 : 2.0) * t[n] / order;
    }
    for (int o = 0; o < 2; ++o)
        for (int b = 0; b < order; ++b) {
            double values[PS_FMM_ORDER_MAX];
            ps_fmm_interpolation_at(interpolation, (interpolation->nodes[b] + 2 * o - 1) / 2,
                                    values, NULL);
            for (int a = 0; a < order; ++a) interpolation->child[o][a][b] = values[a];
        }
    return PS_OK;
}

void ps_fmm_point(const ps_fmm_interpolation *interpolation, int m, double point[3])
{
    int order = interpolation->order;
    point[0] = interpolation->nodes[m / (order * order)];
    point[1] = interpolation->nodes[m / order % order];
    point[2] = interpolation->nodes[m % order];
}

void ps_fmm_weights(const ps_fmm_interpolation *interpolation, double *weights)
{
    for (int m = 0; m < interpolation->points; ++m) {
        double point[3], product = 1;
        ps_fmm_point(interpolation, m, point);
        for (int d = 0; d < 3; ++d)
            product *= M_PI / interpolation->order * sqrt(1 - point[d] * point[d]);
        weights[m] = sqrt(product);
    }
}
