/*
 * Direct sums of a check (fmm.h) on a device that has all sources, by its P2P.
 */
#ifndef PS_COMPUTE_FMM_CHECK_DEVICE_H
#define PS_COMPUTE_FMM_CHECK_DEVICE_H

#include "compute/fmm/fmm.h"

typedef struct fmm_device_sources {
    ps_stream *stream;
    const double *columns; /* [3 + S][count] on the device: x, y, z, charges */
    int64_t count;
} fmm_device_sources;

/* Whether a workspace of so many bytes on the device is enough. */
bool fmm_check_fits_device(const fmm_check *check, int64_t sources, int64_t bytes);
/* Adds the direct sums; the mean magnitudes are fmm_check_charges'. Waits for the stream. */
ps_status fmm_check_sum_on_device(const fmm_problem *p, fmm_check *check,
                                  const fmm_device_sources *sources, void *workspace,
                                  int64_t bytes);

/* Adds sources charges[S][stride], on the host, to the mean magnitudes. OpenMP inside. */
void fmm_check_charges(const fmm_problem *p, fmm_check *check, const double *charges,
                       int64_t stride, int64_t count);

#endif
