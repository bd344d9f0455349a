/* The parts of penstock-hmatrix-assemble. */
#ifndef PS_PREPROCESS_HMATRIX_ASSEMBLE_H
#define PS_PREPROCESS_HMATRIX_ASSEMBLE_H

#include "backend.h"
#include "formats/hmatrix.h"
#include "kernels/hbem/assembly.h"
#include "kernels/hbem/cluster_tree.h"
#include "kernels/hbem/setup.h"
#include "runtime/program.h"

typedef struct assemble_options {
    int kernel;    /* ps_hbem_kernel                                           */
    int precision; /* 0: double, 1: single                                     */
    int mode;      /* 0: H-matrix, 1: dense                                    */
    double wavenumber, tolerance, rules; /* rules 0: as tolerance                   */
    int64_t check_rows, max_rank, chunk_bytes;
    int hyps;     /* far blocks 0: by the direct form, 1: by the weak form             */
    int compress; /* 0: zstd, 1: none */
    int scheme;   /* 0: leaves on the device, 1: pairs of triangles on the device          */
    int64_t pair_threshold;
    bool recompress, skeleton, restart, force_coarse;
} assemble_options;

/* ---- problem.c ---- */

/* Clusters, surface, spaces, operator and leaves; stays where it is. */
typedef struct assemble_problem {
    ps_clusters clusters;
    ps_hbem_setup setup;
    ps_hbem_quadrature quadrature;
    ps_hbem_joint_point *points;
    ps_hbem_operator op;
    ps_hmatrix_leaf *leaves;
    ps_hmatrix_tables tables; /* chunks are the plan's */
    ps_hbem_assembly assembly;
    ps_hmatrix shape; /* leaves borrowed, no blocks */
    void *memory;
    int64_t bytes; /* held */
} assemble_problem;

/* Reads the clusters and sets all up. PS_INVALID or PS_USAGE where operator, spaces, surface and
 * wavenumber do not go together. */
ps_status assemble_problem_init(assemble_problem *problem, const char *path,
                                const assemble_options *options);
void assemble_problem_release(assemble_problem *problem);

/* ---- plan.c ---- */

typedef struct assemble_plan {
    ps_hmatrix_chunks chunks;
    int64_t first_chunk, end_chunk;   /* of this rank                                */
    int64_t numbers, largest;         /* expected: all, of the largest chunk         */
    int64_t item_bytes, memory, disk; /* of this rank: held; of all: written         */
} assemble_plan;

/* Cuts the leaves into chunks and the chunks among the ranks. cores: those that compute leaves, 0:
 * a device does (what it leaves to the cores is not counted). PS_EXHAUSTED where the budget does
 * not hold what assembling takes. */
ps_status assemble_plan_init(const assemble_problem *problem, const assemble_options *options,
                             const ps_run *run, int cores, assemble_plan *out);
void assemble_plan_release(assemble_plan *plan);

/* ---- run.c ---- */

typedef struct assemble_result {
    int64_t chunks, kept; /* computed; found complete */
    double compute_seconds, write_seconds, wait_seconds;
    bool stopped;
} assemble_result;

/* Computes and saves the chunks of this rank: all of them, or, where part->chunk is not -1, those
 * that are not there. Local. */
ps_status assemble_chunks(const assemble_plan *plan, leaf_backend *backend,
                          const ps_hmatrix_part *part, assemble_result *out);
/* Whether a chunk of an unfinished assembly of this identity is there. */
bool assemble_unfinished(const assemble_plan *plan, const ps_hmatrix_part *part);

/* ---- report.c ---- */

void assemble_report_plan(const assemble_problem *problem, const assemble_plan *plan,
                          const ps_run *run);
/* Figures of the finished file and of all ranks. Collective. */
ps_status assemble_report(const assemble_problem *problem, const assemble_result *result,
                          double seconds, const ps_run *run);

#endif
