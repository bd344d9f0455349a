#include "compute/tdbem_march/window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

int64_t window_bytes(const ps_slice_header *header, int64_t columns, int64_t group)
{
    window w = ps_past_window_shape(header, columns, group);
    return ps_past_window_bytes(&w);
}

ps_status window_init(window *out, const ps_slice_header *header, int64_t columns, int64_t group)
{
    *out = ps_past_window_shape(header, columns, group);
    return ps_alloc(&out->data, out->unknowns * out->stride, ps_real_bytes(out->precision),
                    "the past of the unknowns");
}

void window_release(window *w)
{
    free(w->data);
    w->data = NULL;
}

void window_save(const window *w, void *out)
{
    size_t bytes = (size_t)w->kept * ps_real_bytes(w->precision);
    for (int64_t j = 0; j < w->unknowns; ++j)
        memcpy((char *)out + (size_t)j * bytes, ps_past_window_item(w, j, w->origin - w->kept),
               bytes);
}

void window_restore(window *w, const void *from)
{
    size_t bytes = (size_t)w->kept * ps_real_bytes(w->precision);
    for (int64_t j = 0; j < w->unknowns; ++j)
        memcpy(ps_past_window_item(w, j, w->origin - w->kept),
               (const char *)from + (size_t)j * bytes, bytes);
}

void window_step(const window *w, int64_t back, double *out)
{
    for (int64_t j = 0; j < w->unknowns; ++j)
        out[j] = ps_real_at(w->precision, ps_past_window_item(w, j, w->origin - back), 0);
}

void window_subtract_line(window *w, double alpha, double beta)
{
    for (int64_t j = 0; j < w->unknowns; ++j)
        for (int64_t t = -w->kept; t < 0; ++t) {
            void *at = ps_past_window_item(w, j, w->origin + t);
            double line = alpha + beta * (double)t;
            ps_real_put(w->precision, at, 0, ps_real_at(w->precision, at, 0) - line);
        }
}
