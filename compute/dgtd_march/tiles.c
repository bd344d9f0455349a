#include "compute/dgtd_march/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

/* ---- opening ---- */

static ps_status open_files(march *m, int64_t capacity, const char *name, tiles *x)
{
    const problem *p = m->problem;
    char paths[2][4200];
    int64_t field = tiles_field_bytes(p), sums = 2 * p->frequency_count * field;
    for (int k = 0; k < 2; ++k) snprintf(paths[k], sizeof paths[k], "%s.state%d", name, k);
    /* E, H, copies of them with the upwind flux, transforms */
    const int64_t row_bytes[] = {field, field, field, field, sums, sums};
    int copies = p->header->upwind ? 2 : 0;
    ps_paged_request request = {.ranges = x->ranges,
                                .bounds = x->bounds,
                                .arrays = 2 + copies + (p->frequency_count ? 2 : 0),
                                .row_bytes = row_bytes + 2 - copies,
                                .paths = {paths[0], paths[1]},
                                .capacity = capacity};
    PS_TRY(ps_paged_open(&request, &x->paged));
    m->march.electric = ps_paged_array(x->paged, 0);
    m->march.magnetic = ps_paged_array(x->paged, 1);
    for (int k = 0; k < 2 && p->frequency_count; ++k)
        m->sums[k] = ps_paged_array(x->paged, 2 + copies + k);
    for (int k = 0; k < copies; ++k) x->former[k] = ps_paged_array(x->paged, 2 + k);
    return PS_OK;
}

static ps_status need_paged(void *paged, int64_t range) { return ps_paged_need(paged, range); }
static void done_paged(void *paged, int64_t range) { ps_paged_done(paged, range, 1); }

static ps_status open_plain(march *m, tiles *x)
{
    const problem *p = m->problem;
    int64_t bytes = p->system.groups * tiles_field_bytes(p);
    x->plain = true;
    PS_TRY(ps_alloc(&m->march.electric, bytes, 1, "the fields"));
    PS_TRY(ps_alloc(&m->march.magnetic, bytes, 1, "the fields"));
    for (int k = 0; k < 2 && p->header->upwind; ++k)
        PS_TRY(ps_alloc(&x->former[k], bytes, 1, "the upwind flux"));
    for (int k = 0; k < 2 && p->frequency_count; ++k)
        PS_TRY(ps_alloc(&m->sums[k], 2 * p->frequency_count * bytes, 1, "the transforms"));
    return PS_OK;
}

static ps_status open_pinned(march *m, tiles *x)
{
    const problem *p = m->problem;
    int64_t bytes = p->system.groups * tiles_field_bytes(p);
    PS_TRY(ps_device_open_ordinal(m->plan->ordinal, &x->device));
    PS_TRY(ps_device_alloc_pinned(x->device, bytes, &m->march.electric));
    PS_TRY(ps_device_alloc_pinned(x->device, bytes, &m->march.magnetic));
    for (int k = 0; k < 2 && p->header->upwind; ++k)
        PS_TRY(ps_device_alloc_pinned(x->device, bytes, &x->former[k]));
    for (int k = 0; k < 2 && p->frequency_count; ++k)
        PS_TRY(ps_device_alloc_pinned(x->device, 2 * p->frequency_count * bytes, &m->sums[k]));
    return PS_OK;
}

ps_status tiles_open(march *m, int64_t capacity, const char *name, tiles *x, bool *used)
{
    int64_t cache = m->plan->cache_bytes;
    memset(x, 0, sizeof *x);
    PS_TRY(tiles_set_sizes(m, capacity, x));
    *used = cache == 0 || tiles_fit_cache(m->problem, x, cache);
    if (!*used) return PS_OK;
    if (m->plan->cache || cache > 0) return open_plain(m, x);
    if (!m->plan->file) return open_pinned(m, x);
    PS_TRY(open_files(m, capacity, name, x));
    x->source = (ps_window_source){x->paged, need_paged, done_paged};
    x->request.source = &x->source;
    return PS_OK;
}

void tiles_close(march *m, tiles *x)
{
    void *const arrays[] = {m->march.electric, m->march.magnetic, m->sums[0],
                            m->sums[1],        x->former[0],      x->former[1]};
    for (int k = 0; k < 6 && x->device; ++k) ps_device_free_pinned(x->device, arrays[k]);
    for (int k = 0; k < 6 && x->plain; ++k) free(arrays[k]);
    m->march.electric = m->march.magnetic = m->sums[0] = m->sums[1] = NULL;
    ps_device_close(&x->device);
    ps_paged_close(&x->paged);
    PS_FREE(x->bounds, x->hashes);
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

/* Ranges [first, end) of places [from, to). */
static void ranges_at(const tiles *x, int64_t from, int64_t to, int64_t *first, int64_t *end)
{
    *first = x->backwards ? x->ranges - to : from;
    *end = x->backwards ? x->ranges - from : to;
}

static ps_status need_places(tiles *x, int64_t from, int64_t to)
{
    int64_t first, end;
    ranges_at(x, from, to, &first, &end);
    if (x->window) return from < to ? ps_window_need(x->window, first, end) : PS_OK;
    for (int64_t at = from; x->paged && at < to; ++at)
        PS_TRY(ps_paged_need(x->paged, range_at(x, at)));
    return PS_OK;
}

static ps_status done_places(tiles *x, int64_t from, int64_t to)
{
    int64_t first, end;
    ranges_at(x, from, to, &first, &end);
    if (x->window) return ps_window_done(x->window, first, end, true);
    for (int64_t at = from; x->paged && at < to; ++at) ps_paged_done(x->paged, range_at(x, at), 1);
    return PS_OK;
}

/* Places [from, to), and to a device's window those of the file behind it. */
static ps_status prefetch(tiles *x, int64_t from, int64_t to)
{
    int64_t first, end, last = x->window ? to + x->width : to;
    if (to > x->ranges) to = x->ranges;
    ranges_at(x, from, to, &first, &end);
    if (x->window && from < to) PS_TRY(ps_window_prefetch(x->window, first, end));
    for (int64_t at = x->window ? to : from; x->paged && at < x->ranges && at < last; ++at)
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

/* The sums pass the device in the next visit, or stay where they are. */
static ps_status use_sums(march *m, bool used)
{
    int sums = BACKEND_WINDOW_FORMER + (m->problem->header->upwind ? 2 : 0);
    for (int k = 0; k < 2 && m->tiles->window && m->problem->frequency_count; ++k)
        PS_TRY(ps_window_use(m->tiles->window, sums + k, used));
    return PS_OK;
}

static bool is_any_transformed(const march *m, int64_t count)
{
    for (int64_t step = m->done; step < m->done + count; ++step)
        if (march_is_transformed(m, step)) return true;
    return false;
}

/* All groups pass the device: fields become coefficients, or sums values at nodes. */
static ps_status convert_all(march *m, bool sums)
{
    tiles *x = m->tiles;
    PS_TRY(use_sums(m, sums));
    begin_pass(x);
    for (int64_t at = 0; at < x->ranges; ++at) {
        int64_t r = range_at(x, at);
        PS_TRY(need_places(x, at, at + 1));
        PS_TRY(prefetch(x, at + 1, at + 1 + x->width));
        PS_TRY(m->backend->convert(m->state, sums, x->bounds[r], x->bounds[r + 1]));
        PS_TRY(done_places(x, at, at + 1));
    }
    x->backwards = !x->backwards;
    return PS_OK;
}

static ps_status start_range(march *m, int64_t r)
{
    tiles *x = m->tiles;
    const problem *p = m->problem;
    int64_t lanes = ps_dgtd_lanes(p->system.precision), end = x->bounds[r + 1] * lanes;
    int64_t field = tiles_field_bytes(p), sums = 2 * p->frequency_count * field;
    void *const arrays[] = {m->march.electric, m->march.magnetic, m->sums[0], m->sums[1]};
    if (x->paged) PS_TRY(ps_paged_fresh(x->paged, r));
    for (int k = 0; k < 4 && !x->paged; ++k) {
        int64_t bytes = k < 2 ? field : sums;
        if (bytes > 0)
            memset((char *)arrays[k] + x->bounds[r] * bytes, 0,
                   (size_t)((x->bounds[r + 1] - x->bounds[r]) * bytes));
    }
    PS_TRY(sources_start(p, x->bounds[r] * lanes,
                         end < p->domain.elements ? end : p->domain.elements, m->march.electric,
                         m->march.magnetic));
    if (m->upwind) { /* E^n before the first step */
        int64_t at = x->bounds[r] * field;
        memcpy((char *)m->upwind->former[PS_DGTD_E] + at, (char *)m->march.electric + at,
               (size_t)(x->bounds[r + 1] * field - at));
    }
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

/* Ports in ranges [low, high] before the half step of E of these. */
static void advance_ports(march *m, int64_t step, int64_t low, int64_t high)
{
    for (int64_t k = 0; k < m->problem->port_count; ++k) {
        int64_t range = m->tiles->port_range[k];
        if (low <= range && range <= high) port_advance(m, k, step);
    }
}

/* What local steps do to H of groups [begin, end) in a stage of a step. */
static ps_status local_stage(march *m, int stage, int64_t begin, int64_t end)
{
    const tiles *x = m->tiles;
    if (!m->march.local || stage >= (x->depth ? x->stages - 2 : 1)) return PS_OK;
    int from = x->depth ? x->stage_ops[stage] : 0;
    int to = x->depth ? x->stage_ops[stage + 1] : m->march.local->op_count;
    return m->backend->local_part(m->state, from, to, begin, end);
}

/* The half steps of a phase, which are all the same one of a step: of a level of local steps, of E
 * or of H. */
static ps_status march_phase(march *m, const ps_dgtd_skew *skew, int64_t tick, int64_t phase)
{
    const tiles *x = m->tiles;
    const int stage = (int)(phase % x->stages), after = x->stages - stage;
    backend_part parts[TILES_VISIT_MAX];
    int count = 0;
    for (int64_t s = phase + 1; s <= skew->halves; s += skew->phases) {
        int64_t first, end, step = m->done + (s - 1) / x->stages;
        if (!ps_dgtd_skew_part(skew, tick, s, &first, &end)) continue;
        int64_t low = range_at(x, x->backwards ? end - 1 : first);
        int64_t high = range_at(x, x->backwards ? first : end - 1);
        PS_TRY(local_stage(m, stage, x->bounds[low], x->bounds[high + 1]));
        if (after == 2) advance_ports(m, step, low, high);
        parts[count++] = (backend_part){.step = step,
                                        .begin = x->bounds[low],
                                        .end = x->bounds[high + 1],
                                        .restore = m->march.local && after == 1};
    }
    if (after > 2) return PS_OK;
    return march_parts(m, after == 2 ? PS_DGTD_E : PS_DGTD_H, m->done, parts, count);
}

ps_status tiles_steps(march *m, int64_t count)
{
    tiles *x = m->tiles;
    ps_dgtd_skew skew = tiles_skew(x, count);
    int64_t loaded = 0, done = 0, ahead = x->window ? x->ahead : 1;
    PS_TRY(use_sums(m, is_any_transformed(m, count)));
    begin_pass(x);
    for (int64_t tick = 0; tick < ps_dgtd_skew_ticks(&skew); ++tick) {
        int64_t needed = ps_dgtd_skew_needed(&skew, tick), past = ps_dgtd_skew_done(&skew, tick);
        PS_TRY(need_places(x, loaded, needed));
        loaded = needed;
        PS_TRY(prefetch(x, loaded, ps_dgtd_skew_needed(&skew, tick + ahead)));
        for (int64_t phase = 0; phase < skew.phases; ++phase)
            PS_TRY(march_phase(m, &skew, tick, phase));
        PS_TRY(done_places(x, done, past));
        done = past;
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

ps_status tiles_adopt(void *marching)
{
    march *m = marching;
    return ps_paged_adopt(m->tiles->paged, (int)m->figures.file, m->tiles->hashes);
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

ps_status march_hold(march *m, int64_t first, int64_t end)
{
    int lanes = ps_dgtd_lanes(m->problem->system.precision);
    return m->tiles ? tiles_hold(m->tiles, first / lanes, (end + lanes - 1) / lanes) : PS_OK;
}

void march_release(march *m)
{
    if (m->tiles) tiles_release(m->tiles);
}
