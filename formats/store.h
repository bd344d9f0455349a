/*
 * store: one file of chunked, compressed, checksummed datasets with a chunk table.
 *
 * The layout is specified in specs/store.md. This is the only header through which the
 * other formats reach HDF5, and it shows none of it.
 *
 * Writing: ps_store_create makes a temporary (runtime/output_file.h); datasets are defined, their
 * chunks written in any order and from several threads; ps_store_commit writes the tables, flushes,
 * closes, checks every return, syncs, renames, syncs the folder. Until then an older file under
 * <path> is untouched; ps_store_close before commit removes the temporary.
 *
 * A dataset has shape dims[0] x dims[1] x ... and is cut along its first dimension into
 * chunks of `chunk_rows` rows. Two uses:
 *   arrays:  dims[0] items, many rows a chunk; the last chunk may be partial;
 *   ragged:  dims = {chunks, capacity}, chunk_rows = 1: chunk c holds `count` <= capacity
 *            valid values; the rest is zero and costs nothing once compressed.
 * All bytes are little-endian. Chunk bytes do not depend on threads or ranks.
 */
#ifndef PS_FORMATS_STORE_H
#define PS_FORMATS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/output_file.h"
#include "runtime/status.h"

typedef struct ps_store ps_store;

typedef enum ps_type { PS_U8, PS_U16, PS_U32, PS_I32, PS_I64, PS_F32, PS_F64 } ps_type;
size_t ps_type_size(ps_type type);

enum { PS_STORE_RANK_MAX = 4, PS_STORE_EXTRAS_MAX = 12, PS_NAME_MAX = 128 };

/* Definition of a dataset. */
typedef struct ps_dataset_spec {
    const char *name; /* absolute path in the file: "/values", "/VTKHDF/Points"              */
    ps_type type;
    int rank;
    int64_t dims[PS_STORE_RANK_MAX];
    int64_t chunk_rows;      /* 0: chosen for chunks of about 1 MiB (4 MiB above 256 MiB)    */
    const char *units;       /* "m", "Pa s", "1"; required                                   */
    const char *description; /* a line for people; may be NULL                               */
    int keep_bits;           /* mantissa bits kept of float data; 0: all                     */
    bool plain;              /* chunks are stored as they are: more bytes, but no unpacking  */
    int extra_count;         /* columns that this kind adds to the chunk table (doubles)     */
    const char *extras[PS_STORE_EXTRAS_MAX]; /* their names: "nnz", "d_max", "k_min", ...    */
    /* What the dimensions run over, for programs that know arrays by that: paths of datasets of one
     * dimension that hold coordinates, "/station", "/trace/axis"; where there is none at commit,
     * the dimension has a name and a length. All or none. */
    const char *dimensions[PS_STORE_RANK_MAX];
} ps_dataset_spec;

/* A row of the chunk table. */
typedef struct ps_chunk_info {
    int64_t stored_bytes; /* as in the file                                                  */
    int64_t raw_bytes;    /* of a whole chunk, uncompressed                                  */
    int64_t count;        /* valid values (elements) in the chunk                            */
    uint64_t xxh3;        /* XXH3-64 of the stored bytes                                     */
    double minimum, maximum, sum, sum_squares; /* over finite valid values                   */
    int64_t zeros, non_finite;
    double extras[PS_STORE_EXTRAS_MAX];
} ps_chunk_info;

typedef struct ps_dataset_info {
    char name[PS_NAME_MAX], units[32];
    ps_type type;
    int rank, keep_bits, extra_count;
    int64_t dims[PS_STORE_RANK_MAX];
    int64_t chunk_rows, chunk_count, chunk_bytes; /* chunk_bytes: a whole chunk, raw         */
    char extras[PS_STORE_EXTRAS_MAX][32];
} ps_dataset_info;

/* ---- a file ---- */

typedef struct ps_store_identity {
    const char *format;    /* "penstock-slice-matrix": root attribute `format`           */
    int format_version;    /* root attribute `format_version`                            */
    const char *creator;   /* program and version                                        */
    const char *revision;  /* source revision                                            */
    const char *options;   /* ps_run.record: the options that change results             */
    int64_t disk_estimate; /* bytes about to be written; 0: unknown. Too little free
                              space is refused at once with PS_EXHAUSTED                 */
} ps_store_identity;

ps_status ps_store_create(const char *path, const ps_store_identity *identity, ps_store **out);
/* The same for a kind that sets format and version itself. */
ps_status ps_store_create_as(const char *path, const ps_store_identity *identity,
                             const char *format, int format_version, ps_store **out);

/* Opens a committed file. `format` NULL: any; `version_max` 0: any. PS_INVALID, naming file and
 * reason: missing, not HDF5, truncated, no penstock file, other format, version above
 * `version_max`; and, unless inputs are trusted (runtime/trust.h), a content hash that is not the
 * recorded one, or, where a format is named that has no gaps, values that are not finite. */
ps_status ps_store_open(const char *path, const char *format, int version_max, ps_store **out);
/* Without the checks of the contents: for who makes them. */
ps_status ps_store_open_unchecked(const char *path, const char *format, int version_max,
                                  ps_store **out);
/* PS_INVALID if a chunk table counts values that are infinite or NaN. */
ps_status ps_store_check_finite(const ps_store *store);

ps_status ps_store_commit(ps_store **store); /* frees on success and on failure              */
void ps_store_close(ps_store **store);       /* before commit: discards. NULL is fine        */

const char *ps_store_path(const ps_store *store);
const char *ps_store_format(const ps_store *store); /* of an opened file */
int ps_store_version(const ps_store *store);
const char *ps_store_uuid(const ps_store *store);

/* Records an input file: its path's last part, format, uuid and content hash (from its
 * chunk tables, so that it costs no reading). Later openers can ask for it. */
ps_status ps_store_add_input(ps_store *store, const char *role, const ps_store *input);

/* The content hash of an opened store: 16 hex digits over format, attributes and all chunk
 * hashes, not over where it comes from (time, uuid, creator, revision, options, inputs): equal
 * content, equal hash. out[17]. */
ps_status ps_store_content_hash(const ps_store *store, char *out);

/* True if `path` is a complete file of this identity (format, version, options) whose inputs
 * have these content hashes: the stage has nothing to do. Never fails: any doubt is false. */
bool ps_store_matches(const char *path, const ps_store_identity *identity, int input_count,
                      const char *const *roles, ps_store *const *inputs);

/* ---- attributes: of the root (object = "/") or of a dataset or group ---- */

ps_status ps_store_put_int(ps_store *store, const char *object, const char *name, int64_t value);
ps_status ps_store_put_real(ps_store *store, const char *object, const char *name, double value);
ps_status ps_store_put_text(ps_store *store, const char *object, const char *name,
                            const char *value); /* fixed-length ASCII string                 */
ps_status ps_store_put_reals(ps_store *store, const char *object, const char *name,
                             const double *values, int count);
ps_status ps_store_put_ints(ps_store *store, const char *object, const char *name,
                            const int64_t *values, int count);
ps_status ps_store_get_int(const ps_store *store, const char *object, const char *name,
                           int64_t *out);
ps_status ps_store_get_real(const ps_store *store, const char *object, const char *name,
                            double *out);
ps_status ps_store_get_text(const ps_store *store, const char *object, const char *name, char *out,
                            size_t size);
ps_status ps_store_get_reals(const ps_store *store, const char *object, const char *name,
                             double *out, int count);
ps_status ps_store_get_ints(const ps_store *store, const char *object, const char *name,
                            int64_t *out, int count);
bool ps_store_has(const ps_store *store, const char *object, const char *name);
/* name NULL: does the object exist? */

/* ---- datasets ---- */

/* Defines a dataset (missing groups are made); *id is its number. Before any of its chunks, and
 * not while other threads use the store. */
ps_status ps_store_define(ps_store *store, const ps_dataset_spec *spec, int *id);
ps_status ps_store_find(const ps_store *store, const char *name,
                        int *id); /* PS_INVALID if absent */
/* PS_INVALID unless the dataset is there with this type, so many rows, and so many values a row. */
ps_status ps_store_expect(const ps_store *store, const char *name, ps_type type, int64_t rows,
                          int64_t width);
int ps_store_dataset_count(const ps_store *store);
ps_status ps_store_dataset(const ps_store *store, int id, ps_dataset_info *out);
/* Likewise by name. PS_INVALID if absent. */
ps_status ps_store_describe(const ps_store *store, const char *name, ps_dataset_info *out);
/* The table row of a chunk; from memory, costs no reading. */
ps_status ps_store_chunk(const ps_store *store, int id, int64_t chunk, ps_chunk_info *out);

/* Shuffles, compresses, hashes and writes one chunk: `count` valid values (elements) at
 * data; the rest of the chunk is filled with zeros. Statistics are taken on the way.
 * Thread-safe: several threads may write different chunks; compression and the transfer to
 * the file run in parallel (chunks of less than 64 KiB stored: one transfer at a time). Commit
 * once all have returned. Each chunk is written once. extras: extra_count doubles or NULL. */
ps_status ps_store_write_chunk(ps_store *store, int id, int64_t chunk, const void *data,
                               int64_t count, const double *extras);

/* Every call that copies out of a file is told how many bytes there are at `data`, `capacity`, and
 * writes no more, whatever the file says. PS_ROOM counts them for `n` items. */
#define PS_ROOM(data, n) ((int64_t)(n) * (int64_t)sizeof *(data))

/* Reads one chunk (whole: raw_bytes) into data, verifying its hash. Thread-safe. PS_INVALID where
 * it is larger than `capacity`. */
ps_status ps_store_read_chunk(ps_store *store, int id, int64_t chunk, int64_t capacity, void *data);
/* Likewise, but only the `count` valid values: data needs no room for the rest of the chunk.
 * PS_INVALID unless they fill `capacity` exactly. */
ps_status ps_store_read_values(ps_store *store, int id, int64_t chunk, int64_t capacity,
                               void *data);

/* The two halves, for chunk_stream: the stored bytes, and their decoding (hash verified). */
ps_status ps_store_read_stored(ps_store *store, int id, int64_t chunk, int64_t capacity,
                               void *stored);
ps_status ps_store_decode(ps_store *store, int id, int64_t chunk, const void *stored,
                          int64_t capacity, void *data);
/* Likewise, but only the valid values, which must fill `capacity` exactly. */
ps_status ps_store_decode_values(ps_store *store, int id, int64_t chunk, const void *stored,
                                 int64_t capacity, void *data);

/* Whole arrays, and rows [first, first + count) of an array; in parallel (OpenMP). */
ps_status ps_store_write_array(ps_store *store, const ps_dataset_spec *spec, const void *data);
/* Likewise, of an array that is nowhere in memory: make() fills rows [first, first + count) of it,
 * a chunk at a time, called by several threads at once. */
typedef void ps_row_maker(const void *context, int64_t first, int64_t count, void *rows);
ps_status ps_store_write_made(ps_store *store, const ps_dataset_spec *spec, ps_row_maker *make,
                              const void *context);
/* `type` must be the dataset's own. PS_INVALID unless the rows fill `capacity` bytes exactly: a
 * file whose rows are wider or narrower than its kind has is refused. */
ps_status ps_store_read_array(ps_store *store, const char *name, ps_type type, int64_t first,
                              int64_t count, int64_t capacity, void *data);

/* ---- what is there, for programs that show files ---- */

typedef enum ps_attribute_kind {
    PS_ATTRIBUTE_INTS,
    PS_ATTRIBUTE_REALS,
    PS_ATTRIBUTE_TEXT,
    PS_ATTRIBUTE_OTHER /* of no kind that these functions read */
} ps_attribute_kind;

typedef struct ps_attribute {
    char name[PS_NAME_MAX];
    ps_attribute_kind kind;
    int64_t count; /* numbers, or characters of a text */
} ps_attribute;

/* The attributes of an object, by name. *out is the caller's to free(). */
ps_status ps_store_list_attributes(const ps_store *store, const char *object, ps_attribute **out,
                                   int *count);

typedef struct ps_input {
    char role[PS_NAME_MAX], file[256], format[64], uuid[40], content_hash[17];
} ps_input;

/* The inputs recorded by ps_store_add_input, by role. *out is the caller's to free(). */
ps_status ps_store_list_inputs(const ps_store *store, ps_input **out, int *count);

int ps_store_part_count(const ps_store *store); /* of an opened master; 0: no master */

/* ---- verification ---- */

typedef struct ps_verify_result {
    int64_t chunks, bad_chunks, bytes;
    char first_problem[256]; /* "chunk 17 of /values: hash differs"; "" if none */
} ps_verify_result;

/* Checks structure, the chunk table against the file and, if `deep`, every chunk's hash, and
 * its values against the recorded statistics. PS_INVALID if anything is wrong. */
ps_status ps_store_verify(ps_store *store, bool deep, ps_verify_result *out);

/* ---- several ranks: one immutable part file a rank and, last, a master ---- */

/* Sets of parts have generations, so that the set that a master names stays whole until the next
 * master has its name: "<path>" with generation and number before its suffix, run.h5 ->
 * run.part0003.h5 (generation 0), run.g2.part0003.h5. out[4096]. */
void ps_store_part_path(const char *path, int64_t generation, int part, char *out);
/* The generation of the next set at `path`: one above that of the file that is there, 0 where none
 * is. The same until that file is replaced, so that a run that goes on finds its parts.
 * Collective: all ranks get what rank 0 sees. */
ps_status ps_store_next_generation(const char *path, int64_t *out);
/* The set of parts that a run writes. All others are kept from the sets at its path from before the
 * choice of the generation until it is released, after the commit of the master: two writers would
 * give parts of one generation the same names. */
typedef struct ps_store_set {
    int64_t generation;
    ps_output *hold; /* rank 0's */
} ps_store_set;

/* Of the next generation. PS_FAILED, naming its process, if there is another writer. Collective;
 * released by ps_store_set_release on success and on failure. */
ps_status ps_store_set_begin(const char *path, ps_store_set *out);
void ps_store_set_release(ps_store_set *set);
/* Removes what writers of `path` and of its sets who are dead have left of temporaries. */
void ps_store_tidy(const char *path);
/* Removes parts of lower generations than that of the master at `path`, and of this one from
 * `parts` on. What cannot be removed stays. */
void ps_store_remove_old_parts(const char *path, int64_t generation, int64_t parts);

/* Writes the master at `path` over committed parts 0..parts-1 (all with the same datasets,
 * which are joined along the first dimension in the order of the parts): virtual datasets, the
 * joined chunk tables, and a manifest with each part's uuid and content hash. Root attributes
 * are taken from part 0. The commit point of a parallel run; call on one rank after all
 * have committed; parts of older sets are removed then. ps_store_open on a master checks the
 * manifest (a missing or foreign part is PS_INVALID by name) and reads chunks from the parts. */
ps_status ps_store_write_master(const char *path, const ps_store_identity *identity,
                                int64_t generation, int parts);

#endif
