/*
 * block_matrix: slices cut into blocks, "penstock-block-matrix" (specs/block_matrix.md).
 *
 * The tiles are those of the slice matrix (rows x slices), a chunk each. Three layouts; in all
 * of them values lie column by column, so that a team of threads, one a row, reads them
 * coalesced:
 *
 * full (Bramas et al. 2014, 4.1): blocks of block_rows x block_columns, greedy: all rows of a
 *   block use the same past values from its corner (row r0, column k0). Per block b of the
 *   tile: corner_rows[b] (within the tile), corner_columns[b] (= k of column 0), values
 *   [block_columns][block_rows]. Blocks of slice s are block_start[s] .. block_start[s+1]-1,
 *   rows ascending.
 * contiguous (4.2): block_rows consecutive rows, left-aligned and padded to block_columns =
 *   d_max, a start per row. Per slice s ceil(rows/block_rows) blocks, values
 * [block_columns][block_rows]. starts[s * rows + r]. warp: 32 consecutive rows (a warp), padded to
 * their own longest row-vector. Stored warp by warp, slices inside a warp: for warp w and slice s,
 * width = widths[w * slices + s], values [width][32]; starts[(w * slices + s) * 32 + lane]. Running
 * sums give the offsets, so a thread that owns a row reads straight on through the tile. Padding is
 * zero; the start of an empty or padded row is that of the row before it (or 1), so that every past
 * value touched exists. A block may reach past column K.
 *
 * A file may hold a range of lags alone; and, in warps, values as IEEE halves (uint16_t) with a
 * scale a row-vector: value = half * 2^(scale - 127) (kernels/tdbem/half_values.h).
 */
#ifndef PS_FORMATS_BLOCK_MATRIX_H
#define PS_FORMATS_BLOCK_MATRIX_H

#include "formats/slice_matrix.h"

#define PS_BLOCK_MATRIX_FORMAT "penstock-block-matrix"
enum { PS_BLOCK_MATRIX_VERSION = 2 };

typedef enum ps_block_layout { PS_BLOCK_FULL, PS_BLOCK_CONTIGUOUS, PS_BLOCK_WARP } ps_block_layout;
const char *ps_block_layout_name(ps_block_layout layout); /* "full", "contiguous", "warp" */
enum { PS_WARP_ROWS = 32 };

typedef struct ps_block_header {
    ps_slice_header slices;
    ps_block_layout layout;
    int64_t block_rows, block_columns; /* b_r, b_c; warp: 32 and d_max                        */
    int64_t block_count;
    double fill; /* NNZ %: 100 * nnz / stored block values                                    */
    /* The lags that the file holds, k_from <= k < k_below, of a slice matrix whose last is
     * k_end - 1. Lag 0 is M^0. Writing: k_end = 0 stands for all lags. */
    int64_t k_from, k_below, k_end;
    bool half; /* values are halves; slices.precision is that of the past and the sums        */
    double rounding_max, rounding_rms; /* of halves: errors of all tiles, as in ps_block_tile */
} ps_block_header;

/* To and from the root attributes, fill and counts of tiles apart; _check: shape, lags and type of
 * values. PS_INVALID with the first fault (formats/block_header.c). */
ps_status ps_block_header_check(const ps_block_header *header);
ps_status ps_block_header_put(ps_store *store, const ps_block_header *header);
ps_status ps_block_header_get(ps_store *store, ps_block_header *header);
struct ps_block_tile;
double ps_block_fill(double nnz, double stored); /* NNZ %; 100 of nothing */
/* Counts and statistics from those of the tiles, and all lags where k_end is 0. PS_INVALID unless
 * the tiles cover all rows and slices, and hold the header's lags. */
ps_status ps_block_header_derive(const struct ps_block_tile *tiles, int64_t count,
                                 ps_block_header *header);

typedef struct ps_block_tile {
    int64_t first_row, rows, first_slice, slices;
    int64_t block_count; /* contiguous: slices * ceil(rows / block_rows); warp: warps * slices  */
    int64_t value_count, nnz;
    double d_max, k_min, k_max, score, filled; /* as of the slice tile                        */
    uint32_t *block_start;    /* full: [slices + 1]                                           */
    uint32_t *corner_rows;    /* full: [block_count]                                          */
    uint16_t *corner_columns; /* full: [block_count]                                          */
    uint16_t *starts;         /* contiguous: [slices * rows]; warp: [warps * slices * 32]     */
    uint16_t *widths;         /* warp: [warps * slices]                                       */
    uint8_t *scales;          /* halves: [warps * slices * 32]; else NULL                     */
    void *values;             /* [value_count] float or double; with scales: uint16_t, halves */
    /* Of halves: largest error over the largest of its row-vector; root of the sum of squared
     * errors over the sum of squares; that sum. */
    double error_max, error_rms, square_sum;
} ps_block_tile;

typedef struct ps_block_matrix ps_block_matrix;

/* Sizes of the index arrays of a tile, from its ranges, layout and counts. */
int64_t ps_block_tile_warps(const ps_block_tile *tile);

int64_t ps_block_tile_value_bytes(const ps_block_header *header); /* of one */
/* Points the arrays that the layout has one behind the other from `memory` on, as unpacked tiles
 * have them (NULL: nowhere); returns the bytes of all, with the slack behind each, which is to be
 * zero. */
int64_t ps_block_tile_place(const ps_block_header *header, ps_block_tile *tile, void *memory);

/* Everything that keeps compute within bounds: counts that belong together, corners inside the
 * tile, ascending, starts and corner columns within 1..k_max, widths at most d_max, halves 0 or
 * normal. PS_INVALID with the first fault. */
ps_status ps_block_tile_check(const ps_block_header *header, const ps_block_tile *tile);

/* Writing: capacities bound any tile; ranges may be any that cover all rows and slices once, in
 * order (those of the slice matrix). */
typedef struct ps_block_tiling {
    int64_t unknowns, tile_count;
    int64_t tile_rows, tile_slices;         /* largest of any tile                            */
    int64_t block_capacity, value_capacity; /* largest block_count, value_count of any tile   */
    bool plain; /* values are stored as they are, each tile with its capacity                 */
} ps_block_tiling;
/* header: layout, block shape, slices.precision, half and the lags are used. */
ps_status ps_block_matrix_create(const char *path, const ps_store_identity *identity,
                                 const ps_block_tiling *tiling, const ps_block_header *header,
                                 ps_block_matrix **out);
/* Thread-safe for distinct tiles. */
ps_status ps_block_matrix_write_tile(ps_block_matrix *matrix, int64_t index,
                                     const ps_block_tile *tile);
/* Writes M^0 (all rows; NULL, and only then, if k_from > 0) and the header, whose counts and
 * statistics are taken from the tiles and set; commits. Frees on success and failure. */
ps_status ps_block_matrix_commit(ps_block_matrix **matrix, const ps_csr *m0,
                                 ps_block_header *header);

/* A matrix in memory, which is written and read as one in a file, but for: a tile is kept instead
 * of written, with `image`, which holds its arrays as ps_block_tile_place puts them, or without the
 * last of them, the values, which are then elsewhere and must not be read here, and is the
 * matrix's from then on (free()), or NULL where nobody will look at more than its counts;
 * completed instead of committed, which takes M^0 over; it has no
 * store. */
ps_status ps_block_matrix_create_in_memory(const ps_block_tiling *tiling,
                                           const ps_block_header *header, ps_block_matrix **out);
ps_status ps_block_matrix_keep_tile(ps_block_matrix *matrix, int64_t index,
                                    const ps_block_tile *tile, void *image);
ps_status ps_block_matrix_complete(ps_block_matrix *matrix, ps_csr *m0, ps_block_header *header);
bool ps_block_matrix_keeps(const ps_block_matrix *matrix); /* is in memory */
/* The unpacked tile as it lies in memory; NULL: in a file, or it has none. */
const void *ps_block_matrix_image(const ps_block_matrix *matrix, int64_t index);
/* Frees what a tile in memory has beside its counts. */
void ps_block_matrix_forget_image(ps_block_matrix *matrix, int64_t index);

/* Reading: as for slices; unpack runs ps_block_tile_check, and `values` may be read 128 bytes over
 * its end. */
ps_status ps_block_matrix_open(const char *path, ps_block_matrix **out);
void ps_block_matrix_close(ps_block_matrix **matrix);
ps_store *ps_block_matrix_store(ps_block_matrix *matrix);
const ps_block_header *ps_block_matrix_header(const ps_block_matrix *matrix);
int64_t ps_block_matrix_tile_count(const ps_block_matrix *matrix);
ps_status ps_block_matrix_tile_info(const ps_block_matrix *matrix, int64_t index,
                                    ps_block_tile *out);
void ps_block_matrix_tile_bytes(const ps_block_matrix *matrix, int64_t index, int64_t *raw,
                                int64_t *unpacked);
ps_status ps_block_matrix_read_raw(ps_block_matrix *matrix, int64_t index, void *raw);
ps_status ps_block_matrix_unpack(ps_block_matrix *matrix, int64_t index, const void *raw,
                                 void *unpacked, ps_block_tile *tile);
ps_status ps_block_matrix_view(const ps_block_matrix *matrix, int64_t index, const void *unpacked,
                               ps_block_tile *tile);
/* PS_INVALID if the file holds far lags alone. */
ps_status ps_block_matrix_load_m0(ps_block_matrix *matrix, ps_csr *out);

#endif
