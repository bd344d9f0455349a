/* M2L operators of all levels. */
#include <math.h>
#include <stdlib.h>

#include "compute/fmm/fmm.h"
#include "kernels/fmm/m2l_table.h"
#include "runtime/memory.h"

static ps_status build_table(const ps_fmm_table_spec *spec, void *workspace,
                             ps_fmm_m2l_table *table, void **block)
{
    free(*block); /* of another precision */
    *block = NULL;
    PS_TRY(ps_fmm_table_make(spec, workspace, table));
    PS_TRY(ps_alloc(block, ps_fmm_m2l_bytes(table), 1, "M2L operators"));
    ps_fmm_m2l_attach(table, *block);
    ps_fmm_table_fill(spec, workspace, table);
    return PS_OK;
}

static ps_status build_levels(ps_fmm_table_spec *spec, void *workspace, fmm_level_set *set)
{
    int degree;
    bool one = ps_fmm_kernel_degree(spec->function.kernel, &degree);
    for (int l = 2; l <= set->last; ++l) {
        int own = one ? 2 : l;
        set->tables[l] = &set->own[own];
        set->factors[l] = ps_fmm_level_factor(set->box, l, spec->function.kernel);
        if (own == l) {
            spec->rho = one ? 1 : ldexp(set->box->width, -l - 1);
            PS_TRY(build_table(spec, workspace, &set->own[l], &set->blocks[l]));
        }
        set->mean_rank[l] = ps_fmm_mean_rank(&set->own[own]);
    }
    return PS_OK;
}

ps_status fmm_operators_of(const fmm_options *options, ps_precision precision, fmm_problem *p,
                           fmm_level_set *set)
{
    double start = ps_clock();
    ps_fmm_table_spec spec = {.function = p->fmm.function,
                              .order = p->fmm.interpolation.order,
                              .epsilon = p->epsilon,
                              .precision = precision};
    if (options->basis == 0)
        spec.basis_epsilon = ps_fmm_basis_epsilon(spec.function.kernel, p->epsilon);
    void *workspace;
    if (set->last < 2) return PS_OK;
    PS_TRY(ps_alloc_untouched(&workspace, ps_fmm_table_workspace(&spec), "M2L operators"));
    ps_status status = build_levels(&spec, workspace, set);
    free(workspace);
    p->operator_seconds = ps_clock() - start;
    return status;
}

ps_status fmm_operators_build(const fmm_options *options, ps_precision precision, fmm_problem *p)
{
    fmm_level_set set = {.last = p->leaf,
                         .box = &p->header->box,
                         .tables = p->fmm.tables,
                         .factors = p->fmm.factors,
                         .own = p->tables,
                         .blocks = p->blocks,
                         .mean_rank = p->mean_rank};
    return fmm_operators_of(options, precision, p, &set);
}

ps_status fmm_operators_upload(const ps_fmm_m2l_table *table, ps_device *device, ps_stream *stream,
                               void **block, ps_fmm_device_table *out)
{
    int64_t bytes = ps_fmm_device_table_bytes(table);
    void *host;
    PS_TRY(ps_alloc_untouched(&host, bytes, "operators for a GPU"));
    ps_status status = ps_fmm_device_table_pack(table, host, out);
    if (status == PS_OK) status = ps_device_alloc(device, bytes, block);
    if (status == PS_OK) status = ps_copy_to_device(stream, *block, host, bytes);
    if (status == PS_OK) status = ps_stream_wait(stream);
    out->block = *block;
    free(host);
    return status;
}
