#include "postprocess/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/options.h"
#include "runtime/scope.h"

static ps_status robust_largest(const double *values, int64_t count, double *out)
{
    PS_SCOPED_MEMORY double *sizes = NULL;
    int64_t n = 0;
    PS_TRY(PS_ALLOC(&sizes, count, "colour range"));
    for (int64_t i = 0; i < count; ++i)
        if (isfinite(values[i])) sizes[n++] = fabs(values[i]);
    qsort(sizes, (size_t)n, sizeof *sizes, ps_compare_reals);
    double largest = n ? sizes[(int64_t)(0.995 * (double)(n - 1))] : 0;
    if (n && !(largest > 0)) largest = sizes[n - 1];
    *out = largest > 0 ? largest : 1;
    return PS_OK;
}

/* --range, else the percentile. */
static ps_status choose_ends(const plot_request *request, const double *values, int64_t count,
                             bool signed_values, double ends[2])
{
    int given = 0;
    if (!request->range) {
        PS_TRY(robust_largest(values, count, &ends[1]));
        ends[0] = signed_values ? -ends[1] : 0;
        return PS_OK;
    }
    PS_TRY_IN(ps_parse_reals(request->range, ',', ends, 2, &given), "--range");
    if (given == 1) ends[1] = fabs(ends[0]), ends[0] = -ends[1];
    if (ends[0] >= ends[1])
        return ps_fail(PS_USAGE, "--range: \"%s\" is not LARGEST or FROM,TO with FROM < TO",
                       request->range);
    return PS_OK;
}

ps_status colour_range_choose(const plot_request *request, const double *values, int64_t count,
                              colour_range *out)
{
    *out = (colour_range){.reach = {INFINITY, -INFINITY}};
    for (int64_t i = 0; i < count; ++i) {
        if (!isfinite(values[i])) continue;
        out->reach[0] = fmin(out->reach[0], values[i]);
        out->reach[1] = fmax(out->reach[1], values[i]);
    }
    return choose_ends(request, values, count, out->reach[0] < 0, out->ends);
}

/* Both ends and round numbers between them. */
static void put_tics(const double ends[2], const bool beyond[2], canvas *c)
{
    double step = canvas_round_step((ends[1] - ends[0]) / 4);
    const char *marks[2] = {beyond[0] ? "\xe2\x89\xa4 " : "", beyond[1] ? "\xe2\x89\xa5 " : ""};
    canvas_put(c, "set cbtics (");
    for (double at = ceil(ends[0] / step); at * step < ends[1]; ++at)
        if (at * step - ends[0] > 0.4 * step && ends[1] - at * step > 0.4 * step)
            canvas_put(c, "%.9g, ", at * step);
    canvas_put(c, "'%s%.3g' %.9g, '%s%.3g' %.9g)\n", marks[0], ends[0], ends[0], marks[1], ends[1],
               ends[1]);
}

double colour_range_put(const colour_range *range, const char *quantity, const char *units,
                        canvas *c)
{
    const char *prefix = "";
    bool has_unit = units[0] && strcmp(units, "1") != 0;
    double largest = fmax(fabs(range->ends[0]), fabs(range->ends[1]));
    double factor = has_unit ? canvas_prefix(largest, &prefix) : 1;
    double ends[2] = {range->ends[0] * factor, range->ends[1] * factor};
    bool beyond[2] = {range->reach[0]<range->ends[0], range->reach[1]> range->ends[1]};
    char text[300], far[80] = "";
    if (beyond[0] || beyond[1])
        snprintf(far, sizeof far, "; values from %.4g to %.4g", range->reach[0] * factor,
                 range->reach[1] * factor);
    if (has_unit)
        snprintf(text, sizeof text, "%s (%s%s)%s", quantity, prefix, units, far);
    else
        snprintf(text, sizeof text, "%s%s", quantity, far);
    canvas_put(c, "set cbrange [%.6g:%.6g]\n", ends[0], ends[1]);
    canvas_put_text(c, "set cblabel ", text, " noenhanced\n");
    put_tics(ends, beyond, c);
    if (ends[0] < 0 && ends[1] > 0)
        canvas_palette_diverging(c);
    else
        canvas_palette_sequential(c);
    return factor;
}
