/*
 * penstock-inspect: what is in a file, from its tables alone.
 */
#include <fnmatch.h>

#include "postprocess/inspect/figure_table.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static bool histogram, csv;
static ps_text_list chosen;

static const ps_option options[] = {
    PS_FLAG("histogram", &histogram, 0, "sizes of chunks and, of matrices, lengths of row-vectors"),
    PS_FLAG("csv", &csv, 0, "a trace's samples as comma-separated text, a line each"),
    PS_LIST("dataset", &chosen, "NAME", 0, "only this dataset (shell pattern; may be repeated)"),
    PS_OPTION_END};

static bool is_chosen(const char *name)
{
    for (int i = 0; i < chosen.count; ++i)
        if (fnmatch(chosen.items[i], name, 0) == 0) return true;
    return chosen.count == 0;
}

static ps_status report_datasets(const ps_store *store, ps_report *report)
{
    int shown = 0;
    for (int d = 0; d < ps_store_dataset_count(store); ++d) {
        inspect_summary summary;
        PS_TRY(inspect_summarise(store, d, &summary));
        if (!is_chosen(summary.info.name)) continue;
        PS_TRY(inspect_report_dataset(store, &summary, histogram, report));
        ++shown;
    }
    if (shown || !chosen.count) return PS_OK;
    return ps_fail(PS_USAGE, "--dataset: %s has no dataset %s; without the option all are listed",
                   ps_store_path(store), chosen.items[0]);
}

static ps_status report_all(ps_store *store, ps_report *report)
{
    if (!chosen.count) PS_TRY(inspect_report_file(store, report));
    PS_TRY(report_datasets(store, report));
    return chosen.count ? PS_OK : inspect_report_kind(store, histogram, report);
}

static ps_status run_inspect(ps_run *run)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_open(run->operands[0], NULL, 0, &store));
    if (run->plan) return ps_plan_reading(run, run->operands, run->operand_count);
    if (csv) return inspect_print_csv(run->operands[0], store);
    PS_SCOPED(ps_report_discard) ps_report *report = ps_report_new(run);
    PS_TRY(report_all(store, report));
    ps_report_print(&report);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "inspect",
    .synopsis = "FILE",
    .description =
        "Shows what a file of any kind holds: where it comes from, and of every dataset its shape, "
        "units, chunks, compression, minimum, maximum, mean, norm, zeros and values that are not "
        "finite; of slice and block matrices also counts, NNZ %, row-vectors and ordering score, "
        "and the passivity certificate; of worker logs a line a worker and the stages. Reads the "
        "chunk tables only, so a terabyte takes a second. With --csv the samples of a trace.",
    .examples = "  penstock-inspect blocks.h5\n"
                "  penstock-inspect far.h5 --csv > far.csv\n"
                "  penstock-inspect slices.h5 --histogram --json\n"
                "  penstock-inspect run.h5 --dataset /densities",
    .options = options,
    .figures = figure_table,
    .reads_only = true,
    .run = run_inspect};
