/*
 * product_images: leaves of an H-matrix as assembly left them (formats/hmatrix_blocks.h), wherever
 * they lie, into the form that products on a device take (product_device.h): vectors of functions
 * are spread over the places of their tiles,
 *
 *     to[order(v) places + place(function + e) - place(function)] = from[v length + e],
 *     e < length, first <= v < first + count;
 *     order(v) = v; of a dense leaf with `columns` functions: (v mod columns) parts + v div
 * columns.
 *
 * On the device of a stream, or here. What lies between the places is not written: zero it before.
 *
 * bytes: each number read and written once, 56 a move.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_IMAGES_H
#define PS_KERNELS_HBEM_PRODUCT_IMAGES_H

#include "kernels/hbem/product_device.h"

typedef struct ps_product_move {
    int64_t from, to; /* numbers from the start of both memories to vector 0              */
    int32_t side;     /* 0: functions are rows, 1: columns                                */
    int32_t function, length, places;
    int32_t first, count, columns; /* vectors; columns 0: of low rank                     */
    int32_t parts;
} ps_product_move;

/* Moves of a leaf whose rank matrix->blocks says. tables: tiles are measured (_tiles_measure). */
int64_t ps_product_moves_count(const ps_product_tables *tables, int64_t leaf);
/* The same moves, from number `from` of the one memory to number `to` of the other. */
void ps_product_moves_fill(const ps_product_tables *tables, int64_t leaf, int64_t from, int64_t to,
                           ps_product_move *moves);

/* The place of every function of a side: map[functions]. */
void ps_product_place_map(const ps_product_tables *tables, int side, int32_t *map);

typedef struct ps_product_images {
    int item_bytes;               /* 4, 8                                                  */
    int64_t count;                /* moves                                                 */
    const ps_product_move *moves; /* [count]                                               */
    const int32_t *map[2];        /* by side                                               */
    const void *from;
    void *to;
} ps_product_images;

/* Makes all moves; all memory is of the stream's device. Asynchronous on a CUDA device; done at
 * return on the CPU device and where the stream is NULL. PS_FAILED if the launch fails. */
ps_status ps_product_images_run(const ps_product_images *images, ps_stream *stream);
/* Private to product_images. */
ps_status ps_product_images_cuda(const ps_product_images *images, ps_stream *stream);

#endif
