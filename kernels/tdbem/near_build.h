/*
 * near_build: the near matrices by warps (kernels/tdbem/near_pack.h, no inner part), straight from
 * the tiles: they are never held twice.
 *
 * Vectors of a warp that begin with the same m come in the order of their columns, if slices ascend
 * over the tiles. The result does not depend on layout, tiling (whose rows begin with multiples of
 * 32) or threads.
 */
#ifndef PS_KERNELS_TDBEM_NEAR_BUILD_H
#define PS_KERNELS_TDBEM_NEAR_BUILD_H

#include "kernels/tdbem/near_pack.h"

/* The vector of a warp that is being met: one column of one tile. */
typedef struct ps_near_met {
    int32_t column;                                  /* -1: none                       */
    uint8_t first[PS_NEAR_ROWS], last[PS_NEAR_ROWS]; /* m of a row; first 255: no entry */
} ps_near_met;

/* What building works on. The arrays are the caller's; init makes them ready. */
typedef struct ps_near_build {
    ps_packed_near *packed; /* unknowns, group and precision are set   */
    bool filling;
    ps_near_met *met; /* [warps]                                      */
    void *values;     /* [warps][group][32], precision of the packing */
    int32_t *vectors; /* [warps][group] by first m: how many, then where the next one goes */
    int64_t *rows;    /* [warps][group] of values, likewise */
} ps_near_build;

/* Bytes of the arrays; their places in `memory` (64-byte aligned, of that size). */
int64_t ps_near_build_bytes(int64_t unknowns, int64_t group, ps_precision precision);
void ps_near_build_init(ps_near_build *build, ps_packed_near *packed, void *memory);

/* First pass: take every tile; measure, which sets the counts of *packed. PS_USAGE if there are
 * more unknowns or values than its integers hold. */
void ps_near_build_take(ps_near_build *build, const ps_slice_product *tile);
ps_status ps_near_build_measure(ps_near_build *build);
/* Second pass, once *packed has its memory (ps_packed_near_attach): fill; take every tile again, in
 * the same order; finish. */
void ps_near_build_fill(ps_near_build *build);
void ps_near_build_finish(ps_near_build *build);

#endif
