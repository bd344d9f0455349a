#include "assemble.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"

static void report_problem(const ps_hbem_problem *p, ps_report *r)
{
    const ps_hmatrix_header *h = &p->tables.header;
    ps_report_text(r, "operator", ps_hbem_kernel_name(h->kernel));
    ps_report_real(r, "wavenumber", h->wavenumber);
    if (h->wavenumber != 0)
        ps_report_real(r, "elements_per_wavelength",
                       ps_hbem_elements_per_wavelength(&p->scene->setup.surface, h->wavenumber));
    ps_report_int(r, "rows", p->op.test->dofs);
    ps_report_int(r, "columns", p->op.trial->dofs);
    ps_report_int(r, "leaves", p->assembly.leaf_count);
}

void assemble_report_plan(const ps_hbem_problem *problem, const assemble_plan *plan,
                          const ps_run *run)
{
    if (ps_comm_rank() != 0) return;
    ps_report *r = ps_report_new(run);
    report_problem(problem, r);
    ps_report_int(r, "chunks", plan->cut.chunks.count);
    ps_report_int(r, "largest_chunk", plan->cut.largest * plan->cut.item_bytes);
    ps_ledger_report(&plan->ledger, run, r);
    /* A core and a number that is kept, about: a guess to tell minutes from days. */
    double numbers = (double)plan->cut.numbers * ps_hbem_parts(&problem->op);
    ps_report_real(r, "time", 5e-6 * numbers / (double)run->threads);
    ps_report_real(r, "dense",
                   (double)plan->cut.item_bytes * (double)problem->op.test->dofs *
                       (double)problem->op.trial->dofs * ps_hbem_parts(&problem->op));
    ps_report_print(&r);
}

ps_status assemble_report(const ps_hbem_problem *problem, const assemble_result *result,
                          const ps_run *run)
{
    double sums[4] = {(double)result->chunks, (double)result->kept, result->write_seconds,
                      ps_processor_seconds()};
    double most[3] = {result->compute_seconds, result->wait_seconds, (double)ps_memory_peak()};
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    PS_TRY(ps_comm_sum_f64(sums, 4));
    PS_TRY(ps_comm_max_f64(most, 3));
    if (ps_comm_rank() != 0) return PS_OK;
    PS_TRY(ps_hmatrix_open(run->output, &file));
    ps_report *r = ps_report_new(run);
    report_problem(problem, r);
    ps_hmatrix_report(file, r);
    ps_report_int(r, "computed", (int64_t)sums[0]);
    ps_report_int(r, "kept", (int64_t)sums[1]);
    ps_report_real(r, "compute", most[0]);
    ps_report_real(r, "write", sums[2]);
    ps_report_real(r, "wait_for_writing", most[1]);
    ps_report_real(r, "processor", sums[3]);
    ps_report_run(r, (int64_t)most[2]);
    ps_report_print(&r);
    return PS_OK;
}
