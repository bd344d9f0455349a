/*
 * store_private: what the files store*.c share. Not for other modules.
 *
 * HDF5 is one shared resource: every call of it, from any store, is made by the thread that
 * holds ps_hdf5_lock. Compression, hashing and statistics run outside that lock, and so does the
 * transfer of chunks (store_driver.h).
 */
#ifndef PS_FORMATS_STORE_PRIVATE_H
#define PS_FORMATS_STORE_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/store.h"
#include "runtime/scope.h"
#include "runtime/output_file.h"
#include "runtime/trial.h"

typedef int64_t ps_hid; /* hid_t, without <hdf5.h> */

/* A handle of HDF5 that is closed where its block ends (runtime/scope.h), within the lock; < 0:
 * none. Not for what is written, whose closing may fail. */
#define PS_SCOPED_HID PS_SCOPED(ps_hdf5_close) ps_hid
void ps_hdf5_close(ps_hid *handle);

enum {
    PS_STORE_VERSION = 3, /* of the container: root attribute store_version            */
    PS_STORE_FRAMES = 2,  /* what it is where chunks are zstd's frames                  */
    PS_TABLE_FIELDS = 10, /* columns that every chunk table has                        */
    PS_TABLE_FIELD_BYTES = 8,
    PS_OPTIONS_MAX = 65000
};

/* ---- store_hdf5.c: the lock, failures, names ---- */

void ps_hdf5_lock(void); /* also sets HDF5 up on first use, and silences it in this thread */
void ps_hdf5_unlock(void);

/* Lock held, right after a failed call of HDF5: puts its reason into the message,
 * "<path>: cannot <what>: <reason>". Returns PS_EXHAUSTED if the disk is full or a limit of
 * size was met, else `code`. */
ps_status ps_hdf5_fail(ps_status code, const char *path, const char *what);
/* Likewise for a system call of our own that failed with this errno; lock not needed. */
ps_status ps_system_fail(ps_status code, const char *path, const char *what, int error);

/* Lock held. */
/* A trial (runtime/trial.h) in which libhdf5 keeps no lists of blocks of its own. Lock held. */
ps_status ps_hdf5_try(const char *path, ps_status (*attempt)(void *context), void *context,
                      ps_trial_end *out);
ps_hid ps_hdf5_file_access(void);                         /* property list for files              */
ps_hid ps_hdf5_type(ps_type type);                        /* as stored; not to be closed          */
bool ps_hdf5_exists(ps_hid file, const char *path);       /* an object; "/" does                  */
ps_hid ps_hdf5_open_group(ps_hid file, const char *path); /* makes it where missing          */
bool ps_hdf5_make_parents(ps_hid file, const char *path); /* groups above an object           */
/* A creation property list (H5P_FILE_CREATE, ..) with which links and attributes lie in the
 * object's header, under its checksum, however many there are; the caller closes it. */
ps_hid ps_hdf5_creation(ps_hid kind);
/* The type of a table row with these extra columns; the caller closes it. */
ps_hid ps_hdf5_row_type(int extra_count, char extras[][32]);

/* ---- store_codec.c: chunk bytes ---- */

/* Working memory of one thread inside a store: at most two chunks. */
typedef struct ps_scratch {
    struct ps_scratch *next;
    uint8_t *a, *b;
    int64_t a_size, b_size;
    void *compressor, *decompressor, *deflater;
} ps_scratch;

/* Idle scratches; as many exist as threads have worked at the same time. */
typedef struct ps_scratch_pool {
    pthread_mutex_t mutex;
    ps_scratch *idle; /* guarded by mutex */
} ps_scratch_pool;

typedef struct ps_codec {
    ps_type type;
    int keep_bits;
    int64_t elements; /* of a whole chunk */
    bool plain;       /* writing: not to be compressed */
    bool deflate;     /* zlib streams, not zstd's frames */
} ps_codec;

void ps_scratch_pool_init(ps_scratch_pool *pool);
void ps_scratch_pool_release(ps_scratch_pool *pool);
ps_status ps_scratch_take(ps_scratch_pool *pool, ps_scratch **out);
void ps_scratch_give(ps_scratch_pool *pool, ps_scratch *scratch);
/* Makes buffer a (or b) at least this large; its contents are lost. */
ps_status ps_scratch_need(uint8_t **buffer, int64_t *size, int64_t needed);

/* Statistics of `count` values: sets minimum .. non_finite. Same bits wherever it runs. */
void ps_codec_statistics(ps_type type, const void *data, int64_t count, ps_chunk_info *info);
/* Encodes `count` values. *stored points into scratch or is data itself; info gets sizes, hash
 * and statistics. */
ps_status ps_codec_encode(const ps_codec *codec, const void *data, int64_t count,
                          ps_scratch *scratch, ps_chunk_info *info, const void **stored);
/* Decodes the first `count` values into data. PS_INVALID, "hash differs", where the bytes are not
 * those that were written. Uses buffer a of scratch only. */
ps_status ps_codec_decode(const ps_codec *codec, const ps_chunk_info *info, const void *stored,
                          ps_scratch *scratch, int64_t count, void *data);

/* ---- store_deflate.c ---- */

/* The state of a compressor; closing NULL is fine. */
ps_status ps_deflate_open(void **out);
void ps_deflate_close(void *stream);
/* A zlib stream of planes[count][bytes / count], shuffled values: planes whose beginning gets no
 * shorter are stored. Its size, 0 if it would have more than `capacity` (a 97th part of bytes at
 * least) bytes. */
int64_t ps_deflate(void *stream, const uint8_t *planes, int64_t bytes, int count, uint8_t *out,
                   int64_t capacity);
/* PS_INVALID unless it is one whole stream of exactly `bytes` bytes. */
ps_status ps_inflate(const void *stored, int64_t stored_bytes, uint8_t *out, int64_t bytes);

/* ---- the store ---- */

typedef struct ps_store_dataset_state {
    ps_dataset_info info;
    char description[256];
    ps_codec codec;
    char dimensions[PS_STORE_RANK_MAX][PS_NAME_MAX]; /* "": not named */
    int64_t row_elements;  /* values in a row                                                */
    ps_hid handle;         /* < 0: none (virtual dataset of a master, or nothing stored)      */
    ps_chunk_info *chunks; /* [chunk_count]; writing: raw_bytes is 0 until begun, -1 until done */
    /* masters: rows and chunks before each part [parts + 1], the dataset's number there */
    int64_t *part_rows, *part_chunks;
    int *part_ids;
} ps_store_dataset_state;

struct ps_store {
    char *path;
    ps_output *output;     /* NULL once committed or when opened                              */
    const char *temporary; /* the output's; NULL when opened                                  */
    ps_hid file;
    char format[64], uuid[40], hash[17]; /* hash: of an opened file's contents                  */
    int version, layout; /* layout: store_version                                              */
    int64_t file_bytes;  /* of an opened file */
    int count, capacity;
    ps_store_dataset_state *datasets;
    ps_scratch_pool pool;
    bool tried; /* a child has gone through groups that no checksum covers (store_links.c) */
    int parts;  /* masters: number of parts, else 0 */
    ps_store **part;
    ps_status failed; /* first failure of a write, told again by commit; guarded by the lock  */
    char failure[512];
};

ps_status ps_store_new(const char *path, ps_store **out); /* store.c: an empty one            */
void ps_store_free(ps_store *store); /* closes handles, frees; errors of HDF5 are ignored     */
int64_t ps_store_rows_of(const ps_store_dataset_state *dataset, int64_t chunk);
/* Checks numbers; PS_FAILED says which. */
ps_status ps_store_pick(const ps_store *store, int id, int64_t chunk, ps_store_dataset_state **out);
/* Sets codec, row_elements, chunk_count and chunk_bytes from type, dims and chunk_rows.
 * False if sizes overflow or a chunk would reach 4 GiB. */
bool ps_store_shape(ps_store_dataset_state *dataset);
/* Appends an empty state (handle < 0). */
ps_status ps_store_append(ps_store *store, ps_store_dataset_state **out);

/* Commit and its steps, shared with the master. */
ps_status ps_store_start(const char *path, const ps_store_identity *identity, ps_store **out);
ps_status ps_store_publish(ps_store **store);
ps_status ps_store_write_table(ps_store *store, const ps_store_dataset_state *dataset, int id);

/* store_open.c: the generation of the parts that the file at `path` names; its parts are not looked
 * at. 0 where it names none. */
ps_status ps_store_read_generation(const char *path, int64_t *out);

/* store_master.c: parts of an opened master (nothing to do for other files); lock not held. */
ps_status ps_store_open_parts(ps_store *store);
/* Where the dataset's rows and chunks lie in the parts: sets part_*, chunk_count, chunk_bytes. */
ps_status ps_store_join(const ps_store *store, ps_store_dataset_state *dataset);
/* The joined table says what the parts' tables say. */
ps_status ps_store_check_joined(const ps_store *store, const ps_store_dataset_state *dataset);
/* Turns a chunk of a master into one of a part; leaves those of other files as they are. */
void ps_store_resolve(ps_store **store, int *id, int64_t *chunk);

/* store_attributes.c; lock held. */
ps_status ps_attribute_text(const ps_store *store, const char *object, const char *name, char *out,
                            size_t size);
ps_status ps_attribute_put_text(ps_store *store, const char *object, const char *name,
                                const char *value);
ps_status ps_attribute_put_ints(ps_store *store, const char *object, const char *name,
                                const int64_t *values, int count);
ps_status ps_attribute_ints(const ps_store *store, const char *object, const char *name,
                            int64_t *values, int count);
ps_status ps_attribute_copy_all(ps_store *to, const ps_store *from, const char *object);
bool ps_attribute_is_provenance(const char *object, const char *name);
/* store_hash.c; lock held. The record hash is of what the content hash leaves out: where a file
 * comes from. It includes `content`, the content hash. */
ps_status ps_store_hash_locked(const ps_store *store, char *out);
ps_status ps_store_record_hash(const ps_store *store, const char *content, char *out);

/* store_scales.c; lock held. What an opened file says of a dataset's dimensions, for its master. */
ps_status ps_store_get_dimensions(const ps_store *store, ps_store_dataset_state *dataset);
/* Writes what the datasets name as dimensions, and makes scales of it; when all are defined. In
 * files that users open, dimensions without a name get one. */
ps_status ps_store_put_scales(ps_store *store);

/* store_links.c; lock held. PS_INVALID where a link leads out of the file or groups are too deep,
 * and, from version 2 of the container on, where a group or its attributes are not compact. */
ps_status ps_store_check_links(ps_store *store);
/* Before anything is read of a file whose root lies outside of its header: all of it is tried. */
ps_status ps_store_try_root(ps_store *store);

#endif
