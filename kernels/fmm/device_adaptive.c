/* The operators of adaptive trees where there is no CUDA: they say so. */
#include "kernels/fmm/device_adaptive.h"

#ifndef PS_WITH_CUDA
static ps_status no_cuda(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

ps_status ps_fmm_device_p2m_any(const ps_fmm_device_method *method,
                                const ps_fmm_device_any_leaves *leaves,
                                const ps_fmm_device_vectors *multipoles, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_l2p_any(const ps_fmm_device_method *method,
                                const ps_fmm_device_any_leaves *leaves,
                                const ps_fmm_device_vectors *locals, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_p2p_any_run(const ps_fmm_device_method *method,
                                    const ps_fmm_device_p2p_any *p2p, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_m2p_run(const ps_fmm_device_method *method, const ps_fmm_device_m2p *m2p,
                                ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_p2l_run(const ps_fmm_device_method *method, const ps_fmm_device_p2l *p2l,
                                ps_stream *stream)
{
    return no_cuda();
}
#endif
