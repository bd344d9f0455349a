#include "compute/dgtd_march/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/ranges.h"
#include "kernels/dgtd/running_dft.h"
#include "kernels/dgtd/skew.h"
#include "runtime/memory.h"

enum { LEAST_GROUPS = 8, VISIT_MAX = 32, WIDTH_MAX = 8 };
/* A window on a device: tiles that come or leave while one is computed; elements that should be
 * computed at once to keep a large device busy. */
enum { TILES_ON_THE_WAY = 3, BUSY_ELEMENTS = 128 << 10 };

/* ---- sizes ---- */

static int64_t field_group_bytes(const problem *p)
{
    return 3 * (int64_t)p->reference.nodes * PS_DGTD_ALIGN;
}

static int64_t group_bytes(const problem *p)
{
    return 2 * field_group_bytes(p) * (1 + 2 * p->frequency_count);
}

int64_t tiles_window_group_bytes(const problem *p)
{
    int64_t links = 4 * (int64_t)sizeof(int32_t) * ps_dgtd_lanes(p->system.precision);
    return group_bytes(p) + 9 * PS_DGTD_ALIGN + links;
}

/* Groups of the largest `count` ranges side by side. */
static int64_t most_groups(const int64_t *bounds, int64_t ranges, int64_t count)
{
    int64_t most = 0;
    for (int64_t r = 0; r < ranges; ++r) {
        int64_t end = r + count < ranges ? r + count : ranges;
        if (bounds[end] - bounds[r] > most) most = bounds[end] - bounds[r];
    }
    return most;
}

/* The ranges whose largest is smallest, of some that begin with more and more groups. */
static ps_status make_bounds(const problem *p, int64_t **out, int64_t *ranges)
{
    int64_t *tried, groups = p->system.groups, best = groups + 1;
    PS_TRY(PS_ALLOC(out, groups + 1, "the ranges"));
    PS_TRY(PS_ALLOC(&tried, groups + 1, "the ranges"));
    for (int64_t first = LEAST_GROUPS; first <= groups; first += first / 2) {
        int64_t count = ps_dgtd_ranges(&p->system, first, LEAST_GROUPS, tried);
        int64_t largest = most_groups(tried, count, 1);
        if (largest >= best) continue;
        best = largest;
        *ranges = count;
        memcpy(*out, tried, (size_t)(count + 1) * sizeof *tried);
    }
    if (best > groups) *ranges = ps_dgtd_ranges(&p->system, groups, LEAST_GROUPS, *out);
    free(tried);
    return PS_OK;
}

static ps_dgtd_skew skew_of(const tiles *x, int64_t steps)
{
    int64_t halves = 2 * steps;
    return (ps_dgtd_skew){x->ranges, x->width, halves,
                          x->phases > 0 && x->phases < halves ? x->phases : halves};
}

/* Ranges of a window for m = x->visit steps: those of a tick, and of tiles on the way. */
static int64_t window_ranges(const tiles *x, bool device)
{
    ps_dgtd_skew skew = skew_of(x, x->visit);
    return ps_dgtd_skew_window(&skew) + (device ? TILES_ON_THE_WAY * x->width : x->width + 1);
}

/* What has room: bytes of the host for a file's window, and of a device for its own. */
typedef struct rooms {
    int64_t host, device; /* INT64_MAX: no matter */
} rooms;

static bool has_room(const problem *p, const tiles *x, const rooms *room)
{
    bool device = room->device < INT64_MAX;
    int64_t ranges = window_ranges(x, device);
    int64_t host = most_groups(x->bounds, x->ranges, ranges + (device ? 2 * x->width : 0));
    int64_t there = most_groups(x->bounds, x->ranges, ranges) * tiles_window_group_bytes(p) +
                    most_groups(x->bounds, x->ranges, x->width) * field_group_bytes(p);
    return (room->host == INT64_MAX || host * group_bytes(p) <= room->host) &&
           (!device || there <= room->device);
}

/* The largest m that has room, at most `wanted` or VISIT_MAX, 0: none; the bits do not depend on it.
 */
static void fit_visit(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    if (x->phases > 0 && wanted > VISIT_MAX * x->phases / 2) wanted = VISIT_MAX * x->phases / 2;
    x->visit = wanted > 0 ? wanted : VISIT_MAX;
    while (x->visit > 0 && !has_room(p, x, room)) --x->visit;
    if (wanted > 0 && x->visit < wanted) x->visit = 0;
}

/* As many phases as leave the device busy, and the tiles as wide as there is room. */
static void fit_tiles(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    int64_t range = p->domain.elements / x->ranges;
    x->width = 1;
    x->phases = room->device < INT64_MAX ? 8 : 0;
    fit_visit(p, room, wanted, x);
    while (x->phases > 2 && 2 * x->visit / x->phases * range < BUSY_ELEMENTS) {
        x->phases -= 2;
        fit_visit(p, room, wanted, x);
    }
    for (; x->visit > 0 && x->width < WIDTH_MAX; ++x->width) {
        tiles wider = *x;
        ++wider.width;
        if (!has_room(p, &wider, room)) break;
    }
}

static ps_status no_room(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    bool device = room->device < INT64_MAX;
    x->visit = wanted > 0 ? wanted : 1;
    int64_t ranges = window_ranges(x, device);
    int64_t groups = most_groups(x->bounds, x->ranges, ranges);
    return ps_fail(
        PS_EXHAUSTED,
        "%s leaves %.1f MB for fields, but %lld ranges of elements of %.1f MB have to be in "
        "memory at once. Raise it%s, or order the elements by layers (penstock-mesh-partition "
        "--order layers) for thinner ranges",
        device ? "--device-memory (or --host-memory)" : "--host-memory",
        (double)(device ? room->device : room->host) / 1e6, (long long)ranges,
        (double)(groups * (device ? tiles_window_group_bytes(p) : group_bytes(p))) / 1e6,
        wanted > 1 ? ", lower --visit-steps" : "");
}

static ps_status set_sizes(const march *m, const rooms *room, tiles *x)
{
    const problem *p = m->problem;
    bool device = room->device < INT64_MAX;
    int64_t wanted = m->options->visit_steps;
    PS_TRY(make_bounds(p, &x->bounds, &x->ranges));
    PS_TRY(PS_ALLOC(&x->hashes, x->ranges, "the ranges"));
    fit_tiles(p, room, wanted, x);
    if (x->visit == 0) return no_room(p, room, wanted, x);
    if (m->options->balance && x->visit > BALANCE_BATCH_MAX) x->visit = BALANCE_BATCH_MAX;
    x->request =
        (backend_window){.ranges = x->ranges,
                         .bounds = x->bounds,
                         .groups = most_groups(x->bounds, x->ranges, window_ranges(x, device)),
                         .part_groups = most_groups(x->bounds, x->ranges, x->width)};
    return PS_OK;
}

/* ---- opening ---- */

static ps_status open_files(march *m, int64_t capacity, const char *name, tiles *x)
{
    const problem *p = m->problem;
    char paths[2][4200];
    int64_t field = field_group_bytes(p), sums = 2 * p->frequency_count * field;
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

static ps_status need_paged(void *paged, int64_t range) { return ps_paged_need(paged, range); }
static void done_paged(void *paged, int64_t range) { ps_paged_done(paged, range, 1); }

static ps_status open_pinned(march *m, tiles *x)
{
    const problem *p = m->problem;
    int64_t bytes = p->system.groups * field_group_bytes(p);
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", m->plan->ordinal);
    PS_TRY(ps_device_open(name, 0, &x->device));
    PS_TRY(ps_device_alloc_pinned(x->device, bytes, &m->march.electric));
    PS_TRY(ps_device_alloc_pinned(x->device, bytes, &m->march.magnetic));
    for (int k = 0; k < 2 && p->frequency_count; ++k)
        PS_TRY(ps_device_alloc_pinned(x->device, 2 * p->frequency_count * bytes, &m->sums[k]));
    return PS_OK;
}

ps_status tiles_open(march *m, int64_t capacity, const char *name, tiles *x)
{
    rooms room = {m->plan->file ? capacity : INT64_MAX,
                  m->plan->window ? m->plan->device_window : INT64_MAX};
    memset(x, 0, sizeof *x);
    PS_TRY(set_sizes(m, &room, x));
    if (!m->plan->file) return open_pinned(m, x);
    PS_TRY(open_files(m, capacity, name, x));
    x->source = (ps_window_source){x->paged, need_paged, done_paged};
    x->request.source = &x->source;
    return PS_OK;
}

void tiles_close(march *m, tiles *x)
{
    void *const arrays[] = {m->march.electric, m->march.magnetic, m->sums[0], m->sums[1]};
    for (int k = 0; k < 4 && x->device; ++k) ps_device_free_pinned(x->device, arrays[k]);
    m->march.electric = m->march.magnetic = m->sums[0] = m->sums[1] = NULL;
    ps_device_close(&x->device);
    ps_paged_close(&x->paged);
    free(x->bounds);
    free(x->hashes);
}

/* ---- ranges come and go ---- */

/* Range of place `at` in the direction of the visit. */
static int64_t range_at(const tiles *x, int64_t at)
{
    return x->backwards ? x->ranges - 1 - at : at;
}

static void begin_pass(tiles *x)
{
    if (x->paged) ps_paged_hold(x->paged);
    if (x->window) ps_window_hold(x->window);
}

static ps_status need_range(tiles *x, int64_t r)
{
    return x->window ? ps_window_need(x->window, r) : ps_paged_need(x->paged, r);
}

static ps_status done_range(tiles *x, int64_t r)
{
    if (x->window) return ps_window_done(x->window, r, true);
    ps_paged_done(x->paged, r, 1);
    return PS_OK;
}

/* Places [first, end), and to a device's window those of the file behind it. */
static ps_status prefetch(tiles *x, int64_t first, int64_t end)
{
    for (int64_t at = first; at < x->ranges && at < end; ++at)
        PS_TRY(x->window ? ps_window_prefetch(x->window, range_at(x, at))
                         : ps_paged_prefetch(x->paged, range_at(x, at)));
    for (int64_t at = end; x->window && x->paged && at < x->ranges && at < end + x->width; ++at)
        PS_TRY(ps_paged_prefetch(x->paged, range_at(x, at)));
    return PS_OK;
}

/* What is on a device becomes the host's. */
static ps_status clear_window(tiles *x)
{
    if (!x->window) return PS_OK;
    PS_TRY(ps_window_flush(x->window));
    return ps_window_drop(x->window);
}

/* All groups pass the device: fields become coefficients, or sums values at nodes. */
static ps_status convert_all(march *m, bool sums)
{
    tiles *x = m->tiles;
    begin_pass(x);
    for (int64_t at = 0; at < x->ranges; ++at) {
        int64_t r = range_at(x, at);
        PS_TRY(need_range(x, r));
        PS_TRY(prefetch(x, at + 1, at + 1 + x->width));
        PS_TRY(m->backend->convert(m->state, sums, x->bounds[r], x->bounds[r + 1]));
        PS_TRY(done_range(x, r));
    }
    x->backwards = !x->backwards;
    return PS_OK;
}

static ps_status start_range(march *m, int64_t r)
{
    tiles *x = m->tiles;
    const problem *p = m->problem;
    int64_t lanes = ps_dgtd_lanes(p->system.precision), end = x->bounds[r + 1] * lanes;
    int64_t field = field_group_bytes(p), sums = 2 * p->frequency_count * field;
    void *const arrays[] = {m->march.electric, m->march.magnetic, m->sums[0], m->sums[1]};
    if (x->paged) PS_TRY(ps_paged_fresh(x->paged, r));
    for (int k = 0; k < 4 && !x->paged; ++k) {
        int64_t bytes = k < 2 ? field : sums;
        if (bytes > 0)
            memset((char *)arrays[k] + x->bounds[r] * bytes, 0,
                   (size_t)((x->bounds[r + 1] - x->bounds[r]) * bytes));
    }
    PS_TRY(sources_start(p, x->bounds[r] * lanes, end < p->domain.elements ? end : p->domain.elements,
                         m->march.electric, m->march.magnetic));
    if (x->paged) ps_paged_done(x->paged, r, 1);
    return PS_OK;
}

ps_status tiles_start(march *m)
{
    tiles *x = m->tiles;
    for (int64_t r = 0; r < x->ranges; ++r) PS_TRY(start_range(m, r));
    x->backwards = 1; /* the last ranges are in memory */
    return x->window && m->problem->has_mode ? convert_all(m, false) : PS_OK;
}

/* ---- a visit ---- */

/* The half steps of a phase, which are of one field. */
static ps_status march_phase(march *m, const ps_dgtd_skew *skew, int64_t tick, int64_t phase)
{
    const tiles *x = m->tiles;
    backend_part parts[VISIT_MAX];
    int count = 0;
    for (int64_t s = phase + 1; s <= skew->halves; s += skew->phases) {
        int64_t first, end;
        if (!ps_dgtd_skew_part(skew, tick, s, &first, &end)) continue;
        int64_t low = range_at(x, x->backwards ? end - 1 : first);
        int64_t high = range_at(x, x->backwards ? first : end - 1);
        parts[count++] = (backend_part){m->done + (s - 1) / 2, x->bounds[low], x->bounds[high + 1],
                                        NULL};
    }
    return march_parts(m, phase % 2 ? PS_DGTD_H : PS_DGTD_E, m->done, parts, count);
}

ps_status tiles_steps(march *m, int64_t count)
{
    tiles *x = m->tiles;
    ps_dgtd_skew skew = skew_of(x, count);
    int64_t loaded = 0, done = 0, ahead = x->window ? TILES_ON_THE_WAY - 1 : 1;
    begin_pass(x);
    for (int64_t tick = 0; tick < ps_dgtd_skew_ticks(&skew); ++tick) {
        for (; loaded < ps_dgtd_skew_needed(&skew, tick); ++loaded)
            PS_TRY(need_range(x, range_at(x, loaded)));
        PS_TRY(prefetch(x, loaded, ps_dgtd_skew_needed(&skew, tick + ahead)));
        for (int64_t phase = 0; phase < skew.phases; ++phase)
            PS_TRY(march_phase(m, &skew, tick, phase));
        for (; done < ps_dgtd_skew_done(&skew, tick); ++done)
            PS_TRY(done_range(x, range_at(x, done)));
    }
    x->backwards = !x->backwards;
    return PS_OK;
}

ps_status tiles_settle(march *m, bool last)
{
    tiles *x = m->tiles;
    if (x->window && last && m->problem->frequency_count) PS_TRY(convert_all(m, true));
    return clear_window(x);
}

/* ---- checkpoints ---- */

ps_status tiles_flush(march *m)
{
    PS_TRY(clear_window(m->tiles));
    if (!m->tiles->paged) return PS_OK;
    PS_TRY(ps_paged_flush(m->tiles->paged, m->tiles->hashes));
    m->figures.file = ps_paged_file(m->tiles->paged);
    return PS_OK;
}

void tiles_kept(march *m)
{
    if (m->tiles->paged) ps_paged_keep(m->tiles->paged);
}
ps_status tiles_adopt(void *marching, const figures *f)
{
    march *m = marching;
    return ps_paged_adopt(m->tiles->paged, (int)f->file, m->tiles->hashes);
}

/* ---- the state, read piece by piece ---- */

ps_status tiles_hold(tiles *x, int64_t first, int64_t end)
{
    if (!x->paged) return PS_OK;
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
    if (!x->paged) return;
    for (; x->held_begin < x->held_end; ++x->held_begin) ps_paged_done(x->paged, x->held_begin, 0);
    x->held_begin = x->held_end = 0;
}
