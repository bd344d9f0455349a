/*
 * past_window: the last K steps of every unknown, as the summation reads them
 * (kernels/tdbem/slice_product.h), in memory of the host or of a device.
 *
 * Unknown-major: the past of unknown j is data[j * stride + origin + t], t < 0; from t = 0 on,
 * the group being computed, it is zero. Steps are appended behind; when the rows are full all
 * slide back to the front.
 */
#ifndef PS_KERNELS_TDBEM_PAST_WINDOW_H
#define PS_KERNELS_TDBEM_PAST_WINDOW_H

#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_product.h"
#include "runtime/device.h"

typedef struct ps_past_window {
    ps_precision precision;
    int64_t unknowns, kept;        /* N, and the K steps (at least 2) that count */
    int64_t before, after, stride; /* how far products read, items of a row      */
    int64_t origin;
    void *data; /* the caller's: ps_past_window_bytes, zeroed before the first step */
} ps_past_window;

/* Everything but the data, empty. columns: the longest padded row-vector. */
ps_past_window ps_past_window_shape(const ps_slice_header *header, int64_t columns, int64_t group);
int64_t ps_past_window_bytes(const ps_past_window *window);

/* Item `at` of the row of an unknown. */
static inline void *ps_past_window_item(const ps_past_window *w, int64_t unknown, int64_t at)
{
    return (char *)w->data + (unknown * w->stride + at) * ps_real_bytes(w->precision);
}

/* True if `count` more steps need a slide first. */
bool ps_past_window_is_full(const ps_past_window *window, int64_t count);

/* Appends `count` <= group steps from recent[count][unknowns], in host memory. Threaded. */
void ps_past_window_append(ps_past_window *window, const void *recent, int64_t count);

/* The same enqueued on a stream, data and recent in memory of its device. Bytes: 2 items of
 * recent an item; a slide reads `before` and writes `stride` items a row, every (stride - before -
 * after) steps. PS_FAILED if a launch fails. */
ps_status ps_past_window_append_on(ps_past_window *window, const void *recent, int64_t count,
                                   ps_stream *stream);

/* On CUDA, the parts of the above; they leave the origin as it is. */
ps_status ps_past_window_scatter_cuda(const ps_past_window *window, const void *recent,
                                      int64_t count, ps_stream *stream);
ps_status ps_past_window_slide_cuda(const ps_past_window *window, ps_stream *stream);

#endif
