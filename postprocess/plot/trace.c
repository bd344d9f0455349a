/*
 * Signals over time: several channels and files in one panel, and on request the differences of
 * the other files to the first in a second one (computed against exact).
 */
#include <math.h>
#include <string.h>

#include "postprocess/plot/curves.h"
#include "runtime/scope.h"

static double real_part(const ps_trace *trace, int64_t s, int64_t c)
{
    return trace->real[s * trace->channels + c];
}

/* Linear interpolation of a channel at time t; NaN outside the axis. */
static double value_at(const ps_trace *trace, double t, int64_t c)
{
    if (trace->samples < 2 || t < trace->axis[0] || t > trace->axis[trace->samples - 1]) return NAN;
    int64_t s = curves_nearest(trace, t);
    if (trace->axis[s] > t && s > 0) --s;
    if (s == trace->samples - 1) --s;
    double part = (t - trace->axis[s]) / (trace->axis[s + 1] - trace->axis[s]);
    return (1 - part) * real_part(trace, s, c) + part * real_part(trace, s + 1, c);
}

/* A unit fit for a prefix; not for "1", "dB" or none. */
static bool has_unit(const char *units)
{
    return units[0] && strcmp(units, "1") != 0 && strcmp(units, "dB") != 0;
}

static void put_labels(const curve_set *set, const char *what, const char *prefix,
                       const char *units, canvas *c)
{
    char text[192];
    snprintf(text, sizeof text, "time (%ss)", set->axis_prefix);
    canvas_put_text(c, "set xlabel ", text, " noenhanced\n");
    if (has_unit(units))
        snprintf(text, sizeof text, "%s (%s%s)", what, prefix, units);
    else
        snprintf(text, sizeof text, "%s%s", what, strcmp(units, "dB") == 0 ? " (dB)" : "");
    canvas_put_text(c, "set ylabel ", text, " noenhanced\n");
}

/* Curves of the differences of files 1.. to file 0, channel by channel in order. */
static void put_differences(const curve_set *set, double factor, canvas *c)
{
    int plotted = 0, own = 0;
    double largest = 0;
    while (own < set->count && set->curves[own].file == 0) ++own;
    for (int i = own; i < set->count; ++i) {
        const curve *item = &set->curves[i], *base = &set->curves[(i - own) % own];
        const ps_trace *trace = &set->traces[item->file];
        canvas_put(c, "$D%d << END\n", plotted++);
        for (int64_t s = 0; s < trace->samples; ++s) {
            double t = trace->axis[s];
            double d =
                real_part(trace, s, item->channel) - value_at(&set->traces[0], t, base->channel);
            if (!isfinite(d)) continue;
            canvas_put(c, "%.9g %.7g\n", t * set->axis_scale, d * factor);
            largest = fmax(largest, fabs(d * factor));
        }
        canvas_put(c, "END\n");
    }
    if (largest > 0)
        canvas_put(c, "set yrange [%.4g:%.4g]\nset ytics %.4g\n", -1.1 * largest, 1.1 * largest,
                   canvas_round_step(largest / 2));
    canvas_put(c, "plot ");
    for (int i = 0; i < plotted; ++i)
        canvas_put(c, "%s$D%d using 1:2 with lines lw 1.6 lc rgb '%s' notitle", i ? ", " : "", i,
                   canvas_colour(set->curves[own + i].colour));
    canvas_put(c, "\n");
}

static ps_status draw(const plot_request *request, curve_set *set, canvas *c)
{
    const ps_trace *trace = &set->traces[0];
    const char *prefix = "";
    double factor = has_unit(trace->units) ? canvas_prefix(set->largest, &prefix) : 1;
    bool two = request->difference && set->trace_count > 1;
    if (request->difference && !two)
        return ps_fail(PS_USAGE,
                       "--difference needs two traces: the differences are those to the first");
    curves_put_data(set, real_part, factor, c);
    double low = curves_put_key(set, c);
    canvas_put(c, "set bmargin at screen %.4f\n", two ? low + 0.27 : low);
    if (two)
        canvas_put(c, "set multiplot\nset lmargin at screen 0.11\nset rmargin at screen 0.97\n"
                      "set tmargin at screen 0.93\n");
    canvas_title(c, request->title);
    put_labels(set, trace->quantity, prefix, trace->units, c);
    if (set->x_low < set->x_high)
        canvas_put(c, "set xrange [%.9g:%.9g]\n", set->x_low * set->axis_scale,
                   set->x_high * set->axis_scale);
    else
        canvas_put(c, "set autoscale xfixmin\nset autoscale xfixmax\n");
    canvas_put(c, "set xzeroaxis lw 1 lc rgb '#999999'\n");
    if (two) canvas_put(c, "unset xlabel\nset format x ''\n");
    curves_put_plot(set, c);
    if (!two) return PS_OK;
    canvas_put(c,
               "unset title\nunset key\nset format x\nset bmargin at screen %.4f\n"
               "set tmargin at screen %.4f\n",
               low, low + 0.22);
    put_labels(set, "difference", prefix, trace->units, c);
    put_differences(set, factor, c);
    canvas_put(c, "unset multiplot\n");
    return PS_OK;
}

ps_status plot_trace(const plot_request *request, canvas *c)
{
    PS_SCOPED(curves_release) curve_set set = {0};
    PS_TRY(curves_load(request, false, real_part, &set));
    return draw(request, &set, c);
}
