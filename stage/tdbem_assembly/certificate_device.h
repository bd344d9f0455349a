/*
 * certificate_device: products of the passivity certificate by a CUDA device, whose memory takes
 * the squares of one angle at a time. Private to the assembly.
 */
#ifndef PS_STAGE_TDBEM_ASSEMBLY_CERTIFICATE_DEVICE_H
#define PS_STAGE_TDBEM_ASSEMBLY_CERTIFICATE_DEVICE_H

#include <stdint.h>

#include "runtime/device.h"

/* A square of H: angle by angle, slice by slice, rows ascending; of A the imaginary parts follow.
 */
typedef struct certificate_block {
    int64_t first_row, rows, first_slice, slices;
    float *values; /* NULL: none */
} certificate_block;

/* All squares of a matrix, by slices, then rows; borrowed. */
typedef struct certificate_squares {
    const certificate_block *blocks; /* [tiles * tiles] */
    int64_t unknowns, side, tiles;
    int angles, parts;
} certificate_squares;

typedef struct certificate_device certificate_device;

/* *out is NULL where `room` bytes of the device, or what it has left, are not enough. */
ps_status certificate_device_open(ps_device *device, int64_t room,
                                  const certificate_squares *squares, certificate_device **out);
void certificate_device_close(certificate_device **device);

/* The squares at this angle; products are of these. */
ps_status certificate_device_load(certificate_device *device, int angle);
/* y = H x or (A + A^H) x / 2, host memory [parts][unknowns]. */
ps_status certificate_device_multiply(certificate_device *device, const double *x, double *y);

#endif
