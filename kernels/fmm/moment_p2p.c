#include "kernels/fmm/moment_p2p.h"

#include <stddef.h>

#include "kernels/fmm/p2p_close.h"

PS_ISA_SELECT(struct ps_fmm_moment_functions, ps_fmm_moment)

bool ps_fmm_has_moments(ps_fmm_kernel kernel)
{
    return ps_fmm_moment_select()->interact[kernel][0][0] != NULL;
}

void ps_fmm_moment_p2p(const ps_fmm_p2p *p)
{
    ps_fmm_moment_select()
        ->interact[p->function.kernel][p->targets->hessian != NULL][p->sources->dipoles != NULL](p);
}

bool ps_fmm_needs_moments(ps_fmm_kernel kernel, const ps_fmm_particles *sources,
                          const ps_fmm_particles *targets)
{
    return kernel >= PS_FMM_KERNEL_COUNT || sources->dipoles || targets->hessian;
}

void ps_fmm_interact(ps_precision precision, const ps_fmm_p2p *p)
{
    if (ps_fmm_needs_moments(p->function.kernel, p->sources, p->targets)) {
        ps_fmm_moment_p2p(p);
        return;
    }
    if (precision == PS_SINGLE && ps_fmm_p2p_close(p)) precision = PS_DOUBLE;
    ps_fmm_p2p_functions_of(PS_BACKEND_CPU, precision)->interact[p->function.kernel](p);
}
