/*
 * slice_matrix: the interaction matrices M^k, k = 1..K, as slices, and M^0 apart;
 * "penstock-slice-matrix" (specs/slice_matrix.md).
 *
 * Slice j is the N x K matrix Slice^j(i,k) = M^k(i,j) (Bramas, Coulaud, Sylvand 2014, 3.2):
 * one row-vector per row i: its non-zeros lie on one interval of k, inner zeros are kept.
 * The slices are cut into tiles of rows x slices, a chunk each, so that memory stays bounded
 * whatever N is. Tiles are ordered by slice interval, then by row interval. In a tile
 * row-vectors are stored slice by slice, rows ascending.
 */
#ifndef PS_FORMATS_SLICE_MATRIX_H
#define PS_FORMATS_SLICE_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/csr.h"
#include "formats/reflectors.h"
#include "formats/store.h"
#include "runtime/isa.h"

typedef enum ps_formulation {
    PS_SOUND_SOFT_S, /* P0 x P0 single layer, M^k = S_k               */
    PS_SOUND_SOFT_M, /* M^k = S_k - S_{k-1}: energetic Galerkin       */
    PS_SOUND_HARD    /* P1 x hat in time, hypersingular               */
} ps_formulation;
const char *ps_formulation_name(ps_formulation formulation); /* "sound-soft-s", ... */

/* Passivity certificate: least eigenvalue of the Hermitian part, diagonal scaled to 1, at `angles`
 * points of the unit circle (kernels/tdbem/passivity.h). Below 0 the march can grow by about
 * exp(-least) a step. */
typedef struct ps_passivity {
    int64_t angles;  /* 0: there is none                                                     */
    double least;    /* over all angles                                                      */
    double angle;    /* where, rad                                                           */
    int64_t unknown; /* the largest component of its vector                                  */
    double share;    /* of that component in the norm                                        */
} ps_passivity;
/* There is one, and nothing below 0 but what rounding to single precision leaves. */
bool ps_passivity_is_good(const ps_passivity *passivity);

/* What a run needs to know of the discretisation; stored as root attributes in slice and block
 * matrices alike. */
typedef struct ps_slice_header {
    ps_formulation formulation;
    double combined;        /* sound-hard: alpha of the combined field equation, whose matrices are
                               not symmetric; 0: none                                        */
    char lining[64];        /* of which part of the mesh these are the matrices G^k of a lining,
                               which are not symmetric (specs/tdbem_lining.md); "": M^k      */
    ps_precision precision; /* of the values                                                 */
    int64_t unknowns;       /* N: triangles (sound-soft) or vertices (sound-hard)            */
    int64_t k_max;          /* K: last k with a non-zero M^k                                 */
    int64_t nnz;            /* stored values, k = 1..K, inner zeros included                 */
    int64_t d_max;          /* longest row-vector                                            */
    double d_mean;          /* nnz / number of non-empty row-vectors                         */
    double score;           /* ordering score: mean over slices of mean over consecutive rows
                               of q^2, q the number of common k                              */
    double dt;              /* s                                                             */
    double speed;           /* m/s                                                           */
    int64_t outer_points;   /* outer rule: 3, 6, 7 or 12                                     */
    ps_passivity passivity;
    ps_reflectors mirrors; /* the planes whose images it has                                 */
    char mesh_uuid[40], mesh_hash[17]; /* the surface mesh that it was assembled from        */
} ps_slice_header;

/* M^k(i,j) and M^k(j,i) differ. */
bool ps_slice_header_is_unsymmetric(const ps_slice_header *header);

/* The text of the attribute `formulation`: ps_formulation_name, or "sound-hard-combined"; in files
 * with planes "-mirrored" behind it, which readers from before there were planes refuse. Linings
 * have "sound-hard-lining", with the attributes `lining` and, if it is not 0, `combined`. */
const char *ps_equation_name(ps_formulation formulation, double combined);
ps_status ps_equation_put(ps_store *store, ps_formulation formulation, double combined,
                          const ps_reflectors *mirrors);
/* PS_INVALID: no such name, or an alpha or planes that are none. */
ps_status ps_equation_get(const ps_store *store, ps_formulation *formulation, double *combined,
                          ps_reflectors *mirrors);

/* To and from the root attributes. On a master file nnz, d_max, d_mean, score and k_max are
 * those of the first part; opening a matrix takes them from the chunk table instead. _get checks
 * ranges: PS_INVALID with the attribute's name. */
ps_status ps_slice_header_put(ps_store *store, const ps_slice_header *header);
ps_status ps_slice_header_get(ps_store *store, ps_slice_header *header);

enum {
    PS_TILE_ROW_BLOCK = 64, /* rows between two entries of a tile's offset table          */
    PS_LENGTH_BINS = 1024,  /* of the histogram; the last: PS_LENGTH_BINS - 1 or longer   */
    PS_K_LIMIT = 60000      /* largest K that the format takes                            */
};

/* A tile: rows [first_row, first_row + rows) x slices [first_slice, first_slice + slices).
 * Row-vector v = s * rows + r (slice s, row r of the tile) has its first k in starts[v], its
 * length in lengths[v] (0: empty) and its values, k ascending, in values[offset(v) ..], where
 * offset is the running sum of lengths. Writing replaces the start of an empty row-vector by that
 * of the row before it in the slice (1 at its beginning). */
typedef struct ps_slice_tile {
    int64_t first_row, rows, first_slice, slices;
    int64_t value_count; /* sum of lengths                                               */
    uint16_t *starts;    /* [slices * rows], in 1..K                                     */
    uint16_t *lengths;   /* [slices * rows]                                              */
    void *values;        /* [value_count] float or double                                */
    /* Where rows 64 b of slice s begin in `values`: offsets[s * row_blocks + b], row_blocks =
     * ceil(rows / PS_TILE_ROW_BLOCK). Made by unpacking, so that threads can own rows; writers
     * leave it NULL. */
    const uint32_t *offsets;
    double d_max, k_min, k_max, score; /* of the tile; columns of the chunk table            */
    double filled;                     /* row-vectors that are not empty                     */
} ps_slice_tile;

/* ---- tiles in memory (formats/slice_tile.c): no I/O, no allocation ---- */

int64_t ps_slice_tile_row_blocks(const ps_slice_tile *tile);
/* Gives every empty row-vector the start of the row before it in its slice, or 1. */
void ps_slice_tile_fill_starts(ps_slice_tile *tile);
/* Checks 1 <= start, start + length - 1 <= k_limit and sum of lengths == value_count; PS_INVALID
 * with the row and slice of the first fault. Then sets value_count's companions d_max, k_min,
 * k_max (0 if all is empty), filled and score, and adds lengths to histogram[PS_LENGTH_BINS]. */
ps_status ps_slice_tile_measure(ps_slice_tile *tile, int64_t k_limit, int64_t *histogram);
/* The check alone, for tiles that were read: every start and end within 1..k_limit, lengths at
 * most d_limit, their sum value_count, and fills offsets[slices * row_blocks]. */
ps_status ps_slice_tile_index(const ps_slice_tile *tile, int64_t k_limit, int64_t d_limit,
                              uint32_t *offsets);

/* The tiling is fixed beforehand: row tiles of tile_rows, slice intervals of tile_slices over
 * slices [first_slice, end_slice) (a rank's share); value_capacity bounds the values of any
 * tile. tile_rows is a multiple of 256 unless it is N. */
typedef struct ps_slice_tiling {
    int64_t unknowns, tile_rows, tile_slices, first_slice, end_slice, value_capacity;
} ps_slice_tiling;
ps_status ps_slice_tiling_check(const ps_slice_tiling *tiling); /* PS_USAGE if it is none */
int64_t ps_slice_tiling_count(const ps_slice_tiling *tiling);
/* Sets the four ranges of tile number `index`. */
void ps_slice_tiling_range(const ps_slice_tiling *tiling, int64_t index, ps_slice_tile *tile);
/* Checks that tiles are in order, rows within slices, and cover all rows and slices once.
 * PS_INVALID with the first gap. */
ps_status ps_slice_tiles_cover(const ps_slice_tile *tiles, int64_t count, int64_t unknowns);
/* Sets nnz, d_max, k_max, d_mean and score of a header from those of all tiles; the score leaves
 * out the pairs of rows across tiles. */
void ps_slice_header_derive(const ps_slice_tile *tiles, int64_t count, ps_slice_header *header);

#define PS_SLICE_MATRIX_FORMAT "penstock-slice-matrix"
enum { PS_SLICE_MATRIX_VERSION = 1 };

typedef struct ps_slice_matrix ps_slice_matrix;

/* ---- writing ---- */
ps_status ps_slice_matrix_create(const char *path, const ps_store_identity *identity,
                                 const ps_slice_tiling *tiling, ps_precision precision,
                                 int keep_bits, ps_slice_matrix **out);
/* Thread-safe for distinct tiles. The ranges must be those of ps_slice_tiling_range. Fills the
 * tile's statistics and the starts of its empty row-vectors. PS_INVALID for a tile that
 * contradicts itself, PS_EXHAUSTED for one beyond value_capacity. */
ps_status ps_slice_matrix_write_tile(ps_slice_matrix *matrix, int64_t index, ps_slice_tile *tile);
/* Writes M^0 and the header (nnz, d_max, d_mean, score, k_max are taken from the tiles and set
 * in *header), commits. Frees on success and failure. m0: its rows first_slice .. end_slice-1
 * alone (row j is column j of M^0, so a part owns as many rows as slices): m0->rows = end_slice -
 * first_slice, columns 0..N-1. The parts of a run need equal tile_rows and at least one slice
 * each; tile_slices and value_capacity may differ. Fails if a tile was not written. */
ps_status ps_slice_matrix_commit(ps_slice_matrix **matrix, const ps_csr *m0,
                                 ps_slice_header *header);

/* ---- reading ---- */
/* A single file or a master over parts; a lone part is refused (it lacks slices). Checks
 * everything that can be checked without reading tiles: types, capacities, ranges, and that the
 * tiles cover all rows and slices once, in order. */
ps_status ps_slice_matrix_open(const char *path, ps_slice_matrix **out);
void ps_slice_matrix_close(ps_slice_matrix **matrix);     /* before commit: discards */
ps_store *ps_slice_matrix_store(ps_slice_matrix *matrix); /* borrowed */
const ps_slice_header *ps_slice_matrix_header(const ps_slice_matrix *matrix);
int64_t ps_slice_matrix_tile_count(const ps_slice_matrix *matrix);
/* Ranges, value_count and statistics of a tile, from the chunk table (no data pointers). */
ps_status ps_slice_matrix_tile_info(const ps_slice_matrix *matrix, int64_t index,
                                    ps_slice_tile *out);
/* Stored and unpacked sizes of a tile, for chunk_stream. */
void ps_slice_matrix_tile_bytes(const ps_slice_matrix *matrix, int64_t index, int64_t *raw,
                                int64_t *unpacked);
/* Halves of reading, for chunk_stream (raw holds the stored bytes of all datasets; both
 * buffers 64-byte aligned). After unpack the tile's pointers point into `unpacked`. unpack
 * verifies hashes and that starts, lengths and sums stay within the tile's own figures, so that
 * corrupt data cannot lead compute out of bounds; `values` may be read 128 bytes over its
 * end. Both are thread-safe. tile may be NULL. */
ps_status ps_slice_matrix_read_raw(ps_slice_matrix *matrix, int64_t index, void *raw);
ps_status ps_slice_matrix_unpack(ps_slice_matrix *matrix, int64_t index, const void *raw,
                                 void *unpacked, ps_slice_tile *tile);
/* Reads starts and lengths alone (values NULL), at `unpacked` as unpack would; for statistics. */
ps_status ps_slice_matrix_read_structure(ps_slice_matrix *matrix, int64_t index, void *unpacked,
                                         ps_slice_tile *tile);
/* Sets a tile's ranges and pointers over memory that was unpacked before. */
ps_status ps_slice_matrix_view(const ps_slice_matrix *matrix, int64_t index, const void *unpacked,
                               ps_slice_tile *tile);
/* M^0, all N rows. Row j holds column j of M^0, which matters where it is not symmetric
 * (ps_slice_header_is_unsymmetric; ps_csr_transpose). The caller releases it. */
ps_status ps_slice_matrix_load_m0(ps_slice_matrix *matrix, ps_csr *out);
/* Number of row-vectors of each length 0 .. PS_LENGTH_BINS-1. */
ps_status ps_slice_matrix_lengths(ps_slice_matrix *matrix, int64_t histogram[PS_LENGTH_BINS]);

#endif
