/* Row sums of Laplace's operators that were assembled in memory. */
#include <math.h>
#include <stdlib.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/scope.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* A 1 of this rank's leaves. */
static ps_status multiply_ones(matrix *m, double *sums)
{
    PS_SCOPED_MEMORY double *ones = NULL;
    PS_TRY(PS_ALLOC(&ones, m->shape->columns, "row sums"));
    for (int64_t j = 0; j < m->shape->columns; ++j) ones[j] = 1;
    PS_TRY(matrix_start_product(m, 1, ones));
    return matrix_finish_product(m, sums);
}

/* The leaves of this rank, whose values are on the host. */
static ps_hmatrix own_leaves(const matrix *m)
{
    ps_hmatrix own = *m->shape;
    own.leaves += m->first_leaf;
    own.blocks += m->first_leaf;
    own.leaf_count = m->end_leaf - m->first_leaf;
    return own;
}

/* Diagonal entries of this rank's share of the rows, integrated anew: those of a device stay there.
 */
static ps_status integrate_diagonal(const matrix *m, double *diagonal)
{
    const ps_hbem_operator *op = &m->core->problem.op;
    int64_t first = op->test->dofs * ps_comm_rank() / ps_comm_size();
    int64_t end = op->test->dofs * (ps_comm_rank() + 1) / ps_comm_size();
    ps_failure failure = {0};
#pragma omp parallel
    {
        ps_hbem_workspace workspace = {0};
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = first; i < end; ++i) {
            const ps_hbem_range row = {i, i + 1};
            ps_status status = PS_OK;
            if (ps_has_failed(&failure)) continue;
            free(workspace.base);
            workspace = (ps_hbem_workspace){.bytes = ps_hbem_entries_bytes(op, row, row)};
            status = PS_ALLOC(&workspace.base, workspace.bytes, "a diagonal entry");
            if (status == PS_OK)
                status = ps_hbem_near_block(op, row, row, &workspace, &diagonal[i]);
            ps_note_failure(&failure, status);
        }
        free(workspace.base);
    }
    return ps_first_failure(&failure);
}

static ps_status find_diagonal(const solve_problem *p, const matrix *m, double *diagonal)
{
    ps_hmatrix own = own_leaves(m);
    if (p->device) return integrate_diagonal(m, diagonal);
    ps_hbem_row_sums_diagonal(&own, diagonal);
    return PS_OK;
}

static ps_status judge(solve_problem *p, const matrix *m, const ps_hbem_space *space,
                       const double *sums, const double *diagonal, double *integrals)
{
    const ps_hmatrix_header *h = m->header;
    double limit = ps_hbem_row_sums_limit(h->tolerance, h->rules, h->precision);
    ps_hbem_row_check check;
    ps_hbem_row_sums_check(space, sums, diagonal, limit, integrals, &check);
    p->row_sum_error = fmax(p->row_sum_error, check.error); /* NaN before the first one */
    ps_debug("%s: constants give row sums that are off by %.2g", m->name, check.error);
    return ps_hbem_row_sums_judge(&check, limit, m->name, p->run);
}

/* Of a space's functions: sums, then the diagonal of W. */
static ps_status find_sums(const solve_problem *p, matrix *m, double *sums, double *diagonal)
{
    ps_hmatrix own = own_leaves(m);
    if (diagonal) PS_TRY(find_diagonal(p, m, diagonal));
    if (m->header->kernel != PS_KERNEL_ADLP) return multiply_ones(m, sums);
    ps_hbem_row_sums_add(&own, true, sums);
    return PS_OK;
}

ps_status matrix_check_sums(solve_problem *p, matrix *m)
{
    const bool columns = m->header->kernel == PS_KERNEL_ADLP;
    const bool of_w = m->header->kernel == PS_KERNEL_HYPS;
    const ps_hbem_space *space = &p->spaces[m->header->space[columns]].space;
    int64_t count = of_w ? 2 * space->dofs : space->dofs;
    PS_SCOPED_MEMORY double *sums = NULL;
    PS_SCOPED_MEMORY double *integrals = NULL;
    ps_status status = PS_ALLOC(&sums, count, "row sums");
    double *diagonal = status == PS_OK && of_w ? sums + space->dofs : NULL;
    if (status == PS_OK) status = PS_ALLOC(&integrals, space->dofs, "row sums");
    if (status == PS_OK) status = find_sums(p, m, sums, diagonal);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_sum_f64(sums, count));
    return ps_comm_agree(judge(p, m, space, sums, diagonal, integrals));
}
