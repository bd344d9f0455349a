#include "compute/dgtd_march/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/ranges.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/memory.h"

enum { LEAST_GROUPS = 8, VISIT_MAX = 32, WIDTH_MAX = 8 };

/* ---- sizes ---- */

static int64_t field_group_bytes(const problem *p)
{
    return 3 * (int64_t)p->reference.nodes * PS_DGTD_ALIGN;
}

static int64_t group_bytes(const problem *p)
{
    return 2 * field_group_bytes(p) * (1 + 2 * p->frequency_count);
}

static int64_t largest_range(const int64_t *bounds, int64_t ranges)
{
    int64_t largest = 0;
    for (int64_t r = 0; r < ranges; ++r)
        if (bounds[r + 1] - bounds[r] > largest) largest = bounds[r + 1] - bounds[r];
    return largest;
}

/* Ranges in memory: those of a tile and of the next one, and what half steps are behind by. */
static int64_t window(int64_t width, int64_t visit) { return 2 * width + 2 * visit + 2; }

/* The largest m that has room, at most `wanted` or VISIT_MAX; the bits do not depend on it. */
static int64_t fit_visit(int64_t capacity, int64_t range_bytes, int64_t wanted)
{
    int64_t visit = wanted > 0 ? wanted : VISIT_MAX;
    while (visit > 0 && window(1, visit) * range_bytes > capacity) --visit;
    return wanted > 0 && visit < wanted ? 0 : visit;
}

/* The ranges whose largest is smallest, of some that begin with more and more groups. */
static ps_status make_bounds(const problem *p, int64_t **out, int64_t *ranges)
{
    int64_t *tried, groups = p->system.groups, best = groups + 1;
    PS_TRY(PS_ALLOC(out, groups + 1, "the ranges"));
    PS_TRY(PS_ALLOC(&tried, groups + 1, "the ranges"));
    for (int64_t first = LEAST_GROUPS; first <= groups; first += first / 2) {
        int64_t count = ps_dgtd_ranges(&p->system, first, LEAST_GROUPS, tried);
        int64_t largest = largest_range(tried, count);
        if (largest >= best) continue;
        best = largest;
        *ranges = count;
        memcpy(*out, tried, (size_t)(count + 1) * sizeof *tried);
    }
    if (best > groups) *ranges = ps_dgtd_ranges(&p->system, groups, LEAST_GROUPS, *out);
    free(tried);
    return PS_OK;
}

static ps_status set_sizes(const march *m, int64_t capacity, tiles *x)
{
    const problem *p = m->problem;
    PS_TRY(make_bounds(p, &x->bounds, &x->ranges));
    PS_TRY(PS_ALLOC(&x->hashes, x->ranges, "the ranges"));
    int64_t bytes = largest_range(x->bounds, x->ranges) * group_bytes(p);
    x->visit = fit_visit(capacity, bytes, m->options->visit_steps);
    if (m->options->balance && x->visit > BALANCE_BATCH_MAX) x->visit = BALANCE_BATCH_MAX;
    if (x->visit == 0)
        return ps_fail(
            PS_EXHAUSTED,
            "--host-memory leaves %.1f MB for fields, but %lld ranges of elements of up to "
            "%.1f MB have to be in memory at once. Raise it%s, or order the elements by "
            "layers (penstock-mesh-partition --order layers) for thinner ranges",
            (double)capacity / 1e6,
            (long long)window(1, m->options->visit_steps > 0 ? m->options->visit_steps : 1),
            (double)bytes / 1e6, m->options->visit_steps > 1 ? ", lower --visit-steps" : "");
    x->width = 1;
    while (x->width < WIDTH_MAX && window(x->width + 1, x->visit) * bytes <= capacity) ++x->width;
    return PS_OK;
}

/* ---- opening ---- */

ps_status tiles_open(march *m, int64_t capacity, const char *name, tiles *x)
{
    const problem *p = m->problem;
    char paths[2][4200];
    int64_t field = field_group_bytes(p), sums = 2 * p->frequency_count * field;
    memset(x, 0, sizeof *x);
    PS_TRY(set_sizes(m, capacity, x));
    for (int k = 0; k < 2; ++k) snprintf(paths[k], sizeof paths[k], "%s.state%d", name, k);
    const int64_t row_bytes[] = {field, field, sums, sums};
    ps_paged_request request = {.ranges = x->ranges,
                                .bounds = x->bounds,
                                .arrays = p->frequency_count ? 4 : 2,
                                .row_bytes = row_bytes,
                                .paths = {paths[0], paths[1]},
                                .capacity = capacity};
    PS_TRY(ps_paged_open(&request, &x->paged));
    m->march.electric = ps_paged_array(x->paged, 0);
    m->march.magnetic = ps_paged_array(x->paged, 1);
    for (int k = 0; k < 2 && p->frequency_count; ++k) m->sums[k] = ps_paged_array(x->paged, 2 + k);
    return PS_OK;
}

void tiles_close(tiles *x)
{
    ps_paged_close(&x->paged);
    free(x->bounds);
    free(x->hashes);
}

ps_status tiles_start(march *m)
{
    tiles *x = m->tiles;
    const problem *p = m->problem;
    int lanes = ps_dgtd_lanes(p->system.precision);
    for (int64_t r = 0; r < x->ranges; ++r) {
        int64_t end = x->bounds[r + 1] * lanes;
        PS_TRY(ps_paged_fresh(x->paged, r));
        PS_TRY(sources_start(p, x->bounds[r] * lanes,
                             end < p->domain.elements ? end : p->domain.elements, m->march.electric,
                             m->march.magnetic));
        ps_paged_done(x->paged, r, 1);
    }
    x->backwards = 1; /* the last ranges are in memory */
    return PS_OK;
}

/* ---- a visit ---- */

/* Range of place `at` in the direction of the visit. */
static int64_t range_at(const tiles *x, int64_t at)
{
    return x->backwards ? x->ranges - 1 - at : at;
}

static ps_status need_until(tiles *x, int64_t *loaded, int64_t last)
{
    for (; *loaded < x->ranges && *loaded <= last; ++*loaded)
        PS_TRY(ps_paged_need(x->paged, range_at(x, *loaded)));
    return PS_OK;
}

static ps_status prefetch(tiles *x, int64_t first, int64_t last)
{
    for (int64_t at = first; at < x->ranges && at <= last; ++at)
        PS_TRY(ps_paged_prefetch(x->paged, range_at(x, at)));
    return PS_OK;
}

/* Half step s of this visit on places first .. last, clipped to the mesh. */
static ps_status half_of_places(march *m, int64_t s, int64_t first, int64_t last)
{
    const tiles *x = m->tiles;
    if (first < 0) first = 0;
    if (last > x->ranges - 1) last = x->ranges - 1;
    if (first > last) return PS_OK;
    int64_t low = range_at(x, x->backwards ? last : first);
    int64_t high = range_at(x, x->backwards ? first : last);
    return march_half_range(m, s % 2 ? PS_DGTD_E : PS_DGTD_H, m->done + (s - 1) / 2, m->done,
                            x->bounds[low], x->bounds[high + 1]);
}

ps_status tiles_steps(march *m, int64_t count)
{
    tiles *x = m->tiles;
    int64_t w = x->width, halves = 2 * count, loaded = 0, done = 0;
    ps_paged_hold(x->paged);
    for (int64_t c = 0; c * w - (halves - 1) < x->ranges; ++c) {
        PS_TRY(need_until(x, &loaded, (c + 1) * w));
        PS_TRY(prefetch(x, loaded, (c + 2) * w));
        for (int64_t s = 1; s <= halves; ++s)
            PS_TRY(half_of_places(m, s, c * w - (s - 1), (c + 1) * w - s));
        /* The last half step reads one place before those it changes. */
        for (; done < (c + 1) * w - halves && done < x->ranges; ++done)
            ps_paged_done(x->paged, range_at(x, done), 1);
    }
    for (; done < x->ranges; ++done) ps_paged_done(x->paged, range_at(x, done), 1);
    x->backwards = !x->backwards;
    return PS_OK;
}

/* ---- checkpoints ---- */

ps_status tiles_flush(march *m)
{
    PS_TRY(ps_paged_flush(m->tiles->paged, m->tiles->hashes));
    m->figures.file = ps_paged_file(m->tiles->paged);
    return PS_OK;
}

void tiles_kept(march *m) { ps_paged_keep(m->tiles->paged); }

ps_status tiles_adopt(void *marching, const figures *f)
{
    march *m = marching;
    return ps_paged_adopt(m->tiles->paged, (int)f->file, m->tiles->hashes);
}

/* ---- the state, read piece by piece ---- */

ps_status tiles_hold(tiles *x, int64_t first, int64_t end)
{
    for (; x->held_begin < x->held_end && x->bounds[x->held_begin + 1] <= first; ++x->held_begin)
        ps_paged_done(x->paged, x->held_begin, 0);
    if (x->held_begin == x->held_end) { /* nothing held: begin where it is wanted */
        while (x->held_end > 0 && x->bounds[x->held_end] > first) --x->held_end;
        while (x->bounds[x->held_end + 1] <= first) ++x->held_end;
        x->held_begin = x->held_end;
    }
    for (; x->held_end < x->ranges && x->bounds[x->held_end] < end; ++x->held_end)
        PS_TRY(ps_paged_need(x->paged, x->held_end));
    return PS_OK;
}

void tiles_release(tiles *x)
{
    for (; x->held_begin < x->held_end; ++x->held_begin) ps_paged_done(x->paged, x->held_begin, 0);
    x->held_begin = x->held_end = 0;
}
