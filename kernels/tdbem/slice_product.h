/*
 * slice_product: the multi-vectors/vector product of the summation stage,
 *
 *     s[i][g] += sum_j sum_{k=1..K} M^k(i,j) a_j^{n0+g-k},   0 <= g < n_g,
 *
 * over the slices j of one tile, whatever its layout (Bramas, Coulaud, Sylvand 2014, 3.3). A
 * row-vector v[0..d) that starts at k_s adds v[q] past_j(g - k_s - q) for q = 0 .. d-1, where
 * past_j(t) = a_j^{n0+t}, and past_j(t) = 0 for t >= 0: what the steps of the group owe each
 * other is added later by the radiation stage (kernels/tdbem/radiation.h).
 *
 * Work per stored value: 2 n_g flop, and from memory its own bytes; past and sums stay in cache.
 *
 * Threads own rows, and each sum has a fixed order of additions: slices ascending, k ascending, one
 * chain, fused where the machine can. So the bits do not depend on the number of threads, the split
 * of rows, the layout or the tiling; zero padding does not change them. (They do depend on the
 * instruction set: without fused multiply-add they are rounded once more.) Subnormal
 * numbers count as zero on x86. Warps may hold halves (kernels/tdbem/half_values.h): the sums are
 * those, to the bit, of the numbers in full precision that the halves stand for.
 *
 * A tile of warps of a symmetric matrix can stand for its mirror image, too (`both`): its slices
 * are rows then and its rows slices. Where tiles come by columns of the upper triangle, each column
 * from its first row down to the diagonal (compute/tdbem_march/symmetric.h), every chain of
 * additions is that of the whole matrix, and so are the bits.
 */
#ifndef PS_KERNELS_TDBEM_SLICE_PRODUCT_H
#define PS_KERNELS_TDBEM_SLICE_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/block_matrix.h"
#include "formats/slice_matrix.h"
#include "runtime/isa.h"
#include "runtime/status.h"

enum {
    PS_GROUP_MAX = 32,        /* n_g                                                         */
    PS_PRODUCT_OVERREAD = 128 /* bytes readable behind the values of a tile; formats see to it */
};

typedef enum ps_tile_layout {
    PS_TILE_SLICES, /* `slices`, with its offsets                 */
    PS_TILE_FULL,   /* `blocks`, formats/block_matrix.h           */
    PS_TILE_CONTIGUOUS,
    PS_TILE_WARP
} ps_tile_layout;

/* A tile, the past and the sums; all borrowed. The precision of values, past and sums is that
 * of the function called. */
typedef struct ps_slice_product {
    ps_tile_layout layout;
    const ps_slice_tile *slices;
    const ps_block_tile *blocks;
    int64_t block_rows, block_columns; /* full, contiguous                                    */
    /* past_j(t) = past[j * past_stride + past_origin + t], j the global slice. Must be readable
     * and finite for -ps_product_past_before() <= t < ps_product_past_after(). */
    const void *past;
    int64_t past_stride, past_origin;
    int64_t group; /* n_g, 1 .. PS_GROUP_MAX                                                  */
    /* sums[i * sums_stride + g], i the global row; sums_stride >= group. Added to. */
    void *sums;
    int64_t sums_stride;
    /* A tile of warps off the diagonal: adds M^k(j,i) = M^k(i,j) as well, to the sums of its slices
     * from the past of its rows. */
    bool both;
} ps_slice_product;

/* How far a product reads the past: `columns` is the longest padded row-vector: d_max for
 * slices and warps, block_columns otherwise. */
int64_t ps_product_past_before(int64_t k_max, int64_t columns);
int64_t ps_product_past_after(int64_t group);

/* Sets layout, tile and block shape of a product; the rest is the caller's. */
void ps_slice_product_set_slices(ps_slice_product *product, const ps_slice_tile *tile);
void ps_slice_product_set_blocks(ps_slice_product *product, const ps_block_header *header,
                                 const ps_block_tile *tile);

/* Rows and slices of the product's tile. */
int64_t ps_slice_product_rows(const ps_slice_product *product);

/* Adds rows [row_begin, row_end) of the tile (relative to its first row). Serial, no
 * allocation; concurrent calls with disjoint rows are safe. */
typedef void (*ps_slice_product_fn)(const ps_slice_product *product, int64_t row_begin,
                                    int64_t row_end);
struct ps_slice_product_functions {
    ps_slice_product_fn precision[PS_PRECISION_COUNT];
};

/* The function of a backend and precision for this machine, or NULL: not supported. */
ps_slice_product_fn ps_slice_product_function(ps_backend backend, ps_precision precision);

/* Where thread `part` of `parts` begins when the rows of the tile are split by equal data: a
 * multiple of 32 rows (parts: the number of rows). Ascending in `part`; for 0 it is 0. */
int64_t ps_slice_product_split(const ps_slice_product *product, int parts, int part);

/* Adds all rows of the tile (and, of one that stands for both, all slices) with `threads` threads
 * (OpenMP; 0: as many as OpenMP gives). PS_USAGE if the group, a stride or a pointer is wrong, or
 * the precision is not supported. */
ps_status ps_slice_product_tile(const ps_slice_product *product, ps_precision precision,
                                int threads);

/* Adds many tiles, one after the other: part p of `parts` owns the sums of rows bounds[p] ..
 * bounds[p + 1] - 1 of all of them (multiples of 64, ascending; bounds[0] = 0, bounds[parts] = N),
 * so threads meet once for all tiles. The same bits. Worth it where the tiles cover all rows.
 * Groups may be longer than PS_GROUP_MAX. */
ps_status ps_slice_product_tiles(const ps_slice_product *products, int64_t count,
                                 ps_precision precision, const int64_t *bounds, int parts);

#endif
