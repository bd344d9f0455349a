/*
 * radiation: what the steps of a group owe each other (Bramas, Coulaud, Sylvand 2014, 3.3).
 *
 * The summation stage (kernels/tdbem/slice_product.h) takes the steps of a group n0 .. n0+n_g-1
 * as zero. Once a^{n0} .. a^{n0+g-1} are known, step n0+g still lacks
 *
 *     s^{n0+g}(i) += sum_{m=1..g} sum_j M^m(i,j) a^{n0+g-m}(j),      m <= n_g - 1.
 *
 * These few matrices M^1 .. M^{n_g-1} ("near") are taken out of the tiles once: here as compressed
 * rows, one a m, in the precision of the tiles, without exact zeros; for cores by warps of rows
 * (kernels/tdbem/near_build.h).
 */
#ifndef PS_KERNELS_TDBEM_RADIATION_H
#define PS_KERNELS_TDBEM_RADIATION_H

#include <stdint.h>

#include "kernels/tdbem/slice_product.h"

/* The near matrices. M^m(i, .) is entries row_start[(m-1) (unknowns+1) + i] up to the next one:
 * columns[e], values[e]. All arrays are the caller's. */
typedef struct ps_near {
    int64_t unknowns, group; /* N, n_g: m = 1 .. n_g - 1         */
    ps_precision precision;
    int64_t *row_start; /* [n_g - 1][unknowns + 1]               */
    int32_t *columns;   /* [ps_near_entries]                     */
    void *values;       /* [ps_near_entries] float or double     */
} ps_near;

/* Taking them out: row_start zeroed; ps_near_count for every tile; ps_near_starts once, which
 * gives the number of entries; arrays for them; ps_near_fill for every tile in the same order;
 * ps_near_finish once. Tiles are walked as kernels/tdbem/near_walk.h says. Columns ascend in a row
 * if slices ascend over the tiles. */
void ps_near_count(ps_near *near, const ps_slice_product *tile);
int64_t ps_near_starts(ps_near *near);
void ps_near_fill(ps_near *near, const ps_slice_product *tile);
void ps_near_finish(ps_near *near);
int64_t ps_near_entries(const ps_near *near); /* once the starts are known */

#endif
