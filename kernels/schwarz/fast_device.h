/*
 * fast_device: the direct solution of fast_solve.h on a CUDA device, in fp32 or fp64.
 *
 * Sine transforms are products with dense matrices, even and odd modes apart, in fp64 on the tensor
 * units (2 n (ny + nz) flops in all), tridiagonal systems in
 * pieces (mode_pieces_body.h). Modes have the layout of
 * fast_solve.h: [planes][my][stride]. Work is enqueued on a stream of a CUDA device, PS_FAILED
 * without one.
 */
#ifndef PS_KERNELS_SCHWARZ_FAST_DEVICE_H
#define PS_KERNELS_SCHWARZ_FAST_DEVICE_H

#include "kernels/schwarz/fast_solve.h"
#include "runtime/device.h"
#include "runtime/isa.h"

enum { PS_SINE_DEPTH = 8, PS_SINE_TILES = 20 };

/* Sines of an axis in device memory, as a warp wants them: [to modes, to nodes][chunks][steps]
 * [matrices][chunk_tiles], tiles of PS_SINE_DEPTH x 8 with two values of each lane side by side. A
 * chunk has at most PS_SINE_TILES tiles; zeros beyond (n + 1) / 2. One matrix is for both parities if
 * n is even. */
typedef struct ps_sine_table {
    int64_t n;
    int steps, chunks, chunk_tiles, matrices;
    double *values;
} ps_sine_table;

typedef struct ps_fast_device {
    ps_precision precision;
    ps_slab slab;
    int64_t my, mz, stride; /* as in ps_fast_solver */
    ps_sine_table sines[2]; /* along y, z */
    double *mu, *inverse;   /* [my][stride], device memory; `inverse` is 0 on padding */
    void *entry;            /* the slab, for its sweeps */
} ps_fast_device;

/* Bytes of device memory for the tables, which are made there. The slab's p and q as for
 * ps_fast_solver_make. */
int64_t ps_fast_device_bytes(ps_precision precision, const ps_slab *slab);
ps_status ps_fast_device_make(ps_precision precision, const ps_slab *slab, void *memory,
                              ps_stream *stream, ps_fast_device *out);

/* x = A^-1 b, both real [nodes] on the device, may be the same; fixed rows x = b. workspace: device
 * memory. fp64: to rounding as the CPU's. fp32: vectors in fp32, products and recurrences in fp64.
 */
int64_t ps_fast_device_workspace(ps_precision precision, const ps_slab *slab);
ps_status ps_fast_device_solve(const ps_fast_device *solver, const void *b, void *x,
                               void *workspace, ps_stream *stream);

/* `count` planes between nodes [count][ny nz] and modes [count][my stride]; nodes that are fixed
 * by y and z stay untouched. scratch: as large as modes. */
ps_status ps_fast_device_to_modes(const ps_fast_device *solver, int64_t count, const void *nodes,
                                  void *modes, void *scratch, ps_stream *stream);
ps_status ps_fast_device_to_nodes(const ps_fast_device *solver, int64_t count, const void *modes,
                                  void *nodes, void *scratch, ps_stream *stream);

#endif
