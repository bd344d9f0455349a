/* Row sums of a double layer of Laplace: what says that its entries are right. */
#include <stdlib.h>

#include "assemble.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/memory.h"

bool assemble_has_sums(const ps_hbem_problem *problem)
{
    ps_hbem_kernel kernel = problem->op.kernel;
    return problem->op.wavenumber == 0 && problem->scene->clusters.closed &&
           (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP);
}

static const ps_hbem_space *space_of(const ps_hbem_problem *p)
{
    return p->op.kernel == PS_KERNEL_ADLP ? p->op.trial : p->op.test;
}

ps_status assemble_sums_open(const ps_hbem_problem *problem, assemble_result *result)
{
    result->columns = problem->op.kernel == PS_KERNEL_ADLP;
    if (!assemble_has_sums(problem)) return PS_OK;
    return PS_ALLOC(&result->sums, space_of(problem)->dofs, "row sums");
}

ps_status assemble_check_sums(ps_hbem_problem *problem, const assemble_result *result,
                              const ps_run *run)
{
    ps_hmatrix_header *h = &problem->tables.header;
    const ps_hbem_space *space = space_of(problem);
    double limit = ps_hbem_row_sums_limit(h->tolerance, h->rules, h->precision), *integrals;
    ps_hbem_row_check check;
    PS_TRY(PS_ALLOC(&integrals, space->dofs, "integrals of functions"));
    ps_hbem_row_sums_check(space, result->sums, limit, integrals, &check);
    free(integrals);
    h->row_sum_error = check.error;
    if (check.error <= limit) return PS_OK;
    return ps_refuse(run, "row-sums", PS_HBEM_ROW_SUMS_REFUSED,
                     PS_HBEM_ROW_SUMS_FIGURES(check, limit));
}
