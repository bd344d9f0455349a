/*
 * penstock-report: what is in these files, in one page.
 */
#include <errno.h>
#include <string.h>

#include "postprocess/report/figure_table.h"
#include "postprocess/report/report.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static bool quick;
static const char *output = "report.html", *title;

static const ps_option options[] = {
    PS_TEXT("output", &output, "FILE", PS_WRITES, "the page; default: report.html"),
    PS_TEXT("title", &title, "TEXT", 0, "title of the page"),
    PS_FLAG("quick", &quick, 0, "tables only: do not read every chunk of every file"),
    PS_OPTION_END};

static ps_status examine(report_files *files, report_counts *counts)
{
    for (int64_t i = 0; i < files->count; ++i) {
        report_file *file = &files->files[i];
        PS_TRY(report_examine(file, !quick));
        if (!file->problem) continue;
        ps_error("%s: %s", file->path, file->problem);
        ++counts->bad;
        if (file->status > counts->worst) counts->worst = file->status;
    }
    counts->files = files->count;
    return PS_OK;
}

static ps_status write_page(report_files *files, report_counts *counts, int64_t *bytes)
{
    PS_SCOPED(ps_output_discard) ps_output *page = NULL;
    FILE *file = NULL;
    ps_status status = ps_output_begin(output, &page);
    if (status != PS_OK) return ps_context(status, "--output");
    PS_TRY(ps_output_stream(page, &file));
    status = report_write(file, title ? title : "Penstock report", !quick, files, counts);
    *bytes = ftell(file);
    int failed = ferror(file);
    if ((fclose(file) != 0 || failed) && status == PS_OK)
        status = ps_fail(PS_EXHAUSTED, "%s could not be written: %s", output, strerror(errno));
    return status == PS_OK ? ps_output_commit(&page) : status;
}

static ps_status tell(ps_run *run, const report_files *files, const report_counts *counts,
                      int64_t bytes)
{
    PS_SCOPED(ps_report_discard) ps_report *report = ps_report_new(run);
    ps_report_int(report, "files", counts->files);
    ps_report_int(report, "bad", counts->bad);
    ps_report_int(report, "others", files->other_count);
    ps_report_int(report, "pictures", counts->pictures);
    ps_report_int(report, "views", counts->views);
    ps_report_int(report, "undrawn", counts->undrawn);
    ps_report_int(report, "bytes", bytes);
    ps_report_run(report, ps_memory_peak());
    ps_report_print(&report);
    if (counts->worst == PS_OK) return PS_OK;
    return ps_fail(counts->worst,
                   "%lld of %lld files cannot be believed, %lld pictures could not be drawn; %s, "
                   "which is written, names them",
                   (long long)counts->bad, (long long)counts->files, (long long)counts->undrawn,
                   output);
}

static ps_status plan(const ps_run *run, const report_files *files)
{
    PS_SCOPED_MEMORY const char **paths = NULL;
    PS_TRY(PS_ALLOC(&paths, files->count, "paths"));
    for (int64_t i = 0; i < files->count; ++i)
        paths[i] = files->files[i].members ? files->files[i].members[0] : files->files[i].path;
    return ps_plan_reading(run, paths, (int)files->count);
}

static ps_status run_report(ps_run *run)
{
    PS_SCOPED(report_files_release) report_files files = {0};
    report_counts counts = {0};
    int64_t bytes = 0;
    PS_TRY(report_gather(run->operands, run->operand_count, &files));
    if (run->plan) return plan(run, &files);
    PS_TRY(examine(&files, &counts));
    PS_TRY(write_page(&files, &counts, &bytes));
    ps_info("%s written", output);
    return tell(run, &files, &counts, bytes);
}

const ps_program ps_this_program = {
    .name = "report",
    .synopsis = "FILE...|FOLDER...",
    .description =
        "Writes one page, to be opened in a browser from disk, of what is in the files: what each "
        "is, "
        "where it comes from, its options, statistics of its datasets and histograms, pictures of "
        "structure, signals and maps, meshes and fields to be turned, and how the files follow "
        "from one another. "
        "The page needs nothing else: no network, no other file. Every chunk is checked, unless "
        "--quick. "
        "Snapshots that a .series lists are one entry, an animation.\n"
        "A file that is damaged or not Penstock's is named in the page, which is written all the "
        "same, and "
        "the exit code is 3. Of a folder and those in it all files that end in .h5, .hdf, .hdf5 or "
        "begin like HDF5 are read; "
        "others are listed.",
    .examples = "  penstock-report out\n"
                "  penstock-report wing.hdf run.h5 far.h5 --output wing.html --title \"A wing\"\n"
                "  penstock-report archive --quick",
    .reads_only = true,
    .options = options,
    .figures = figure_table,
    .run = run_report};
