/* The operators where there is no CUDA: they say so. */
#include "kernels/fmm/device_ops.h"

#ifndef PS_WITH_CUDA
static ps_status no_cuda(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

int64_t ps_fmm_device_p2p_workspace(int64_t leaves, int64_t particles) { return 0; }

ps_status ps_fmm_device_p2m(const ps_fmm_device_method *method, const ps_fmm_device_leaves *leaves,
                            const ps_fmm_device_vectors *multipoles, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_l2p(const ps_fmm_device_method *method, const ps_fmm_device_leaves *leaves,
                            const ps_fmm_device_vectors *locals, bool add, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_p2p_run(const ps_fmm_device_method *method, const ps_fmm_device_p2p *p2p,
                                ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_m2m(const ps_fmm_device_method *method, const ps_fmm_device_family *family,
                            bool add, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_l2l(const ps_fmm_device_method *method, const ps_fmm_device_family *family,
                            ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_encode(const ps_fmm_device_method *method, const ps_fmm_device_table *table,
                               int64_t cells, const ps_fmm_device_vectors *multipoles,
                               const ps_fmm_device_vectors *coded, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_fmm_device_m2l_run(const ps_fmm_device_method *method,
                                const ps_fmm_device_table *table, const ps_fmm_device_m2l *m2l,
                                ps_stream *stream)
{
    return no_cuda();
}
#endif
