/*
 * traces_device: the vectors of interface.h on a CUDA device, fp64.
 *
 * A vector has the own traces, `face` values each, one behind the other. Scalar products are taken
 * trace by trace in pieces that depend on `face` alone and come to the host, where those of all
 * ranks are added: their bits depend neither on the number of ranks nor on the run.
 */
#ifndef PS_KERNELS_SCHWARZ_TRACES_DEVICE_H
#define PS_KERNELS_SCHWARZ_TRACES_DEVICE_H

#include "kernels/schwarz/interface.h"
#include "kernels/schwarz/slab_box.h"
#include "runtime/device.h"

typedef struct ps_traces_device {
    int64_t traces, face; /* here, and values of one */
    int64_t first, all;   /* number of the first trace here; traces of all ranks */
    ps_stream *stream;    /* work is enqueued on it; scalar products wait for it */
    void *memory;         /* device memory, ps_traces_device_bytes */
    double *sums;         /* [vectors][traces] of host memory, best pinned */
} ps_traces_device;

/* Bytes of device memory that scalar products of so many vectors with one take. */
int64_t ps_traces_device_bytes(int64_t vectors, int64_t traces);

/* The operations on them; borrows `device`, which must outlive it. basis: device memory. PS_FAILED,
 * with CUDA's text, if a launch fails, or without a CUDA device. */
ps_interface_vectors ps_traces_device_vectors(ps_traces_device *device, double *basis);

/* low[traces][count] = the values at modes[count] of each trace of r, and back; all of it device
 * memory. Enqueued. */
typedef struct ps_traces_modes {
    int64_t count, traces, face;
    const int32_t *modes;
    double *low;
} ps_traces_modes;
ps_status ps_traces_device_gather(const ps_traces_modes *modes, const double *r, ps_stream *stream);
ps_status ps_traces_device_scatter(const ps_traces_modes *modes, double *r, ps_stream *stream);
/* ps_slab_box_solve_low of all traces, low[2 (slabs - 1)][count], in place; mu[face]: of the modes.
 * space[slabs][count]. All of it device memory. Enqueued. */
typedef struct ps_traces_low {
    ps_low_system system;
    int64_t count;
    const int32_t *modes;
    const double *mu;
    double *low, *space;
} ps_traces_low;
ps_status ps_traces_device_solve_low(const ps_traces_low *low, ps_stream *stream);

/* Private (traces_cuda.cu). A sum of products, or y += sum factors[v] a[v], or one of the others.
 */
enum { PS_TRACES_PIECES = 16 };
ps_status ps_traces_dots_cuda(const ps_traces_device *device, int64_t count, const double *a,
                              const double *b);
ps_status ps_traces_add_cuda(const ps_traces_device *device, int64_t count, const double *factors,
                             const double *a, double *y);
ps_status ps_traces_subtract_cuda(const ps_traces_device *device, const double *x, double *y);
ps_status ps_traces_divide_cuda(const ps_traces_device *device, double by, double *x);
ps_status ps_traces_modes_cuda(const ps_traces_modes *modes, bool gather, double *r,
                               ps_stream *stream);
ps_status ps_traces_low_cuda(const ps_traces_low *low, ps_stream *stream);

#endif
