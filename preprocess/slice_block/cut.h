/*
 * cut: the tiles of a slice matrix, by several threads, clipped to the lags that are wanted and cut
 * into blocks: counted first, then filled and written.
 */
#ifndef PS_SLICE_BLOCK_CUT_H
#define PS_SLICE_BLOCK_CUT_H

#include "formats/block_matrix.h"
#include "formats/slice_matrix.h"
#include "stage/journal.h"

typedef struct cut_plan {
    ps_slice_matrix *matrix; /* borrowed                                    */
    ps_block_header header;
    ps_block_tiling tiling;
    ps_block_tile *tiles; /* [tile count]: counts and statistics; owned  */
    int64_t thread_bytes; /* memory that a thread needs to fill tiles    */
    int64_t stored_bytes; /* block values and indices, uncompressed      */
    int64_t nnz;          /* values within the lags                      */
    int threads;
} cut_plan;

/* Counts of one more shape, over all tiles. */
typedef struct cut_shape {
    ps_block_header header;
    int64_t blocks, values;
} cut_shape;

/* Calls ps_blocking_count of every shape on every tile; reads starts and lengths alone. All shapes
 * have the lags of shape 0. counts: [tile count] of shape 0, or NULL. */
ps_status cut_count(ps_slice_matrix *matrix, cut_shape *shapes, int shape_count, int threads,
                    ps_block_tile *counts);

/* Counts, and settles threads within `memory` bytes. PS_EXHAUSTED if not even one thread fits
 * or a chunk would become too large. */
ps_status cut_plan_init(ps_slice_matrix *matrix, const ps_block_header *header, int threads,
                        int64_t memory, cut_plan *out);
void cut_plan_release(cut_plan *plan);

/* Writes every tile: those that the journal holds, and the others, which are cut and kept there.
 * NULL: there is none. */
ps_status cut_write(const cut_plan *plan, ps_journal *journal, ps_block_matrix *out);

#endif
