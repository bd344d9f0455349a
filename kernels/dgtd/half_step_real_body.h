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

/* ---- media that are more than a number ---- */

#define law_lanes PASTE3(law_lanes, SUFFIX, 0)
#define spread_law PASTE3(spread_law, SUFFIX, 0)
#define gather_laws PASTE3(gather_laws, SUFFIX, 0)
#define LEAF INLINE
#define quantity lanes
#define NAME(x) PASTE2(x, SUFFIX)
#include "kernels/dgtd/dispersion_body.h"

/* The laws of a part of a group side by side. */
typedef struct law_lanes {
    lanes keep, k[6], m[6], factor[PS_DGTD_STATES_MAX][4];
} law_lanes;

/* One number of the law of each lane, `at` doubles behind its beginning. */
INLINE void spread_law(lanes *out, const ps_dgtd_law *const *law, size_t at)
{
    for (int l = 0; l < WIDTH; ++l)
        ((real *)out)[l] = (real) * (const double *)((const char *)law[l] + at);
}

static void gather_laws(law_lanes *out, const ps_dgtd_system *s, int64_t slot, int states,
                        int tensor)
{
    const ps_dgtd_dispersion *d = s->dispersion;
    const ps_dgtd_law *law[WIDTH];
    for (int l = 0; l < WIDTH; ++l) law[l] = d->laws + d->law_of[s->material[slot + l]];
    spread_law(&out->keep, law, offsetof(ps_dgtd_law, keep));
    for (int k = 0; k < 6 && tensor; ++k) {
        spread_law(out->k + k, law, offsetof(ps_dgtd_law, k[k]));
        spread_law(out->m + k, law, offsetof(ps_dgtd_law, m[k]));
    }
    for (int f = 0; f < 4 * states; ++f)
        spread_law(&out->factor[f / 4][f % 4], law, offsetof(ps_dgtd_law, factor[f / 4][f % 4]));
}

static void PASTE2(respond_group, SUFFIX)(const ps_dgtd_sweep_arguments *x, int64_t g)
{
    const ps_dgtd_dispersion *d = x->system->dispersion;
    const int nodes = x->system->reference->nodes;
    const int64_t row = d->row_of[g], stride = 3 * (int64_t)nodes * PARTS;
    const int states = d->row_states[3 * row], pairs = d->row_states[3 * row + 1];
    const int tensor = d->row_states[3 * row + 2];
    for (int part = 0; part < PARTS; ++part) {
        law_lanes law;
        lanes *e = (lanes *)x->target + g * stride + part;
        lanes *u = (lanes *)d->state + d->first[row] * stride + part;
        gather_laws(&law, x->system, g * LANES + part * WIDTH, states, tensor);
        for (int i = 0; i < 3 * nodes && !tensor; ++i, e += PARTS, u += PARTS)
            *e = law.keep * *e +
                 NAME(respond)((const lanes(*)[4])law.factor, states, pairs, *e, u, stride);
        for (int i = 0; i < nodes && tensor; ++i) {
            lanes now[3], sum[3], kept[3], turned[3];
            for (int c = 0; c < 3; ++c) {
                now[c] = e[(c * nodes + i) * PARTS];
                sum[c] = NAME(respond)((const lanes(*)[4])law.factor, states, pairs, now[c],
                                       u + (c * nodes + i) * PARTS, stride);
            }
            NAME(turn)(law.k, now, kept);
            NAME(turn)(law.m, sum, turned);
            for (int c = 0; c < 3; ++c) e[(c * nodes + i) * PARTS] = kept[c] + turned[c];
        }
    }
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
#undef law_lanes
#undef spread_law
#undef gather_laws
#undef LEAF
#undef quantity
#undef NAME
#include "kernels/dgtd/lanes_end.h"
