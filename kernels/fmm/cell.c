#include "kernels/fmm/cell.h"

#include <stddef.h>

PS_ISA_SELECT(struct ps_fmm_cell_functions, ps_fmm_cell_single)
PS_ISA_SELECT(struct ps_fmm_cell_functions, ps_fmm_cell_double)

const struct ps_fmm_cell_functions *ps_fmm_cell_functions_of(ps_backend backend,
                                                             ps_precision precision)
{
    if (backend != PS_BACKEND_CPU) return NULL;
    return precision == PS_SINGLE ? ps_fmm_cell_single_select() : ps_fmm_cell_double_select();
}
