/*
 * device_growth: the engine of adaptive_growth.h on a CUDA device: a stretch of its memory, handed
 * out piece by piece, and a stream.
 */
#ifndef PS_KERNELS_FMM_DEVICE_GROWTH_H
#define PS_KERNELS_FMM_DEVICE_GROWTH_H

#include "kernels/fmm/adaptive_growth.h"

/* The caller sets all but `used`, which is 0 before each growth. */
typedef struct ps_device_growth {
    ps_stream *stream;
    char *block; /* on the device, 256-byte aligned */
    int64_t bytes, used;
} ps_device_growth;

/* Borrows `growth`. */
ps_growth_engine ps_device_growth_engine(ps_device_growth *growth);

#endif
