/*
 * device_pml: a perfectly matched layer (pml.h) on a device, on Bernstein coefficients: frame and
 * stretch are constant in an element, so that the filters are those of values at nodes. States are
 * there for the elements of the layer alone, wherever the fields are. Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_PML_H
#define PS_KERNELS_DGTD_DEVICE_PML_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/pml.h"

typedef struct ps_dgtd_device_pml {
    const ps_dgtd_pml *host; /* whose rows tell ranges; its states are those of checkpoints  */
    int64_t *groups;         /* the rest on the device: [rows]                               */
    void *factors, *frames;  /* real [rows][18][lanes], 0 outside of the layer; [rows][9][lanes] */
    void *state[2], *former; /* as in ps_dgtd_pml                                            */
} ps_dgtd_device_pml;

/* Bytes on the device for a layer of the host that was counted; the pointers, once it is filled;
 * the tables, which waits, through work[ps_dgtd_device_pml_work] of the host. The host's layer must
 * stay as long as the device's is used. */
int64_t ps_dgtd_device_pml_bytes(const ps_dgtd_pml *host, ps_dgtd_pml_shape shape,
                                 const ps_dgtd_device *device);
void ps_dgtd_device_pml_attach(ps_dgtd_device_pml *pml, const ps_dgtd_pml *host,
                               const ps_dgtd_device *device, void *memory);
int64_t ps_dgtd_device_pml_work(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device);
ps_status ps_dgtd_device_pml_upload(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                                    float *work, ps_stream *stream);

/* States from the host's layer to the device, or `back`. Waits. */
ps_status ps_dgtd_device_pml_states(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                                    bool back, ps_stream *stream);

/* As ps_dgtd_pml_keep and _apply for up to PS_DGTD_DEVICE_PARTS parts; enqueued. */
ps_status ps_dgtd_device_pml_keep(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                                  const void *field, const ps_dgtd_device_part *parts, int count,
                                  ps_stream *stream);
ps_status ps_dgtd_device_pml_apply(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                                   ps_dgtd_field which, void *field,
                                   const ps_dgtd_device_part *parts, int count, ps_stream *stream);

#endif
