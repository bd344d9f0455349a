/*
 * window: the last K steps of every unknown, as the summation reads them.
 *
 * Unknown-major: the past of unknown j is data[j * stride + origin + t], t < 0; from t = 0 on,
 * the group being computed, it is zero. Steps are appended behind; when the rows are full all
 * slide back to the front.
 */
#ifndef PS_TDBEM_MARCH_WINDOW_H
#define PS_TDBEM_MARCH_WINDOW_H

#include "kernels/tdbem/slice_product.h"

typedef struct window {
    ps_precision precision;
    int64_t unknowns, kept;        /* N, and the K steps (at least 2) that count */
    int64_t before, after, stride; /* how far products read, items of a row      */
    int64_t origin;
    void *data;
} window;

/* Bytes that window_init allocates. */
int64_t window_bytes(const ps_slice_header *header, int64_t columns, int64_t group);
ps_status window_init(window *out, const ps_slice_header *header, int64_t columns, int64_t group);
void window_release(window *past);

/* Appends `count` <= group steps from recent[count][unknowns]. Threaded. */
void window_append(window *past, const void *recent, int64_t count);
/* The steps that count, out[unknowns][kept], newest last; and back, from an empty window. */
void window_save(const window *past, void *out);
void window_restore(window *past, const void *from);
/* out[unknowns] = step `back` before the present (1: the newest). */
void window_step(const window *past, int64_t back, double *out);
/* a_j(t) -= alpha + beta t for the steps that count, t = -1 the newest. */
void window_subtract_line(window *past, double alpha, double beta);

#endif
