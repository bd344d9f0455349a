#include "stage/particle_sum/level_tables.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

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

static ps_status build_levels(ps_fmm_table_spec *spec, void *workspace, ps_fmm_level_set *set)
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

ps_status ps_fmm_level_tables(ps_fmm_table_spec *spec, ps_fmm_level_set *set)
{
    PS_SCOPED_MEMORY void *workspace = NULL;
    if (set->last < 2) return PS_OK;
    PS_TRY(ps_alloc_untouched(&workspace, ps_fmm_table_workspace(spec), "M2L operators"));
    return build_levels(spec, workspace, set);
}
