/*
 * Shared by the files of slice_batch: the table in memory, and what the device's kernels are
 * called with.
 *
 * The table: strands[strands], then pieces or panels (a strand's one after another, slices
 * ascending), then tiles[tile_count] with offsets from the batch's base in place of pointers, each
 * part 128-byte aligned. Part q of a strand's work is pieces [q n / splits, (q + 1) n / splits) of
 * its n.
 */
#ifndef PS_KERNELS_TDBEM_SLICE_BATCH_INTERNAL_H
#define PS_KERNELS_TDBEM_SLICE_BATCH_INTERNAL_H

#include <stdbool.h>

#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_batch.h"

/* The rows kernels: warps of a thread block, and for values of so many bytes and n_g (rounded up)
 * the thread blocks that a multiprocessor holds and the stages of a warp: what registers and shared
 * memory allow and measured fastest. Full blocks have no stages. */
enum { PS_ROWS_WARPS = 4 };
#define PS_ROWS_BLOCKS(size, lanes) ((size) == 4 ? ((lanes) <= 16 ? 6 : 4) : ((lanes) <= 8 ? 5 : 3))
#define PS_ROWS_STAGES(size, lanes)                                                                \
    ((size) == 4 ? ((lanes) <= 16 ? 3 : 4) : ((lanes) <= 16 ? 2 : 3))

enum { PS_ROWS_HALF_STAGES = 2 }; /* more for halves, whose stages are smaller */
#define PS_FULL_BLOCKS(size, lanes)                                                                \
    ((size) == 4 ? ((lanes) <= 8    ? 8                                                            \
                    : (lanes) <= 16 ? 6                                                            \
                                    : 4)                                                           \
                 : ((lanes) <= 4    ? 6                                                            \
                    : (lanes) <= 16 ? 4                                                            \
                                    : 2))

/* A segment: what the rows kernel multiplies at once. */
enum { PS_SEGMENT_COLUMNS = 16, PS_PIECE_SEGMENTS = 32 };

typedef struct ps_slice_strand {
    int32_t row, rows; /* global first row, number of rows */
    int32_t first_piece, pieces;
} ps_slice_strand;

/* A segment of a slice. */
typedef struct ps_slice_record {
    uint8_t columns;    /* 1 .. PS_SEGMENT_COLUMNS                       */
    uint8_t slice;      /* within the piece                              */
    uint16_t column;    /* first one within the slice                    */
    uint16_t low, high; /* least and largest start of the strand's rows */
} ps_slice_record;

/* Some slices of one tile, rows of one strand. Offsets are in bytes from the batch's base. */
typedef struct ps_slice_piece {
    int64_t
        values; /* warp: of the strand; contiguous: of the tile's slice; full: of the first block */
    int64_t starts; /* warp: of the strand; contiguous: of the tile's slice; full: corner_rows    */
    int32_t slice, count; /* first slice (global), number                                         */
    int32_t row, rows;    /* first row within the tile, rows of the strand in it                  */
    int64_t step;         /* contiguous: values from slice to slice; full: corner_columns, bytes  */
    int32_t starts_step;  /* from slice to slice                                                  */
    int32_t limit;        /* contiguous: rows that the tile's blocks hold; full: number of blocks */
    int32_t segments,
        first_segment; /* rows kernel: records in use, and in the strand before them */
    int64_t scales;    /* halves: of the strand, one for every start */
    ps_slice_record records[PS_PIECE_SEGMENTS]; /* rows kernel */
} ps_slice_piece;

/* At most two blocks of a slice that rows of a strand belong to, for the rows kernel of full
 * blocks: in place of a piece. Row r of the strand, begin[b] <= r < end[b], has column q of its
 * block at base + values + (r + b * other + q * block_rows) values. */
typedef struct ps_slice_panel {
    int64_t values;           /* bytes from the batch's base                    */
    int32_t other;            /* from the first block to the second, values     */
    int32_t slice;            /* global                                         */
    uint16_t column[2];       /* k of the blocks' first columns                 */
    uint8_t begin[2], end[2]; /* no second block: 32, 32                        */
    int32_t reserved[2];
} ps_slice_panel;

/* ---- of a plan and its tiles ---- */

static inline bool ps_batch_has_panels(const ps_slice_batch_plan *plan)
{
    return plan->layout == PS_BLOCK_FULL && plan->kernel == PS_SLICE_KERNEL_ROWS;
}
/* Bytes of an entry of the table. */
static inline int64_t ps_batch_piece_size(const ps_slice_batch_plan *plan)
{
    return ps_batch_has_panels(plan) ? (int64_t)sizeof(ps_slice_panel)
                                     : (int64_t)sizeof(ps_slice_piece);
}

/* Bytes of a stored value. */
static inline int64_t ps_batch_stored_size(const ps_slice_batch_plan *plan)
{
    return plan->half ? 2 : ps_real_bytes(plan->precision);
}

static inline bool ps_batch_same_rows(const ps_block_tile *a, const ps_block_tile *b)
{
    return a->first_row == b->first_row && a->rows == b->rows;
}

/* Whether tile t is the first one with its rows. */
static inline bool ps_batch_opens_rows(const ps_slice_batch_tiles *tiles, int64_t t)
{
    int64_t u = 0;
    while (!ps_batch_same_rows(&tiles->tiles[u], &tiles->tiles[t])) ++u;
    return u == t;
}

static inline int64_t ps_batch_strands_of(const ps_slice_batch_plan *plan,
                                          const ps_block_tile *tile)
{
    return (tile->rows + plan->strand_rows - 1) / plan->strand_rows;
}

/* Entries for a strand; of panels for all strands of a tile, at most: each boundary between
 * strands is passed by one block, and only the last panel of a strand may hold one block. */
static inline int64_t ps_batch_pieces_of(const ps_slice_batch_plan *plan, const ps_block_tile *tile)
{
    return (tile->slices + plan->piece_slices - 1) / plan->piece_slices;
}

static inline int64_t ps_batch_panels_of(const ps_slice_batch_plan *plan, const ps_block_tile *tile)
{
    return tile->block_count / 2 + ps_batch_strands_of(plan, tile) * tile->slices;
}

/* Where the parts of the table begin, bytes. */
int64_t ps_slice_batch_pieces_at(const ps_slice_batch_plan *plan);
int64_t ps_slice_batch_tiles_at(const ps_slice_batch_plan *plan);

/* What a kernel gets, device pointers. */
typedef struct ps_slice_launch {
    const char *base;
    const ps_slice_strand *strands;
    const ps_slice_piece *pieces;
    const ps_slice_panel *panels; /* the same memory */
    const void *past;             /* t = 0 of slice j at j * past_stride + past_origin */
    void *scratch;                /* [splits][strands][group][strand_rows] */
    void *sums;
    int64_t past_stride, past_origin, sums_stride;
    int32_t strand_count, splits, group, strand_rows;
    int32_t block_rows, block_columns, k_max;
} ps_slice_launch;

/* slice_batch_cuda.cu: the plan's kernel, which leaves the sums of parts in the scratch, and the
 * one that adds them. `stream`: cudaStream_t of a device that is current. */
ps_status ps_slice_parts_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                              void *stream);
ps_status ps_slice_reduce_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                               void *stream);
/* Kernels alone, in slice_rows_cuda.cu, slice_full_cuda.cu (rows) and slice_teams_cuda.cu. */
ps_status ps_slice_full_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                             void *stream);
ps_status ps_slice_rows_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                             void *stream);
ps_status ps_slice_teams_cuda(const ps_slice_batch_plan *plan, const ps_slice_launch *launch,
                              void *stream);

#endif
