/*
 * copy_ranges: ranges of one array gathered into another on a device,
 *
 *     to[range.to + i] = from[range.from + i],   i < range.count,
 *
 * for parts of results that lie scattered. On the device of the stream (CUDA, or the CPU device,
 * where it is done at return); asynchronous. What lies between the ranges of `to` stays as it is.
 */
#ifndef PS_KERNELS_COMMON_COPY_RANGES_H
#define PS_KERNELS_COMMON_COPY_RANGES_H

#include <stdint.h>

#include "runtime/device.h"

/* In items. */
typedef struct ps_range {
    int64_t from, to, count;
} ps_range;

typedef struct ps_copy_ranges {
    int item_bytes;         /* 4 or 8                                                       */
    int64_t count;          /* ranges; those of `to` do not overlap                         */
    const ps_range *ranges; /* [count] memory of the stream's device, as the two arrays are */
    const void *from;
    void *to; /* both 16-byte aligned: ranges at multiples of 16 bytes are copied fastest   */
} ps_copy_ranges;

/* PS_USAGE for items of other sizes; PS_FAILED if the launch fails. */
ps_status ps_copy_ranges_run(const ps_copy_ranges *copy, ps_stream *stream);

#endif
