/*
 * moment_device: the operators of device_adaptive.h for what is more than charges, to gradients:
 * dipoles, second derivatives, oscillating kernels (moment_p2p.h). fp64. The functions of
 * device_adaptive.h call these where `moments` are given: nobody else does.
 */
#ifndef PS_KERNELS_FMM_MOMENT_DEVICE_H
#define PS_KERNELS_FMM_MOMENT_DEVICE_H

#include "kernels/fmm/device_adaptive.h"

ps_status ps_fmm_device_moment_p2m(const ps_fmm_device_method *method,
                                   const ps_fmm_device_any_leaves *leaves,
                                   const ps_fmm_device_vectors *multipoles, ps_stream *stream);
ps_status ps_fmm_device_moment_l2p(const ps_fmm_device_method *method,
                                   const ps_fmm_device_any_leaves *leaves,
                                   const ps_fmm_device_vectors *locals, ps_stream *stream);
ps_status ps_fmm_device_moment_p2p(const ps_fmm_device_method *method,
                                   const ps_fmm_device_p2p_any *p2p, ps_stream *stream);
ps_status ps_fmm_device_moment_m2p(const ps_fmm_device_method *method, const ps_fmm_device_m2p *m2p,
                                   ps_stream *stream);
ps_status ps_fmm_device_moment_p2l(const ps_fmm_device_method *method, const ps_fmm_device_p2l *p2l,
                                   ps_stream *stream);

#endif
