/* Row sums of Laplace's operators: what says that their entries are right. */
#include <stdlib.h>

#include "assemble.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/memory.h"

bool assemble_has_sums(const ps_hbem_problem *problem)
{
    ps_hbem_kernel kernel = problem->op.kernel;
    return problem->op.wavenumber == 0 && problem->scene->clusters.closed &&
           kernel != PS_KERNEL_SLP;
}

static const ps_hbem_space *space_of(const ps_hbem_problem *p)
{
    return p->op.kernel == PS_KERNEL_ADLP ? p->op.trial : p->op.test;
}

ps_status assemble_sums_open(const ps_hbem_problem *problem, assemble_result *result)
{
    int64_t dofs = space_of(problem)->dofs;
    if (!assemble_has_sums(problem)) return PS_OK;
    bool diagonal = problem->op.kernel == PS_KERNEL_HYPS;
    result->columns = problem->op.kernel == PS_KERNEL_ADLP;
    result->sum_count = diagonal ? 2 * dofs : dofs;
    PS_TRY(PS_ALLOC(&result->sums, result->sum_count, "row sums"));
    if (diagonal) result->diagonal = result->sums + dofs;
    return PS_OK;
}

ps_status assemble_check_sums(ps_hbem_problem *problem, const assemble_result *result,
                              const ps_run *run)
{
    ps_hmatrix_header *h = &problem->tables.header;
    const ps_hbem_space *space = space_of(problem);
    double limit = ps_hbem_row_sums_limit(h->tolerance, h->rules, h->precision), *integrals;
    ps_hbem_row_check check;
    PS_TRY(PS_ALLOC(&integrals, space->dofs, "integrals of functions"));
    ps_hbem_row_sums_check(space, result->sums, result->diagonal, limit, integrals, &check);
    free(integrals);
    h->row_sum_error = check.error;
    return ps_hbem_row_sums_judge(&check, limit, "", run);
}
