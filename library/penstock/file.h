/*
 * penstock/file.h: open, list, read and verify files of any kind (specs/store.md).
 */
#ifndef PENSTOCK_FILE_H
#define PENSTOCK_FILE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_file penstock_file;

enum { PENSTOCK_RANK_MAX = 4, PENSTOCK_NAME_MAX = 128 };

typedef enum penstock_type {
    PENSTOCK_U8,
    PENSTOCK_U16,
    PENSTOCK_U32,
    PENSTOCK_I32,
    PENSTOCK_I64,
    PENSTOCK_F32,
    PENSTOCK_F64
} penstock_type;

/* A dataset: `rank` dimensions, cut along the first one into chunks of chunk_rows rows. */
typedef struct penstock_dataset {
    char name[PENSTOCK_NAME_MAX]; /* "/values" */
    char units[32];               /* "m", "Pa", "1" */
    penstock_type type;
    int rank;
    int64_t dims[PENSTOCK_RANK_MAX];
    int64_t chunk_rows, chunks;
} penstock_dataset;

/* What the chunk table says of a chunk; statistics are over its finite valid values. */
typedef struct penstock_chunk {
    int64_t stored_bytes, raw_bytes, count; /* count: valid values; what follows them is 0 */
    uint64_t xxh3;                          /* of the stored bytes */
    double minimum, maximum, sum, sum_squares;
    int64_t zeros, non_finite;
} penstock_chunk;

typedef enum penstock_attribute_kind {
    PENSTOCK_INTS,
    PENSTOCK_REALS,
    PENSTOCK_TEXT,
    PENSTOCK_OTHER
} penstock_attribute_kind;

typedef struct penstock_attribute {
    char name[PENSTOCK_NAME_MAX];
    penstock_attribute_kind kind;
    int64_t count; /* numbers, or characters of a text */
} penstock_attribute;

/* A file that this one was made from, as it was then. */
typedef struct penstock_input {
    char role[PENSTOCK_NAME_MAX], file[256], format[64], uuid[40], content_hash[17];
} penstock_input;

/* Opens a complete file and checks its tables and its content hash, not its chunks, which are
 * checked when they are read. PENSTOCK_INVALID names file and reason. Close it; NULL is fine. */
PENSTOCK_API penstock_status penstock_file_open(const char *path, penstock_file **out);
PENSTOCK_API void penstock_file_close(penstock_file **file);

/* Of an open file; texts are borrowed from it. */
PENSTOCK_API const char *penstock_file_format(const penstock_file *file); /* "penstock-trace" */
PENSTOCK_API int penstock_file_version(const penstock_file *file);
PENSTOCK_API const char *penstock_file_uuid(const penstock_file *file);
/* 16 hex digits: equal contents, equal hash. out[17]. */
PENSTOCK_API penstock_status penstock_file_content_hash(const penstock_file *file, char out[17]);

/* ---- datasets: numbers 0 .. count - 1, in the order of the file ---- */

PENSTOCK_API int penstock_file_datasets(const penstock_file *file);
PENSTOCK_API penstock_status penstock_file_dataset(const penstock_file *file, int number,
                                                   penstock_dataset *out);
PENSTOCK_API penstock_status penstock_file_find(const penstock_file *file, const char *name,
                                                int *number);
PENSTOCK_API penstock_status penstock_file_chunk(const penstock_file *file, int number,
                                                 int64_t chunk, penstock_chunk *out);

/* Rows [first, first + count) into data, which has `bytes` bytes: exactly those of the rows.
 * Thread-safe. PENSTOCK_INVALID names a chunk whose hash is another one. */
PENSTOCK_API penstock_status penstock_file_read(penstock_file *file, int number, int64_t first,
                                                int64_t count, int64_t bytes, void *data);
/* A slab: along each dimension d the indices [start[d], start[d] + count[d]), as an array
 * [count[0]][count[1]].. in data. Reads the rows that it is in. Thread-safe. */
PENSTOCK_API penstock_status penstock_file_read_slab(penstock_file *file, int number,
                                                     const int64_t *start, const int64_t *count,
                                                     int64_t bytes, void *data);

/* ---- attributes: object "/" is the file; or the name of a dataset or group ---- */

PENSTOCK_API penstock_status penstock_file_attributes(const penstock_file *file, const char *object,
                                                      int *count);
PENSTOCK_API penstock_status penstock_file_attribute(const penstock_file *file, const char *object,
                                                     int number, penstock_attribute *out);
/* All of an attribute's numbers: `count` as the attribute has. */
PENSTOCK_API penstock_status penstock_file_ints(const penstock_file *file, const char *object,
                                                const char *name, int count, int64_t *out);
PENSTOCK_API penstock_status penstock_file_reals(const penstock_file *file, const char *object,
                                                 const char *name, int count, double *out);
/* With its final zero: size above the attribute's count. */
PENSTOCK_API penstock_status penstock_file_text(const penstock_file *file, const char *object,
                                                const char *name, char *out, int64_t size);

/* ---- what it was made from ---- */

PENSTOCK_API penstock_status penstock_file_inputs(const penstock_file *file, int *count);
PENSTOCK_API penstock_status penstock_file_input(const penstock_file *file, int number,
                                                 penstock_input *out);

/* ---- verification ---- */

typedef struct penstock_verdict {
    int64_t chunks, bad_chunks, bytes;
    char first_problem[256]; /* "" if there is none */
} penstock_verdict;

/* Checks structure and tables and, if `deep`, the hash and the statistics of every chunk; of an
 * H-matrix all its parts. PENSTOCK_INVALID if anything is wrong. */
PENSTOCK_API penstock_status penstock_verify(const char *path, bool deep, penstock_verdict *out);

#ifdef __cplusplus
}
#endif
#endif
