/*
 * traffic: the octree's particles to the memory of one CUDA device, in the order of the file, and
 * results in that order back to who takes them, chunk by chunk through two pinned buffers: a chunk
 * is read, or taken, by all threads while another one is copied.
 */
#ifndef PS_COMPUTE_FMM_TRAFFIC_H
#define PS_COMPUTE_FMM_TRAFFIC_H

#include "compute/fmm/run.h"

typedef struct fmm_traffic {
    ps_device *device; /* borrowed, as is the stream */
    ps_stream *stream;
    ps_event *moved[2];
    double *columns[2]; /* on the device: [3 + S][sources], targets apart: [3][targets] */
    double *results;    /* on the device: [4 S][targets]                                */
    ps_fmm_particles sets[2];
    double charge[PS_RIGHT_HAND_SIDES_MAX]; /* mean magnitudes of charges */
    double lower[3], upper[3];              /* of all places that were read */
    double *staging[2];                     /* pinned: [max(3 + S, 5 S)][capacity] */
    int64_t capacity;
} fmm_traffic;

/* Nothing of memory yet; close also after a failure. */
ps_status fmm_traffic_open(ps_device *device, ps_stream *stream, fmm_traffic *out);
void fmm_traffic_close(fmm_traffic *traffic);

int64_t fmm_traffic_staging(const fmm_run *r);          /* bytes of the host, what reads apart */
int64_t fmm_traffic_device_bytes(const fmm_problem *p); /* of the device                       */

/* Takes memory, and reads all particles; the host waits. OpenMP inside. */
ps_status fmm_traffic_send(const fmm_run *r, fmm_traffic *traffic);
/* Sources that another device has read, to this one; the stream is done then. */
ps_status fmm_traffic_copy(const fmm_problem *p, const fmm_traffic *from, fmm_traffic *to);
/* Direct sums of the samples that are not summed yet, in a workspace of so many bytes on the
 * device, or on the cores where it is too small. */
ps_status fmm_traffic_check(fmm_run *r, const fmm_traffic *traffic, void *workspace, int64_t bytes);
/* Results of the samples of --accuracy alone; the host waits. */
ps_status fmm_traffic_samples(const fmm_run *r, const fmm_traffic *traffic);
/* Results from the device to the sink, the checks and the sums. */
ps_status fmm_traffic_take(fmm_run *r, fmm_traffic *traffic);

#endif
