#include "postprocess/plot/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_level(const ps_trace *trace) { return strncmp(trace->units, "dB", 2) == 0; }

/* A cross-section is a power already; a target strength is the level of one. */
static bool is_area(const ps_trace *trace) { return strcmp(trace->units, "m2") == 0; }

double decibel_value(const ps_trace *trace, int64_t s, int64_t c)
{
    int64_t at = s * trace->channels + c;
    if (is_level(trace)) return trace->real[at];
    double magnitude = trace->complex_values ? hypot(trace->real[at], trace->imaginary[at])
                                             : fabs(trace->real[at]);
    return magnitude > 0 ? (is_area(trace) ? 10 : 20) * log10(magnitude) : NAN;
}

void decibel_label(const ps_trace *trace, char *out, size_t size)
{
    bool echo = is_level(trace) && strcmp(trace->quantity, "target strength") == 0;
    if (is_level(trace))
        snprintf(out, size, "%s (%s%s)", trace->quantity, trace->units, echo ? " re 1 m2" : "");
    else if (is_area(trace))
        snprintf(out, size, "%s (dB re 1 m2)", trace->quantity);
    else if (strcmp(trace->units, "1") == 0 || !trace->units[0])
        snprintf(out, size, "|%s| (dB re 1)", trace->quantity);
    else
        snprintf(out, size, "|%s| (dB re 1 %s)", trace->quantity, trace->units);
}
