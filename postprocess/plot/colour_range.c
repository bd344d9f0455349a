#include "postprocess/plot/colour_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compare.h"
#include "runtime/options.h"

static double robust_largest(double *values, int64_t count)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; ++i)
        if (isfinite(values[i])) values[n++] = fabs(values[i]);
    qsort(values, (size_t)n, sizeof *values, ps_compare_reals);
    double largest = n ? values[(int64_t)(0.995 * (double)(n - 1))] : 0;
    if (n && !(largest > 0)) largest = values[n - 1];
    return largest > 0 ? largest : 1;
}

ps_status colour_range_choose(const plot_request *request, double *values, int64_t count,
                              double ends[2])
{
    int given = 0;
    if (!request->range) {
        bool signed_values = false;
        for (int64_t i = 0; i < count; ++i) signed_values |= values[i] < 0;
        ends[1] = robust_largest(values, count);
        ends[0] = signed_values ? -ends[1] : 0;
        return PS_OK;
    }
    ps_status status = ps_parse_reals(request->range, ',', ends, 2, &given);
    if (status != PS_OK) return ps_context(status, "--range");
    if (given == 1) ends[1] = fabs(ends[0]), ends[0] = -ends[1];
    if (ends[0] >= ends[1])
        return ps_fail(PS_USAGE, "--range: \"%s\" is not LARGEST or FROM,TO with FROM < TO",
                       request->range);
    return PS_OK;
}

double colour_range_put(const double ends[2], const char *quantity, const char *units, canvas *c)
{
    const char *prefix = "";
    bool has_unit = units[0] && strcmp(units, "1") != 0;
    double factor = has_unit ? canvas_prefix(fmax(fabs(ends[0]), fabs(ends[1])), &prefix) : 1;
    char text[200];
    if (has_unit)
        snprintf(text, sizeof text, "%s (%s%s)", quantity, prefix, units);
    else
        snprintf(text, sizeof text, "%s", quantity);
    canvas_put(c, "set cbrange [%.6g:%.6g]\nset cblabel ", ends[0] * factor, ends[1] * factor);
    canvas_put_quoted(c, text);
    canvas_put(c, " noenhanced\n");
    if (ends[0] < 0 && ends[1] > 0)
        canvas_palette_diverging(c);
    else
        canvas_palette_sequential(c);
    return factor;
}
