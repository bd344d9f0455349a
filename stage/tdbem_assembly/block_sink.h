/*
 * block_sink: takes the tiles of an assembly and cuts them into blocks at once, for a file or for
 * memory; the same blocks as those that penstock-slice-block cuts of a file of the slices.
 */
#ifndef PS_TDBEM_ASSEMBLY_BLOCK_SINK_H
#define PS_TDBEM_ASSEMBLY_BLOCK_SINK_H

#include "formats/block_matrix.h"
#include "stage/tdbem_assembly/slice_assembly.h"

/* Who keeps the tiles of a matrix in memory elsewhere than in memory of their own, or not all of
 * them. Called by the threads that take tiles. */
typedef struct ps_block_keeper {
    void *context;
    /* A tile of which false is said is counted and not cut. NULL: all are wanted. */
    bool (*wants)(void *context, const ps_slice_tile *tile);
    /* Memory for a tile that is to be made, until it is kept. NULL: the tile's own (free()). */
    ps_status (*provide)(void *context, int64_t bytes, void **image);
    /* Takes the tile, which lies in that memory, over, and has the matrix keep what it is to
     * (ps_block_matrix_keep_tile). The memory goes back on failure, too. */
    ps_status (*keep)(void *context, ps_block_matrix *matrix, int64_t index,
                      const ps_block_tile *tile, void *image, int64_t bytes);
} ps_block_keeper;

typedef struct ps_block_sink {
    ps_block_header header;
    ps_block_matrix *matrix;
    const ps_block_keeper *keeper; /* set by who wants one, once it is open; else NULL */
} ps_block_sink;

/* Layout and shape of blocks, of which nothing but the longest row-vector's bound is known yet.
 * PS_USAGE: full and contiguous blocks need `columns`. The lags are all. */
ps_status ps_block_sink_header(const ps_slice_header *slices, ps_block_layout layout, int64_t rows,
                               int64_t columns, ps_block_header *out);
/* These tiles, and bounds of what they hold as blocks. */
void ps_block_sink_tiling(const ps_interaction *interaction, const ps_slice_tiling *tiling,
                          const ps_block_header *header, ps_block_tiling *out);
/* Bound of the values of all warps of these rows and slices. */
double ps_block_sink_warp_bound(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                                int64_t first_slice, int64_t slices);
/* Opens the matrix: in the file, or (path NULL) in memory. */
ps_status ps_block_sink_open(const char *path, const ps_store_identity *identity,
                             const ps_block_tiling *tiling, const ps_block_header *header,
                             ps_block_sink *out);
/* For ps_assembly_sink; context: a ps_block_sink. */
ps_status ps_block_sink_take(void *context, int64_t index, ps_slice_tile *tile);

#endif
