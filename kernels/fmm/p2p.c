#include "kernels/fmm/p2p.h"

#include <stddef.h>

#include "kernels/fmm/p2p_close.h"

PS_ISA_SELECT(struct ps_fmm_p2p_functions, ps_fmm_p2p_single)
PS_ISA_SELECT(struct ps_fmm_p2p_functions, ps_fmm_p2p_double)
PS_ISA_SELECT(struct ps_fmm_close_functions, ps_fmm_close)

const struct ps_fmm_p2p_functions *ps_fmm_p2p_functions_of(ps_backend backend,
                                                           ps_precision precision)
{
    if (backend != PS_BACKEND_CPU) return NULL;
    return precision == PS_SINGLE ? ps_fmm_p2p_single_select() : ps_fmm_p2p_double_select();
}

bool ps_fmm_p2p_close(const ps_fmm_p2p *p) { return ps_fmm_close_select()->close(p); }
