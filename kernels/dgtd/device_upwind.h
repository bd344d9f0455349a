/*
 * device_upwind: what the upwind flux adds to half steps (upwind.h) on a device: the same formula
 * on Bernstein coefficients, a thread an element. Needs a copy of both fields and Z of all
 * neighbours. Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_UPWIND_H
#define PS_KERNELS_DGTD_DEVICE_UPWIND_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/upwind.h"

typedef struct ps_dgtd_device_upwind {
    int64_t groups;  /* of a field with its halo                 */
    int windowed;    /* `former` is the caller's, who sets it    */
    void *former[2]; /* E, H                                     */
    void *own, *other;
} ps_dgtd_device_upwind;

/* Sizes of a device's fields with so many halo slots; the pointers, and bytes. */
void ps_dgtd_device_upwind_shape(ps_dgtd_device_upwind *out, const ps_dgtd_device *device,
                                 int64_t halo_slots, int windowed);
int64_t ps_dgtd_device_upwind_place(ps_dgtd_device_upwind *upwind, const ps_dgtd_device *device,
                                    void *memory);
/* Impedances of the host's, which has been filled. Waits. */
ps_status ps_dgtd_device_upwind_upload(const ps_dgtd_device_upwind *upwind,
                                       const ps_dgtd_device *device, const ps_dgtd_upwind *host,
                                       ps_stream *stream);

/* As ps_dgtd_upwind_start and _apply, for parts that are not linked to one another. The halo of the
 * source, where there is one, is kept by .._halo, once a half step, when it is there. */
ps_status ps_dgtd_device_upwind_start(const ps_dgtd_device_upwind *upwind,
                                      const ps_dgtd_device *device, const void *electric,
                                      ps_stream *stream);
ps_status ps_dgtd_device_upwind_halo(const ps_dgtd_device_upwind *upwind,
                                     const ps_dgtd_device *device, ps_dgtd_field field,
                                     const void *source, ps_stream *stream);
ps_status ps_dgtd_device_upwind_apply(const ps_dgtd_device_upwind *upwind,
                                      const ps_dgtd_device *device, ps_dgtd_field field,
                                      void *target, const void *source,
                                      const ps_dgtd_device_part *parts, int count,
                                      ps_stream *stream);

#endif
