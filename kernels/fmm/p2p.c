#include "kernels/fmm/p2p.h"

#include <stddef.h>

PS_ISA_SELECT(struct ps_fmm_p2p_functions, ps_fmm_p2p_single)
PS_ISA_SELECT(struct ps_fmm_p2p_functions, ps_fmm_p2p_double)

const struct ps_fmm_p2p_functions *ps_fmm_p2p_functions_of(ps_backend backend,
                                                           ps_precision precision)
{
    if (backend != PS_BACKEND_CPU) return NULL;
    return precision == PS_SINGLE ? ps_fmm_p2p_single_select() : ps_fmm_p2p_double_select();
}
