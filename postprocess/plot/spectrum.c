/*
 * Magnitudes over frequency in decibels, several channels and files.
 */
#include <math.h>

#include "postprocess/plot/curves.h"
#include "runtime/scope.h"

static ps_status draw(const plot_request *request, const curve_set *set, canvas *c)
{
    const ps_trace *trace = &set->traces[0];
    char text[192];
    double top = -INFINITY;
    for (int i = 0; i < set->count; ++i) {
        const ps_trace *own = &set->traces[set->curves[i].file];
        for (int64_t s = 0; s < own->samples; ++s)
            top = fmax(top, decibel_value(own, s, set->curves[i].channel));
    }
    if (!isfinite(top))
        return ps_fail(PS_INVALID, "%s: no finite value to plot", request->files[0]);
    curves_put_data(set, decibel_value, 1, c);
    canvas_title(c, request->title);
    snprintf(text, sizeof text, "frequency (%sHz)", set->axis_prefix);
    canvas_put_text(c, "set xlabel ", text, "\n");
    decibel_label(trace, text, sizeof text);
    canvas_put_text(c, "set ylabel ", text, " noenhanced\n");
    canvas_put(c, "set yrange [%.6g:%.6g]\n", 5 * floor((top - request->dynamic) / 5),
               5 * ceil((top + 1) / 5));
    canvas_put(c, "set bmargin at screen %.4f\nset autoscale xfixmin\nset autoscale xfixmax\n%s",
               curves_put_key(set, c), request->log ? "set logscale x\n" : "");
    curves_put_plot(set, c);
    return PS_OK;
}

ps_status plot_spectrum(const plot_request *request, canvas *c)
{
    PS_SCOPED(curves_release) curve_set set = {0};
    PS_TRY(curves_load(request, true, decibel_value, &set));
    return draw(request, &set, c);
}
