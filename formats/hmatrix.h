/*
 * hmatrix: an H-matrix of a boundary operator in files: tables, and a part file for every chunk of
 * consecutive leaves; "penstock-hmatrix", "penstock-hmatrix-part" (specs/hmatrix.md).
 *
 * Writing: every chunk is assembled in memory (a ps_hmatrix whose leaves are those of the chunk)
 * and saved as a part, in any order, by any rank; parts that are there already are found by
 * ps_hmatrix_part_done. At last one rank writes the tables. Reading: whole, or by chunks through
 * chunk_stream.
 */
#ifndef PS_FORMATS_HMATRIX_H
#define PS_FORMATS_HMATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/cluster_tree.h"
#include "formats/hmatrix_blocks.h"
#include "formats/reflectors.h"
#include "formats/store.h"
#include "runtime/chunk_stream.h"
#include "runtime/report.h"

#define PS_HMATRIX_FORMAT "penstock-hmatrix"
#define PS_HMATRIX_PART_FORMAT "penstock-hmatrix-part"
/* 2 of an image, or of a medium that absorbs, which an older reader would take for another
 * operator; else 1 is written. Parts are the same. */
enum { PS_HMATRIX_VERSION = 2, PS_HMATRIX_PART_VERSION = 1 };

typedef struct ps_hmatrix_header {
    ps_hbem_kernel kernel;
    double wavenumber;     /* k, rad/m; 0: Laplace, one part                                      */
    double absorption;     /* the imaginary part of k, Np/m                                       */
    ps_reflectors mirrors; /* what `image` is of                                              */
    int image; /* trial functions are those of this image in the planes; 0: the body's own    */
    ps_hbem_space_kind space[2]; /* by ps_cluster_side                                        */
    bool same, symmetric;        /* one space; only leaves with row_begin <= column_begin     */
    ps_precision precision;      /* of the stored numbers                                     */
    char mode[16];               /* "hmatrix", "dense"                                        */
    char form[16];               /* "kernel"; HYPS: "direct", "weak", "split"                 */
    double tolerance, eta;       /* eps; 0: weak admissibility                                */
    double rules;                /* tolerance of the quadrature                               */
    double row_sum_error;        /* of Laplace's double layer on a closed surface; NaN: none  */
    double entry_error;          /* of the rules on the worst pairs of triangles; NaN: unknown    */
    int64_t check_rows;
    char cluster_hash[17], mesh_hash[17]; /* content hashes */
} ps_hmatrix_header;

/* ---- parts ---- */

/* Chunks of an H-matrix: leaves [first[c], first[c + 1]). */
typedef struct ps_hmatrix_chunks {
    int64_t count;
    int64_t *first; /* [count + 1] */
} ps_hmatrix_chunks;

/* Numbers that `leaf` of the run takes in a part, up to the next multiple of 64 bytes. */
int64_t ps_hmatrix_padded(const ps_hmatrix *run, int64_t leaf, int64_t rank);

/* A chunk as a part file beside `path`: run->leaves and run->blocks are those of the chunk alone,
 * run->rows and columns those of the matrix. identity: as of the tables (format and version are set
 * here). `clusters` is recorded as input. Local; several parts may be saved at once. */
typedef struct ps_hmatrix_part {
    const char *path; /* of the tables */
    const ps_store_identity *identity;
    ps_store *clusters;
    int64_t chunk, first_leaf, leaf_count;
    bool plain;         /* saving: values are stored as they are, not compressed */
    int64_t generation; /* of the set: ps_store_next_generation           */
} ps_hmatrix_part;
ps_status ps_hmatrix_part_save(const ps_hmatrix_part *part, const ps_hmatrix *run);

/* Whether the part is complete, of this identity, clusters and leaves. Never fails. */
bool ps_hmatrix_part_done(const ps_hmatrix_part *part);
/* PS_USAGE where the file of the part is of other options or clusters, and names them: what an
 * unfinished run left is not written over. PS_OK where none is there or it cannot be read. */
ps_status ps_hmatrix_part_check(const ps_hmatrix_part *part);
/* Reads a part, before there are tables: run->blocks[leaf_count], the caller's, of a run whose
 * other fields are set. *values: what they point into, the caller's to free(). PS_INVALID where
 * ranks or bytes are not those of the leaves. */
ps_status ps_hmatrix_part_load(const ps_hmatrix_part *part, ps_hmatrix *run, void **values);
/* Whether a complete part of any kind is there. */
bool ps_hmatrix_part_exists(const char *path, int64_t generation, int64_t chunk);

/* The version that a matrix of this header is written with. */
int ps_hmatrix_version(const ps_hmatrix_header *header);

/* ---- the tables ---- */

typedef struct ps_hmatrix_tables {
    ps_hmatrix_header header;
    ps_cluster_tree tree[2]; /* [1] equals [0] where header.same                             */
    ps_cluster_leaves nodes; /* of all leaves (the half of a symmetric matrix)               */
    ps_hmatrix_chunks chunks;
} ps_hmatrix_tables;

/* Gathers ranks, errors and hashes from the parts of the generation and writes the tables; then
 * removes those of older ones, which an earlier matrix of this name has had until now. Borrows all.
 * PS_INVALID where a part is missing or of another matrix. Local: on one rank, once all parts are
 * saved. */
ps_status ps_hmatrix_commit(const char *path, const ps_store_identity *identity,
                            const ps_hmatrix_tables *tables, ps_store *clusters,
                            int64_t generation);

/* ---- reading ---- */

typedef struct ps_hmatrix_file ps_hmatrix_file;

/* Reads and checks the tables. */
ps_status ps_hmatrix_open(const char *path, ps_hmatrix_file **out);
void ps_hmatrix_close(ps_hmatrix_file **file);

ps_store *ps_hmatrix_store(ps_hmatrix_file *file);                            /* borrowed */
const ps_hmatrix_header *ps_hmatrix_file_header(const ps_hmatrix_file *file); /* borrowed */
/* The tree of the test (rows) or trial (columns) side: its order tells the function at a position.
 */
const ps_cluster_tree *ps_hmatrix_tree(const ps_hmatrix_file *file, ps_cluster_side side);
const ps_hmatrix_chunks *ps_hmatrix_file_chunks(const ps_hmatrix_file *file);

/* What the tables say of all leaves; borrowed. shape.blocks have rank and error, no values. */
typedef struct ps_hmatrix_overview {
    ps_hmatrix shape;
    const int64_t *xxh3;    /* [leaf_count]                                                  */
    const int64_t *numbers; /* [chunks] with those between leaves                            */
    const int64_t *stored;  /* [chunks] bytes in the part files                              */
} ps_hmatrix_overview;
const ps_hmatrix_overview *ps_hmatrix_file_overview(const ps_hmatrix_file *file);

/* XXH3-64 over the hashes of all leaves, 16 hex digits: equal where all leaves are, however they
 * are cut into chunks. out[17]. */
void ps_hmatrix_values_hash(const ps_hmatrix_file *file, char *out);

/* Sizes of a chunk as stored and unpacked, for chunk_stream. */
void ps_hmatrix_chunk_bytes(const ps_hmatrix_file *file, int64_t chunk, int64_t *raw,
                            int64_t *unpacked);
/* Halves of reading, for chunk_stream: buffers 64-byte aligned. Hashes are verified. Unpacking of
 * different chunks is thread-safe; each read is followed by its unpacking. */
ps_status ps_hmatrix_read_raw(ps_hmatrix_file *file, int64_t chunk, void *raw);
ps_status ps_hmatrix_unpack(ps_hmatrix_file *file, int64_t chunk, const void *raw, void *unpacked);
/* A chunk in unpacked memory as an H-matrix of its leaves alone (rows and columns those of the
 * whole), to multiply with (kernels/hbem/product.h): values point into `unpacked`. blocks[leaves of
 * the chunk] is the caller's. Do not release *out. Thread-safe. */
void ps_hmatrix_view(const ps_hmatrix_file *file, int64_t chunk, const void *unpacked,
                     ps_hmatrix_block *blocks, ps_hmatrix *out);
/* Most leaves of a chunk, for `blocks`. */
int64_t ps_hmatrix_most_leaves(const ps_hmatrix_file *file);

/* A stream over all chunks, in order, within host_memory (runtime/chunk_stream.h); the rest of
 * *config is set here, its sizes are borrowed from the file. */
void ps_hmatrix_stream_config(ps_hmatrix_file *file, int64_t host_memory,
                              ps_chunk_stream_config *config);

/* Figures of all leaves and chunks (hmatrix_figures.list). */
void ps_hmatrix_report(const ps_hmatrix_file *file, ps_report *report);

/* The whole matrix in memory; leaves borrowed from the file, which must stay open.
 * ps_hmatrix_release(out). */
ps_status ps_hmatrix_load(ps_hmatrix_file *file, ps_hmatrix *out);

/* Checks that every part is there, is the one that the tables name, and is whole (ps_store_verify);
 * deep: also every leaf's hash. PS_INVALID if anything is wrong. Adds to *result. */
ps_status ps_hmatrix_verify(ps_hmatrix_file *file, bool deep, ps_verify_result *result);

#endif
