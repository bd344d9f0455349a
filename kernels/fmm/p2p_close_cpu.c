#include "kernels/fmm/p2p_close.h"

#include <math.h>

enum { STEP = 16, ROOM = 512 }; /* sources at a time; that wait for the targets */

typedef struct search {
    const ps_fmm_p2p *p2p;
    double close, reach; /* sources farther from the centre along an axis are near no target */
    int64_t count;       /* sources that are in reach */
    double at[3][ROOM + STEP];
} search;

/* Whether one of n places is nearer than `close` along an axis; without a branch, side by side. */
static inline bool any_within(const double *places, int64_t n, double centre, double close)
{
    int64_t any = 0;
    for (int64_t j = 0; j < n; ++j) any |= fabs(places[j] - centre) < close ? -1 : 0;
    return any;
}

static bool pair_is_close(const search *s, const double target[3], int64_t j)
{
    double most = 0;
    for (int d = 0; d < 3; ++d) most = fmax(most, fabs(s->at[d][j] - target[d]));
    return most > 0 && most < s->close;
}

static bool within(const double centre[3], double reach, const double *const x[3], int64_t j)
{
    return fabs(x[0][j] - centre[0]) < reach && fabs(x[1][j] - centre[1]) < reach &&
           fabs(x[2][j] - centre[2]) < reach;
}

/* Whether a target is outside of the leaf's cell (octree-build --clamp). */
static bool any_outside(const search *s)
{
    const ps_fmm_p2p *p = s->p2p;
    for (int64_t i = p->target.begin; i < p->target.end; ++i)
        if (!within(p->centre, s->reach - s->close, p->targets->position, i)) return true;
    return false;
}

/* Compares the sources that wait with all targets. */
static bool compare(search *s)
{
    const ps_fmm_p2p *p = s->p2p;
    for (int64_t j = s->count; j < s->count + STEP; ++j) s->at[0][j] = INFINITY;
    for (int64_t i = p->target.begin; i < p->target.end; ++i) {
        double target[3];
        for (int d = 0; d < 3; ++d) target[d] = p->targets->position[d][i];
        for (int64_t from = 0; from < s->count; from += STEP) {
            if (!any_within(s->at[0] + from, STEP, target[0], s->close)) continue;
            for (int64_t j = from; j < from + STEP && j < s->count; ++j)
                if (pair_is_close(s, target, j)) return true;
        }
    }
    s->count = 0;
    return false;
}

static bool compare_run(search *s, ps_fmm_range run)
{
    const ps_fmm_p2p *p = s->p2p;
    const double *const *x = p->sources->position;
    for (int64_t from = run.begin; from < run.end; from += STEP) {
        int64_t end = from + STEP < run.end ? from + STEP : run.end;
        if (!any_within(x[0] + from, end - from, p->centre[0], s->reach)) continue;
        for (int64_t j = from; j < end; ++j) {
            if (!within(p->centre, s->reach, x, j)) continue;
            for (int d = 0; d < 3; ++d) s->at[d][s->count] = x[d][j];
            if (++s->count == ROOM && compare(s)) return true;
        }
    }
    return false;
}

static bool is_close(const ps_fmm_p2p *p)
{
    search s = {.p2p = p, .close = p->width * PS_FMM_CLOSE};
    if (!(p->width > PS_FMM_FP32_LEAST_WIDTH && p->width < PS_FMM_FP32_MOST_WIDTH)) return true;
    s.reach = p->width / 2 + 2 * s.close;
    if (any_outside(&s)) return true;
    for (int64_t r = 0; r < p->run_count; ++r)
        if (compare_run(&s, p->runs[r])) return true;
    return compare(&s);
}

const struct ps_fmm_close_functions PS_ISA_TABLE(ps_fmm_close) = {.close = is_close};
