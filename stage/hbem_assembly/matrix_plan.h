/*
 * matrix_plan: the leaves of an H-matrix cut into chunks of about equal size, and the chunks shared
 * among the ranks; what they are expected to take.
 */
#ifndef PS_HBEM_ASSEMBLY_MATRIX_PLAN_H
#define PS_HBEM_ASSEMBLY_MATRIX_PLAN_H

#include "stage/hbem_assembly/matrix_problem.h"

typedef struct ps_hbem_matrix_plan {
    ps_hmatrix_chunks chunks;
    int64_t first_chunk, end_chunk; /* of this rank                                          */
    int64_t numbers, largest;       /* expected: all, of the largest chunk                   */
    int64_t most;                   /* that a chunk may take                                 */
    int64_t item_bytes;
    int64_t touched; /* bytes of a thread's workspace that leaves touch                      */
    int64_t pairs;   /* bytes of the close pairs that threads share                          */
} ps_hbem_matrix_plan;

/* The cut depends on the problem and on options->chunk_bytes alone. */
ps_status ps_hbem_matrix_plan_init(const ps_hbem_problem *problem,
                                   const ps_hbem_matrix_options *options, ps_hbem_matrix_plan *out);
void ps_hbem_matrix_plan_release(ps_hbem_matrix_plan *plan);

/* Bytes that so many threads touch beside the values. */
int64_t ps_hbem_matrix_plan_workspaces(const ps_hbem_matrix_plan *plan, int threads);

/* Bytes that a chunk may take at most: ranks may exceed the expected. */
int64_t ps_hbem_matrix_plan_chunk_bytes(const ps_hbem_matrix_plan *plan);

#endif
