/* option_values: texts of values with units, as tables of options read them. */
#ifndef PS_RUNTIME_OPTION_VALUES_H
#define PS_RUNTIME_OPTION_VALUES_H

#include "runtime/options.h"

/* Seconds of a clock: 90, 200ms, 90s, 15min, 2h, 1d; not below 0. PS_USAGE with a message. */
ps_status ps_parse_seconds(const char *text, double *out);

/* A time as above, or 1000steps. PS_USAGE with a message. */
ps_status ps_parse_interval(const char *text, ps_interval *out);

/* A number, with a unit where `measure`, the argument of an option, is SECONDS, HZ or METRES.
 * PS_USAGE with a message. */
ps_status ps_parse_measure(const char *text, const char *measure, double *out);
/* A list with commas, each number as above: "12kHz,38kHz". */
ps_status ps_parse_measures(const char *text, const char *measure, double *out, int capacity,
                            int *count);

#endif
