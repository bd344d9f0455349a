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

#include <stdint.h>

#include "formats/store.h"
#include "runtime/isa.h"

typedef enum ps_formulation {
    PS_SOUND_SOFT_S, /* P0 x P0 single layer, M^k = S_k               */
    PS_SOUND_SOFT_M, /* M^k = S_k - S_{k-1}: energetic Galerkin       */
    PS_SOUND_HARD    /* P1 x hat in time, hypersingular               */
} ps_formulation;
const char *ps_formulation_name(ps_formulation formulation); /* "sound-soft-s", ... */
ps_status ps_formulation_parse(const char *name, ps_formulation *out);

/* What a run needs to know of the discretisation; stored as root attributes in slice and block
 * matrices alike. */
typedef struct ps_slice_header {
    ps_formulation formulation;
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
    char mesh_uuid[40], mesh_hash[17]; /* the surface mesh that it was assembled from        */
} ps_slice_header;

ps_status ps_slice_header_put(ps_store *store, const ps_slice_header *header);
ps_status ps_slice_header_get(const ps_store *store, ps_slice_header *header);

/* A tile: rows [first_row, first_row + rows) x slices [first_slice, first_slice + slices).
 * Row-vector v = s * rows + r (slice s, row r of the tile) has its first k in starts[v], its
 * length in lengths[v] (0: empty) and its values, k ascending, in values[offset(v) ..], where
 * offset is the running sum of lengths. */
typedef struct ps_slice_tile {
    int64_t first_row, rows, first_slice, slices;
    int64_t value_count;     /* sum of lengths                                               */
    uint16_t *starts;        /* [slices * rows]                                              */
    uint16_t *lengths;       /* [slices * rows]                                              */
    void *values;            /* [value_count] float or double                                */
    double d_max, k_min, k_max, score; /* of the tile; columns of the chunk table            */
} ps_slice_tile;

/* M^k as compressed sparse rows, fp64; used for M^0, and for near-time matrices. */
typedef struct ps_csr {
    int64_t rows, nnz;
    int64_t *row_start; /* [rows + 1]          */
    int32_t *columns;   /* [nnz], ascending    */
    double *values;     /* [nnz]               */
} ps_csr;
void ps_csr_release(ps_csr *matrix);

typedef struct ps_slice_matrix ps_slice_matrix;

/* ---- writing ---- */
/* The tiling is fixed beforehand: row tiles of tile_rows, slice intervals of tile_slices over
 * slices [first_slice, end_slice) (a rank's share); value_capacity bounds the values of any
 * tile. tile_rows is a multiple of 256 unless it is N. */
typedef struct ps_slice_tiling {
    int64_t unknowns, tile_rows, tile_slices, first_slice, end_slice, value_capacity;
} ps_slice_tiling;
int64_t ps_slice_tiling_count(const ps_slice_tiling *tiling);
/* Sets the four ranges of tile number `index`. */
void ps_slice_tiling_range(const ps_slice_tiling *tiling, int64_t index, ps_slice_tile *tile);

ps_status ps_slice_matrix_create(const char *path, const ps_store_identity *identity,
                                 const ps_slice_tiling *tiling, ps_precision precision,
                                 int keep_bits, ps_slice_matrix **out);
/* Thread-safe for distinct tiles. Fills the tile's statistics. */
ps_status ps_slice_matrix_write_tile(ps_slice_matrix *matrix, int64_t index, ps_slice_tile *tile);
/* Writes M^0 (the rows of it that belong to this part: columns by symmetry) and the header
 * (nnz, d_max, d_mean, score, k_max are taken from the tiles), commits. Frees. */
ps_status ps_slice_matrix_commit(ps_slice_matrix **matrix, const ps_csr *m0,
                                 ps_slice_header *header);

/* ---- reading ---- */
ps_status ps_slice_matrix_open(const char *path, ps_slice_matrix **out);
void ps_slice_matrix_close(ps_slice_matrix **matrix); /* before commit: discards */
ps_store *ps_slice_matrix_store(ps_slice_matrix *matrix); /* borrowed */
const ps_slice_header *ps_slice_matrix_header(const ps_slice_matrix *matrix);
int64_t ps_slice_matrix_tile_count(const ps_slice_matrix *matrix);
/* Ranges, value_count and statistics of a tile, from the chunk table (no data pointers). */
ps_status ps_slice_matrix_tile_info(const ps_slice_matrix *matrix, int64_t index,
                                    ps_slice_tile *out);
/* Stored and unpacked sizes of a tile, for chunk_stream. */
void ps_slice_matrix_tile_bytes(const ps_slice_matrix *matrix, int64_t index, int64_t *raw,
                                int64_t *unpacked);
/* Halves of reading, for chunk_stream (raw holds the stored bytes of all datasets). After
 * unpack the tile's pointers point into `unpacked`. */
ps_status ps_slice_matrix_read_raw(ps_slice_matrix *matrix, int64_t index, void *raw);
ps_status ps_slice_matrix_unpack(ps_slice_matrix *matrix, int64_t index, const void *raw,
                                 void *unpacked, ps_slice_tile *tile);
/* Sets a tile's ranges and pointers over memory that was unpacked before. */
ps_status ps_slice_matrix_view(const ps_slice_matrix *matrix, int64_t index, const void *unpacked,
                               ps_slice_tile *tile);
ps_status ps_slice_matrix_load_m0(ps_slice_matrix *matrix, ps_csr *out);

#endif
