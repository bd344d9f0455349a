/*
 * curves: lines over time or frequency from traces; shared by plot_trace and plot_spectrum.
 */
#ifndef PS_PLOT_CURVES_H
#define PS_PLOT_CURVES_H

#include "formats/trace.h"
#include "postprocess/plot/plot.h"

enum { CURVE_FILES_MAX = 8, CURVES_MAX = 64 };

typedef struct curve {
    int file, colour;
    int64_t channel;
    char label[128];
} curve;

typedef struct curve_set {
    ps_trace traces[CURVE_FILES_MAX];
    bool points[CURVE_FILES_MAX]; /* a Touchstone file, of measured or published values: no line */
    int trace_count, count;
    curve curves[CURVES_MAX];
    double largest;    /* |value| over all curves                                             */
    double axis_scale; /* what the axis is multiplied by; its prefix                          */
    const char *axis_prefix;
    double x_low, x_high; /* the part of the axis shown; x_low == x_high: all                 */
} curve_set;

/* The number that stands for sample `s` of channel `c`. */
typedef double (*curve_value)(const ps_trace *trace, int64_t s, int64_t c);

/* Loads the request's files, all over time or all over frequency as wanted, and chooses the
 * curves. PS_USAGE, PS_INVALID with the reason. Release in any case. */
ps_status curves_load(const plot_request *request, bool frequency, curve_value value,
                      curve_set *set);
void curves_release(curve_set *set);

/* Data blocks $C0, $C1, ...: axis (scaled) and value * factor. */
void curves_put_data(const curve_set *set, curve_value value, double factor, canvas *c);
/* "plot $C0 ... , $C1 ..." : one colour a channel, solid for the first file, dashed then; values
 * of Touchstone files as points. */
void curves_put_plot(const curve_set *set, canvas *c);

/* Puts the key below everything, up to three entries a row; returns the part of the height that it
 * and the label of the axis take. */
double curves_put_key(const curve_set *set, canvas *c);

/* The sample of `trace` nearest to `axis`. */
int64_t curves_nearest(const ps_trace *trace, double axis);

/* ---- magnitudes of traces over frequency as levels ---- */

/* 20 log10 |value| re 1 unit, 10 log10 of areas (m2); the value itself where the trace is in dB
 * already; NaN for 0. */
double decibel_value(const ps_trace *trace, int64_t s, int64_t c);

/* "|far field| (dB re 1 Pa m)" */
void decibel_label(const ps_trace *trace, char *out, size_t size);

#endif
