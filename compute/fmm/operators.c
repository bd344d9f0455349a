/* M2L operators of all levels. */
#include <math.h>
#include <stdlib.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"

static ps_status place_table(ps_fmm_m2l_table *table, void **block)
{
    PS_TRY(ps_alloc(block, ps_fmm_m2l_bytes(table), 1, "M2L operators"));
    ps_fmm_m2l_place(table, *block);
    return PS_OK;
}

static ps_status build_plain(const fmm_problem *p, double rho, ps_fmm_m2l_table *table,
                             void **block)
{
    int order = p->fmm.interpolation.order;
    int64_t points = p->fmm.interpolation.points, rows = ps_fmm_operators_rows_max(order);
    void *factors = NULL, *workspace = NULL;
    ps_fmm_operators operators = {
        .function = p->fmm.function, .order = order, .epsilon = p->epsilon, .rho = rho};
    ps_status status;
    PS_GUARD(status, done, ps_alloc_untouched(&factors, rows * (points + 1) * 8, "M2L operators"));
    PS_GUARD(status, done,
             ps_alloc_untouched(&workspace, ps_fmm_operators_workspace(order), "M2L operators"));
    operators.factors = factors;
    operators.signs = operators.factors + rows * points;
    PS_GUARD(status, done, ps_fmm_operators_build(&operators, workspace));
    ps_fmm_m2l_shape(&operators, p->fmm.far, table);
    PS_GUARD(status, done, place_table(table, block));
    ps_fmm_m2l_fill(&operators, table);
done:
    free(factors);
    free(workspace);
    return status;
}

/* Of kernels that have no pole the near field is no larger than the far field, and the basis must
 * be finer for it not to be seen (specs/fmm.md). */
static double basis_margin(ps_fmm_kernel kernel)
{
    bool pole = kernel == PS_FMM_INVERSE || kernel == PS_FMM_INVERSE_SQUARE ||
                kernel == PS_FMM_INVERSE_FOURTH || kernel == PS_FMM_YUKAWA;
    return pole ? 1 : 16;
}

static ps_status build_basis(const fmm_problem *p, double rho, ps_fmm_m2l_table *table,
                             void **block)
{
    int order = p->fmm.interpolation.order;
    int64_t points = p->fmm.interpolation.points, rows = ps_fmm_basis_rows_max(order);
    void *numbers = NULL, *parity = NULL, *workspace = NULL;
    ps_fmm_basis basis = {.function = p->fmm.function,
                          .order = order,
                          .epsilon = p->epsilon,
                          .basis_epsilon = p->epsilon / basis_margin(p->fmm.function.kernel),
                          .rho = rho};
    ps_status status;
    PS_GUARD(status, done,
             ps_alloc_untouched(&numbers, (points * points + rows * (points + 1)) * 8, "a basis"));
    PS_GUARD(status, done, ps_alloc_untouched(&parity, points, "a basis"));
    PS_GUARD(status, done,
             ps_alloc_untouched(&workspace, ps_fmm_basis_workspace(order), "a basis"));
    basis.vectors = numbers;
    basis.cores = basis.vectors + points * points;
    basis.signs = basis.cores + rows * points;
    basis.parity = parity;
    PS_GUARD(status, done, ps_fmm_basis_build(&basis, workspace));
    ps_fmm_m2l_shape_basis(&basis, p->fmm.far, table);
    PS_GUARD(status, done, place_table(table, block));
    ps_fmm_m2l_fill_basis(&basis, table);
done:
    free(numbers);
    free(parity);
    free(workspace);
    return status;
}

/* Of the 189 offsets of an interaction list, averaged over the eight places of a child: an offset
 * of 3 along an axis is there for one of two. */
static double mean_rank(const ps_fmm_m2l_table *table)
{
    double sum = 0, weights = 0;
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3];
        if (!ps_fmm_offset_of(number, t)) continue;
        double weight = 1;
        for (int d = 0; d < 3; ++d)
            if (t[d] == 3 || t[d] == -3) weight /= 2;
        sum += weight * table->rank[number];
        weights += weight;
    }
    return sum / weights;
}

ps_status fmm_operators_build(const fmm_options *options, fmm_problem *p)
{
    int degree;
    bool one = ps_fmm_kernel_degree(p->fmm.function.kernel, &degree);
    double start = ps_clock();
    for (int l = 2; l <= p->leaf; ++l) {
        int own = one ? 2 : l;
        p->fmm.tables[l] = &p->tables[own];
        p->fmm.factors[l] = ps_fmm_level_factor(&p->header->box, l, p->fmm.function.kernel);
        if (own == l) {
            double rho = one ? 1 : ldexp(p->header->box.width, -l - 1);
            PS_TRY((options->basis == 0 ? build_basis : build_plain)(p, rho, &p->tables[l],
                                                                     &p->blocks[l]));
            p->fixed_bytes += ps_fmm_m2l_bytes(&p->tables[l]);
        }
        p->mean_rank[l] = mean_rank(&p->tables[own]);
    }
    p->operator_seconds = ps_clock() - start;
    return PS_OK;
}
