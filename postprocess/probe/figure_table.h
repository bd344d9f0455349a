#ifndef PS_POSTPROCESS_PROBE_FIGURE_TABLE_H
#define PS_POSTPROCESS_PROBE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"channels", "1", "channels of the trace"}, {"samples", "1", "samples of a channel"},
    {"first_time", "s", "time of the first"},   {"trace_bytes", "B", "size of the trace"},
    {"largest_value", "data", "largest value"}, {NULL, NULL, NULL}};

#endif
