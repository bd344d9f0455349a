/* fmm_table: operators of one level, in memory of their own. */
#ifndef PS_TESTS_SUPPORT_FMM_TABLE_H
#define PS_TESTS_SUPPORT_FMM_TABLE_H

#include "kernels/fmm/m2l_table.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static inline ps_status fmm_table_fill(const ps_fmm_table_spec *spec, ps_fmm_m2l_table *table,
                                       void **block)
{
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(ps_alloc_untouched(&workspace, ps_fmm_table_workspace(spec), "workspace"));
    PS_TRY(ps_fmm_table_make(spec, workspace, table));
    PS_TRY(ps_alloc(block, ps_fmm_m2l_bytes(table), 1, "table"));
    ps_fmm_m2l_attach(table, *block);
    ps_fmm_table_fill(spec, workspace, table);
    return PS_OK;
}

#endif
