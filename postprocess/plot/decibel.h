/*
 * decibel: magnitudes of traces over frequency as levels.
 */
#ifndef PS_PLOT_DECIBEL_H
#define PS_PLOT_DECIBEL_H

#include "formats/trace.h"

/* 20 log10 |value| re 1 unit, 10 log10 of areas (m2); the value itself where the trace is in dB
 * already; NaN for 0. */
double decibel_value(const ps_trace *trace, int64_t s, int64_t c);

/* "|far field| (dB re 1 Pa m)" */
void decibel_label(const ps_trace *trace, char *out, size_t size);

#endif
