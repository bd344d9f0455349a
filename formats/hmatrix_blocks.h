/*
 * hmatrix_blocks: an H-matrix in memory: leaves of a block tree, each dense or of low rank.
 *
 * Numbers have one part (real matrices) or two (real and imaginary part), kept apart. Values of a
 * block, in the precision of the matrix:
 *     dense      A [part][column][row]
 *     low rank   U [rank][part][row], then V [rank][part][column]:
 *                block = sum_l U_l V_l^T, no conjugate
 * A symmetric matrix (A = A^T) keeps leaves with row_begin <= column_begin only; the leaves that
 * are not on the diagonal stand for their transposes too.
 */
#ifndef PS_FORMATS_HMATRIX_BLOCKS_H
#define PS_FORMATS_HMATRIX_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/isa.h"
#include "runtime/status.h"

/* Where a leaf is; far: both clusters are admissible. */
typedef struct ps_hmatrix_leaf {
    int64_t row_begin, row_end, column_begin, column_end;
    bool far;
} ps_hmatrix_leaf;

enum { PS_RANK_DENSE = -1 };

typedef struct ps_hmatrix_block {
    int64_t rank; /* PS_RANK_DENSE: dense                                        */
    double error; /* estimated error relative to the block's norm; 0 where dense */
    void *values;
} ps_hmatrix_block;

typedef struct ps_hmatrix {
    int64_t rows, columns, leaf_count;
    int parts;
    bool symmetric;
    ps_precision precision;
    const ps_hmatrix_leaf *leaves; /* [leaf_count], borrowed     */
    ps_hmatrix_block *blocks;      /* [leaf_count], values owned */
} ps_hmatrix;

/* Takes the sizes set in *matrix and allocates blocks, all of rank 0 and without values. */
ps_status ps_hmatrix_init(ps_hmatrix *matrix);
void ps_hmatrix_release(ps_hmatrix *matrix); /* frees blocks, zeroes the struct */

/* Numbers in a block. */
int64_t ps_hmatrix_numbers(const ps_hmatrix *matrix, int64_t leaf, int64_t rank);

/* Copies a block in, rounded to the precision; block->values are fp64. Different leaves may be put
 * by different threads at once. PS_EXHAUSTED where memory runs out. */
ps_status ps_hmatrix_put(ps_hmatrix *matrix, int64_t leaf, const ps_hmatrix_block *block);

/* What the ranks and errors of all leaves tell. */
typedef struct ps_hmatrix_summary {
    int64_t dense, low_rank, rank_max;
    double rank_mean, error_rms, error_max; /* over leaves of low rank; errors relative to a leaf */
} ps_hmatrix_summary;
ps_hmatrix_summary ps_hmatrix_summarise(const ps_hmatrix *matrix);

/* Bytes of all values. */
int64_t ps_hmatrix_bytes(const ps_hmatrix *matrix);

#endif
