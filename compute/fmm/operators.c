/* M2L operators of all levels. */
#include <stdlib.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status fmm_operators_of(const fmm_options *options, const ps_fmm_pass *pass,
                           ps_precision precision, fmm_problem *p, ps_fmm_level_set *set)
{
    double start = ps_clock();
    ps_fmm_table_spec spec = {.function = pass->function,
                              .order = p->fmm.interpolation.order,
                              .epsilon = pass->truncation * p->epsilon,
                              .precision = precision};
    if (options->basis == 0)
        spec.basis_epsilon = ps_fmm_basis_epsilon(spec.function.kernel, spec.epsilon);
    ps_status status = ps_fmm_level_tables(&spec, set);
    p->operator_seconds = ps_clock() - start;
    return status;
}

ps_status fmm_operators_build(const fmm_options *options, ps_precision precision, fmm_problem *p)
{
    ps_fmm_level_set set = {.last = p->leaf,
                            .box = &p->header->box,
                            .tables = p->fmm.tables,
                            .factors = p->fmm.factors,
                            .own = p->tables,
                            .blocks = p->blocks,
                            .mean_rank = p->mean_rank};
    ps_fmm_pass pass = ps_fmm_sum_pass(&p->sum, 0);
    return fmm_operators_of(options, &pass, precision, p, &set);
}

ps_status fmm_operators_upload(const ps_fmm_m2l_table *table, ps_stream *stream, void **block,
                               ps_fmm_device_table *out)
{
    int64_t bytes = ps_fmm_device_table_bytes(table);
    PS_SCOPED_MEMORY void *host = NULL;
    PS_TRY(ps_alloc_untouched(&host, bytes, "operators for a GPU"));
    PS_TRY(ps_fmm_device_table_pack(table, host, out));
    PS_TRY(ps_copy_to_new(stream, host, bytes, block));
    out->block = *block;
    return PS_OK;
}
