#include "kernels/fmm/prism_cell.h"

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_fmm_prism_functions, ps_fmm_prism)

const struct ps_fmm_prism_functions *ps_fmm_prism_functions_here(void)
{
    return ps_fmm_prism_select();
}
