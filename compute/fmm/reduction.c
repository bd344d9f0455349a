/*
 * P2P-Reduction: far + near + copies of a group in ascending order of the groups that made them,
 * and where the sum goes. A block of particles at a time, so that what is added is still in the
 * cache when it is taken to the caller's order.
 */
#include <math.h>
#include <string.h>

#include "compute/fmm/fmm.h"

enum { BLOCK = 256 /* particles, a multiple of LANES */, LANES = 8 /* of sums */ };

/* ---- sums ---- */

void fmm_sums_add(fmm_sum_lanes *lanes, const double *charges, const fmm_values *values, int sides,
                  int side)
{
    const double *phi = values->rows + side * values->stride,
                 *g = values->rows + (sides + 3 * side) * values->stride;
    for (int64_t i = 0; i < values->count; i += LANES)
        for (int64_t l = 0; l < LANES && i + l < values->count; ++l) {
            double q = charges[i + l], square = 0;
            lanes->energy[l] += q * phi[i + l];
            for (int d = 0; d < 3; ++d) {
                double force = q * g[d * values->stride + i + l];
                lanes->force[d][l] += force;
                square += force * force;
            }
            lanes->magnitude[l] += sqrt(square);
        }
}

fmm_sums fmm_sums_of(const fmm_sum_lanes *lanes)
{
    fmm_sums sums = {0};
    for (int l = 0; l < LANES; ++l) {
        sums.energy += lanes->energy[l];
        for (int d = 0; d < 3; ++d) sums.force[d] += lanes->force[d][l];
        sums.magnitude += lanes->magnitude[l];
    }
    return sums;
}

/* ---- a block ---- */

/* Adds what another group has computed for particles [at, at + count) of this one; blocks come in
 * ascending order. */
static void add_copies(const fmm_reduction *r, fmm_copies *c, int64_t at, int64_t count,
                       const fmm_values *sum, double *rows)
{
    const int64_t *start = r->work->problem->fmm.sources->particle_start;
    int values = 4 * r->work->problem->fmm.sides;
    while (c->leaf < c->end) {
        int64_t first = start[*c->leaf] - r->begin, last = start[*c->leaf + 1] - r->begin;
        int64_t from = first > at ? first : at, to = last < at + count ? last : at + count;
        for (int v = 0; v < values; ++v) {
            const double *copies = c->values + v * c->all + c->offset - first;
            for (int64_t i = from; i < to; ++i) rows[v * sum->stride + i - at] += copies[i];
        }
        if (last > at + count) return;
        c->offset += last - first;
        ++c->leaf;
    }
}

/* Far + near of particles [at, at + count); rows may be the near results' own. */
static void add_far(const fmm_reduction *r, int64_t at, const fmm_values *sum, double *rows)
{
    for (int v = 0; v < 4 * r->work->problem->fmm.sides; ++v) {
        const double *near = r->near + v * r->count + at;
        const double *far = r->far ? r->far + v * r->count + at : NULL;
        double *to = rows + v * sum->stride;
        if (far)
            for (int64_t i = 0; i < sum->count; ++i) to[i] = far[i] + near[i];
        else if (to != near)
            memcpy(to, near, (size_t)sum->count * sizeof *to);
    }
}

ps_status fmm_reduce(const fmm_reduction *r, fmm_sums *sums)
{
    const fmm_problem *p = r->work->problem;
    double room[4 * PS_RIGHT_HAND_SIDES_MAX * BLOCK];
    fmm_sum_lanes lanes[PS_RIGHT_HAND_SIDES_MAX] = {0};
    for (int64_t at = 0; at < r->count; at += BLOCK) {
        int64_t left = r->count - at;
        double *rows = r->keep ? r->near + at : room;
        fmm_values sum = {rows, r->keep ? r->count : BLOCK, left < BLOCK ? left : BLOCK};
        add_far(r, at, &sum, rows);
        for (int c = 0; c < r->copied; ++c)
            add_copies(r, &r->copies[c], at, sum.count, &sum, rows);
        for (int side = 0; side < p->fmm.sides && r->charges; ++side)
            fmm_sums_add(&lanes[side], r->charges + side * r->count + at, &sum, p->fmm.sides, side);
        if (!r->keep)
            PS_TRY(fmm_put_results(r->work, r->begin + at, r->places + at, &sum));
    }
    for (int side = 0; side < p->fmm.sides; ++side) sums[side] = fmm_sums_of(&lanes[side]);
    return PS_OK;
}
