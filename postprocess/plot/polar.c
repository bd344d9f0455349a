/*
 * Polar diagrams: |far field| in decibels over the angle, a curve for each chosen frequency.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/plot/curves.h"
#include "postprocess/plot/decibel.h"
#include "runtime/memory.h"
#include "runtime/options.h"

enum { POLAR_CURVES_MAX = 8 };

typedef struct direction {
    double angle; /* radians, [0, 2 pi) */
    int64_t channel;
} direction;

static int by_angle(const void *a, const void *b)
{
    double x = ((const direction *)a)->angle, y = ((const direction *)b)->angle;
    return (x > y) - (x < y);
}

/* The coordinate plane in which the directions lie: the axis they have least of. */
static int normal_axis(const ps_trace *trace)
{
    double sums[3] = {0, 0, 0};
    for (int64_t c = 0; c < trace->channels; ++c)
        for (int k = 0; k < 3; ++k) sums[k] += fabs(trace->places[3 * c + k]);
    int least = 2;
    for (int k = 0; k < 3; ++k)
        if (sums[k] < sums[least] * (1 - 1e-9)) least = k;
    return least;
}

static ps_status order_directions(const plot_request *request, const ps_trace *trace, int normal,
                                  direction *out)
{
    static const int first[3] = {1, 0, 0}, second[3] = {2, 2, 1};
    for (int64_t c = 0; c < trace->channels; ++c) {
        const double *d = &trace->places[3 * c];
        if (fabs(d[normal]) > 0.02)
            return ps_fail(PS_INVALID,
                           "%s: direction %lld does not lie in a coordinate plane with "
                           "the others; a polar diagram needs a circle of directions",
                           request->files[0], (long long)c);
        double angle = atan2(d[second[normal]], d[first[normal]]);
        out[c] = (direction){angle < 0 ? angle + 2 * M_PI : angle, c};
    }
    qsort(out, (size_t)trace->channels, sizeof *out, by_angle);
    return PS_OK;
}

/* The samples to show: nearest to --frequencies, or four spread over the axis. */
static ps_status choose_samples(const plot_request *request, const ps_trace *trace, int64_t *out,
                                int *count)
{
    if (!request->frequencies) {
        *count = trace->samples < 4 ? (int)trace->samples : 4;
        for (int i = 0; i < *count; ++i) out[i] = (i + 1) * trace->samples / (*count + 1);
        return PS_OK;
    }
    double wanted[POLAR_CURVES_MAX];
    ps_status status = ps_parse_reals(request->frequencies, ',', wanted, POLAR_CURVES_MAX, count);
    if (status != PS_OK) return ps_context(status, "--frequencies");
    double last = trace->axis[trace->samples - 1];
    for (int i = 0; i < *count; ++i) {
        if (wanted[i] < 0 || wanted[i] > last * (1 + 1e-9))
            return ps_fail(PS_USAGE,
                           "--frequencies: %.6g Hz is outside the spectrum of %s, which "
                           "reaches %.6g Hz",
                           wanted[i], request->files[0], last);
        out[i] = curves_nearest(trace, wanted[i]);
    }
    return PS_OK;
}

static void put_curve(const ps_trace *trace, const direction *directions, int64_t sample, int index,
                      double floor_level, canvas *c)
{
    canvas_put(c, "$C%d << END\n", index);
    /* Close the circle where the directions go all around. */
    double gap = directions[0].angle + 2 * M_PI - directions[trace->channels - 1].angle;
    int64_t count = trace->channels + (gap < M_PI / 6);
    for (int64_t i = 0; i < count; ++i) {
        const direction *d = &directions[i % trace->channels];
        double level = decibel_value(trace, sample, d->channel);
        canvas_put(c, "%.7g %.6g\n", d->angle, fmax(level, floor_level));
    }
    canvas_put(c, "END\n");
}

static double top_level(const ps_trace *trace, const int64_t *samples, int count)
{
    double top = -INFINITY;
    for (int i = 0; i < count; ++i)
        for (int64_t c = 0; c < trace->channels; ++c)
            top = fmax(top, decibel_value(trace, samples[i], c));
    return top;
}

static void put_axes(const ps_trace *trace, int normal, double low, double high, canvas *c)
{
    static const char *const ends[3][2] = {{"+y", "+z"}, {"+x", "+z"}, {"+x", "+y"}};
    char text[160];
    decibel_label(trace, text, sizeof text);
    char *unit = strrchr(text, '(');
    if (unit && unit > text) unit[-1] = 0;
    canvas_put(
        c,
        "set polar\nset angles radians\nset border 4096 lw 1.2 lc rgb '#888888'\n"
        "unset xtics\nunset ytics\nunset raxis\n"
        "set size square\nset rrange [%.4g:%.4g]\nset rtics %.4g,10 scale 0 font ',10'\n"
        "set grid polar pi/6 lt 1 dt 1 lw 0.6 lc rgb '#d4d4d4'\nset lmargin at screen 0.065\n"
        "set rmargin at screen 0.72\nset bmargin at screen 0.08\nset tmargin at screen 0.88\n"
        "set ttics 0,30 format \"%%g\xc2\xb0\" font ',11'\n",
        low, high, low);
    canvas_put(c, "set label 1 ");
    canvas_put_quoted(c, text);
    canvas_put(c, " at screen 0.765,0.84 left noenhanced font ',11'\nset label 2 ");
    canvas_put_quoted(c, unit ? unit : "");
    canvas_put(
        c,
        " at screen 0.765,0.81 left noenhanced font ',11'\n"
        "set label 3 '0\xc2\xb0 is %s, 90\xc2\xb0 is %s' at screen 0.765,0.77 left font ',11'\n"
        "set key at screen 0.765,0.74 left top Left reverse nobox\n",
        ends[normal][0], ends[normal][1]);
}

static ps_status draw(const plot_request *request, const ps_trace *trace, direction *directions,
                      canvas *c)
{
    int normal = normal_axis(trace), count = 0;
    int64_t samples[POLAR_CURVES_MAX];
    PS_TRY(order_directions(request, trace, normal, directions));
    PS_TRY(choose_samples(request, trace, samples, &count));
    double top = top_level(trace, samples, count);
    if (!isfinite(top))
        return ps_fail(PS_INVALID, "%s: no finite value to plot", request->files[0]);
    double high = 10 * ceil(top / 10), low = high - 10 * ceil(request->dynamic / 10);
    for (int i = 0; i < count; ++i) put_curve(trace, directions, samples[i], i, low, c);
    canvas_title(c, request->title);
    put_axes(trace, normal, low, high, c);
    canvas_put(c, "plot ");
    for (int i = 0; i < count; ++i)
        canvas_put(c, "%s$C%d using 1:2 with lines lw 2.4 lc rgb '%s' title '%.4g Hz'",
                   i ? ", \\\n  " : "", i, canvas_colour(i), trace->axis[samples[i]]);
    canvas_put(c, "\n");
    return PS_OK;
}

ps_status plot_polar(const plot_request *request, canvas *c)
{
    ps_trace trace = {0};
    direction *directions = NULL;
    PS_TRY(plot_need_files(request, 1, 1, "spectrum of a far field"));
    ps_status status = ps_trace_load(request->files[0], &trace);
    if (status == PS_OK && (!trace.in_frequency || trace.channels < 3))
        status = ps_fail(PS_USAGE,
                         "%s: a polar diagram needs a spectrum (penstock-spectrum) at three "
                         "directions or more",
                         request->files[0]);
    if (status == PS_OK) status = PS_ALLOC(&directions, trace.channels, "directions");
    if (status == PS_OK) status = draw(request, &trace, directions, c);
    free(directions);
    ps_trace_release(&trace);
    return status;
}
