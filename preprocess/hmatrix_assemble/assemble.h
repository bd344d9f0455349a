/* The parts of penstock-hmatrix-assemble. */
#ifndef PS_PREPROCESS_HMATRIX_ASSEMBLE_H
#define PS_PREPROCESS_HMATRIX_ASSEMBLE_H

#include "runtime/ledger.h"
#include "stage/hbem_assembly/leaf_backend.h"
#include "stage/hbem_assembly/matrix_plan.h"
#include "runtime/program.h"

typedef struct assemble_options {
    ps_hbem_matrix_options matrix;
    int kernel; /* ps_hbem_kernel                                           */
    int mode;   /* 0: H-matrix, 1: dense                                    */
    double wavenumber;
    const char *absorption; /* with its unit; NULL: none                                 */
    int64_t image;
    int hyps;     /* far blocks 0: by the direct form, 1: by the weak form             */
    int compress; /* 0: zstd, 1: none */
    int scheme;   /* 0: leaves on the device, 1: pairs of triangles on the device          */
    int64_t pair_threshold;
} assemble_options;

/* ---- plan.c ---- */

typedef struct assemble_plan {
    ps_hbem_matrix_plan cut;
    ps_ledger ledger; /* memory of this rank, files of all */
} assemble_plan;

/* Cuts the leaves into chunks and the chunks among the ranks. cores: those that compute leaves, 0:
 * a device does (what it leaves to the cores is not counted). PS_EXHAUSTED where the budget does
 * not hold what assembling takes. */
ps_status assemble_plan_init(const ps_hbem_problem *problem, const assemble_options *options,
                             const ps_run *run, int cores, assemble_plan *out);
void assemble_plan_release(assemble_plan *plan);

/* ---- run.c ---- */

typedef struct assemble_result {
    int64_t chunks, kept; /* computed; found complete */
    double compute_seconds, write_seconds, wait_seconds;
    double *sums;     /* [sum_count] of rows, or of columns; NULL: not asked for; the caller's to
                         free() */
    double *diagonal; /* of HYPS: the second half of them; else NULL */
    int64_t sum_count;
    bool columns;
} assemble_result;

/* Computes and saves the chunks of this rank: all of them, or, where part->chunk is not -1, those
 * that are not there. Local. */
ps_status assemble_chunks(const assemble_plan *plan, ps_leaf_backend *backend,
                          const ps_hmatrix_part *part, assemble_result *out);

/* ---- check.c: row sums of Laplace's operators on a closed surface ---- */

/* Whether an operator has sums to check. */
bool assemble_has_sums(const ps_hbem_problem *problem);
/* Allocates result->sums, zeros, if it has; PS_EXHAUSTED where memory runs out. */
ps_status assemble_sums_open(const ps_hbem_problem *problem, assemble_result *result);
/* Puts the error into the header, and refuses one above 10 eps (--allow row-sums). */
ps_status assemble_check_sums(ps_hbem_problem *problem, const assemble_result *result,
                              const ps_run *run);

/* ---- report.c ---- */

void assemble_report_plan(const ps_hbem_problem *problem, const assemble_plan *plan,
                          const ps_run *run);
/* Figures of the finished file and of all ranks. Collective. */
ps_status assemble_report(const ps_hbem_problem *problem, const assemble_result *result,
                          const ps_run *run);

#endif
