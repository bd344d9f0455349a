#include "runtime/device_window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

typedef struct range {
    bool there, done, changed;
    ps_event *came, *used, *left; /* its copy in; the last work on it; its copy out */
} range;

typedef struct ring {
    ps_window_array array;
    int64_t bytes, size; /* of all rows; of the memory that is there */
    char *base;
} ring;

struct ps_window {
    ps_device *device;
    ps_stream *compute, *in, *out;
    int64_t ranges, *bounds, rows;
    int arrays;
    ring ring[PS_WINDOW_ARRAYS_MAX];
    range *list;
    int64_t low, high; /* ranges [low, high) are there */
    bool has_source;
    ps_window_source source;
    ps_window_stats stats;
};

int64_t ps_window_bytes(const ps_window_array *array, int arrays, int64_t rows)
{
    int64_t bytes = 0;
    for (int k = 0; k < arrays; ++k) bytes += array[k].row_bytes * rows;
    return bytes;
}

/* ---- opening ---- */

static ps_status open_ranges(ps_window *w, const ps_window_request *request)
{
    PS_TRY(PS_ALLOC(&w->bounds, w->ranges + 1, "the ranges"));
    memcpy(w->bounds, request->bounds, (size_t)(w->ranges + 1) * sizeof *w->bounds);
    PS_TRY(PS_ALLOC(&w->list, w->ranges, "the ranges"));
    for (int64_t r = 0; r < w->ranges; ++r) {
        w->list[r].done = true;
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
    if (request->arrays > PS_WINDOW_ARRAYS_MAX)
        return ps_fail(PS_FAILED, "%d arrays; a window takes %d", request->arrays,
                       PS_WINDOW_ARRAYS_MAX);
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
    free(w->bounds);
    free(w->list);
    free(w);
    *window = NULL;
}

void *ps_window_array_at(const ps_window *w, int array) { return w->ring[array].base; }
void ps_window_get_stats(const ps_window *w, ps_window_stats *out) { *out = w->stats; }

/* ---- copies ---- */

/* One array of a range, in pieces that do not cross the end of the ring. */
static ps_status copy_piece(ps_window *w, ring *x, int64_t r, bool in)
{
    int64_t at = w->bounds[r] * x->array.row_bytes, end = w->bounds[r + 1] * x->array.row_bytes;
    int64_t *count = in ? &w->stats.bytes_in : &w->stats.bytes_out;
    *count += end - at;
    while (at < end) {
        int64_t stop = (at / x->size + 1) * x->size, bytes = (stop < end ? stop : end) - at;
        char *host = (char *)x->array.host + at, *there = x->base + at;
        PS_TRY(in ? ps_copy_to_device(w->in, there, host, bytes)
                  : ps_copy_to_host(w->out, host, there, bytes));
        at += bytes;
    }
    return PS_OK;
}

static ps_status copy_in(ps_window *w, int64_t r)
{
    range *x = w->list + r;
    if (w->has_source) PS_TRY(w->source.need(w->source.of, r));
    PS_TRY(ps_event_wait(x->left, w->in)); /* the host's rows may be on their way yet */
    for (int k = 0; k < w->arrays; ++k) PS_TRY(copy_piece(w, w->ring + k, r, true));
    PS_TRY(ps_event_record(x->came, w->in));
    *x = (range){true, false, false, x->came, x->used, x->left};
    return PS_OK;
}

/* What changed goes to the host, after the work that was enqueued on it. */
static ps_status copy_out(ps_window *w, int64_t r)
{
    range *x = w->list + r;
    PS_TRY(ps_event_wait(x->used, w->out));
    for (int k = 0; k < w->arrays && x->changed; ++k)
        if (w->ring[k].array.changes) PS_TRY(copy_piece(w, w->ring + k, r, false));
    x->changed = false;
    return ps_event_record(x->left, w->out);
}

/* Its place is free for what is copied in after this. */
static ps_status leave(ps_window *w, int64_t r)
{
    range *x = w->list + r;
    PS_TRY(copy_out(w, r));
    PS_TRY(ps_event_wait(x->left, w->in));
    x->there = false;
    if (!w->has_source) return PS_OK;
    PS_TRY(ps_event_sync(x->left));
    w->source.done(w->source.of, r);
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
    while (w->low < w->high) PS_TRY(leave(w, w->low++));
    return PS_OK;
}

/* Ranges at the far end leave until range r fits beside the others. *room: it does. */
static ps_status make_room(ps_window *w, int64_t r, bool *room)
{
    bool up = r == w->high;
    for (;;) {
        int64_t first = up ? w->low : r, end = up ? r + 1 : w->high;
        *room = w->bounds[end] - w->bounds[first] <= w->rows;
        if (*room || w->low == w->high) return PS_OK;
        int64_t far = up ? w->low : w->high - 1;
        if (!w->list[far].done) return PS_OK;
        PS_TRY(leave(w, far));
        if (up)
            ++w->low;
        else
            --w->high;
    }
}

ps_status ps_window_prefetch(ps_window *w, int64_t r)
{
    bool room;
    if (w->list[r].there) {
        w->list[r].done = false;
        return PS_OK;
    }
    if (w->low == w->high || (r != w->high && r != w->low - 1)) {
        if (!all_done(w)) return PS_OK;
        PS_TRY(leave_all(w)); /* a pass begins elsewhere */
        w->low = w->high = r;
    }
    PS_TRY(make_room(w, r, &room));
    if (!room) return PS_OK;
    if (w->low == w->high) w->low = w->high = r;
    if (r == w->high)
        ++w->high;
    else
        --w->low;
    return copy_in(w, r);
}

ps_status ps_window_need(ps_window *w, int64_t r)
{
    PS_TRY(ps_window_prefetch(w, r));
    if (!w->list[r].there)
        return ps_fail(PS_EXHAUSTED,
                       "a window of %lld rows on the device does not do: rows %lld to %lld find "
                       "no room; raise --device-memory",
                       (long long)w->rows, (long long)w->bounds[r],
                       (long long)w->bounds[r + 1] - 1);
    return ps_event_wait(w->list[r].came, w->compute);
}

void ps_window_hold(ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r) w->list[r].done = false;
}

ps_status ps_window_done(ps_window *w, int64_t r, bool changed)
{
    range *x = w->list + r;
    x->done = true;
    x->changed |= changed;
    return ps_event_record(x->used, w->compute);
}

ps_status ps_window_flush(ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r) PS_TRY(copy_out(w, r));
    return ps_stream_wait(w->out);
}

ps_status ps_window_drop(ps_window *w)
{
    for (int64_t r = w->low; r < w->high; ++r) w->list[r].changed = false;
    PS_TRY(leave_all(w));
    PS_TRY(ps_stream_wait(w->in));
    return ps_stream_wait(w->out);
}
