#include "postprocess/plot/curves.h"

#include <math.h>
#include <string.h>

#include "formats/touchstone.h"
#include "runtime/options.h"

/* A list of whole numbers, "0,3,5"; PS_USAGE naming the option unless all are in [0, limit). */
static ps_status curves_parse_list(const char *option, const char *text, int64_t limit,
                                   int64_t *out, int capacity, int *count)
{
    double values[CURVES_MAX];
    PS_TRY_IN(
        ps_parse_reals(text, ',', values, capacity < CURVES_MAX ? capacity : CURVES_MAX, count),
        "--%s", option);
    for (int i = 0; i < *count; ++i) {
        if (values[i] != floor(values[i]) || values[i] < 0 || values[i] >= (double)limit)
            return ps_fail(PS_USAGE, "--%s: %.10g is not a whole number from 0 to %lld", option,
                           values[i], (long long)limit - 1);
        out[i] = (int64_t)values[i];
    }
    return PS_OK;
}

int64_t curves_nearest(const ps_trace *trace, double axis)
{
    int64_t low = 0, high = trace->samples - 1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (trace->axis[middle] <= axis)
            low = middle;
        else
            high = middle;
    }
    return fabs(trace->axis[high] - axis) < fabs(trace->axis[low] - axis) ? high : low;
}

static ps_status load_traces(const plot_request *request, bool frequency, curve_set *set)
{
    PS_TRY(plot_need_files(request, 1, CURVE_FILES_MAX, "traces"));
    for (int i = 0; i < request->file_count; ++i) {
        ps_trace *trace = &set->traces[i];
        set->points[i] = ps_touchstone_ports(request->files[i]) > 0;
        PS_TRY((set->points[i] ? ps_touchstone_load : ps_trace_load)(request->files[i], trace));
        set->trace_count = i + 1;
        if (trace->in_frequency != frequency)
            return ps_fail(PS_USAGE, "%s is a trace over %s: %s", request->files[i],
                           frequency ? "time" : "frequency",
                           frequency ? "make its spectrum with penstock-spectrum first"
                                     : "plot it as \"spectrum\" or \"polar\"");
    }
    return PS_OK;
}

/* Entries of a matrix between ports have no place. */
static bool is_of_ports(const ps_trace *trace)
{
    return trace->in_frequency && (strcmp(trace->quantity, "S-parameters") == 0 ||
                                   strcmp(trace->quantity, "impedances") == 0 ||
                                   strcmp(trace->quantity, "admittances") == 0);
}

static void name_entry(const ps_trace *trace, int64_t channel, char *out, size_t size)
{
    int64_t ports = (int64_t)(sqrt((double)trace->channels) + .5);
    char letter = *trace->quantity == 'i' ? 'Z' : *trace->quantity == 'a' ? 'Y' : 'S';
    snprintf(out, size, ports > 9 ? "%c_%lld,%lld" : "%c%lld%lld", letter,
             (long long)(channel / ports + 1), (long long)(channel % ports + 1));
}

static void label_curve(const plot_request *request, const curve_set *set, curve *item, int shown)
{
    const ps_trace *trace = &set->traces[item->file];
    double p[3];
    for (int k = 0; k < 3; ++k) { /* no -0 and no 6e-17 */
        double x = trace->places[3 * item->channel + k];
        p[k] = trace->far_field && fabs(x) < 5e-7 ? 0 : x + 0.0;
    }
    char name[64] = "", place[64];
    if (set->trace_count > 1) plot_label(request, item->file, name, sizeof name);
    snprintf(place, sizeof place, "%s(%.3g, %.3g, %.3g)%s", trace->far_field ? "towards " : "at ",
             p[0], p[1], p[2], trace->far_field ? "" : " m");
    if (is_of_ports(trace)) name_entry(trace, item->channel, place, sizeof place);
    if (set->trace_count == 1)
        snprintf(item->label, sizeof item->label, "%s", place);
    else if (shown == 1)
        snprintf(item->label, sizeof item->label, "%s", name);
    else
        snprintf(item->label, sizeof item->label, "%s, %s", name, place);
}

static ps_status choose(const plot_request *request, curve_set *set)
{
    for (int f = 0; f < set->trace_count; ++f) {
        int64_t chosen[CURVES_MAX], channels = set->traces[f].channels;
        int count = 0, default_count = set->trace_count > 1 ? 3 : 6;
        if (request->channels)
            PS_TRY(curves_parse_list("channels", request->channels, channels, chosen, CURVES_MAX,
                                     &count));
        else
            for (; count < default_count && count < channels; ++count) chosen[count] = count;
        for (int i = 0; i < count; ++i) {
            if (set->count == CURVES_MAX)
                return ps_fail(PS_USAGE,
                               "more than %d curves in one picture; choose with --channels",
                               CURVES_MAX);
            curve *item = &set->curves[set->count++];
            *item = (curve){.file = f, .channel = chosen[i], .colour = i};
            if (count == 1 && set->trace_count > 1) item->colour = f;
            label_curve(request, set, item, count);
        }
    }
    return PS_OK;
}

static bool is_shown(const curve_set *set, double axis)
{
    return set->x_low == set->x_high || (axis >= set->x_low && axis <= set->x_high);
}

ps_status curves_load(const plot_request *request, bool frequency, curve_value value,
                      curve_set *set)
{
    memset(set, 0, sizeof *set);
    PS_TRY(load_traces(request, frequency, set));
    PS_TRY(choose(request, set));
    PS_TRY(plot_x_range(request, &set->x_low, &set->x_high));
    double last = 0;
    for (int i = 0; i < set->count; ++i) {
        const ps_trace *trace = &set->traces[set->curves[i].file];
        for (int64_t s = 0; s < trace->samples; ++s) {
            if (!is_shown(set, trace->axis[s])) continue;
            double v = fabs(value(trace, s, set->curves[i].channel));
            if (v > set->largest && isfinite(v)) set->largest = v;
            last = fmax(last, fabs(trace->axis[s]));
        }
    }
    set->axis_scale = canvas_prefix(last, &set->axis_prefix);
    return PS_OK;
}

void curves_release(curve_set *set)
{
    for (int i = 0; i < CURVE_FILES_MAX; ++i) ps_trace_release(&set->traces[i]);
}

void curves_put_data(const curve_set *set, curve_value value, double factor, canvas *c)
{
    for (int i = 0; i < set->count; ++i) {
        const ps_trace *trace = &set->traces[set->curves[i].file];
        canvas_put(c, "$C%d << END\n", i);
        for (int64_t s = 0; s < trace->samples; ++s) {
            double v = value(trace, s, set->curves[i].channel);
            if (!is_shown(set, trace->axis[s])) continue;
            if (isfinite(v))
                canvas_put(c, "%.9g %.7g\n", trace->axis[s] * set->axis_scale, v * factor);
            else
                canvas_put(c, "\n");
        }
        canvas_put(c, "END\n");
    }
}

void curves_put_plot(const curve_set *set, canvas *c)
{
    static const char *const dashes[] = {"1", "(9,5)", "(2,4)", "(12,4,2,4)"};
    canvas_put(c, "plot ");
    for (int i = 0; i < set->count; ++i) {
        const curve *item = &set->curves[i];
        canvas_put(c, "%s$C%d using 1:2 with ", i ? ", \\\n  " : "", i);
        if (set->points[item->file])
            canvas_put(c, "points pt %d ps 1.3 lw 1.5", 4 + 2 * (item->file % 3));
        else
            canvas_put(c, "lines lw %s dt %s", item->file ? "2" : "2.2", dashes[item->file % 4]);
        canvas_put(c, " lc rgb '%s' title ", canvas_colour(item->colour));
        canvas_put_quoted(c, item->label);
    }
    canvas_put(c, "\n");
}

double curves_put_key(const curve_set *set, canvas *c)
{
    int rows = (set->count + 2) / 3;
    canvas_put(c, "set key at screen 0.54,0.008 center bottom horizontal maxcols 3 nobox\n");
    return (24.0 * rows + 76) / (double)c->height;
}
