/*
 * device: what the ways to solve on CUDA devices share.
 */
#ifndef PS_SCHWARZ_SOLVE_DEVICE_H
#define PS_SCHWARZ_SOLVE_DEVICE_H

#include "compute/schwarz_solve/solve.h"
#include "kernels/schwarz/slab_device.h"

/* Bytes of the device that may be taken: --device-memory, or what is free. */
int64_t device_allowed(const solve_problem *p);
/* What every way has on a device. */
typedef struct device_base {
    ps_stream *stream;
    char *memory; /* of the device: all that the way needs */
} device_base;
/* A stream and memory: PS_EXHAUSTED, saying what helps, beyond what is allowed. */
ps_status device_base_open(const solve_problem *p, int64_t bytes, device_base *out);
void device_base_close(const solve_problem *p, device_base *base);

/* Copies values between a device and the host; waits. */
ps_status device_copy(ps_stream *stream, bool to_host, int64_t count, double *there, double *here);

/* The slabs of this rank; and a host box that keeps one slab, for its tables, its coarse space and
 * the numbers of its traces: it cannot be walked. */
ps_slab_device_plan device_slab_plan(const solve_problem *p);
ps_slab_box_plan device_host_plan(const solve_problem *p);

/* Slabs between the load's file and a device, some planes at a time; the field goes to the output.
 */
typedef struct device_planes {
    solve_problem *p;
    const ps_slab_device *box;
    ps_stream *stream;
    double *here, *there; /* nodes of the largest slab, on the host and on the device; borrowed */
} device_planes;
/* Reads the load of a slab, to `here` and `there`. Enqueued: wait before the next one. */
ps_status device_read_slab(const device_planes *d, int64_t slab, int64_t *first, int64_t *count);
/* Writes a slab of the field whose load was read last; an interface plane goes with the slab on its
 * left. */
ps_status device_write_slab(const device_planes *d, int64_t slab, plane_writer *writer);

#endif
