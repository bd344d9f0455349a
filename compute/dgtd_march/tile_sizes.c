/* Tiles: their ranges, width and number of steps, by the memory there is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/tiles.h"
#include "kernels/dgtd/ranges.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { LEAST_GROUPS = 8, WIDTH_MAX = 8 };

int64_t tiles_geometry_bytes(const problem *p)
{
    int64_t links = 4 * (int64_t)sizeof(int32_t) * ps_dgtd_lanes(p->system.precision);
    return 9 * PS_DGTD_ALIGN + links;
}

int64_t tiles_field_bytes(const problem *p)
{
    return 3 * (int64_t)p->reference.nodes * PS_DGTD_ALIGN;
}

static int64_t group_bytes(const problem *p)
{
    return 2 * tiles_field_bytes(p) * (1 + 2 * p->frequency_count + (p->header->upwind ? 1 : 0));
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

/* Groups [*first, *last] of a port's elements and of those whose H it takes. */
static void port_span(const problem *p, int64_t side, int64_t sides, int64_t *first, int64_t *last)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    const int lanes = ps_dgtd_lanes(p->system.precision);
    *first = p->system.groups, *last = -1;
    for (int64_t i = 5 * side; i < 5 * (side + sides); ++i) {
        int64_t slot = all->faces[i / 5] / 4 - p->domain.first;
        if (i % 5 > 0) { /* its neighbours */
            int32_t link = p->body.links[4 * slot + i % 5 - 1];
            if (link < 0) continue;
            slot = link / 4;
        }
        if (slot / lanes < *first) *first = slot / lanes;
        if (slot / lanes > *last) *last = slot / lanes;
    }
}

/* Groups of the pieces of R_{depth+1}, in which smaller steps are made at once. */
static ps_status bind_pieces(const problem *p, int depth, int64_t *whole)
{
    const int lanes = ps_dgtd_lanes(p->system.precision);
    const int64_t elements = p->domain.elements;
    PS_SCOPED_MEMORY uint8_t *joint = NULL;
    PS_SCOPED_MEMORY int32_t *pieces = NULL;
    PS_SCOPED_MEMORY int32_t *last = NULL;
    PS_TRY(PS_ALLOC(&joint, elements, "the ranges"));
    PS_TRY(PS_ALLOC(&pieces, elements, "the ranges"));
    PS_TRY(PS_ALLOC(&last, elements, "the ranges"));
    for (int64_t e = 0; e < elements; ++e)
        joint[e] = ps_dgtd_local_is_joint(p->body.links, p->domain.reach, e, depth);
    ps_dgtd_pieces(p->body.links, elements, joint, pieces);
    for (int64_t e = 0; e < elements; ++e)
        if (joint[e]) last[pieces[e]] = (int32_t)e;
    for (int64_t e = 0; e < elements; ++e) {
        if (!joint[e]) continue;
        int64_t group = e / lanes, to = last[pieces[e]] / lanes;
        if (to > whole[group]) whole[group] = to;
    }
    return PS_OK;
}

/* What a port has to do with is in one range, so that its step is part of a half step of that
 * range; and each piece of local steps likewise. */
static ps_status bind_groups(const problem *p, int depth, int64_t **out)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    PS_TRY(PS_ALLOC(out, p->system.groups, "the ranges"));
    int64_t *whole = *out, first, last;
    for (int64_t g = 0; g < p->system.groups; ++g) whole[g] = g;
    for (int64_t k = 0, side = 0; k < all->count; side += all->spec[k++].sides) {
        port_span(p, side, all->spec[k].sides, &first, &last);
        for (int64_t g = first; g <= last; ++g)
            if (last > whole[g]) whole[g] = last;
    }
    return p->header->local_levels > 0 ? bind_pieces(p, depth, whole) : PS_OK;
}

/* Where ports are; -1: nowhere. */
static void find_ports(const problem *p, tiles *x)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    for (int64_t k = 0, side = 0; k < all->count; side += all->spec[k++].sides) {
        int64_t first, last;
        port_span(p, side, all->spec[k].sides, &first, &last);
        x->port_range[k] = last < first ? -1 : ps_dgtd_range_of(x->bounds, x->ranges, first);
    }
}

/* The ranges whose largest is smallest, and of such the most, of some that begin with more and more
 * groups. */
static ps_status make_bounds(const problem *p, int depth, int64_t **out, int64_t *ranges)
{
    PS_SCOPED_MEMORY int64_t *tried = NULL;
    PS_SCOPED_MEMORY int64_t *whole = NULL;
    int64_t groups = p->system.groups, best = groups + 1;
    PS_TRY(PS_ALLOC(out, groups + 1, "the ranges"));
    PS_TRY(PS_ALLOC(&tried, groups + 1, "the ranges"));
    PS_TRY(bind_groups(p, depth, &whole));
    for (int64_t first = LEAST_GROUPS; first <= groups; first += first / 2) {
        int64_t count = ps_dgtd_ranges(&p->system, first, LEAST_GROUPS, whole, tried);
        int64_t largest = most_groups(tried, count, 1);
        if (largest > best || (largest == best && count <= *ranges)) continue;
        best = largest;
        *ranges = count;
        memcpy(*out, tried, (size_t)(count + 1) * sizeof *tried);
    }
    if (best > groups) *ranges = ps_dgtd_ranges(&p->system, groups, LEAST_GROUPS, whole, *out);
    return PS_OK;
}

ps_dgtd_skew tiles_skew(const tiles *x, int64_t steps)
{
    int64_t halves = x->stages * steps;
    return (ps_dgtd_skew){x->ranges, x->width, halves,
                          x->phases > 0 && x->phases < halves ? x->phases : halves};
}

/* Ranges of a window for m = x->visit steps: those of a tick, and of tiles on the way. */
static int64_t window_ranges(const tiles *x, bool device)
{
    ps_dgtd_skew skew = tiles_skew(x, x->visit);
    return ps_dgtd_skew_window(&skew) + (device ? (x->ahead + 1) * x->width : x->width + 1);
}

/* What has room: bytes of the host for a file's window, and of a device for its own. */
typedef struct rooms {
    int64_t host, device; /* INT64_MAX: no matter */
} rooms;

/* Bytes of a group that are in a device's window and not of the host: increments, H that is kept.
 */
static int64_t local_group_bytes(const problem *p)
{
    return 2 * p->header->local_levels * tiles_field_bytes(p);
}

/* Bytes on the device: of the window, the energy's old fields, and geometry that is all there. */
static int64_t bytes_of(const problem *p, const tiles *x, int64_t window, int64_t part)
{
    int64_t geometry = tiles_geometry_bytes(p);
    int64_t group = group_bytes(p) + local_group_bytes(p) + (x->geometry ? geometry : 0);
    return window * group + part * tiles_field_bytes(p) +
           (x->geometry ? 0 : p->system.groups * geometry);
}

static int64_t device_bytes(const problem *p, const tiles *x)
{
    return bytes_of(p, x, most_groups(x->bounds, x->ranges, window_ranges(x, true)),
                    most_groups(x->bounds, x->ranges, x->width));
}

static bool has_room(const problem *p, const tiles *x, const rooms *room)
{
    bool device = room->device < INT64_MAX;
    int64_t ranges = window_ranges(x, device);
    int64_t host = most_groups(x->bounds, x->ranges, ranges + (device ? 2 * x->width : 0));
    int64_t there = device ? device_bytes(p, x) : 0;
    return (room->host == INT64_MAX || host * group_bytes(p) <= room->host) &&
           (!device || there <= room->device);
}

/* The largest m that has room, at most `wanted` or TILES_VISIT_MAX, 0: none; the bits do not depend
 * on it.
 */
static void fit_visit(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    if (x->phases > 0 && wanted > TILES_VISIT_MAX * x->phases / x->stages)
        wanted = TILES_VISIT_MAX * x->phases / x->stages;
    x->visit = wanted > 0 ? wanted : TILES_VISIT_MAX;
    while (x->visit > 0 && !has_room(p, x, room)) --x->visit;
    if (wanted > 0 && x->visit < wanted) x->visit = 0;
}

/* Tiles as wide as there is room, for larger pieces of a file; narrow ones for caches. */
static void fit_host(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    int64_t most = room->host < INT64_MAX ? WIDTH_MAX : 1;
    x->width = 1;
    fit_visit(p, room, wanted, x);
    for (; x->visit > 0 && x->width < most; ++x->width) {
        tiles wider = *x;
        ++wider.width;
        if (!has_room(p, &wider, room)) break;
    }
}

/* Seconds of a step through a window, about, measured on an H200: a tick takes as long as its half
 * steps, each phase at least as long as an element takes from beginning to end, or, where ranges
 * come and leave, as their copies. Only which orders are tried depends on it. */
static double step_seconds(const problem *p, const tiles *x)
{
    static const double half_ns[PS_DGTD_MAX_ORDER] = {.085, .178, .358, .7};
    static const double least[PS_DGTD_MAX_ORDER] = {12e-6, 14e-6, 18e-6, 16e-6};
    static const double bandwidth = 52e9, copy = 2.6e-6;
    ps_dgtd_skew skew = tiles_skew(x, x->visit);
    double part = (double)x->width / (double)x->ranges;
    int order = p->header->order - 1;
    double at_once = (double)skew.halves / (double)skew.phases * part * (double)p->domain.elements;
    double phase = fmax(at_once * 1e-9 * half_ns[order], least[order]);
    double compute = (double)skew.phases * phase * (p->system.precision == PS_SINGLE ? 1 : 2);
    double bytes = (double)(group_bytes(p) + (x->geometry ? tiles_geometry_bytes(p) : 0));
    double copies = part * (double)p->system.groups * bytes / bandwidth +
                    copy * ((p->frequency_count ? 4 : 2) + (x->geometry ? 2 : 0));
    if (x->ahead == 1) copies *= 1.1;
    double there = fmin(1, (double)window_ranges(x, true) / (double)x->ranges);
    return (double)ps_dgtd_skew_ticks(&skew) *
           (there * compute + (1 - there) * fmax(compute, copies)) / (double)x->visit;
}

/* Order i of WIDTH_MAX widths, ORDER_PHASES numbers of phases and ORDER_AHEAD of tiles ahead, with
 * the largest m that has room; its seconds are infinite if there is none. */
enum { ORDER_PHASES = 3, ORDER_AHEAD = 2 };
static tile_order order_of(const problem *p, const rooms *room, int64_t wanted, const tiles *x,
                           int i)
{
    tiles tried = *x;
    tried.phases = x->stages << i % ORDER_PHASES;
    tried.ahead = 1 + i / ORDER_PHASES % ORDER_AHEAD;
    tried.width = i / ORDER_PHASES / ORDER_AHEAD + 1;
    fit_visit(p, room, wanted, &tried);
    return (tile_order){tried.width, tried.phases, tried.visit, tried.ahead,
                        tried.visit > 0 ? step_seconds(p, &tried) : INFINITY};
}

/* The most promising orders, by what they should take. */
static void list_orders(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    x->orders = 0;
    for (int i = 0; i < ORDER_PHASES * ORDER_AHEAD * WIDTH_MAX; ++i) {
        tile_order tried = order_of(p, room, wanted, x, i);
        int at = x->orders < TILES_TRIED ? x->orders++ : TILES_TRIED;
        for (; at > 0 && tried.seconds < x->order[at - 1].seconds; --at)
            if (at < TILES_TRIED) x->order[at] = x->order[at - 1];
        if (at < TILES_TRIED) x->order[at] = tried;
    }
    while (x->orders > 0 && x->order[x->orders - 1].visit == 0) --x->orders;
}

static void take_order(tiles *x, int k)
{
    x->width = x->order[k].width;
    x->phases = x->order[k].phases;
    x->visit = x->order[k].visit;
    x->ahead = x->order[k].ahead;
}

/* With the geometry on the device or not, what should be faster; and the orders to try. */
static void fit_device(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    tiles fixed = *x;
    x->geometry = true;
    list_orders(p, room, wanted, x);
    fixed.geometry = false;
    list_orders(p, room, wanted, &fixed);
    if (fixed.orders > 0 && (x->orders == 0 || fixed.order[0].seconds < x->order[0].seconds))
        *x = fixed;
    x->visit = 0;
    if (x->orders > 0) take_order(x, 0);
}

void tiles_learn(tiles *x, int64_t steps, double seconds)
{
    if (x->trials >= x->orders * TILES_TRIALS || steps < x->visit) return;
    tile_order *tried = x->order + x->trials / TILES_TRIALS;
    int trial = x->trials++ % TILES_TRIALS;
    double step = seconds / (double)steps; /* the first visit finds another order's ranges there */
    if (trial == 1 || (trial > 1 && step < tried->seconds)) tried->seconds = step;
    if (x->trials % TILES_TRIALS) return;
    ps_debug("tiles of %lld ranges, %lld phases, %lld steps a visit, %lld ahead: %.4f ms a step",
             (long long)x->width, (long long)x->phases, (long long)x->visit, (long long)x->ahead,
             1e3 * tried->seconds);
    int next = x->trials / TILES_TRIALS;
    if (next == x->orders) {
        next = 0;
        for (int k = 1; k < x->orders; ++k)
            if (x->order[k].seconds < x->order[next].seconds) next = k;
    }
    take_order(x, next);
}

/* What the device has to hold for all orders; those that are too large beside the others go. */
static void request_window(const problem *p, const rooms *room, tiles *x)
{
    int kept = 0;
    backend_window *request = &x->request;
    for (int k = 0; k < x->orders; ++k) {
        take_order(x, k);
        int64_t groups = most_groups(x->bounds, x->ranges, window_ranges(x, true));
        int64_t part = most_groups(x->bounds, x->ranges, x->width);
        if (groups < request->groups) groups = request->groups;
        if (part < request->part_groups) part = request->part_groups;
        if (bytes_of(p, x, groups, part) > room->device) continue;
        request->groups = groups;
        request->part_groups = part;
        x->order[kept++] = x->order[k];
        if (x->visit > x->visit_most) x->visit_most = x->visit;
    }
    x->orders = kept;
    take_order(x, 0);
}

static ps_status no_room(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    bool device = room->device < INT64_MAX;
    x->visit = wanted > 0 ? wanted : 1;
    x->width = 1;
    x->phases = device ? x->stages : 0;
    x->ahead = 1;
    int64_t ranges = window_ranges(x, device);
    int64_t groups = most_groups(x->bounds, x->ranges, ranges);
    return ps_fail(
        PS_EXHAUSTED,
        "%s leaves %.1f MB for fields, but %lld ranges of elements of %.1f MB have to be in "
        "memory at once. Raise it%s, or order the elements by layers (penstock-mesh-partition "
        "--order layers) for thinner ranges",
        device ? "--device-memory (or --host-memory)" : "--host-memory",
        (double)(device ? room->device : room->host) / 1e6, (long long)ranges,
        (double)(device ? device_bytes(p, x) : groups * group_bytes(p)) / 1e6,
        wanted > 1 ? ", lower --visit-steps" : "");
}

/* Links as the system will have them, as far as ranges ask: those of a group side by side, in any
 * order. */
static ps_status copy_links(const problem *p, int32_t **out)
{
    int64_t count = 4 * p->system.groups * ps_dgtd_lanes(p->system.precision);
    PS_TRY(PS_ALLOC(out, count, "the links of the plan"));
    memcpy(*out, p->body.links, (size_t)(4 * p->domain.elements) * sizeof **out);
    return PS_OK;
}

/* Levels of local steps whose half steps are stages of their own, so far: the deeper, the smaller
 * are pieces and the more ranges a step needs. */
static void set_depth(tiles *x, int depth)
{
    x->depth = depth;
    x->stages = 2 << depth;
}

ps_status tiles_least_bytes(const problem *p, int64_t visit_steps, int64_t *out)
{
    problem with = *p;
    PS_SCOPED_MEMORY int32_t *links = NULL;
    PS_TRY(copy_links(p, &links));
    with.system.links = links;
    *out = INT64_MAX;
    for (int depth = 0; depth <= p->header->local_levels; ++depth) {
        tiles x = {.width = 1, .visit = visit_steps > 0 ? visit_steps : 1};
        set_depth(&x, depth);
        ps_status status = make_bounds(&with, depth, &x.bounds, &x.ranges);
        int64_t ranges = window_ranges(&x, false);
        int64_t bytes =
            status == PS_OK ? most_groups(x.bounds, x.ranges, ranges) * group_bytes(p) : 0;
        free(x.bounds);
        PS_TRY(status);
        if (bytes < *out) *out = bytes;
    }
    return PS_OK;
}

bool tiles_fit_cache(const problem *p, const tiles *x, int64_t bytes)
{
    int64_t groups = most_groups(x->bounds, x->ranges, window_ranges(x, false));
    return groups * (group_bytes(p) + tiles_geometry_bytes(p)) <= bytes;
}

ps_status tiles_set_sizes(const march *m, int64_t capacity, tiles *x)
{
    const rooms room = {m->plan->file ? capacity : INT64_MAX,
                        m->plan->window ? m->plan->device_window : INT64_MAX};
    const problem *p = m->problem;
    bool device = room.device < INT64_MAX;
    int64_t wanted = m->plan->cache_bytes > 0 ? TILES_CACHE_STEPS : m->options->visit_steps;
    for (int depth = 0; depth <= p->header->local_levels; ++depth) {
        tiles tried = {.bounds = NULL};
        set_depth(&tried, depth);
        ps_status status = make_bounds(p, depth, &tried.bounds, &tried.ranges);
        if (status == PS_OK && device) fit_device(p, &room, wanted, &tried);
        if (status == PS_OK && !device) fit_host(p, &room, wanted, &tried);
        bool better = depth == 0 || tried.visit > x->visit;
        free(better ? x->bounds : tried.bounds);
        if (better) *x = tried;
        PS_TRY(status);
    }
    PS_TRY(PS_ALLOC(&x->hashes, x->ranges, "the ranges"));
    find_ports(p, x);
    if (m->march.local) ps_dgtd_local_stages(m->march.local, x->depth, x->stage_ops);
    if (x->visit == 0) return no_room(p, &room, wanted, x);
    if (m->options->balance && x->visit > BALANCE_BATCH_MAX) x->visit = BALANCE_BATCH_MAX;
    x->request =
        (backend_window){.ranges = x->ranges, .bounds = x->bounds, .geometry = x->geometry};
    x->visit_most = x->visit;
    if (device) request_window(p, &room, x);
    return PS_OK;
}
