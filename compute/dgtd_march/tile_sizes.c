/* Tiles: their ranges, width and number of steps, by the memory there is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/tiles.h"
#include "kernels/dgtd/ranges.h"
#include "runtime/memory.h"

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

ps_dgtd_skew tiles_skew(const tiles *x, int64_t steps)
{
    int64_t halves = 2 * steps;
    return (ps_dgtd_skew){x->ranges, x->width, halves,
                          x->phases > 0 && x->phases < halves ? x->phases : halves};
}

/* Ranges of a window for m = x->visit steps: those of a tick, and of tiles on the way. */
static int64_t window_ranges(const tiles *x, bool device)
{
    ps_dgtd_skew skew = tiles_skew(x, x->visit);
    return ps_dgtd_skew_window(&skew) + (device ? TILES_ON_THE_WAY * x->width : x->width + 1);
}

/* What has room: bytes of the host for a file's window, and of a device for its own. */
typedef struct rooms {
    int64_t host, device; /* INT64_MAX: no matter */
} rooms;

/* Bytes on the device: of the window, the energy's old fields, and geometry that is all there. */
static int64_t device_bytes(const problem *p, const tiles *x)
{
    int64_t geometry = tiles_geometry_bytes(p);
    int64_t window = most_groups(x->bounds, x->ranges, window_ranges(x, true));
    return window * (group_bytes(p) + (x->geometry ? geometry : 0)) +
           most_groups(x->bounds, x->ranges, x->width) * tiles_field_bytes(p) +
           (x->geometry ? 0 : p->system.groups * geometry);
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
    if (x->phases > 0 && wanted > TILES_VISIT_MAX * x->phases / 2)
        wanted = TILES_VISIT_MAX * x->phases / 2;
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
 * steps, each phase at least as long as its kernels one after the other (those of the border, too),
 * or as its share of the copies. Only speed depends on it. */
static double step_seconds(const problem *p, const tiles *x)
{
    static const double half_ns[PS_DGTD_MAX_ORDER] = {.052, .113, .225, .41};
    static const double launch = 3e-6, border = 9e-6, tick = 25e-6, bandwidth = 42e9;
    ps_dgtd_skew skew = tiles_skew(x, x->visit);
    double elements = (double)p->domain.elements / (double)x->ranges * (double)x->width;
    double groups = (double)p->system.groups / (double)x->ranges * (double)x->width;
    double there = (double)window_ranges(x, true) / (double)x->ranges;
    double bytes = (double)(group_bytes(p) + (x->geometry ? tiles_geometry_bytes(p) : 0));
    double compute = (double)skew.halves * elements * 1e-9 * half_ns[p->header->order - 1] *
                         (p->system.precision == PS_SINGLE ? 1 : 2) +
                     (double)skew.phases * (launch + (p->border.count ? border : 0));
    double copies = groups * bytes / bandwidth * (there < 1 ? 1 - there : 0);
    return (double)ps_dgtd_skew_ticks(&skew) * (tick + (compute > copies ? compute : copies)) /
           (double)x->visit;
}

/* Of widths and phases, with the geometry on the device or not, what should be fastest. */
static void fit_device(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    double least = INFINITY;
    x->visit = 0;
    x->geometry = true;
    for (int i = 0; i < 2 * 3 * WIDTH_MAX; ++i) {
        tiles tried = *x;
        tried.geometry = i % 2;
        tried.phases = 2 << i / 2 % 3;
        tried.width = i / 6 + 1;
        fit_visit(p, room, wanted, &tried);
        double seconds = tried.visit > 0 ? step_seconds(p, &tried) : INFINITY;
        if (!(seconds < least)) continue;
        least = seconds;
        *x = tried;
    }
}

static ps_status no_room(const problem *p, const rooms *room, int64_t wanted, tiles *x)
{
    bool device = room->device < INT64_MAX;
    x->visit = wanted > 0 ? wanted : 1;
    x->width = 1;
    x->phases = device ? 2 : 0;
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
    PS_TRY(make_bounds(p, &x->bounds, &x->ranges));
    PS_TRY(PS_ALLOC(&x->hashes, x->ranges, "the ranges"));
    if (device)
        fit_device(p, &room, wanted, x);
    else
        fit_host(p, &room, wanted, x);
    if (x->visit == 0) return no_room(p, &room, wanted, x);
    if (m->options->balance && x->visit > BALANCE_BATCH_MAX) x->visit = BALANCE_BATCH_MAX;
    x->request =
        (backend_window){.ranges = x->ranges,
                         .bounds = x->bounds,
                         .groups = most_groups(x->bounds, x->ranges, window_ranges(x, device)),
                         .part_groups = most_groups(x->bounds, x->ranges, x->width),
                         .geometry = x->geometry};
    return PS_OK;
}
