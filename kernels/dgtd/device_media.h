/*
 * device_media: media with poles or tensors (dispersion.h) on a device, where the half step of E
 * does what they do itself: a value of E is met with its states while it is updated.
 *
 * States are as the host's, but of coefficients: all that a medium does is linear and the same at
 * all nodes of an element. Bytes an element beside the half step's own: 24 Np a state, of elements
 * that have some.
 *
 * Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_MEDIA_H
#define PS_KERNELS_DGTD_DEVICE_MEDIA_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/dispersion.h"

/* Numbers of a law: K and M as dispersion.h has them, then add, own, cross, drive of each state. */
enum { PS_DGTD_LAW_REALS = 12 + 4 * PS_DGTD_STATES_MAX };

typedef struct ps_dgtd_device_media {
    const ps_dgtd_dispersion *host; /* whose rows tell where states lie              */
    int32_t *counts;                /* the rest on the device: [laws][2] states, pairs */
    void *laws;                     /* real [laws][PS_DGTD_LAW_REALS]                */
    int32_t *law_of, *row_of;       /* as the host's                                 */
    int64_t *first;
    void *state;
} ps_dgtd_device_media;

/* Bytes on the device for media of the host that were counted; the pointers, once they are filled;
 * the tables and states, which waits. The host's must stay as long as the device's are used. */
int64_t ps_dgtd_device_media_bytes(const ps_dgtd_dispersion *host, const ps_dgtd_device *device);
void ps_dgtd_device_media_attach(ps_dgtd_device_media *media, const ps_dgtd_dispersion *host,
                                 const ps_dgtd_device *device, void *memory);
ps_status ps_dgtd_device_media_upload(const ps_dgtd_device_media *media,
                                      const ps_dgtd_device *device, ps_stream *stream);

/* States from the host to the device, or `back`. Waits. */
ps_status ps_dgtd_device_media_states(const ps_dgtd_device_media *media,
                                      const ps_dgtd_device *device, bool back, ps_stream *stream);

#endif
