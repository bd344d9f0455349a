#include "compute/tdbem_march/window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

static size_t item_size(ps_precision precision)
{
    return precision == PS_SINGLE ? sizeof(float) : sizeof(double);
}

int64_t window_bytes(const ps_slice_header *header, int64_t columns, int64_t group)
{
    window w = ps_past_window_shape(header, columns, group);
    return ps_past_window_bytes(&w);
}

ps_status window_init(window *out, const ps_slice_header *header, int64_t columns, int64_t group)
{
    *out = ps_past_window_shape(header, columns, group);
    return ps_alloc(&out->data, out->unknowns * out->stride, item_size(out->precision),
                    "the past of the unknowns");
}

void window_release(window *w)
{
    free(w->data);
    w->data = NULL;
}

static char *item(const window *w, int64_t unknown, int64_t at)
{
    return (char *)w->data + (unknown * w->stride + at) * (int64_t)item_size(w->precision);
}

void window_save(const window *w, void *out)
{
    size_t bytes = (size_t)w->kept * item_size(w->precision);
    for (int64_t j = 0; j < w->unknowns; ++j)
        memcpy((char *)out + (size_t)j * bytes, item(w, j, w->origin - w->kept), bytes);
}

void window_restore(window *w, const void *from)
{
    size_t bytes = (size_t)w->kept * item_size(w->precision);
    for (int64_t j = 0; j < w->unknowns; ++j)
        memcpy(item(w, j, w->origin - w->kept), (const char *)from + (size_t)j * bytes, bytes);
}

void window_step(const window *w, int64_t back, double *out)
{
    for (int64_t j = 0; j < w->unknowns; ++j) {
        const char *at = item(w, j, w->origin - back);
        out[j] = w->precision == PS_SINGLE ? (double)*(const float *)at : *(const double *)at;
    }
}

void window_subtract_line(window *w, double alpha, double beta)
{
    for (int64_t j = 0; j < w->unknowns; ++j)
        for (int64_t t = -w->kept; t < 0; ++t) {
            char *at = item(w, j, w->origin + t);
            double line = alpha + beta * (double)t;
            if (w->precision == PS_SINGLE)
                *(float *)at = (float)((double)*(float *)at - line);
            else
                *(double *)at -= line;
        }
}
