/*
 * blocking: cutting a tile of slices into blocks (formats/block_matrix.h), O(row-vectors).
 *
 * full: the greedy cut of Bramas, Coulaud, Sylvand 2014, 4.1. A block opens at the first row that
 *   is not empty, r0; row i joins if i - r0 < block_rows and max(end) - min(start) + 1 <=
 *   block_columns over the block's rows; otherwise the block closes and row i opens the next.
 *   The paper leaves the column of the corner open; here it is min(start), known at closing.
 *   Empty rows join without effect. At worst a block a row.
 * contiguous: 4.2; block_rows consecutive rows, left-aligned, padded to block_columns.
 * warp: 32 rows padded to their own longest row-vector.
 *
 * Blocks do not reach across tiles. Pure functions: no allocation, thread-safe.
 */
#ifndef PS_KERNELS_TDBEM_BLOCKING_H
#define PS_KERNELS_TDBEM_BLOCKING_H

#include "formats/block_matrix.h"
#include "formats/slice_matrix.h"

/* Sets block_rows and block_columns of a warp layout; refuses (PS_USAGE) full and contiguous
 * blocks with fewer than d_max columns, as a row-vector is never split, and heights outside
 * 1..1024. header->slices.d_max must be known. */
ps_status ps_blocking_check(ps_block_header *header);

/* Counts of a tile: sets ranges, block_count, value_count, nnz and statistics of *out. Needs
 * starts and lengths of the tile alone. Starts of empty row-vectors must be filled. */
void ps_blocking_count(const ps_block_header *header, const ps_slice_tile *tile,
                       ps_block_tile *out);

/* Fills the arrays of *out, whose counts ps_blocking_count set; the caller allocated those that
 * the layout has (sizes: formats/block_matrix.h). Values are of the header's precision; with
 * scales, which warps of halves have, they are rounded to halves and the errors set. */
void ps_blocking_fill(const ps_block_header *header, const ps_slice_tile *tile, ps_block_tile *out);

#endif
