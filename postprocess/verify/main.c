/*
 * penstock-verify: are these files whole, and is every chunk what it was when it was written?
 */
#include <string.h>

#include "formats/hmatrix.h"
#include "formats/task_trace.h"
#include "postprocess/verify/figure_table.h"
#include "postprocess/verify/hmatrix.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static bool quick;
static int64_t exact_rows;
static const char *clusters;

static const ps_option options[] = {
    PS_FLAG("quick", &quick, 0, "structure, tables and chunk sizes only; do not read the chunks"),
    PS_INT("error", &exact_rows, "N", 0, 1e6, 0,
           "H-matrix: also compare N rows with exact ones; fails above twice the tolerance"),
    PS_TEXT(
        "clusters", &clusters, "FILE", 0,
        "H-matrix: the cluster tree it was assembled from; default: the recorded name, beside it"),
    PS_OPTION_END};

/* A file being checked. */
typedef struct checking {
    const char *path;
    ps_store *store;
    ps_verify_result result;
    hmatrix_errors errors;
    double seconds;
} checking;

static void tell_errors(ps_report *report, const hmatrix_errors *errors)
{
    if (errors->rows == 0) return;
    ps_report_int(report, "exact_rows", errors->rows);
    ps_report_real(report, "tolerance", errors->tolerance);
    ps_report_real(report, "error", errors->error);
    ps_report_real(report, "worst_row", errors->worst);
    ps_report_real(report, "reference_error", errors->reference);
}

static void tell(ps_report *report, const checking *c, const char *problem)
{
    const char *path = c->path;
    const ps_store *store = c->store;
    const ps_verify_result *result = &c->result;
    ps_report_section(report, path);
    ps_report_flag(report, "good", problem == NULL);
    if (problem) ps_report_text(report, "problem", problem);
    if (!store) return;
    ps_report_text(report, "format", ps_store_format(store));
    if (ps_store_part_count(store)) ps_report_int(report, "parts", ps_store_part_count(store));
    ps_report_int(report, "chunks", result->chunks);
    ps_report_int(report, "bad_chunks", result->bad_chunks);
    ps_report_int(report, "stored_bytes", result->bytes);
    if (!quick && c->seconds > 0)
        ps_report_real(report, "rate", (double)result->bytes / c->seconds);
    tell_errors(report, &c->errors);
}

static ps_status check_trace(ps_store *store)
{
    PS_SCOPED(ps_task_trace_release) ps_task_trace trace = {0};
    PS_TRY(ps_task_trace_read(store, &trace));
    return ps_task_trace_verify(&trace);
}

static ps_status check_clusters(const char *path)
{
    PS_SCOPED(ps_clusters_release) ps_clusters loaded = {0};
    return ps_clusters_load(path, &loaded);
}

/* What a kind of file promises beyond its chunks. */
static ps_status check_kind(checking *c, int64_t host_memory)
{
    const char *format = ps_store_format(c->store);
    hmatrix_request request = {exact_rows, clusters, quick, host_memory};
    if (strcmp(format, PS_HMATRIX_FORMAT) == 0)
        return verify_hmatrix(c->path, &request, &c->result, &c->errors);
    if (quick) return PS_OK;
    if (strcmp(format, PS_CLUSTER_FORMAT) == 0) return check_clusters(c->path);
    if (strcmp(format, "penstock-task-trace") == 0) return check_trace(c->store);
    return PS_OK;
}

/* Reports on one file; its failure is for the caller to count. */
static ps_status check_file(const char *path, int64_t host_memory, ps_report *report)
{
    checking c = {.path = path};
    double start = ps_clock();
    ps_status status = ps_store_open_unchecked(path, NULL, 0, &c.store);
    if (status == PS_OK) status = ps_store_verify(c.store, !quick, &c.result);
    if (status == PS_OK) status = check_kind(&c, host_memory);
    c.seconds = ps_clock() - start;
    tell(report, &c, status == PS_OK ? NULL : ps_message());
    if (status != PS_OK) ps_error("%s", ps_message());
    ps_store_close(&c.store);
    return status;
}

static ps_status run_verify(ps_run *run)
{
    int bad = 0;
    ps_status worst = PS_OK;
    if (run->plan) return ps_plan_reading(run, run->operands, run->operand_count);
    ps_report *report = ps_report_new(run);
    for (int i = 0; i < run->operand_count; ++i) {
        ps_status status = check_file(run->operands[i], run->host_memory, report);
        bad += status != PS_OK;
        if (status > worst) worst = status;
    }
    ps_report_print(&report);
    if (worst == PS_OK) return PS_OK;
    return ps_fail(worst, "%d of %d files did not pass", bad, run->operand_count);
}

const ps_program ps_this_program = {
    .name = "verify",
    .synopsis = "FILE...",
    .description =
        "Checks files of any kind: structure, tables, and every chunk's hash and statistics. A "
        "master is checked with all its parts. Bad chunks are named. A task trace is also checked "
        "for dependencies, tasks at once on one worker and the bound of its makespan; an H-matrix "
        "with all its parts and, by --error, against exact rows. Exit code 0: all is well; 3: a "
        "file is damaged, and which chunk of it.",
    .examples = "  penstock-verify slices.h5 run.h5\n"
                "  penstock-verify --quick run.h5 --json\n"
                "  penstock-verify slp.h5 --error 200",
    .reads_only = true,
    .options = options,
    .figures = figure_table,
    .run = run_verify};
