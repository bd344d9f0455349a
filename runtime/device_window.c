#include "runtime/device_window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device_copies.h"
#include "runtime/memory.h"

/* Ranges that come or leave together share an event: that of one of them. */
typedef struct range {
    bool there, done, changed;
    int64_t turn; /* when it was done with, counting up              */
    /* ranges whose events tell; left_with -1: never left */
    int64_t came_with, used_with, left_with;
    ps_event *came, *used, *left; /* copies in; the last work on it; copies out       */
} range;

typedef struct ring {
    ps_window_array array;
    int64_t bytes, size; /* of all rows; of the memory that is there */
    char *base;
    bool used;
} ring;

struct ps_window {
    ps_device *device;
    ps_stream *compute, *in, *out;
    int64_t ranges, *bounds, rows;
    int arrays;
    ring ring[PS_WINDOW_ARRAYS_MAX];
    range *list;
    int64_t low, high; /* ranges [low, high) are there */
    int64_t turns;
    bool has_source;
    ps_window_source source;
    ps_window_stats stats;
};

/* ---- opening ---- */

static ps_status open_ranges(ps_window *w, const ps_window_request *request)
{
    PS_TRY(PS_ALLOC(&w->bounds, w->ranges + 1, "the ranges"));
    memcpy(w->bounds, request->bounds, (size_t)(w->ranges + 1) * sizeof *w->bounds);
    PS_TRY(PS_ALLOC(&w->list, w->ranges, "the ranges"));
    for (int64_t r = 0; r < w->ranges; ++r) {
        w->list[r].done = true;
        w->list[r].left_with = -1;
        PS_TRY(ps_event_open(w->device, &w->list[r].came));
        PS_TRY(ps_event_open(w->device, &w->list[r].used));
        PS_TRY(ps_event_open(w->device, &w->list[r].left));
    }
    return PS_OK;
}

static ps_status open_rings(ps_window *w, const ps_window_request *request)
{
    for (int k = 0; k < w->arrays; ++k) {
        ring *x = w->ring + k;
        x->array = request->array[k];
        x->bytes = w->bounds[w->ranges] * x->array.row_bytes;
        x->size = w->rows * x->array.row_bytes;
        void *base;
        PS_TRY(ps_device_alloc_ring(w->device, x->bytes, &x->size, &base));
        x->base = base;
        x->used = x->array.host != NULL;
    }
    return PS_OK;
}

static ps_status open_all(ps_window *w, const ps_window_request *request)
{
    PS_TRY(ps_stream_open(w->device, &w->in));
    PS_TRY(ps_stream_open(w->device, &w->out));
    PS_TRY(open_ranges(w, request));
    return open_rings(w, request);
}

ps_status ps_window_open(const ps_window_request *request, ps_window **out)
{
    ps_window *w;
    *out = NULL;
    int copied = 0;
    for (int k = 0; k < request->arrays; ++k) copied += request->array[k].host != NULL;
    if (request->arrays > PS_WINDOW_ARRAYS_MAX || copied > PS_WINDOW_COPIED_MAX)
        return ps_fail(PS_FAILED, "%d arrays, %d of the host; a window takes %d and %d",
                       request->arrays, copied, PS_WINDOW_ARRAYS_MAX, PS_WINDOW_COPIED_MAX);
    PS_TRY(PS_ALLOC(&w, 1, "a window"));
    w->device = ps_stream_device(request->compute);
    w->compute = request->compute;
    w->ranges = request->ranges;
    w->arrays = request->arrays;
    w->rows = request->rows;
    w->has_source = request->source != NULL;
    if (w->has_source) w->source = *request->source;
    ps_status status = open_all(w, request);
    if (status == PS_OK)
        *out = w;
    else
        ps_window_close(&w);
    return status;
}

void ps_window_close(ps_window **window)
{
    ps_window *w = *window;
    if (!w) return;
    ps_stream_wait(w->compute);
    ps_stream_close(&w->in);
    ps_stream_close(&w->out);
    for (int64_t r = 0; w->list && r < w->ranges; ++r) {
        ps_event_close(&w->list[r].came);
        ps_event_close(&w->list[r].used);
        ps_event_close(&w->list[r].left);
    }
    for (int k = 0; k < w->arrays; ++k)
        ps_device_free_ring(w->device, w->ring[k].base, w->ring[k].bytes, w->ring[k].size);
    PS_FREE(w->bounds, w->list, w);
    *window = NULL;
}

void *ps_window_array_at(const ps_window *w, int array) { return w->ring[array].base; }
void ps_window_get_stats(const ps_window *w, ps_window_stats *out) { *out = w->stats; }

/* ---- copies ---- */

/* Ranges [first, end) side by side. */
typedef struct span {
    int64_t first, end;
} span;

/* Adds one array of a span, in pieces that do not cross the end of the ring. */
static void add_pieces(ps_window *w, ring *x, span s, bool in, ps_copies *to)
{
    int64_t at = w->bounds[s.first] * x->array.row_bytes;
    int64_t end = w->bounds[s.end] * x->array.row_bytes;
    int64_t *count = in ? &w->stats.bytes_in : &w->stats.bytes_out;
    *count += end - at;
    while (at < end) {
        int64_t stop = (at / x->size + 1) * x->size, bytes = (stop < end ? stop : end) - at;
        char *host = (char *)x->array.host + at, *there = x->base + at;
        to->to[to->count] = in ? there : host;
        to->from[to->count] = in ? host : there;
        to->bytes[to->count++] = (size_t)bytes;
        at += bytes;
    }
}

/* The arrays of a span that are in use; out: those that change. A span crosses the end of a ring
 * once at most. */
static ps_status copy_span(ps_window *w, span s, bool in)
{
    _Static_assert(2 * PS_WINDOW_COPIED_MAX <= PS_COPIES_MAX, "two pieces an array");
    ps_copies copies = {.count = 0};
    for (int k = 0; k < w->arrays; ++k)
        if (w->ring[k].used && (in || w->ring[k].array.changes))
            add_pieces(w, w->ring + k, s, in, &copies);
    return ps_copy_all(in ? w->in : w->out, &copies);
}

static ps_status copy_in(ps_window *w, span s)
{
    for (int64_t r = s.first; r < s.end; ++r) {
        range *x = w->list + r;
        if (w->has_source) PS_TRY(w->source.need(w->source.of, r));
        if (x->left_with >= 0) /* the host's rows may be on their way yet */
            PS_TRY(ps_event_wait(w->list[x->left_with].left, w->in));
        x->there = true;
        x->done = x->changed = false;
        x->came_with = s.first;
    }
    PS_TRY(copy_span(w, s, true));
    return ps_event_record(w->list[s.first].came, w->in);
}

/* Waits for what was enqueued last on any range of the span. */
static ps_status wait_for_work(ps_window *w, span s)
{
    const range *last = w->list + s.first;
    for (int64_t r = s.first; r < s.end; ++r)
        if (w->list[r].turn > last->turn) last = w->list + r;
    return ps_event_wait(w->list[last->used_with].used, w->out);
}

/* What changed goes to the host, after the work that was enqueued on it. */
static ps_status copy_out(ps_window *w, span s)
{
    bool changed = false;
    PS_TRY(wait_for_work(w, s));
    for (int64_t r = s.first; r < s.end; ++r) changed |= w->list[r].changed;
    if (changed) PS_TRY(copy_span(w, s, false));
    for (int64_t r = s.first; r < s.end; ++r) {
        w->list[r].changed = false;
        w->list[r].left_with = s.first;
    }
    return ps_event_record(w->list[s.first].left, w->out);
}

/* Their place is free for what is copied in after this. */
static ps_status leave(ps_window *w, span s)
{
    if (s.first == s.end) return PS_OK;
    PS_TRY(copy_out(w, s));
    PS_TRY(ps_event_wait(w->list[s.first].left, w->in));
    for (int64_t r = s.first; r < s.end; ++r) w->list[r].there = false;
    if (!w->has_source) return PS_OK;
    PS_TRY(ps_event_sync(w->list[s.first].left));
    for (int64_t r = s.first; r < s.end; ++r) w->source.done(w->source.of, r);
    return PS_OK;
}

/* ---- ranges ---- */

static bool all_done(const ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r)
        if (!w->list[r].done) return false;
    return true;
}

static ps_status leave_all(ps_window *w)
{
    span all = {w->low, w->high};
    w->low = w->high;
    return leave(w, all);
}

static int64_t rows_of(const ps_window *w, int64_t first, int64_t end)
{
    return w->bounds[end] - w->bounds[first];
}

/* How much of a span above those that are there finds room if ranges below leave, as are done with:
 * the span that comes and the one that leaves. */
static void fit_above(const ps_window *w, span asked, span *come, span *gone)
{
    *come = (span){asked.first, asked.first};
    *gone = (span){w->low, w->low};
    while (come->end < asked.end) {
        int64_t low = gone->end;
        while (low < w->high && w->list[low].done && rows_of(w, low, come->end + 1) > w->rows)
            ++low;
        if (rows_of(w, low, come->end + 1) > w->rows) return;
        gone->end = low;
        ++come->end;
    }
}

/* The same downwards. */
static void fit_below(const ps_window *w, span asked, span *come, span *gone)
{
    *come = (span){asked.end, asked.end};
    *gone = (span){w->high, w->high};
    while (come->first > asked.first) {
        int64_t high = gone->first;
        while (high > w->low && w->list[high - 1].done &&
               rows_of(w, come->first - 1, high) > w->rows)
            --high;
        if (rows_of(w, come->first - 1, high) > w->rows) return;
        gone->first = high;
        --come->first;
    }
}

/* The ranges of [first, end) that are not there yet come, as far as there is room. */
static ps_status bring(ps_window *w, int64_t first, int64_t end)
{
    span come, gone;
    bool up = first >= w->high;
    if (up)
        fit_above(w, (span){first, end}, &come, &gone);
    else
        fit_below(w, (span){first, end}, &come, &gone);
    if (come.first == come.end) return PS_OK;
    PS_TRY(leave(w, gone));
    if (up) {
        w->low = gone.end;
        w->high = come.end;
    } else {
        w->low = come.first;
        w->high = gone.first;
    }
    return copy_in(w, come);
}

ps_status ps_window_prefetch(ps_window *w, int64_t first, int64_t end)
{
    for (int64_t r = first > w->low ? first : w->low; r < end && r < w->high; ++r)
        w->list[r].done = false;
    if (first >= w->low && first < w->high) first = w->high;
    if (end > w->low && end <= w->high) end = w->low;
    if (first >= end) return PS_OK;
    if (w->low == w->high || (first != w->high && end != w->low)) {
        if (!all_done(w)) return PS_OK;
        PS_TRY(leave_all(w)); /* a pass begins elsewhere */
        w->low = w->high = first;
    }
    return bring(w, first, end);
}

ps_status ps_window_use(ps_window *w, int array, bool used)
{
    if (w->ring[array].used == used) return PS_OK;
    PS_TRY(leave_all(w));
    w->ring[array].used = used;
    return PS_OK;
}

ps_status ps_window_need(ps_window *w, int64_t first, int64_t end)
{
    PS_TRY(ps_window_prefetch(w, first, end));
    if (first < w->low || end > w->high)
        return ps_fail(PS_EXHAUSTED,
                       "a window of %lld rows on the device does not do: rows %lld to %lld find "
                       "no room; raise --device-memory",
                       (long long)w->rows, (long long)w->bounds[first],
                       (long long)w->bounds[end] - 1);
    for (int64_t r = first; r < end; ++r)
        if (r == first || w->list[r].came_with != w->list[r - 1].came_with)
            PS_TRY(ps_event_wait(w->list[w->list[r].came_with].came, w->compute));
    return PS_OK;
}

void ps_window_hold(ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r) w->list[r].done = false;
}

ps_status ps_window_done(ps_window *w, int64_t first, int64_t end, bool changed)
{
    if (first >= end) return PS_OK;
    for (int64_t r = first; r < end; ++r) {
        range *x = w->list + r;
        x->done = true;
        x->changed |= changed;
        x->turn = w->turns;
        x->used_with = first;
    }
    ++w->turns;
    return ps_event_record(w->list[first].used, w->compute);
}

ps_status ps_window_flush(ps_window *w)
{
    if (w->low == w->high) return PS_OK;
    PS_TRY(copy_out(w, (span){w->low, w->high}));
    return ps_stream_wait(w->out);
}

ps_status ps_window_drop(ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r) w->list[r].changed = false;
    PS_TRY(leave_all(w));
    PS_TRY(ps_stream_wait(w->in));
    return ps_stream_wait(w->out);
}
