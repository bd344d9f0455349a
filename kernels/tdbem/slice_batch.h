/*
 * slice_batch: the slice product (kernels/tdbem/slice_product.h) over a batch of block tiles in the
 * memory of a device,
 *
 *     sums[i][g] += sum_tiles sum_j sum_q v[q] past_j(g - k_s - q),  0 <= g < n_g.
 *
 * A batch is the unpacked images of consecutive tiles (formats/block_matrix.h), byte for byte as
 * on the host, in one piece of device memory, tile t at offsets[t]. A plan says how the work
 * is cut, and a table, made on the host and copied to the device once a batch, where everything
 * is.
 *
 * Cutting: the rows of the tiles are divided into strands, each strand's slices into `splits`
 * intervals. A team of threads owns one such part, goes through its slices in ascending order with
 * the sums in registers, and writes them to the scratch memory; a second kernel adds the splits in
 * order. No atomics: the same plan gives the same bits. The kernels:
 *   rows:  strands of 32 rows, a warp each; at most 512 columns.
 *          Warp and contiguous layouts (block_rows a multiple of 16 bytes): values and the window
 * of the past that the slice's starts ask for are copied to shared memory some segments of at most
 * 16 columns ahead. Full: values are read a segment ahead, from any two blocks at once, the past
 * that each asks for is copied to shared memory. teams: the kernels of Bramas, Coulaud, Sylvand
 * 2014, 4.1 and 4.2. Full: a team of block_rows threads a block, its block_columns + n_g - 1 past
 * values in shared memory. Contiguous: a thread a row, the whole past of the slice in shared
 * memory. n_g is rounded up to 1, 2, 4, 8, 16 or 32; what it exceeds the group is computed and
 * dropped. On a device, row-vectors in fp32 are summed by fused multiply-add with subnormal numbers
 * kept.
 *
 * Per stored value: 2 n_g flop and its own bytes (warps: 2/32 bytes of starts per column more; of
 * halves also one multiplication and 1/32 byte of scales).
 */
#ifndef PS_KERNELS_TDBEM_SLICE_BATCH_H
#define PS_KERNELS_TDBEM_SLICE_BATCH_H

#include <stdint.h>

#include "formats/block_matrix.h"
#include "runtime/device.h"
#include "runtime/status.h"

typedef enum ps_slice_kernel {
    PS_SLICE_KERNEL_BEST, /* rows where it takes the blocks, else teams */
    PS_SLICE_KERNEL_ROWS,
    PS_SLICE_KERNEL_TEAMS
} ps_slice_kernel;

/* The tiles of a batch; all borrowed. Every first_row is that of another tile with the same rows,
 * or begins rows that no other tile has; slices ascend among tiles of the same rows. */
typedef struct ps_slice_batch_tiles {
    int64_t count;
    const ps_block_tile *tiles; /* [count] whose pointers lie in the images             */
    const void *const *images;  /* [count] host memory; only indices are read           */
    const int64_t *offsets;     /* [count] bytes from the batch's base, multiples of 16 */
    ps_slice_kernel kernel;
} ps_slice_batch_tiles;

typedef struct ps_slice_batch_plan {
    ps_block_layout layout;
    ps_precision precision; /* of past and sums; of values too, but of halves */
    bool half;              /* values are halves                              */
    ps_slice_kernel kernel;
    int64_t group, lanes;              /* n_g, and rounded up                            */
    int64_t block_rows, block_columns; /* of the header                                  */
    int64_t k_max;                     /* of the header                                  */
    int64_t tile_count;
    int64_t strand_rows, strands; /* height of a strand, strands of the batch            */
    int64_t splits;               /* intervals of a strand's slices                      */
    int64_t piece_slices;         /* slices that an entry of the table covers at most    */
    int64_t pieces;               /* entries                                             */
    int64_t value_count, nnz;     /* of all tiles                                        */
    int64_t table_bytes, scratch_bytes;
} ps_slice_batch_plan;

/* Device memory of a run, all borrowed; values, past and sums are of the header's precision. */
typedef struct ps_slice_batch_memory {
    const void *table; /* the plan's table, 128-byte aligned                                */
    void *scratch;     /* scratch_bytes, 128-byte aligned; contents are lost                */
    const void *base;  /* the batch, 128-byte aligned                                       */
    /* As for ps_slice_product: past_j(t) = past[j * past_stride + past_origin + t]. */
    const void *past;
    int64_t past_stride, past_origin;
    void *sums; /* [N][sums_stride], i the global row                                       */
    int64_t sums_stride;
} ps_slice_batch_memory;

/* Sizes and cuts for a device with so many multiprocessors. Reads no index but the tiles' own
 * figures. PS_USAGE: a group, a layout or a block shape that the kernel does not take;
 * PS_INVALID: tiles whose rows overlap without being the same. */
ps_status ps_slice_batch_plan_make(const ps_block_header *header, int64_t group,
                                   int multiprocessors, const ps_slice_batch_tiles *tiles,
                                   ps_slice_batch_plan *out);

/* Fills the table, table_bytes of host memory, aligned to 64 bytes; the caller uploads it. Reads
 * widths and starts (rows kernel) and corner rows (full). PS_INVALID: an array that does not lie in
 * its image. */
ps_status ps_slice_batch_table(const ps_slice_batch_plan *plan, const ps_slice_batch_tiles *tiles,
                               void *table);

/* Adds the batch to the sums. Asynchronous on `stream`; on the CPU device (all memory is host
 * memory, images with the slack that ps_slice_product wants) done at return, by
 * ps_slice_product_tile. PS_USAGE if the memory does not fit the plan. */
ps_status ps_slice_batch_run(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             ps_stream *stream);

/* ps_slice_batch_run in two steps: the parts, whose sums are left in the scratch, and adding these.
 * So parts of the next batch, on another stream and with scratch of its own, can fill what those
 * of this one leave idle at their end, while the order of the additions stays that of the batches.
 * On the CPU device the second does it all. */
ps_status ps_slice_batch_multiply(const ps_slice_batch_plan *plan,
                                  const ps_slice_batch_memory *memory, ps_stream *stream);
ps_status ps_slice_batch_add(const ps_slice_batch_plan *plan, const ps_slice_batch_memory *memory,
                             ps_stream *stream);

#endif
