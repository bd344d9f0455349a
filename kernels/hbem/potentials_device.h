/*
 * potentials_device: the sums of kernels/hbem/potentials.h on the CUDA device of a stream.
 *
 * In fp64 to rounding those of the CPU. With PS_SINGLE distances and phases are taken in fp64 and
 * reduced, everything else in fp32, tiles of sources added up in fp64: errors of 1e-6 of the sum
 * of magnitudes at any k r. Bits depend on the task alone, not on the device.
 */
#ifndef PS_KERNELS_HBEM_POTENTIALS_DEVICE_H
#define PS_KERNELS_HBEM_POTENTIALS_DEVICE_H

#include "kernels/hbem/potentials.h"
#include "runtime/device.h"

/* Sizes, and pointers into memory of the host or of a device. */
typedef struct ps_device_potential {
    ps_hbem_potential kind;
    ps_precision precision;
    double wavenumber, absorption;
    int columns; /* 1 .. PS_DEVICE_POTENTIAL_COLUMNS */
    int numbers; /* columns x parts */
    int64_t triangle_count, target_count;
    int64_t splits;    /* parts of the sources, summed separately                          */
    double *triangles; /* [triangle_count][13]: corners, normal, J                         */
    double *densities; /* [triangle_count][3][numbers] at the corners                      */
    double *targets;   /* [target_count][3]                                                */
    double *sums;      /* [target_count][numbers], without constant factors                */
    double *partial;   /* [splits][target_count][numbers]; NULL in memory of the host      */
} ps_device_potential;

enum { PS_DEVICE_POTENTIAL_COLUMNS = 8, PS_DEVICE_POTENTIAL_ROW = 13 };

/* All but the pointers. PS_USAGE for more columns than a launch takes. */
ps_status ps_device_potential_shape(const ps_hbem_potential_task *task, ps_precision precision,
                                    ps_device_potential *out);

/* Bytes for the pointers (in host memory without partial), and the pointers into `memory`
 * (64-byte aligned). The order is that of the members: what is copied lies in front. */
int64_t ps_device_potential_bytes(const ps_device_potential *potential, bool device);
int64_t ps_device_potential_attach(ps_device_potential *potential, bool device, void *memory);

/* The surface, and the densities with the targets, into host memory. */
void ps_device_potential_fill_surface(const ps_hbem_potential_task *task, ps_device_potential *out);
void ps_device_potential_fill(const ps_hbem_potential_task *task, ps_device_potential *out);

/* Enqueues sums. rule is the task's. PS_FAILED if a launch fails or there is no CUDA. */
ps_status ps_device_potential_run(const ps_device_potential *potential, const ps_hbem_rule *rule,
                                  ps_stream *stream);

/* Adds factor x constant x sums (host memory) to the task's values. */
void ps_device_potential_add(const ps_hbem_potential_task *task, const double *sums);

#endif
