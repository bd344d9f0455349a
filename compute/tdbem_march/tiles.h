/*
 * tiles: the matrix of a run, whether it is a slice matrix or a block matrix, and a rank's share
 * of it: whole slice intervals, so that every rank owns slices, in equal data.
 */
#ifndef PS_TDBEM_MARCH_TILES_H
#define PS_TDBEM_MARCH_TILES_H

#include "compute/tdbem_march/placed.h"
#include "formats/block_matrix.h"
#include "formats/slice_matrix.h"
#include "kernels/tdbem/slice_product.h"

typedef struct tiles {
    ps_slice_matrix *slices; /* one of the two is NULL */
    ps_block_matrix *blocks;
    bool in_memory; /* blocks that are in no file; before they are assembled both are NULL */
    placed *placed; /* of these, where their values are on a device alone; else NULL       */
    ps_slice_header header;
    char layout[16];                /* "slices", "full", "contiguous", "warp" */
    int64_t columns;                /* longest padded row-vector */
    int64_t k_from, k_below, k_end; /* the lags that the file holds; K + 1 of the whole matrix */
    /* this rank's share: tiles first .. first + count - 1 of the file */
    int64_t first, count, slices_owned;
    int64_t *raw_bytes, *unpacked_bytes; /* [count] */
    int64_t values_owned;                /* stored values, padding included */
    /* Chosen tiles in an order of their own (symmetric.h): chunk k of the share is tile order[k] of
     * the matrix, and both[k] says that it stands for its mirror image, too. NULL: tile first + k.
     */
    const int64_t *order;
    const bool *both;
    struct held_tiles *held; /* a device holds them from their assembly on (held.h); NULL: none */
    /* its slice intervals: i has tiles interval_first[i] .. interval_first[i+1] - 1 of the share */
    int64_t intervals, *interval_first; /* [intervals + 1] */
} tiles;

/* Opens MATRIX, of either format, and finds the share of `rank` among `ranks`. */
ps_status tiles_open(const char *path, int rank, int ranks, tiles *out);
void tiles_close(tiles *tiles);
/* The tiles of a matrix in memory, which it takes over with `values`, which may be NULL; `out` is
 * released first. One rank. */
ps_status tiles_of_blocks(ps_block_matrix **blocks, placed **values, tiles *out);
/* GPUs can multiply them. */
bool tiles_are_blocks(const tiles *tiles);
ps_store *tiles_store(const tiles *tiles);

/* Unpacked bytes of the share. */
int64_t tiles_unpacked(const tiles *tiles);

/* The most of bytes[count]; 0 of none. */
int64_t tiles_largest(const int64_t *bytes, int64_t count);

/* The tile of the matrix that is chunk `chunk` of the share, and where it lies. */
int64_t tiles_index(const tiles *tiles, int64_t chunk);
typedef struct tile_range {
    int64_t first_row, rows, first_slice, slices, values;
    double k_min;
} tile_range;
ps_status tiles_range(const tiles *tiles, int64_t chunk, tile_range *out);

/* The slice intervals [begin, end) of the share, as tiles of their own that borrow everything from
 * `all` and are not closed. */
tiles tiles_part(const tiles *all, int64_t begin, int64_t end);
/* Unpacked bytes of each of so many ranks, out[ranks], of what one rank has opened alone. */
ps_status tiles_shares(const tiles *all, int ranks, int64_t *out);
/* The whole matrix, whatever the share of `all`: opened anew, to be closed. */
ps_status tiles_open_whole(const char *path, tiles *out);

/* Callbacks of a chunk stream over chosen tiles of the share: `chosen` [chunks], NULL: all. */
typedef struct tile_list {
    tiles *tiles;
    const int64_t *chosen;
} tile_list;
ps_status tiles_read(void *list, int64_t chunk, void *raw);
ps_status tiles_unpack(void *list, int64_t chunk, const void *raw, void *unpacked);
/* The callback `in_place` of such a stream: NULL for tiles of a file. */
const void *(*tiles_in_place(const tiles *tiles))(void *list, int64_t chunk);

/* A tile in memory, and the product that sees it. */
typedef struct tile_view {
    ps_slice_tile slices;
    ps_block_tile blocks;
} tile_view;
ps_status tiles_view(const tile_list *list, int64_t chunk, const void *unpacked, tile_view *view,
                     ps_slice_product *product);
/* Of placed tiles: the lags of a group alone; the image in device memory, and in *host that of the
 * index arrays. */
ps_status tiles_view_near(const tile_list *list, int64_t chunk, tile_view *view,
                          ps_slice_product *product);
const void *tiles_placed(const tile_list *list, int64_t chunk, const void **host);
/* The first row of a tile of the share. */
ps_status tiles_first_row(const tiles *tiles, int64_t chunk, int64_t *out);

/* Cuts all rows into `parts` intervals of equal data of the share: bounds[parts + 1], multiples of
 * 64 (but the last). *row_tiles: how many tiles side by side cover all rows. */
ps_status tiles_split_rows(const tiles *tiles, int parts, int64_t *bounds, int64_t *row_tiles);

/* False if the tile (of the share) is known to hold nothing with k < group. */
bool tiles_may_be_near(const tiles *tiles, int64_t chunk, int64_t group);
ps_status tiles_load_m0(const tiles *tiles, ps_csr *out);

#endif
