/*
 * Shared by the files of slice_symmetric: the table in memory, and what kernels are called with.
 *
 * The table: parts[parts]; units[units + 1], first rows of runs of at most 32 rows that no partial
 * sum covers in part; rounds[rounds]; begins[rounds][units + 1]; entries[entries]: of each round
 * and unit the places in scratch memory of the partial sums of its rows, in the order in which they
 * are added. Each array begins at a multiple of 128 bytes. A place counts rows of n_g sums.
 */
#ifndef PS_KERNELS_TDBEM_SLICE_SYMMETRIC_INTERNAL_H
#define PS_KERNELS_TDBEM_SLICE_SYMMETRIC_INTERNAL_H

#include "kernels/tdbem/slice_symmetric.h"

/* Some slices of a warp of rows. Offsets in bytes from the base. */
typedef struct ps_symmetric_part {
    int64_t values, starts, widths, scales;
    int32_t row, rows, slice, slices; /* global first row and slice */
    int32_t columns;                  /* of all slices */
    int32_t forward, transposed;      /* places of the partial sums; transposed -1: none */
    int32_t reserved;
} ps_symmetric_part;

typedef struct ps_symmetric_round {
    int32_t first, parts;
} ps_symmetric_round;

/* What the kernels of a round get, device pointers. */
typedef struct ps_symmetric_launch {
    const char *base;
    const ps_symmetric_part *parts; /* of the round */
    const int32_t *units, *begins, *entries;
    const void *past;
    void *scratch, *sums;
    int64_t past_stride, past_origin, past_end, sums_stride; /* past_end: items of all of it */
    int32_t part_count, unit_count, group, unknowns;
} ps_symmetric_launch;

/* slice_symmetric_cuda.cu. `stream`: cudaStream_t of a device that is current. */
ps_status ps_symmetric_cuda(const ps_symmetric_plan *plan, const ps_symmetric_launch *launch,
                            void *stream);
/* The same in plain loops (slice_symmetric_here.c). */
void ps_symmetric_here(const ps_symmetric_plan *plan, const ps_symmetric_launch *launch);

#endif
