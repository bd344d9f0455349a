/*
 * near_pack: the near matrices (kernels/tdbem/radiation.h) in the order in which those read them
 * who serve several steps at once: a device that solves group after group
 * (kernels/tdbem/group_solve.h), packed here from compressed rows, and cores
 * (kernels/tdbem/radiation_pass.h), packed from the tiles (kernels/tdbem/near_build.h).
 *
 * Far part: all of M^1 .. M^{n_g-1}, by warps of 32 consecutive rows. A vector is a column that
 * any row of the warp knows: `width` values a row, those of row r from m = starts[r] on, so that
 * the 32 rows read one column's past and values side by side. Vectors are ordered by the first m
 * of any row: what step g needs of a warp is a prefix. Rows that lack the column, and places
 * beyond a row's last m, hold zeros; starts[r] + width <= n_g always.
 *
 * Inner part, for devices: M^1 .. M^{PS_NEAR_STRIDE-1} once more, by rows, m ascending in a row:
 * what the steps between two passes over the far part owe each other.
 */
#ifndef PS_KERNELS_TDBEM_NEAR_PACK_H
#define PS_KERNELS_TDBEM_NEAR_PACK_H

#include <stdbool.h>

#include "kernels/tdbem/radiation.h"

enum {
    PS_NEAR_STRIDE = 4, /* steps that one pass over the far part serves */
    PS_NEAR_ROWS = 32,  /* rows of a warp */
    PS_NEAR_COLUMN_BITS = 30
};

typedef struct ps_near_vector {
    int32_t column, first, width; /* first: least m of any row                  */
    int32_t offset;               /* values[offset + q][r], q = 0 .. width - 1  */
} ps_near_vector;

/* Pointers are the caller's memory, of the host or of a device. warps = ceil(unknowns / 32). */
typedef struct ps_packed_near {
    int64_t unknowns, group;
    ps_precision precision;
    bool inner; /* is there an inner part? else its arrays are NULL                */
    int64_t vector_count, value_count, inner_count; /* value_count: in rows of 32               */
    int64_t *vector_start;   /* [warps + 1]                                                     */
    int32_t *reach;          /* [warps][group] vectors of a warp with first <= m                */
    ps_near_vector *vectors; /* [vector_count]                                                  */
    uint8_t *starts;         /* [vector_count][32]                                              */
    void *values;            /* [value_count][32] float or double                               */
    int32_t *inner_start;    /* [unknowns][3] + 1: of M^1, M^2, M^3                             */
    uint32_t *inner_words;   /* [inner_count] column | (m - 1) << PS_NEAR_COLUMN_BITS           */
    void *inner_values;      /* [inner_count]                                                   */
} ps_packed_near;

/* What packing works on. All arrays are the caller's. */
typedef struct ps_near_packing {
    const ps_near *near;
    int threads;
    void *scratch;  /* threads * ps_near_packing_scratch(unknowns) bytes */
    int64_t *tally; /* [2 * (warps + 1)]; from measure to fill           */
} ps_near_packing;

int64_t ps_near_packing_scratch(int64_t unknowns);

/* Sets all of *out but the pointers. PS_USAGE if there are more unknowns, or inner entries, or
 * values, than its integers hold. Threaded; the result does not depend on the threads. */
ps_status ps_near_packing_measure(const ps_near_packing *packing, ps_packed_near *out);
/* Bytes of a measured packing, and its pointers into `memory` of any device (64-byte aligned). */
int64_t ps_packed_near_bytes(const ps_packed_near *packed);
int64_t ps_packed_near_attach(ps_packed_near *packed, void *memory);
/* Fills it, placed in host memory. */
void ps_near_packing_fill(const ps_near_packing *packing, ps_packed_near *packed);

/* sums[unknowns] += the radiation of step `g` of the group (0: nothing), from recent[g][unknowns],
 * the densities of its steps so far, in the precision of the matrices; in host memory. Sums in
 * fp64. */
void ps_packed_near_add(const ps_packed_near *packed, const void *recent, int64_t g, double *sums);

#endif
