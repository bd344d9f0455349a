/* Body of half_step_cpu.c for one precision: `real`, LANES and SUFFIX are the includer's. */
#include "kernels/dgtd/lanes_body.h"

#define combine PASTE3(combine, SUFFIX, 0)

/* out = x_plus - x_minus of three, either of them absent (-1); constants where it is used. */
INLINE void combine(lanes *out, const lanes *x, int stride, const int *plus_minus)
{
    int plus = plus_minus[0], minus = plus_minus[1];
    if (plus < 0)
        *out = -x[minus * stride];
    else if (minus < 0)
        *out = x[plus * stride];
    else
        *out = x[plus * stride] - x[minus * stride];
}

#define ORDER_BODY "kernels/dgtd/half_step_body.h"
#include "kernels/dgtd/orders_body.h"
#undef ORDER_BODY

/* 1/2 sum of weight |det| (a' M^ b) over the elements of one group, all components. */
static double PASTE2(inner, SUFFIX)(const ps_dgtd_inner_arguments *x, int64_t group)
{
    const ps_dgtd_system *s = x->system;
    const double *mass = s->reference->mass;
    int n = s->reference->nodes;
    const real *a = (const real *)x->a + group * 3 * n * LANES;
    const real *b = (const real *)x->b + group * 3 * n * LANES;
    double sums[LANES] = {0}, total = 0;
    for (int c = 0; c < 3; ++c)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                for (int l = 0; l < LANES; ++l)
                    sums[l] += mass[i * n + j] * (double)a[(c * n + i) * LANES + l] *
                               (double)b[(c * n + j) * LANES + l];
    for (int l = 0; l < LANES; ++l) {
        double t[3][3];
        int64_t slot = group * LANES + l;
        ps_dgtd_slot_tangents(s, slot, t);
        total += fabs(ps_dgtd_determinant(t)) / 2 * x->weights[s->material[slot]] * sums[l];
    }
    return total;
}

#undef combine
#include "kernels/dgtd/lanes_end.h"
