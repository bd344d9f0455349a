/*
 * The field on a plane of receivers as a colour map, at one time or several side by side; of a
 * trace over frequency the amplitudes at frequencies.
 */
#include <math.h>
#include <string.h>

#include "postprocess/plot/curves.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/scope.h"

enum { PANELS_MAX = 6 };

typedef struct plane_axis {
    char label[64];
    double first, step; /* coordinate of the first point and distance of neighbours, m        */
} plane_axis;

/* The direction from place a to place b: a coordinate axis by its name and coordinate, any other
 * direction by the distance from the first point. */
static ps_status describe_axis(const double *a, const double *b, plane_axis *out)
{
    static const char *const names[3] = {"x", "y", "z"};
    double d[3], length = 0;
    for (int k = 0; k < 3; ++k) d[k] = b[k] - a[k], length += d[k] * d[k];
    length = sqrt(length);
    if (!(length > 0)) return ps_fail(PS_INVALID, "the plane's neighbouring points coincide");
    *out = (plane_axis){.label = "distance (m)", .step = length};
    for (int k = 0; k < 3; ++k)
        if (fabs(fabs(d[k]) - length) < 1e-6 * length) {
            snprintf(out->label, sizeof out->label, "%s (m)", names[k]);
            out->first = a[k];
            out->step = d[k];
        }
    return PS_OK;
}

static ps_status choose_times(const plot_request *request, const ps_trace *trace, int64_t *samples,
                              int *count)
{
    double times[PANELS_MAX];
    const char *chosen = trace->in_frequency ? request->frequencies : request->times;
    if (!chosen) {
        *count = trace->samples < 3 ? (int)trace->samples : 3;
        for (int i = 0; i < *count; ++i)
            samples[i] = *count == 1 ? 0 : (i + 1) * trace->samples / (*count + 1);
        return PS_OK;
    }
    PS_TRY_IN(
        ps_parse_measures(chosen, trace->in_frequency ? "HZ" : "SECONDS", times, PANELS_MAX, count),
        trace->in_frequency ? "--frequencies" : "--times");
    for (int i = 0; i < *count; ++i) samples[i] = curves_nearest(trace, times[i]);
    return PS_OK;
}

/* A matrix block of the field: rows along grid[0]. */
static void put_panel_data(const ps_trace *trace, int64_t sample, double factor, int index,
                           canvas *c)
{
    const double *values = trace->real + sample * trace->channels;
    canvas_put(c, "$F%d << END\n", index);
    for (int64_t r = 0; r < trace->grid[0]; ++r) {
        for (int64_t k = 0; k < trace->grid[1]; ++k) {
            double v = values[r * trace->grid[1] + k];
            if (isfinite(v))
                canvas_put(c, "%.5g ", v * factor);
            else
                canvas_put(c, "NaN ");
        }
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
}

/* Copies of the values of the chosen samples decide the colours. */
static ps_status choose_range(const plot_request *request, const ps_trace *trace,
                              const int64_t *samples, int count, colour_range *out)
{
    PS_SCOPED_MEMORY double *values = NULL;
    PS_TRY(PS_ALLOC(&values, count * trace->channels, "colour range"));
    for (int i = 0; i < count; ++i)
        memcpy(values + i * trace->channels, trace->real + samples[i] * trace->channels,
               (size_t)trace->channels * sizeof *values);
    return colour_range_choose(request, values, count * trace->channels, out);
}

/* Places panel `index` of `count` side by side; the colour box goes with the last one. */
static void put_panel(const ps_trace *trace, const plane_axis axes[2], int64_t sample, int index,
                      int count, canvas *c)
{
    const char *prefix = "";
    double scale = canvas_prefix(fabs(trace->axis[trace->samples - 1]), &prefix);
    double left = 0.09, right = 0.885, gap = 0.03, width = (right - left + gap) / count - gap;
    double x0 = axes[1].first, x1 = x0 + axes[1].step * (double)(trace->grid[1] - 1);
    double y0 = axes[0].first, y1 = y0 + axes[0].step * (double)(trace->grid[0] - 1);
    double at = left + index * (width + gap);
    canvas_put(c, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", at, at + width);
    canvas_put(
        c,
        "set label 1 '%s = %.4g %s%s' at graph 0.5,1 center offset 0,0.9 textcolor rgb '#222222'\n",
        trace->in_frequency ? "f" : "t", trace->axis[sample] * scale, prefix,
        trace->in_frequency ? "Hz" : "s");
    canvas_put(c, "%s\n", index ? "unset ylabel\nset format y ''" : "set format y '%g'");
    canvas_put(c, "%s\n", index == count - 1 ? "eval colour_box" : "unset colorbox");
    canvas_put(
        c,
        "splot [%.6g:%.6g][%.6g:%.6g] $F%d matrix using (%.9g + %.9g * $1):(%.9g + %.9g * $2):3 "
        "with pm3d notitle\n",
        fmin(x0, x1), fmax(x0, x1), fmin(y0, y1), fmax(y0, y1), index, x0, axes[1].step, y0,
        axes[0].step);
}

static void put_frame(const plot_request *request, const ps_trace *trace, const plane_axis axes[2],
                      int count, canvas *c)
{
    /* Equal scales on both axes: the height follows from the width of a panel. */
    double width = 0.795 / count * (double)c->width;
    double ratio = fabs(axes[0].step) * (double)(trace->grid[0] - 1) /
                   (fabs(axes[1].step) * (double)(trace->grid[1] - 1));
    if (c->height == 0) canvas_resize(c, c->width, (int64_t)(width * ratio + 180));
    double low = 90 / (double)c->height,
           height = fmin(1 - 180 / (double)c->height, width * ratio / (double)c->height);
    canvas_put(c, "set multiplot\nset bmargin at screen %.4f\nset tmargin at screen %.4f\n", low,
               low + height);
    if (request->title && *request->title) {
        canvas_put(c, "set label 2 ");
        canvas_put_quoted(c, request->title);
        canvas_put(c, " at screen 0.48,%.4f center noenhanced font ',13' textcolor rgb '#111111'\n",
                   low + height + 60 / (double)c->height);
    }
    canvas_put(c, "unset grid\nunset key\nset size noratio\nset xlabel '%s'\nset ylabel '%s'\n",
               axes[1].label, axes[0].label);
    /* Interpolated linearly to pieces of about four pixels. */
    int finer = (int)fmax(1, ceil(width / (4 * (double)trace->grid[1])));
    canvas_put(c, "set view map\nset pm3d interpolate %d,%d\n", finer, finer);
    canvas_put(c,
               "set cblabel offset 0.5,0\n"
               "colour_box = 'set colorbox user origin 0.897,%.4f size 0.013,%.4f border'\n",
               low, height);
}

/* Levels below the largest value of all samples: 10 log10 of powers and areas, 20 log10 of fields;
 * at least -dynamic. */
static void to_levels(ps_trace *trace, double dynamic)
{
    bool power = trace->units[0] == 'W' || strcmp(trace->units, "m2") == 0;
    double largest = 0;
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i)
        if (isfinite(trace->real[i])) largest = fmax(largest, fabs(trace->real[i]));
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i)
        if (isfinite(trace->real[i]))
            trace->real[i] =
                fmax((power ? 10 : 20) * log10(fabs(trace->real[i]) / largest), -dynamic);
    char text[sizeof trace->quantity];
    snprintf(text, sizeof text, "%.28s re %.3g %.20s", trace->quantity, largest, trace->units);
    memcpy(trace->quantity, text, sizeof text);
    strcpy(trace->units, "dB");
}

static ps_status draw(const plot_request *request, const ps_trace *trace, canvas *c)
{
    if (trace->grid[0] < 2 || trace->grid[1] < 2)
        return ps_fail(PS_USAGE,
                       "%s: its receivers are no plane; probe one with penstock-probe "
                       "--plane",
                       request->files[0]);
    plane_axis axes[2];
    PS_TRY(describe_axis(trace->places, trace->places + 3 * trace->grid[1], &axes[0]));
    PS_TRY(describe_axis(trace->places, trace->places + 3, &axes[1]));
    int64_t samples[PANELS_MAX];
    int count = 0;
    PS_TRY(choose_times(request, trace, samples, &count));
    colour_range range;
    if (request->log && !request->range)
        range = (colour_range){{-request->dynamic, 0}, {-request->dynamic, 0}};
    else
        PS_TRY(choose_range(request, trace, samples, count, &range));
    double factor = colour_range_put(&range, trace->quantity, trace->units, c);
    for (int i = 0; i < count; ++i) put_panel_data(trace, samples[i], factor, i, c);
    put_frame(request, trace, axes, count, c);
    for (int i = 0; i < count; ++i) {
        put_panel(trace, axes, samples[i], i, count, c);
        canvas_put(c, "unset label 2\n");
    }
    canvas_put(c, "unset multiplot\n");
    return PS_OK;
}

ps_status plot_plane(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(plot_need_files(request, 1, 1, "trace of a plane"));
    PS_TRY(ps_trace_load(request->files[0], &trace));
    for (int64_t i = 0; trace.complex_values && i < trace.samples * trace.channels; ++i)
        trace.real[i] = hypot(trace.real[i], trace.imaginary[i]);
    if (request->log) to_levels(&trace, request->dynamic);
    return draw(request, &trace, c);
}
