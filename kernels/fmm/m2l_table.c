#include "kernels/fmm/m2l_table.h"

#include "runtime/blas_threads.h"
#include "runtime/sizes.h"

double ps_fmm_basis_epsilon(ps_fmm_kernel kernel, double epsilon)
{
    bool pole = kernel == PS_FMM_INVERSE || kernel == PS_FMM_INVERSE_SQUARE ||
                kernel == PS_FMM_INVERSE_FOURTH || kernel == PS_FMM_YUKAWA;
    return pole ? epsilon : epsilon / 16;
}

/* What the workspace begins with. Factors or cores, signs and basis lie behind it. */
typedef union parts {
    ps_fmm_operators operators;
    ps_fmm_basis basis;
    char padding[2048];
} parts;

static int64_t numbers(const ps_fmm_table_spec *s)
{
    int64_t points = (int64_t)s->order * s->order * s->order;
    int64_t rows = s->basis_epsilon > 0 ? ps_fmm_basis_rows_max(s->order)
                                        : ps_fmm_operators_rows_max(s->order);
    return ps_padded(8 * rows * (points + 1)) + ps_padded(8 * points * points) + ps_padded(points);
}

int64_t ps_fmm_table_workspace(const ps_fmm_table_spec *s)
{
    return (int64_t)sizeof(parts) + numbers(s) +
           (s->basis_epsilon > 0 ? ps_fmm_basis_workspace(s->order)
                                 : ps_fmm_operators_workspace(s->order));
}

static ps_status make_plain(const ps_fmm_table_spec *s, parts *p, ps_fmm_m2l_table *table)
{
    char *behind = (char *)(p + 1);
    int64_t points = (int64_t)s->order * s->order * s->order;
    p->operators = (ps_fmm_operators){
        .function = s->function, .order = s->order, .epsilon = s->epsilon, .rho = s->rho};
    p->operators.factors = (double *)behind;
    p->operators.signs = p->operators.factors + ps_fmm_operators_rows_max(s->order) * points;
    PS_TRY(ps_fmm_operators_build(&p->operators, behind + numbers(s)));
    ps_fmm_m2l_shape(&p->operators, s->precision, table);
    return PS_OK;
}

static ps_status make_basis(const ps_fmm_table_spec *s, parts *p, ps_fmm_m2l_table *table)
{
    char *behind = (char *)(p + 1);
    int64_t points = (int64_t)s->order * s->order * s->order,
            rows = ps_fmm_basis_rows_max(s->order);
    p->basis = (ps_fmm_basis){.function = s->function,
                              .order = s->order,
                              .epsilon = s->epsilon,
                              .basis_epsilon = s->basis_epsilon,
                              .rho = s->rho};
    p->basis.cores = (double *)behind;
    p->basis.signs = p->basis.cores + rows * points;
    p->basis.vectors = (double *)(behind + ps_padded(8 * rows * (points + 1)));
    p->basis.parity = (uint8_t *)p->basis.vectors + ps_padded(8 * points * points);
    PS_TRY(ps_fmm_basis_build(&p->basis, behind + numbers(s)));
    ps_fmm_m2l_shape_basis(&p->basis, s->precision, table);
    return PS_OK;
}

ps_status ps_fmm_table_make(const ps_fmm_table_spec *s, void *workspace, ps_fmm_m2l_table *table)
{
    if (s->order < 1 || s->order > PS_FMM_ORDER_MAX)
        return ps_fail(PS_USAGE, "order %d; orders are 1 to %d", s->order, PS_FMM_ORDER_MAX);
    int threads = ps_blas_threads_single();
    ps_status status = (s->basis_epsilon > 0 ? make_basis : make_plain)(s, workspace, table);
    ps_blas_threads_restore(threads);
    return status;
}

void ps_fmm_table_fill(const ps_fmm_table_spec *s, void *workspace, ps_fmm_m2l_table *table)
{
    parts *p = workspace;
    if (s->basis_epsilon > 0)
        ps_fmm_m2l_fill_basis(&p->basis, table);
    else
        ps_fmm_m2l_fill(&p->operators, table);
}

double ps_fmm_mean_rank(const ps_fmm_m2l_table *table)
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
