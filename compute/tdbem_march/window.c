#include "compute/tdbem_march/window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

static size_t item_size(ps_precision precision)
{
    return precision == PS_SINGLE ? sizeof(float) : sizeof(double);
}

/* Everything but the data. Room for some groups behind, about a quarter more, so that sliding
 * costs little. */
static window shape(const ps_slice_header *header, int64_t columns, int64_t group)
{
    window w = {.precision = header->precision, .unknowns = header->unknowns};
    w.kept = header->k_max > 2 ? header->k_max : 2;
    w.before = ps_product_past_before(header->k_max, columns);
    if (w.before < w.kept) w.before = w.kept;
    w.after = ps_product_past_after(group);
    int64_t room = (w.before / 4 + group) / group * group;
    w.stride = w.before + room + (w.after > group ? w.after : group);
    w.origin = w.before;
    return w;
}

int64_t window_bytes(const ps_slice_header *header, int64_t columns, int64_t group)
{
    window w = shape(header, columns, group);
    return w.unknowns * w.stride * (int64_t)item_size(w.precision);
}

ps_status window_init(window *out, const ps_slice_header *header, int64_t columns, int64_t group)
{
    *out = shape(header, columns, group);
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

static void slide(window *w)
{
    size_t size = item_size(w->precision);
    int64_t kept = w->before, freed = w->stride - kept;
#pragma omp parallel for schedule(static) if (w->unknowns > 16384)
    for (int64_t j = 0; j < w->unknowns; ++j) {
        memmove(item(w, j, 0), item(w, j, w->origin - kept), (size_t)kept * size);
        memset(item(w, j, kept), 0, (size_t)freed * size);
    }
    w->origin = kept;
}

void window_append(window *w, const void *recent, int64_t count)
{
    if (w->origin + count + w->after > w->stride) slide(w);
#pragma omp parallel for schedule(static) if (w->unknowns > 16384)
    for (int64_t j = 0; j < w->unknowns; ++j)
        for (int64_t g = 0; g < count; ++g) {
            int64_t from = g * w->unknowns + j;
            if (w->precision == PS_SINGLE)
                *(float *)item(w, j, w->origin + g) = ((const float *)recent)[from];
            else
                *(double *)item(w, j, w->origin + g) = ((const double *)recent)[from];
        }
    w->origin += count;
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
