/*
 * factor_device: the factors of sparse_factor.h on a CUDA device, for all shifts of a square root
 * at once, made there and applied there: y = sum_j weight_j (M - shift_j L)^-1 b.
 *
 * Depth after depth, all nodes and shifts of one side by side. Factors: `assemble` gathers what
 * the children left and the entries, `invert` sweeps pivot blocks 16 pivots at a time, two products
 * make W and what is left. Solutions: `down` and `up`, each a launch a depth, 32 rows or pivots by
 * a block. A side's bits do not depend on the others.
 *
 * bytes of a solution: 16 for each number of A^-1 and 32 for each of W, whatever the sides up to
 * PS_FACTOR_SIDES; flops: 8 for each of A^-1, 16 of W and side.
 */
#ifndef PS_KERNELS_HBEM_FACTOR_DEVICE_H
#define PS_KERNELS_HBEM_FACTOR_DEVICE_H

#include "kernels/hbem/sparse_factor.h"
#include "runtime/device.h"

enum { PS_FACTOR_SIDES = 8, PS_FACTOR_SHIFTS = 40, PS_FACTOR_BAND = 16 };

typedef struct ps_factor_device {
    ps_dissection d;     /* of the host                                                  */
    ps_dissection there; /* pointers of the device                                       */
    ps_pencil matrix;    /* pointers of the device; columns are not used                 */
    int count;           /* shifts                                                       */
    double shift[PS_FACTOR_SHIFTS][2];
    double *numbers;                       /* [shifts][d.numbers][2]                        */
    double *b, *y;                         /* [PS_FACTOR_SIDES][2][dofs]: given, wanted     */
    double *in;                            /* [sides][dofs][2] places                       */
    double *pivots, *x;                    /* [shifts][sides][dofs][2]                      */
    double *left;                          /* [shifts][sides][rows][2]                      */
    int64_t *square_first, *scratch_first; /* [nodes] of the device                        */
    int64_t square, scratch;               /* complex numbers of a shift, at most of a depth */
    int32_t *bad;                          /* counts blocks that are singular               */
    double *squares[2],
        *scratches; /* [shifts][square], [shifts][scratch], while factors are made */
    ps_stream *stream;
} ps_factor_device;

/* int64_t of `firsts`, scratch of the host. */
static inline int64_t ps_factor_device_firsts(const ps_dissection *d) { return 2 * d->nodes; }

/* Sets sizes for `count` shifts, and firsts. */
ps_status ps_factor_device_measure(const ps_dissection *d, int count, int64_t *firsts,
                                   ps_factor_device *out);
/* Bytes of device memory that stays, and of what is needed while factors are made. */
int64_t ps_factor_device_bytes(const ps_factor_device *device);
int64_t ps_factor_device_scratch(const ps_factor_device *device);

/* Copies tables and matrix, and makes the factors. Waits. PS_FAILED where a block is singular or
 * numbers are not finite. */
ps_status ps_factor_device_make(ps_factor_device *device, const ps_pencil *matrix,
                                const int64_t *firsts, void *memory, void *scratch);

/* y[sides][2][dofs] = sum_j weight_j (M - shift_j L)^-1 b[sides][2][dofs] in host memory. Waits. */
ps_status ps_factor_device_apply(const ps_factor_device *device, int64_t sides,
                                 const double (*weight)[2], const double *b, double *y);

/* Private (factor_cuda.cu): enqueue. */
ps_status ps_factor_device_factorise(const ps_factor_device *device);
ps_status ps_factor_device_solve(const ps_factor_device *device, int sides,
                                 const double (*weight)[2]);

#endif
