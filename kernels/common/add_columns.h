/*
 * add_columns: one matrix added to another on a device,
 *
 *     to[r * to_stride + c] += from[r * from_stride + c],   r < rows, c < columns,
 *
 * for partial sums of several workers. On the device of the stream (CUDA, or the CPU device, where
 * it is done at return); asynchronous. An item is added once, so bits do not depend on anything.
 */
#ifndef PS_KERNELS_COMMON_ADD_COLUMNS_H
#define PS_KERNELS_COMMON_ADD_COLUMNS_H

#include <stdint.h>

#include "runtime/device.h"
#include "runtime/isa.h"

typedef struct ps_add_columns {
    ps_precision precision; /* of both */
    int64_t rows, columns;
    void *to;                       /* memory of the stream's device */
    const void *from;               /* likewise; does not overlap `to` */
    int64_t to_stride, from_stride; /* items, >= columns */
} ps_add_columns;

/* PS_USAGE for sizes that make no sense; PS_FAILED if the launch fails. */
ps_status ps_add_columns_run(const ps_add_columns *add, ps_stream *stream);

#endif
