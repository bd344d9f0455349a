/*
 * device_symmetric: what device_summation does where tiles stand for their mirror images: batches
 * of a stream, or all tiles that a device holds from their assembly on (held.h).
 */
#ifndef PS_TDBEM_MARCH_DEVICE_SYMMETRIC_H
#define PS_TDBEM_MARCH_DEVICE_SYMMETRIC_H

#include "compute/tdbem_march/device_summation.h"

/* What a batch of tiles is multiplied by. */
typedef struct symmetric_batch symmetric_batch;

/* For a stream's batch, and for the chunks [first, first + count) of tiles that the device holds.
 */
ps_status symmetric_batch_open(device_summation *summation, const ps_batch_images *images,
                               symmetric_batch **out);
ps_status symmetric_batch_held(device_summation *summation, int64_t first, int64_t count,
                               symmetric_batch **out);
void symmetric_batch_close(device_summation *summation, symmetric_batch **batch);
/* Enqueues its part of a sweep; base: of the batch, NULL: of the tiles that the device holds. */
ps_status symmetric_batch_compute(const device_summation *summation, const symmetric_batch *batch,
                                  const void *base, ps_stream *stream);

#endif
