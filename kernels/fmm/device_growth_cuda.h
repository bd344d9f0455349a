/* What device_growth.c has of CUDA. Private to it. workspace NULL: *bytes is how much is needed. */
#ifndef PS_KERNELS_FMM_DEVICE_GROWTH_CUDA_H
#define PS_KERNELS_FMM_DEVICE_GROWTH_CUDA_H

#include "kernels/fmm/adaptive_growth.h"

ps_status ps_device_growth_each(ps_stream *stream, ps_growth_step step,
                                const ps_growth_arrays *arrays, int64_t count);
ps_status ps_device_growth_scan(ps_stream *stream, const int32_t *from, int32_t *to, int64_t count,
                                void *workspace, int64_t *bytes);
/* labels[*current], numbers[*current] are the sorted ones. */
ps_status ps_device_growth_sort(ps_stream *stream, uint64_t *labels[2], int32_t *numbers[2],
                                int64_t count, int bits, void *workspace, int64_t *bytes,
                                int *current);

#endif
