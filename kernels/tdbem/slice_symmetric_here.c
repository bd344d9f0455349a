/* The rounds of slice_symmetric in plain loops, as a device makes them: for tests. */
#include "kernels/common/reals.h"
#include "kernels/tdbem/half_values.h"
#include "kernels/tdbem/slice_symmetric_internal.h"

/* A part being multiplied: its arrays, and where it is. */
typedef struct part_view {
    const ps_symmetric_plan *plan;
    const ps_symmetric_launch *in;
    const ps_symmetric_part *part;
    const uint16_t *starts, *widths;
    const uint8_t *scales;
    const char *values;
} part_view;

static double value_at(const part_view *v, int64_t vector, int64_t at)
{
    if (v->plan->half)
        return ps_half_decode(((const uint16_t *)v->values)[at]) * ps_half_scale(v->scales[vector]);
    return ps_real_at(v->plan->precision, v->values, at);
}

static double past_at(const part_view *v, int64_t unknown, int64_t t)
{
    int64_t at = unknown * v->in->past_stride + v->in->past_origin + t;
    return ps_real_at(v->plan->precision, v->in->past, at);
}

/* Step g of a part. */
static void add_part(const part_view *v, int64_t g)
{
    const ps_symmetric_part *p = v->part;
    double rows[PS_WARP_ROWS] = {0};
    int64_t column = 0;
    for (int64_t s = 0; s < p->slices; column += v->widths[s++]) {
        double sum = 0;
        for (int64_t q = 0; q < v->widths[s]; ++q)
            for (int64_t r = 0; r < p->rows; ++r) {
                double value = value_at(v, s * PS_WARP_ROWS + r, (column + q) * PS_WARP_ROWS + r);
                int64_t t = g - v->starts[s * PS_WARP_ROWS + r] - q;
                rows[r] += value * past_at(v, p->slice + s, t);
                sum += value * past_at(v, p->row + r, t);
            }
        if (p->transposed >= 0)
            ps_real_put(v->plan->precision, v->in->scratch, (p->transposed + s) * v->in->group + g,
                        sum);
    }
    for (int64_t r = 0; r < p->rows; ++r)
        ps_real_put(v->plan->precision, v->in->scratch, (p->forward + r) * v->in->group + g,
                    rows[r]);
}

static void reduce(const ps_symmetric_plan *plan, const ps_symmetric_launch *in, int64_t u)
{
    int64_t items = (in->units[u + 1] - in->units[u]) * in->group;
    for (int64_t e = 0; e < items; ++e) {
        int64_t to = (in->units[u] + e / in->group) * in->sums_stride + e % in->group;
        double sum = 0;
        for (int32_t b = in->begins[u]; b < in->begins[u + 1]; ++b) {
            int64_t from = in->entries[b] * in->group + e;
            sum += ps_real_at(plan->precision, in->scratch, from);
        }
        if (plan->precision == PS_SINGLE)
            ((float *)in->sums)[to] += (float)sum;
        else
            ((double *)in->sums)[to] += sum;
    }
}

void ps_symmetric_here(const ps_symmetric_plan *plan, const ps_symmetric_launch *in)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t i = 0; i < in->part_count; ++i) {
        const ps_symmetric_part *p = &in->parts[i];
        const part_view view = {.plan = plan,
                                .in = in,
                                .part = p,
                                .starts = (const uint16_t *)(in->base + p->starts),
                                .widths = (const uint16_t *)(in->base + p->widths),
                                .scales = (const uint8_t *)(in->base + p->scales),
                                .values = in->base + p->values};
        for (int64_t g = 0; g < in->group; ++g) add_part(&view, g);
    }
    for (int32_t u = 0; u < in->unit_count; ++u) reduce(plan, in, u);
}
