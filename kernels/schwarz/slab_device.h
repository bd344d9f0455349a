/*
 * slab_device: slabs of a box on a CUDA device, as slab_box.h has them on the host, with `modes`.
 *
 * A device has the slabs first .. end - 1 of a plan, one or many, all solved by one launch: each
 * thread takes a mode of a slab through its planes and back and sends (S1 + S2) u - g on the way.
 * Traces are those of the whole box, [2 (slabs - 1)][face], face = my stride: a device reads the
 * ones that act on its slabs and writes those that its slabs send. So with several devices or
 * ranks, only traces between them move.
 */
#ifndef PS_KERNELS_SCHWARZ_SLAB_DEVICE_H
#define PS_KERNELS_SCHWARZ_SLAB_DEVICE_H

#include "kernels/schwarz/fast_device.h"
#include "kernels/schwarz/interface.h"
#include "kernels/schwarz/slab_box.h"

typedef struct ps_slab_device_plan {
    ps_precision precision;
    ps_q1_grid grid;
    int64_t slabs;      /* of the box, 2 .. (nx - 1) */
    int64_t first, end; /* here */
    ps_transmission transmission;
    bool single; /* one slab at a time (ps_slab_device_visit): the field is of the slab visited
                    last, loads are brought */
} ps_slab_device_plan;

typedef struct ps_slab_device {
    ps_slab_device_plan plan;
    ps_fast_device tables; /* of the whole box */
    int64_t face;          /* values of a plane of modes and of a trace */
    int64_t planes;        /* of the slabs here: those between two of them once; single: of the
                              largest */
    void *entries;         /* device memory, as are the next */
    void *load;            /* [planes][face], in modes: the caller fills it, as he likes by
                              ps_slab_device_set_load; single: for his use */
    void *field;  /* slab after slab, all planes of each: [planes + end - first - 1][face] */
    void *factor; /* as field; also scratch of transforms */
} ps_slab_device;

/* Bytes of device memory; the box made in it. Errors as for ps_slab_box_make. Waits. */
int64_t ps_slab_device_bytes(const ps_slab_device_plan *plan);
ps_status ps_slab_device_make(const ps_slab_device_plan *plan, void *memory, ps_stream *stream,
                              ps_slab_device *out);

/* The first plane of the slabs here is plane ps_slab_first(nx, slabs, first) of the box. */

/* load = modes of planes `at` .. `at` + count - 1 (of those here) of `nodes`, real [count][ny nz]
 * on the device: the load with Dirichlet data lifted. */
ps_status ps_slab_device_set_load(const ps_slab_device *box, int64_t at, int64_t count,
                                  const void *nodes, ps_stream *stream);

/* One exchange of the slabs here: solves (K + S) u = f + g (source) or = g, field = u, and out =
 * what they send. g, out: device memory, all traces of the box; out may not be g. Enqueued. */
ps_status ps_slab_device_exchange(const ps_slab_device *box, bool source, const void *g, void *out,
                                  ps_stream *stream);
/* Single: the same of one slab with this load of its planes (NULL: 0), device memory in modes; out
 * NULL: nothing is sent. */
ps_status ps_slab_device_visit(const ps_slab_device *box, int64_t slab, const void *load,
                               const void *g, void *out, ps_stream *stream);
/* field = u with these traces. */
ps_status ps_slab_device_finish(const ps_slab_device *box, const void *g, ps_stream *stream);

/* nodes[count][ny nz] (device memory, fixed nodes untouched) from planes at .. at + count - 1 of a
 * slab's field. Uses `factor`. */
ps_status ps_slab_device_field(const ps_slab_device *box, int64_t slab, int64_t at, int64_t count,
                               void *nodes, ps_stream *stream);

int64_t ps_slab_device_traces(const ps_slab_device_plan *plan); /* values of all traces */

#endif
