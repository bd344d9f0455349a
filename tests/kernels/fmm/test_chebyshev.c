/* Interpolation at Chebyshev points: delta property, unity, powers, slopes, transfer to children.
 * */
#include "kernels/fmm/chebyshev.h"

#include <math.h>

#include "tests/check.h"

static void delta_property(void **state)
{
    for (int order = 1; order <= PS_FMM_ORDER_MAX; ++order) {
        ps_fmm_interpolation s;
        check_ok(ps_fmm_interpolation_init(&s, order));
        for (int b = 0; b < order; ++b) {
            double values[PS_FMM_ORDER_MAX];
            ps_fmm_interpolation_at(&s, s.nodes[b], values, NULL);
            for (int a = 0; a < order; ++a) check_near(values[a], a == b, 1e-14, 0);
        }
    }
}

/* sum_a S(a,x) xbar_a^k = x^k for k < l, and its derivative k x^{k-1}. */
static void powers(void **state)
{
    uint64_t seed = 5;
    for (int order = 1; order <= 9; ++order) {
        ps_fmm_interpolation s;
        check_ok(ps_fmm_interpolation_init(&s, order));
        for (int trial = 0; trial < 50; ++trial) {
            double x = 2 * check_random(&seed) - 1, values[PS_FMM_ORDER_MAX],
                   slopes[PS_FMM_ORDER_MAX];
            ps_fmm_interpolation_at(&s, x, values, slopes);
            for (int k = 0; k < order; ++k) {
                double sum = 0, slope = 0;
                for (int a = 0; a < order; ++a) {
                    sum += values[a] * pow(s.nodes[a], k);
                    slope += slopes[a] * pow(s.nodes[a], k);
                }
                check_near(sum, pow(x, k), 1e-14, 0);
                check_near(slope, k ? k * pow(x, k - 1) : 0, 1e-12, 0);
            }
        }
    }
}

/* Interpolating from the parent at the child's points and from there is interpolating at once. */
static void children(void **state)
{
    ps_fmm_interpolation s;
    check_ok(ps_fmm_interpolation_init(&s, 6));
    for (int o = 0; o < 2; ++o) {
        double x = 0.3, direct[PS_FMM_ORDER_MAX], child[PS_FMM_ORDER_MAX];
        ps_fmm_interpolation_at(&s, (x + 2 * o - 1) / 2, direct, NULL);
        ps_fmm_interpolation_at(&s, x, child, NULL);
        for (int a = 0; a < 6; ++a) {
            double sum = 0;
            for (int b = 0; b < 6; ++b) sum += s.child[o][a][b] * child[b];
            check_near(sum, direct[a], 1e-14, 0);
        }
    }
}

static void refusals(void **state)
{
    ps_fmm_interpolation s;
    check_fails(ps_fmm_interpolation_init(&s, 0), PS_USAGE, "0 points per axis");
    check_fails(ps_fmm_interpolation_init(&s, 13), PS_USAGE, "1 to 12");
}
