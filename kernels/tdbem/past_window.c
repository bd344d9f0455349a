#include "kernels/tdbem/past_window.h"

#include <string.h>

enum { THREADED = 16384 };

/* Room for some groups behind, about a quarter more, so that sliding costs little. */
ps_past_window ps_past_window_shape(const ps_slice_header *header, int64_t columns, int64_t group)
{
    ps_past_window w = {.precision = header->precision, .unknowns = header->unknowns};
    w.kept = header->k_max > 2 ? header->k_max : 2;
    w.before = ps_product_past_before(header->k_max, columns);
    if (w.before < w.kept) w.before = w.kept;
    w.after = ps_product_past_after(group);
    int64_t room = (w.before / 4 + group) / group * group;
    w.stride = w.before + room + (w.after > group ? w.after : group);
    w.origin = w.before;
    return w;
}

int64_t ps_past_window_bytes(const ps_past_window *w)
{
    return w->unknowns * w->stride * ps_real_bytes(w->precision);
}

bool ps_past_window_is_full(const ps_past_window *w, int64_t count)
{
    return w->origin + count + w->after > w->stride;
}

static void slide(const ps_past_window *w)
{
    int64_t size = ps_real_bytes(w->precision), kept = w->before * size;
#pragma omp parallel for schedule(static) if (w->unknowns > THREADED)
    for (int64_t j = 0; j < w->unknowns; ++j) {
        memmove(ps_past_window_item(w, j, 0), ps_past_window_item(w, j, w->origin - w->before),
                (size_t)kept);
        memset(ps_past_window_item(w, j, w->before), 0, (size_t)(w->stride * size - kept));
    }
}

static void scatter(const ps_past_window *w, const void *recent, int64_t count)
{
#pragma omp parallel for schedule(static) if (w->unknowns > THREADED)
    for (int64_t j = 0; j < w->unknowns; ++j)
        for (int64_t g = 0; g < count; ++g) {
            int64_t from = g * w->unknowns + j;
            ps_real_copy(w->precision, ps_past_window_item(w, j, w->origin + g), 0, recent, from);
        }
}

void ps_past_window_append(ps_past_window *w, const void *recent, int64_t count)
{
    if (ps_past_window_is_full(w, count)) {
        slide(w);
        w->origin = w->before;
    }
    scatter(w, recent, count);
    w->origin += count;
}

ps_status ps_past_window_append_on(ps_past_window *w, const void *recent, int64_t count,
                                   ps_stream *stream)
{
    if (!ps_stream_handle(stream)) {
        ps_past_window_append(w, recent, count);
        return PS_OK;
    }
    if (ps_past_window_is_full(w, count)) {
        PS_TRY(ps_past_window_slide_cuda(w, stream));
        w->origin = w->before;
    }
    PS_TRY(ps_past_window_scatter_cuda(w, recent, count, stream));
    w->origin += count;
    return PS_OK;
}
