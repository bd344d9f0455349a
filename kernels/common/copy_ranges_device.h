/* Shared by copy_ranges.c and copy_ranges_cuda.cu. Private to them. */
#ifndef PS_KERNELS_COMMON_COPY_RANGES_DEVICE_H
#define PS_KERNELS_COMMON_COPY_RANGES_DEVICE_H

#include "kernels/common/copy_ranges.h"

ps_status ps_copy_ranges_cuda(const ps_copy_ranges *copy, ps_stream *stream);

#endif
