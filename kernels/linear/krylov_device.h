/*
 * krylov_device: the methods of krylov.h on a CUDA device, scalars and decisions included.
 *
 * The passes are those of the team of CPU cores, in fp32 or fp64 (sums and scalars always in fp64).
 * The last block of each launch adds the partial sums in their order and takes the step of the
 * method (krylov_step_body.h), so the host only enqueues: some iterations at a time as a graph,
 * whose launches do nothing once the verdict is there; one graph is always ahead of the
 * verdict that the host reads. Same bits in every run.
 *
 * P-CG without a matrix takes two launches an iteration, which make p = D^-1 r + beta p and the
 * product A p on the way and never store A p: 64 bytes a row and iteration in fp64.
 */
#ifndef PS_KERNELS_LINEAR_KRYLOV_DEVICE_H
#define PS_KERNELS_LINEAR_KRYLOV_DEVICE_H

#include "kernels/linear/csr_device.h"
#include "kernels/linear/krylov.h"
#include "kernels/linear/stencil.h"
#include "runtime/device.h"

/* One of matrix and stencil. Vectors are device memory of the precision. With a stencil, fixed rows
 * of x are set to those of b. */
typedef struct ps_krylov_device_system {
    ps_precision precision;
    const ps_csr_device *matrix;    /* of the same precision, with inverse_diagonal[rows] */
    const void *inverse_diagonal;   /* NULL with a stencil */
    const ps_slab_stencil *stencil; /* on the host         */
    const void *b;                  /* [rows] */
    void *x;                        /* [rows], first guess, then the solution */
} ps_krylov_device_system;

typedef struct ps_krylov_device_control {
    double tolerance; /* |r| <= tolerance |b| */
    int64_t limit;
    /* After every PS_KRYLOV_GRAPH iterations and at the end, on the host; a status other than PS_OK
     * ends the solve with it. May be NULL. */
    ps_status (*watch)(void *context, int64_t iteration, double residual);
    void *context;
    int64_t planes; /* that a warp marches (vectors_device.h); 0: by the model */
} ps_krylov_device_control;

enum { PS_KRYLOV_GRAPH = 16 };

/* Bytes of device memory that a solve needs. */
int64_t ps_krylov_device_workspace(ps_krylov_method method, const ps_krylov_device_system *system);

/* Solves A x = b; returns when x is there. Errors as ps_krylov_solve's, and PS_USAGE unless the
 * system has either a matrix with its diagonal or a stencil, PS_FAILED without a CUDA device. */
ps_status ps_krylov_device_solve(ps_krylov_method method, const ps_krylov_device_system *system,
                                 const ps_krylov_device_control *control, void *workspace,
                                 ps_stream *stream, ps_krylov_result *result);

/* P-CG with its vectors in fp32 and residuals in fp64 (krylov_mixed.h) for a stencil without free
 * faces, system->precision fp64: the iterations of fp64 with half the traffic. Errors as
 * ps_krylov_device_solve's; PS_FAILED, too, where residuals made anew stop falling; PS_USAGE for
 * other systems. */
int64_t ps_krylov_device_mixed_workspace(const ps_krylov_device_system *system);
ps_status ps_krylov_device_mixed(const ps_krylov_device_system *system,
                                 const ps_krylov_device_control *control, void *workspace,
                                 ps_stream *stream, ps_krylov_result *result);

#endif
