/*
 * report: figures for people or, with --json, for programs.
 *
 * A program says in one table what figures it prints: name, unit, meaning. The report takes the
 * units from there; --figures prints the table, with --json as a JSON schema of what --json prints,
 * and the manual page holds it. Figures are added in order and printed at once on stdout: as
 * aligned "name  value unit" lines, or as one JSON object. Non-finite numbers become null in JSON.
 */
#ifndef PS_RUNTIME_REPORT_H
#define PS_RUNTIME_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_run;

/* One figure. The name is that of the JSON object, "SECTION.NAME" for those of a section; a *
 * stands for what the data name. Units: those of the SI with B for bytes and flop for operations;
 * "1" for counts and ratios, "text", "flag" for yes or no, "data" where the data tell
 * (ps_report_quantity), "any" for values of whatever kind that a file holds. */
typedef struct ps_figure {
    const char *name; /* "times.opening"; NULL ends the table */
    const char *unit; /* "s"                                  */
    const char *meaning;
} ps_figure;

/* The figure of this name in a section (NULL: in none); NULL where neither the table nor that of
 * what every program prints (time, peak_memory, what --plan tells) has it. `table` may be NULL. */
const ps_figure *ps_figure_find(const ps_figure *table, const char *section, const char *name);

/* Prints the table and that of every program on stdout, as text or as a JSON schema. */
void ps_figures_print(const char *program, const ps_figure *table, bool schema);

typedef struct ps_report ps_report;

/* With the table of the program that runs. NULL without memory; all functions accept NULL. A figure
 * that the table lacks, or has as another kind of value, is printed and said to be a defect; with
 * PENSTOCK_STRICT in the environment, as in tests, the program ends with SIGABRT. */
ps_report *ps_report_new(const struct ps_run *run);
/* A nested object until the next; NULL: back to those outside of sections, which are printed first.
 */
void ps_report_section(ps_report *report, const char *name);
void ps_report_int(ps_report *report, const char *name, int64_t value);
void ps_report_real(ps_report *report, const char *name, double value);
/* A number whose unit the data tell. */
void ps_report_quantity(ps_report *report, const char *name, double value, const char *unit);
void ps_report_text(ps_report *report, const char *name, const char *value);
void ps_report_flag(ps_report *report, const char *name, bool value);
/* An array of `count` numbers; printed in text as a bracketed list. */
void ps_report_reals(ps_report *report, const char *name, const double *values, int64_t count);
void ps_report_ints(ps_report *report, const char *name, const int64_t *values, int64_t count);
/* What every program says at its end, outside of sections: `time`, the whole run up to now, and
 * `peak_memory`, the most memory that the process (or the largest of its ranks) held, in bytes. */
void ps_report_run(ps_report *report, int64_t peak_memory);
/* What ranks would send each other in a unit of a run ("step", "group of steps", "run"), counted
 * from its files; the section `traffic` of a plan (--plan --ranks N). */
typedef struct ps_rank_traffic {
    const char *unit;
    int64_t ranks;
    int64_t messages, sent, most_messages, most_sent; /* of all ranks; of the one that has most */
    int64_t sums, summed; /* sums over all ranks, bytes that each brings to them; -1: they vary */
    double work, most_work;
} ps_rank_traffic;
/* Adds one rank: its messages, their bytes, and its work in whatever measure. */
void ps_rank_traffic_add(ps_rank_traffic *traffic, int64_t messages, int64_t sent, double work);
void ps_report_ranks(ps_report *report, const ps_rank_traffic *traffic);
void ps_report_print(ps_report **report); /* prints, frees, sets NULL */

void ps_report_discard(ps_report **report); /* frees without printing, sets NULL */

#endif
