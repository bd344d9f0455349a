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

/* Sums under way, particle i of a part in lane i % LANES. */
typedef struct sum_lanes {
    double energy[LANES], force[3][LANES], magnitude[LANES];
} sum_lanes;

/* One particle a lane; vectorised where `count` is known. */
static inline void add_lanes(sum_lanes *lanes, const double *charges, const double *phi,
                             const double *g, int64_t stride, int64_t count)
{
    for (int64_t l = 0; l < count; ++l) {
        double x = charges[l] * g[l], y = charges[l] * g[stride + l],
               z = charges[l] * g[2 * stride + l];
        lanes->energy[l] += charges[l] * phi[l];
        lanes->force[0][l] += x;
        lanes->force[1][l] += y;
        lanes->force[2][l] += z;
        lanes->magnitude[l] += sqrt(x * x + y * y + z * z);
    }
}

/* Adds results and charges of a side; but for the last one calls bring multiples of LANES. */
static void add_sums(sum_lanes *lanes, const double *charges, const fmm_values *values, int sides,
                     int side)
{
    sum_lanes own = *lanes;
    const double *phi = values->rows + side * values->stride,
                 *g = values->rows + (sides + 3 * side) * values->stride;
    int64_t i = 0;
    for (; i + LANES <= values->count; i += LANES)
        add_lanes(&own, charges + i, phi + i, g + i, values->stride, LANES);
    add_lanes(&own, charges + i, phi + i, g + i, values->stride, values->count - i);
    *lanes = own;
}

static fmm_sums sums_of(const sum_lanes *lanes)
{
    fmm_sums sums = {0};
    for (int l = 0; l < LANES; ++l) {
        sums.energy += lanes->energy[l];
        for (int d = 0; d < 3; ++d) sums.force[d] += lanes->force[d][l];
        sums.magnitude += lanes->magnitude[l];
    }
    return sums;
}

/* Where a part of the targets begins. */
static int64_t part_begin(int64_t count, int part)
{
    return part == FMM_PARTS ? count : count * part / FMM_PARTS / BLOCK * BLOCK;
}

void fmm_group_sums(const double *charges, const fmm_values *values, int sides, fmm_sums *sums)
{
    for (int part = 0; part < FMM_PARTS; ++part)
        for (int side = 0; side < sides; ++side) {
            sum_lanes lanes = {0};
            int64_t begin = part_begin(values->count, part);
            fmm_values some = {values->rows + begin, values->stride,
                               part_begin(values->count, part + 1) - begin};
            add_sums(&lanes, charges + side * values->stride + begin, &some, sides, side);
            sums[part * sides + side] = sums_of(&lanes);
        }
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

ps_status fmm_pass_results(fmm_work *work, int64_t first, const int64_t *places,
                           const fmm_values *values)
{
    if (work->check) fmm_check_take(work->check, first, values);
    if (work->samples) fmm_check_take(work->samples, first, values);
    return fmm_sink_put(work->sink, places, values);
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

static ps_status reduce_part(const fmm_reduction *r, int part, fmm_sums *sums)
{
    const fmm_problem *p = r->work->problem;
    double room[4 * PS_RIGHT_HAND_SIDES_MAX * BLOCK];
    sum_lanes lanes[PS_RIGHT_HAND_SIDES_MAX] = {0};
    int64_t end = part_begin(r->count, part + 1);
    for (int64_t at = part_begin(r->count, part); at < end; at += BLOCK) {
        double *rows = r->keep ? r->near + at : room;
        if (!r->keep) fmm_sink_expect(r->work->sink, r->places + at, end - at);
        fmm_values sum = {rows, r->keep ? r->count : BLOCK, end - at < BLOCK ? end - at : BLOCK};
        add_far(r, at, &sum, rows);
        for (int c = 0; c < r->copied; ++c) add_copies(r, &r->copies[c], at, sum.count, &sum, rows);
        for (int side = 0; side < p->fmm.sides && r->charges; ++side)
            add_sums(&lanes[side], r->charges + side * r->count + at, &sum, p->fmm.sides, side);
        if (!r->keep) PS_TRY(fmm_pass_results(r->work, r->begin + at, r->places + at, &sum));
    }
    for (int side = 0; side < p->fmm.sides; ++side) sums[side] = sums_of(&lanes[side]);
    return PS_OK;
}

ps_status fmm_reduce(const fmm_reduction *r, fmm_sums *sums)
{
    for (int part = 0; part < r->parts; ++part)
        PS_TRY(reduce_part(r, r->part + part, sums + part * r->work->problem->fmm.sides));
    return PS_OK;
}
