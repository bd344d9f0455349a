/* Prisms on a device where there is no CUDA: they say so. */
#include "kernels/fmm/device_prism.h"

#ifndef PS_WITH_CUDA
static ps_status no_cuda(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

ps_status ps_device_prism_near(const ps_device_prisms *prisms, int level, const int32_t *around,
                               const ps_device_prism_item *items, int64_t count, int64_t *pairs,
                               ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_near_transposed(const ps_device_prisms *prisms, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_direct(const ps_device_prisms *prisms, const int32_t *index,
                                 int64_t count, double *room, double *out, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_p2m(const ps_device_prisms *prisms,
                              const ps_fmm_interpolation *interpolation, int level,
                              double *multipoles, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_p2m_transposed(const ps_device_prisms *prisms,
                                         const ps_fmm_interpolation *interpolation, int level,
                                         const double *locals, int64_t pieces, double *by_piece,
                                         ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_gather_pieces(const ps_device_prisms *prisms, int64_t pieces,
                                        const double *by_piece, ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_l2p(const ps_device_prisms *prisms,
                              const ps_fmm_interpolation *interpolation, const double *locals,
                              ps_stream *stream)
{
    return no_cuda();
}

ps_status ps_device_prism_l2p_transposed(const ps_device_prisms *prisms,
                                         const ps_fmm_interpolation *interpolation,
                                         double *multipoles, ps_stream *stream)
{
    return no_cuda();
}
#endif
