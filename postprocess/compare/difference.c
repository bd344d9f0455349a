#include <math.h>
#include <stdio.h>
#include <string.h>

#include "postprocess/compare/compare.h"

void difference_clear(difference *d)
{
    memset(d, 0, sizeof *d);
    d->first = -1;
}

/* Equal infinities and any two NaN agree. */
static bool same_kind(double a, double b) { return (isnan(a) && isnan(b)) || a == b; }

void difference_add(difference *d, double a, double b, double weight)
{
    if (!isfinite(a) || !isfinite(b)) {
        d->non_finite += !same_kind(a, b);
        return;
    }
    double off = fabs(a - b), reference = fabs(b);
    d->difference_squares += weight * off * off;
    d->reference_squares += weight * reference * reference;
    d->weight += weight;
    if (off > d->largest) d->largest = off;
    if (reference > d->largest_reference) d->largest_reference = reference;
}

/* x / y where 0/0 is no difference and x/0 an infinite one. */
static double ratio(double x, double y) { return x == 0 ? 0 : y == 0 ? INFINITY : x / y; }

void difference_add_magnitudes(difference *d, double a, double b)
{
    ++d->magnitudes;
    if (isfinite(a) && isfinite(b)) d->deviations += ratio(fabs(a - b), b);
}

double difference_relative_l2(const difference *d)
{
    return sqrt(ratio(d->difference_squares, d->reference_squares));
}

static double difference_relative_max(const difference *d)
{
    return ratio(d->largest, d->largest_reference);
}

static double difference_measured(const difference *d, const compare_settings *settings)
{
    if (d->non_finite) return INFINITY;
    if (settings->measure == MEASURE_DEVIATION) return ratio(d->deviations, (double)d->magnitudes);
    if (settings->measure == MEASURE_MAX)
        return settings->absolute ? d->largest : difference_relative_max(d);
    return settings->absolute ? sqrt(ratio(d->difference_squares, d->weight))
                              : difference_relative_l2(d);
}

bool difference_passes(const difference *d, const compare_settings *settings)
{
    if (settings->tolerance == 0) return d->differing == 0;
    return difference_measured(d, settings) <= settings->tolerance;
}

void difference_report(ps_report *report, const difference *d)
{
    ps_report_int(report, "values", d->values);
    ps_report_int(report, "differing", d->differing);
    if (d->first >= 0) ps_report_int(report, "first_differing", d->first);
    ps_report_real(report, "relative_l2", difference_relative_l2(d));
    ps_report_real(report, "relative_max", difference_relative_max(d));
    ps_report_real(report, "largest", d->largest);
    if (d->magnitudes)
        ps_report_real(report, "deviation", ratio(d->deviations, (double)d->magnitudes));
    if (d->non_finite) ps_report_int(report, "non_finite", d->non_finite);
}

void compare_note(compare_result *result, const char *text)
{
    if (result->failures++ == 0) snprintf(result->first, sizeof result->first, "%s", text);
}
