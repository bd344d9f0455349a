/*
 * window: the last K steps of every unknown (kernels/tdbem/past_window.h) in host memory.
 */
#ifndef PS_TDBEM_MARCH_WINDOW_H
#define PS_TDBEM_MARCH_WINDOW_H

#include "kernels/tdbem/past_window.h"

typedef ps_past_window window;

/* Bytes that window_init allocates. */
int64_t window_bytes(const ps_slice_header *header, int64_t columns, int64_t group);
ps_status window_init(window *out, const ps_slice_header *header, int64_t columns, int64_t group);
void window_release(window *past);

/* The steps that count, out[unknowns][kept], newest last; and back, from an empty window. */
void window_save(const window *past, void *out);
void window_restore(window *past, const void *from);
/* out[unknowns] = step `back` before the present (1: the newest). */
void window_step(const window *past, int64_t back, double *out);
/* a_j(t) -= alpha + beta t for the steps that count, t = -1 the newest. */
void window_subtract_line(window *past, double alpha, double beta);

#endif
