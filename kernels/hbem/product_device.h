/*
 * product_device: y = A x with an H-matrix on a CUDA device, up to eight right-hand sides at once.
 *
 * Rows and columns are cut into tiles of at most 32 functions at all places where leaves begin or
 * end; a tile is padded to a multiple of 4, so that whatever begins at a tile is aligned. Values of
 * a leaf, in the precision of the matrix, parts 1 or 2 (specs/hbem_solve.md):
 *     dense      A [column][part][place of row]
 *     low rank   U [rank][part][place of row], then V [rank][part][place of column]
 *
 * Three steps: *items* reduce, t = V^T x, 16 vectors and 512 places by a warp; *joins* add up the
 * pieces of long vectors in order; every tile of rows takes its *visits*, y += U t and y += A x,
 * visit i by warp i mod 4, each with sums of its own that are added at the end. So bits depend
 * neither on how chunks are batched nor on the number of sides. Products are those of the fp64
 * matrix units; fp32 values are widened in registers.
 *
 * bytes: all values once (those of leaves that a symmetric matrix mirrors twice), 32 a visit and 40
 * an item; flops: 2 (complex: 8) a value and side.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_DEVICE_H
#define PS_KERNELS_HBEM_PRODUCT_DEVICE_H

#include "kernels/hbem/product.h"
#include "runtime/device.h"

enum {
    PS_PRODUCT_TILE = 32, /* functions at most                                          */
    PS_PRODUCT_PAD = 4,
    PS_PRODUCT_GROUP = 16,  /* vectors of an item                                         */
    PS_PRODUCT_PIECE = 512, /* places of an item                                          */
    PS_PRODUCT_SLOTS = 4,   /* sums that a tile keeps apart                               */
    PS_PRODUCT_AHEAD = 4,   /* steps that are copied before one is taken                  */
    PS_PRODUCT_DEVICE_SIDES = 8
};

/* t[to + l] = sum_e vector_l[e] x[from + e], l < count, e < length. */
typedef struct ps_product_item {
    int64_t offset; /* bytes from the start of the chunk                                  */
    int32_t chunk, count, stride, part; /* vectors, numbers between them, between parts   */
    int32_t from, length, to, unused;
} ps_product_item;

/* t[to + l] = sum of t[from + p count + l] over pieces p. */
typedef struct ps_product_join {
    int32_t to, from, count, pieces;
} ps_product_join;

typedef enum ps_product_kind {
    PS_PRODUCT_RANK,  /* y[row] += sum_l vector_l[row] t[from + l]                        */
    PS_PRODUCT_DENSE, /* y[row] += sum_l vector_l[row] x[from + l], functions not places  */
    PS_PRODUCT_TURNED /* y[row] += sum_e vector_row[e] x[from + e], places                */
} ps_product_kind;

/* What a leaf does to a tile of rows. */
typedef struct ps_product_visit {
    int64_t offset; /* bytes from the start of the chunk to the tile                      */
    int32_t chunk, count, stride, part; /* vectors; TURNED: places of a vector            */
    int32_t from, kind;
} ps_product_visit;

/* The leaves of some chunks of an H-matrix as work of a device. Sides: 0 rows, 1 columns. Arrays
 * are the caller's: `marks`, and one piece of memory whose front, device_bytes, is copied to the
 * device as it is. */
typedef struct ps_product_tables {
    const ps_hmatrix *matrix;   /* borrowed; values are not looked at                       */
    const int64_t *chunk_first; /* [chunks + 1] leaves of each chunk; borrowed            */
    int64_t chunks, tiles[2], places[2], items, joins, visits;
    int64_t numbers; /* of t a side and part                                              */
    int64_t device_bytes;
    int32_t *tile_at[2], *place_at[2]; /* [length + 1], where leaves begin or end         */
    /* on the device too: */
    int32_t *begin[2], *place[2]; /* [tiles + 1]                                         */
    int64_t *visit_first;         /* [tiles[0] + 1]                                      */
    int64_t *chunk_at;            /* [chunks + 1] bytes, if all chunks lay in one piece  */
    ps_product_item *item;
    ps_product_join *join;
    ps_product_visit *visit;
    /* on the host alone: */
    int64_t *item_first, *join_first; /* [chunks + 1]                                     */
    int64_t *leaf_at;                 /* [leaves] bytes from the start of the chunk       */
    int64_t *chunk_bytes;             /* [chunks] of an image                             */
} ps_product_tables;

/* int32_t of marks. */
int64_t ps_product_marks(const ps_hmatrix *matrix);
/* Tiles and places alone: blocks are not looked at; marks stay in use. */
void ps_product_tiles_measure(ps_product_tables *tables, const ps_hmatrix *matrix, int64_t chunks,
                              const int64_t *chunk_first, int32_t *marks);
/* Bytes of a leaf in its chunk's image; tiles are measured, and matrix->blocks has its rank. */
int64_t ps_product_leaf_bytes(const ps_product_tables *tables, int64_t leaf);
/* Sets sizes; marks stay in use. PS_EXHAUSTED for more than 2^31 - 1 places or numbers. */
ps_status ps_product_tables_measure(ps_product_tables *tables, const ps_hmatrix *matrix,
                                    int64_t chunks, const int64_t *chunk_first, int32_t *marks);
/* Bytes of the memory; sets device_bytes. */
int64_t ps_product_tables_bytes(ps_product_tables *tables);
/* Points the arrays into memory (64-byte aligned); of a copy of *tables also into the device's. */
int64_t ps_product_tables_attach(ps_product_tables *tables, void *memory);
void ps_product_tables_fill(ps_product_tables *tables);

/* Writes a chunk's image, chunk_bytes[chunk] long and 64-byte aligned, from its leaves with values.
 * Thread-safe. */
void ps_product_pack(const ps_product_tables *tables, int64_t chunk, const ps_hmatrix *view,
                     void *image);

/* Work on a device: the tables there, and vectors, in device memory. */
typedef struct ps_product_device {
    ps_product_tables tables; /* pointers of the device, but those of the host            */
    const void **bases;       /* [chunks] where each image is                             */
    double *x;                /* [sides][parts][columns]                                  */
    double *y;                /* [sides][parts][rows]                                     */
    double *padded;           /* [sides][parts][places[1]]                                */
    double *sums;             /* [slots][sides][parts][places[0]]                         */
    double *t;                /* [8 or fewer sides][parts][numbers]                       */
    int64_t sides;            /* of the product under way                                 */
} ps_product_device;

/* Bytes of bases, x, y, padded, sums and t for `sides`; places them in `memory` (256-byte aligned;
 * NULL: asks only). */
int64_t ps_product_device_attach(ps_product_device *device, int64_t sides, void *memory);

/* Points the tables of the device into the copy of their front there. */
void ps_product_device_tables(ps_product_device *device, const ps_product_tables *host,
                              void *memory);

/* All enqueue. locate: the images of some chunks lie from `base` on, each padded to 256 bytes;
 * holds until they are located elsewhere. begin: once x is there; then run for all chunks, some at
 * a time, ascending; then end, which makes y. PS_FAILED if a launch fails or there is no CUDA. */
ps_status ps_product_device_locate(const ps_product_device *device, int64_t first_chunk,
                                   int64_t chunk_count, const void *base, ps_stream *stream);
ps_status ps_product_device_begin(const ps_product_device *device, ps_stream *stream);
ps_status ps_product_device_run(const ps_product_device *device, int64_t first_chunk,
                                int64_t chunk_count, ps_stream *stream);
ps_status ps_product_device_end(const ps_product_device *device, ps_stream *stream);

#endif
