/* Row sums of a double layer that was assembled in memory. */
#include <stdlib.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/scope.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

/* K 1 of all ranks. */
static ps_status multiply_ones(matrix *m, double *sums)
{
    PS_SCOPED_MEMORY double *ones = NULL;
    PS_TRY(PS_ALLOC(&ones, m->shape->columns, "row sums"));
    for (int64_t j = 0; j < m->shape->columns; ++j) ones[j] = 1;
    PS_TRY(matrix_start_product(m, 1, ones));
    return matrix_finish_product(m, sums);
}

static void add_columns(const matrix *m, double *sums)
{
    ps_hmatrix own = *m->shape;
    own.leaves += m->first_leaf;
    own.blocks += m->first_leaf;
    own.leaf_count = m->end_leaf - m->first_leaf;
    ps_hbem_row_sums_add(&own, true, sums);
}

static ps_status judge(solve_problem *p, const matrix *m, const ps_hbem_space *space,
                       const double *sums, double *integrals)
{
    const ps_hmatrix_header *h = m->header;
    double limit = ps_hbem_row_sums_limit(h->tolerance, h->rules, h->precision);
    ps_hbem_row_check check;
    ps_hbem_row_sums_check(space, sums, NULL, limit, integrals, &check);
    p->row_sum_error = check.error;
    return ps_hbem_row_sums_judge(&check, limit, m->name, p->run);
}

ps_status matrix_check_sums(solve_problem *p, matrix *m)
{
    bool columns = m->header->kernel == PS_KERNEL_ADLP;
    const ps_hbem_space *space = &p->spaces[m->header->space[columns]].space;
    double *sums = NULL, *integrals = NULL;
    ps_status status = PS_ALLOC(&sums, space->dofs, "row sums");
    if (status == PS_OK) status = PS_ALLOC(&integrals, space->dofs, "row sums");
    if (status == PS_OK && !columns) status = multiply_ones(m, sums);
    if (status == PS_OK && columns) add_columns(m, sums);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = ps_comm_sum_f64(sums, space->dofs);
    if (status == PS_OK) status = ps_comm_agree(judge(p, m, space, sums, integrals));
    free(sums);
    free(integrals);
    return status;
}
