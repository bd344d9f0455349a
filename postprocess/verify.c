/*
 * penstock-verify: are these files whole, and is every chunk what it was when it was written?
 */
#include <string.h>

#include "formats/store.h"
#include "formats/task_trace.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"

static bool quick;

static const ps_option options[] = {
    {"quick", PS_OPTION_FLAG, &quick, NULL,
     "structure, tables and chunk sizes only; do not read the chunks", 0, 0, 0},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};

static void tell(ps_report *report, const char *path, const ps_store *store,
                 const ps_verify_result *result, double seconds, const char *problem)
{
    ps_report_section(report, path);
    ps_report_flag(report, "good", problem == NULL);
    if (problem) ps_report_text(report, "problem", problem);
    if (!store) return;
    ps_report_text(report, "format", ps_store_format(store));
    if (ps_store_part_count(store)) ps_report_int(report, "parts", ps_store_part_count(store), "1");
    ps_report_int(report, "chunks", result->chunks, "1");
    ps_report_int(report, "bad_chunks", result->bad_chunks, "1");
    ps_report_int(report, "stored_bytes", result->bytes, "B");
    if (!quick && seconds > 0)
        ps_report_real(report, "rate", 1e-9 * (double)result->bytes / seconds, "GB/s");
}

/* What a kind of file promises beyond its chunks. */
static ps_status check_kind(ps_store *store)
{
    ps_task_trace trace;
    if (quick || strcmp(ps_store_format(store), "penstock-task-trace") != 0) return PS_OK;
    ps_status status = ps_task_trace_read(store, &trace);
    if (status == PS_OK) status = ps_task_trace_verify(&trace);
    ps_task_trace_release(&trace);
    return status;
}

/* Reports on one file; its failure is for the caller to count. */
static ps_status check_file(const char *path, ps_report *report)
{
    ps_store *store = NULL;
    ps_verify_result result = {0};
    double start = ps_clock();
    ps_status status = ps_store_open(path, NULL, 0, &store);
    if (status == PS_OK) status = ps_store_verify(store, !quick, &result);
    if (status == PS_OK) status = check_kind(store);
    tell(report, path, store, &result, ps_clock() - start, status == PS_OK ? NULL : ps_message());
    if (status != PS_OK) ps_error("%s", ps_message());
    ps_store_close(&store);
    return status;
}

static ps_status run_verify(ps_run *run)
{
    int bad = 0;
    ps_status worst = PS_OK;
    ps_report *report = ps_report_new(run->json);
    for (int i = 0; i < run->operand_count; ++i) {
        ps_status status = check_file(run->operands[i], report);
        bad += status != PS_OK;
        if (status > worst) worst = status;
    }
    ps_report_print(&report);
    if (worst == PS_OK) return PS_OK;
    return ps_fail(worst, "%d of %d files did not pass", bad, run->operand_count);
}

int main(int argc, char **argv)
{
    static const ps_program program = {
        .name = "verify",
        .synopsis = "FILE...",
        .description =
            "Checks files of any kind: structure, tables, and every chunk's hash and statistics.\n"
            "A master is checked with all its parts. Bad chunks are named. A task trace is also\n"
            "checked for dependencies, tasks at once on one worker and the bound of its makespan.\n"
            "Exit code 0: all is well; 3: a file is damaged, and which chunk of it.",
        .examples = "  penstock-verify slices.h5 run.h5\n"
                    "  penstock-verify --quick run.h5 --json",
        .options = options,
        .operands_min = 1,
        .operands_max = PS_OPERANDS_MAX,
        .run = run_verify};
    return ps_main(&program, argc, argv);
}
