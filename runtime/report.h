/*
 * report: figures for people or, with --json, for programs.
 *
 * Figures are added in order and printed at once on stdout: as aligned "name  value unit"
 * lines, or as one JSON object. Non-finite numbers become null in JSON.
 */
#ifndef PS_RUNTIME_REPORT_H
#define PS_RUNTIME_REPORT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ps_report ps_report;

ps_report *ps_report_new(bool json); /* NULL without memory; all functions accept NULL */
void ps_report_section(ps_report *report, const char *name); /* a nested object until the next */
void ps_report_int(ps_report *report, const char *name, int64_t value, const char *unit);
void ps_report_real(ps_report *report, const char *name, double value, const char *unit);
void ps_report_text(ps_report *report, const char *name, const char *value);
void ps_report_flag(ps_report *report, const char *name, bool value);
/* An array of `count` numbers; printed in text as a bracketed list. */
void ps_report_reals(ps_report *report, const char *name, const double *values, int64_t count);
void ps_report_ints(ps_report *report, const char *name, const int64_t *values, int64_t count);
void ps_report_print(ps_report **report); /* prints, frees, sets NULL */

void ps_report_discard(ps_report **report); /* frees without printing, sets NULL */

#endif
