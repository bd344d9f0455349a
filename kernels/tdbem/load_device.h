/*
 * load_device: the right-hand sides of several steps (kernels/tdbem/load.h) on the device of a
 * stream, where the group solver (kernels/tdbem/group_solve.h) takes them.
 */
#ifndef PS_KERNELS_TDBEM_LOAD_DEVICE_H
#define PS_KERNELS_TDBEM_LOAD_DEVICE_H

#include "kernels/tdbem/load.h"
#include "runtime/device.h"

/* The mesh, and for every vertex the corners of triangles that meet there: corner 3 t + a is
 * triangles[3 t + a]. Pointers are the caller's memory, of the host or of a device. */
typedef struct ps_device_load {
    ps_formulation formulation;
    double dt;       /* s */
    double combined; /* as in ps_load */
    ps_incident incident;
    int64_t vertex_count, triangle_count;
    double *vertices;      /* [vertex_count][3], m                                   */
    int32_t *triangles;    /* [triangle_count][3]                                    */
    int32_t *corner_start; /* [vertex_count + 1]                                     */
    int32_t *corners;      /* [3 triangle_count], ascending within a vertex          */
} ps_device_load;

/* All of a load but the pointers; bytes for these; and the pointers into `memory` of any device
 * (64-byte aligned). */
ps_device_load ps_device_load_shape(const ps_load *load);
int64_t ps_device_load_bytes(const ps_device_load *load);
int64_t ps_device_load_attach(ps_device_load *load, void *memory);
/* Fills the arrays of `out`, placed in host memory. */
void ps_device_load_fill(const ps_load *load, ps_device_load *out);

/* Bytes of workspace for this many steps at a time. */
int64_t ps_device_load_workspace(const ps_device_load *load, int64_t count);

/* Enqueues out[count][unknowns] = l^n, ..., l^{n+count-1}, n >= 1: those of ps_load_evaluate to
 * rounding; bit for bit on the CPU. load's arrays, out and workspace are memory of the stream's
 * device. PS_FAILED if a launch fails. */
ps_status ps_device_load_run(const ps_device_load *load, int64_t n, int64_t count, double *out,
                             double *workspace, ps_stream *stream);

/* On CUDA, of the above. */
ps_status ps_device_load_cuda(const ps_device_load *load, int64_t n, int64_t count, double *out,
                              double *workspace, ps_stream *stream);

#endif
