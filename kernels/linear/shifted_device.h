/*
 * shifted_device: the systems (M - c L) x = b of shifted_solve.h on a CUDA device, by the same
 * method. All iterations of up to 16 systems are one cooperative launch, two passes over the rows
 * and two barriers of the grid each; a system that has converged leaves. A system's bits do not
 * depend on the others; they do on the device, whose blocks have sums of their own.
 *
 * A row and iteration of a system: 20 bytes an entry and 11 complex numbers, mostly from the L2
 * cache; 12 flops an entry and 60.
 */
#ifndef PS_KERNELS_LINEAR_SHIFTED_DEVICE_H
#define PS_KERNELS_LINEAR_SHIFTED_DEVICE_H

#include "kernels/linear/shifted_solve.h"
#include "runtime/device.h"

enum { PS_SHIFTED_DEVICE_SYSTEMS = 16, PS_SHIFTED_DEVICE_BLOCKS = 1024, PS_SHIFTED_VECTORS = 6 };

/* What a system came to. */
typedef struct ps_shifted_outcome {
    int64_t iterations;
    double residual; /* relative; not finite where numbers are not */
} ps_shifted_outcome;

/* Matrix and vectors in device memory, complex numbers as pairs. */
typedef struct ps_shifted_device {
    ps_pencil matrix;             /* pointers of the device                                      */
    double *diagonal;             /* [dofs][2] of M and L                                        */
    double *b;                    /* [systems][2][dofs], of which several systems may share one  */
    double *x;                    /* [systems][2][dofs]                                          */
    double *vectors;              /* [PS_SHIFTED_VECTORS][systems][dofs][2]                      */
    double *sums;                 /* [2][blocks][systems][3]                                     */
    ps_shifted_outcome *outcomes; /* [systems]                                            */
    ps_stream *stream;
    double tolerance;
    int64_t limit, iterations; /* of a system at most; of all launches so far             */
} ps_shifted_device;

/* Bytes of device memory for a matrix. */
int64_t ps_shifted_device_bytes(const ps_pencil *matrix);
/* Places the pieces in it and copies the matrix; diagonal[2 dofs] is scratch of the host. Sets all
 * but tolerance and limit. Waits. */
ps_status ps_shifted_device_upload(const ps_pencil *matrix, double *diagonal, void *memory,
                                   ps_stream *stream, ps_shifted_device *out);

/* A ps_shifted_solver, whose context is a ps_shifted_device: complex systems (2 parts) of vectors
 * in host memory. Waits. Errors as ps_shifted_solve. */
ps_status ps_shifted_device_solve(void *context, int64_t count, const ps_shifted_system *systems);

/* Private (shifted_cuda.cu): enqueues the solution of `count` systems, system s with the right-hand
 * side number from[s] of b. */
ps_status ps_shifted_device_run(const ps_shifted_device *device, int count, const int *from,
                                const double (*shift)[2]);

#endif
