#include <string.h>

#include "postprocess/compare/figure_table.h"
#include "postprocess/compare/compare.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "stage/plan.h"

enum { NORM_DATASETS, NORM_SPACE_TIME };

static compare_settings chosen = {
    .tolerance = 1e-6, .from = -1e300, .to = 1e300, .attributes = true};
static int norm;

static const ps_option options[] = {
    PS_REAL("tolerance", &chosen.tolerance, "X", 0, 1e300, 0,
            "largest difference that passes; 0: bit for bit"),
    PS_CHOICE("measure", &chosen.measure, "l2|max|deviation", 0,
              "L2 norm or maximum of the difference; space-time: mean of ||a| - |b||/|b|"),
    PS_FLAG("absolute", &chosen.absolute, 0,
            "in the units of the data (l2: root mean square), not relative to the reference"),
    PS_LIST("dataset", &chosen.datasets, "NAME", 0,
            "only this dataset (shell pattern; may be repeated)"),
    PS_LIST("exclude", &chosen.excluded, "NAME", 0,
            "not this dataset (shell pattern; may be repeated)"),
    PS_FLAG("attributes", &chosen.attributes, 0,
            "compare what the root attributes say, too (on; --no-attributes)"),
    PS_CHOICE("norm", &norm, "datasets|space-time", 0,
              "dataset by dataset, or two signals (history or trace) in space and time"),
    PS_TEXT("weights", &chosen.weights, "MESH", 0,
            "space-time: weigh channels by area of this surface mesh"),
    PS_REAL("from", &chosen.from, "T", 0, 0, 0, "space-time: from this time or frequency"),
    PS_REAL("to", &chosen.to, "T", 0, 0, 0, "space-time: up to this time or frequency"),
    PS_FLAG("resample", &chosen.resample, 0,
            "space-time: interpolate the reference linearly where the axes differ"),
    PS_FLAG("per-channel", &chosen.per_channel, 0, "space-time: print the error of every channel"),
    PS_OPTION_END};

static ps_status check_same_format(const ps_store *a, const ps_store *b)
{
    if (strcmp(ps_store_format(a), ps_store_format(b)) == 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s is a %s, %s a %s; only files of one format can be compared",
                   ps_store_path(a), ps_store_format(a), ps_store_path(b), ps_store_format(b));
}

static ps_status compare_stores(ps_store *a, ps_store *b, ps_report *report, compare_result *result)
{
    bool done = false, whole = !chosen.datasets.count && !chosen.excluded.count;
    PS_TRY(check_same_format(a, b));
    if (whole && strcmp(ps_store_format(a), "penstock-slice-matrix") == 0)
        PS_TRY(compare_slices(ps_store_path(a), ps_store_path(b), &chosen, report, result, &done));
    return done ? PS_OK : compare_datasets(a, b, &chosen, report, result);
}

static ps_status compare_files(const char *const paths[2], ps_report *report,
                               compare_result *result)
{
    PS_SCOPED(ps_store_close) ps_store *b = NULL;
    PS_SCOPED(ps_store_close) ps_store *a = NULL;
    PS_TRY(ps_store_open(paths[0], NULL, 1 << 20, &a));
    PS_TRY(ps_store_open(paths[1], NULL, 1 << 20, &b));
    return compare_stores(a, b, report, result);
}

static ps_status run_compare(ps_run *run)
{
    compare_result result = {.failures = 0};
    if (norm == NORM_DATASETS && chosen.weights)
        return ps_fail(PS_USAGE, "--weights belongs to --norm space-time");
    if (norm == NORM_DATASETS && chosen.measure == MEASURE_DEVIATION)
        return ps_fail(PS_USAGE, "--measure deviation belongs to --norm space-time");
    if (chosen.absolute && chosen.measure == MEASURE_DEVIATION)
        return ps_fail(PS_USAGE, "--measure deviation is relative; leave out --absolute");
    if (run->plan) return ps_plan_reading(run, run->operands, run->operand_count);
    PS_SCOPED(ps_report_discard) ps_report *report = ps_report_new(run);
    PS_TRY(norm == NORM_SPACE_TIME
               ? compare_signals(run->operands[0], run->operands[1], &chosen, report, &result)
               : compare_files(run->operands, report, &result));
    ps_report_section(report, "result");
    ps_report_flag(report, "agree", result.failures == 0);
    ps_report_int(report, "failures", result.failures);
    ps_report_print(&report);
    if (result.failures) return ps_fail(PS_FAILED, "%s", result.first);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "compare",
    .synopsis = "FILE REFERENCE",
    .description =
        "Compares two files of the same format, dataset by dataset, whatever their chunks, "
        "compression and parts, reading a chunk at a time. Real data pass within the tolerance "
        "(relative L2 norm by default), whole numbers and --tolerance 0 only bit for bit. With "
        "--norm space-time two signals (density histories or traces) are compared over time and "
        "channels, optionally weighted by area. Slice matrices that are cut into different tiles "
        "(by another number of ranks) are compared entry by entry. Exit code 0: they agree; 1: "
        "they differ; 3: a file is invalid or cannot be compared.",
    .examples = "  penstock-compare run.h5 reference.h5 --tolerance 1e-12\n"
                "  penstock-compare run.h5 exact.h5 --norm space-time --weights mesh.h5",
    .reads_only = true,
    .options = options,
    .figures = figure_table,
    .run = run_compare};
