/*
 * slice_symmetric: the slice product (kernels/tdbem/slice_product.h) over tiles of warps in the
 * memory of a device, of which those off the diagonal stand for their mirror image, too:
 *
 *     sums[i][g] += sum_tiles sum_j sum_q v_ij[q] past_j(g - k_ij - q),   rows i, slices j, and
 *     sums[j][g] += sum_tiles sum_i sum_q v_ij[q] past_i(g - k_ij - q)    of a tile with `both`.
 *
 * A part is 32 rows (a warp) of a tile by at most PS_SYMMETRIC_SLICES of its slices. A warp of
 * threads goes through a part: a thread owns a row, whose sums stay in its registers; what its
 * values give to the sums of a slice is added over the warp's threads in a fixed order. Both kinds
 * of partial sums go to scratch memory, and a second kernel adds those of a row in the order of the
 * parts. No atomics: the same plan gives the same bits. As scratch memory is bounded, parts are
 * taken in rounds.
 *
 * Per stored value: 4 n_g flop and its own bytes; per row-vector two bytes of starts (and one of
 * scales); per part partial sums of its rows and slices, written and read once.
 */
#ifndef PS_KERNELS_TDBEM_SLICE_SYMMETRIC_H
#define PS_KERNELS_TDBEM_SLICE_SYMMETRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/block_matrix.h"
#include "runtime/device.h"
#include "runtime/status.h"

enum { PS_SYMMETRIC_SLICES = 128 };

/* A tile of warps: its arrays in bytes from the base, on multiples of 16, and its widths in host
 * memory, borrowed. */
typedef struct ps_symmetric_tile {
    int64_t first_row, rows, first_slice, slices, value_count;
    int64_t starts, widths, scales, values; /* scales: of halves */
    const uint16_t *host_widths;            /* [warps][slices] */
    bool both;
} ps_symmetric_tile;

/* The tile whose image (formats/block_matrix.h), which `view` sees at `image`, lies `offset` bytes
 * from the base. */
ps_symmetric_tile ps_symmetric_tile_at(const ps_block_tile *view, const void *image, int64_t offset,
                                       bool both);

typedef struct ps_symmetric_plan {
    ps_precision precision; /* of past and sums; of values too, but of halves */
    bool half;
    int64_t unknowns, group, lanes; /* n_g, and rounded up to 1, 8, 16 or 32 */
    int64_t tiles, parts, rounds, units, entries;
    int64_t round_places; /* rows of partial sums in a round, at most, but for a lone part */
    int64_t units_at, rounds_at, begins_at, entries_at; /* bytes in the table; parts come first */
    int64_t table_bytes, scratch_bytes;
} ps_symmetric_plan;

/* Sizes for tiles that are multiplied in this order; their rows begin with multiples of 32. `room`
 * bounds scratch memory, which a part must fit whatever it is; work: [unknowns + 1]. PS_USAGE: a
 * group beyond PS_GROUP_MAX, blocks that are no warps, a tile across the diagonal with `both`;
 * PS_EXHAUSTED: more than the table's integers hold. */
ps_status ps_symmetric_plan_make(const ps_block_header *header, int64_t unknowns, int64_t group,
                                 int64_t room, const ps_symmetric_tile *tiles, int64_t count,
                                 int32_t *work, ps_symmetric_plan *out);
/* Fills the table, table_bytes of zeroed host memory, for the caller to upload. */
void ps_symmetric_table(const ps_symmetric_plan *plan, const ps_symmetric_tile *tiles,
                        int32_t *work, void *table);

/* Device memory of a run, all borrowed, as of ps_slice_batch_memory. The host reads the rounds of
 * its own table. */
typedef struct ps_symmetric_memory {
    const void *table, *host_table;
    void *scratch; /* 128-byte aligned; contents are lost */
    const void *base;
    const void *past; /* 16-byte aligned */
    int64_t past_stride, past_origin;
    void *sums; /* [N][sums_stride] */
    int64_t sums_stride;
} ps_symmetric_memory;

/* Adds all parts to the sums. Asynchronous on `stream`; on the CPU device done at return, part by
 * part as a device does it, in plain loops: for tests. */
ps_status ps_symmetric_run(const ps_symmetric_plan *plan, const ps_symmetric_memory *memory,
                           ps_stream *stream);

#endif
