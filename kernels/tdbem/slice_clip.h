/*
 * slice_clip: a tile of slices cut down to a range of lags (specs/block_matrix.md, "A range of
 * lags").
 */
#ifndef PS_KERNELS_TDBEM_SLICE_CLIP_H
#define PS_KERNELS_TDBEM_SLICE_CLIP_H

#include "formats/slice_matrix.h"

/* Clips every row-vector to k_from <= k < k_below, in place: starts, lengths and values are
 * overwritten, the counts and statistics set, and *offsets ([slices][row blocks], the caller's)
 * made the tile's table. Values may be NULL: then starts and lengths alone are clipped. A
 * row-vector may become empty; its start is then that of the row before it in its slice, or of the
 * first row that is not empty, or 1. The tile was checked (ps_slice_tile_index). */
ps_status ps_slice_clip(ps_slice_tile *tile, ps_precision precision, int64_t k_from,
                        int64_t k_below, uint32_t *offsets);

#endif
