/* store_samples: small files for the tests of the store. */
#ifndef PS_TESTS_STORE_SAMPLES_H
#define PS_TESTS_STORE_SAMPLES_H

#include "tests/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/dataset_spec.h"

static const ps_store_identity sample_identity = {.format = "penstock-test",
                                                  .format_version = 1,
                                                  .creator = "test",
                                                  .revision = "0",
                                                  .options = "a=1\nb=2\n"};

static inline ps_dataset_spec ragged_spec(const char *name, ps_type type, int64_t chunks,
                                          int64_t capacity)
{
    ps_dataset_spec spec = table_spec(name, type, chunks, capacity, 1);
    spec.units = "Pa";
    spec.extra_count = 2;
    spec.extras[0] = "nnz", spec.extras[1] = "d_max";
    return spec;
}

/* Numbers in [-1, 1) that do not compress in their low bytes. */
static inline void fill_reals(float *values, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; ++i) values[i] = (float)(2 * check_random(&seed) - 1);
}

/* A file with an array of 1000 values in chunks of 300, two ragged chunks and attributes.
 * Without OpenMP, which does not survive a fork. */
static inline ps_status write_sample(const char *path, uint64_t seed)
{
    ps_store *store = NULL;
    float values[1000];
    double extras[2][2] = {{3, 1}, {40, 2}};
    int values_id, ragged;
    ps_dataset_spec plain = array_spec("/values", PS_F32, 1000, 300);
    ps_dataset_spec other = ragged_spec("/tiles/values", PS_F32, 2, 64);
    ps_status status;
    fill_reals(values, 1000, seed);
    PS_TRY(ps_store_create(path, &sample_identity, &store));
    PS_GUARD(status, failed, ps_store_define(store, &plain, &values_id));
    for (int c = 0; c < 4; ++c)
        PS_GUARD(
            status, failed,
            ps_store_write_chunk(store, values_id, c, values + 300 * c, c < 3 ? 300 : 100, NULL));
    PS_GUARD(status, failed, ps_store_define(store, &other, &ragged));
    PS_GUARD(status, failed, ps_store_write_chunk(store, ragged, 1, values, 40, extras[1]));
    PS_GUARD(status, failed, ps_store_write_chunk(store, ragged, 0, values + 40, 3, extras[0]));
    PS_GUARD(status, failed, ps_store_put_text(store, "/", "name", "sample"));
    PS_GUARD(status, failed, ps_store_put_int(store, "/tiles", "seed", (int64_t)seed));
    return ps_store_commit(&store);
failed:
    ps_store_close(&store);
    return status;
}

/* PS_OK only if the file is what write_sample(seed) writes, read chunk by chunk. */
static inline ps_status read_sample(const char *path, uint64_t seed)
{
    ps_store *store;
    float values[1000], back[1200];
    int64_t found = -1;
    int ragged = -1;
    ps_status status;
    fill_reals(values, 1000, seed);
    PS_TRY(ps_store_open(path, "penstock-test", 1, &store));
    bool right = true;
    PS_GUARD(status, done,
             ps_store_read_array(store, "/values", PS_F32, 0, 1000, sizeof values, back));
    right = right && memcmp(values, back, sizeof values) == 0;
    PS_GUARD(status, done, ps_store_find(store, "/tiles/values", &ragged));
    PS_GUARD(status, done, ps_store_read_chunk(store, ragged, 1, sizeof back, back));
    right = right && memcmp(values, back, 40 * sizeof *values) == 0;
    PS_GUARD(status, done, ps_store_read_chunk(store, ragged, 0, sizeof back, back));
    right = right && memcmp(values + 40, back, 3 * sizeof *values) == 0;
    PS_GUARD(status, done, ps_store_get_int(store, "/tiles", "seed", &found));
    right = right && found == (int64_t)seed;
done:
    ps_store_close(&store);
    return status == PS_OK && !right ? ps_fail(PS_FAILED, "%s: wrong data", path) : status;
}

/* The whole file; the caller frees it. */
static inline unsigned char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Where the stored bytes of chunk `chunk` of dataset `id` lie in those of the file, or of one of
 * its parts. */
static inline size_t find_chunk(const char *path, int id, int64_t chunk, const unsigned char *bytes,
                                size_t size, size_t *length)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info info;
    check_ok(ps_store_open(path, NULL, 0, &store));
    check_ok(ps_store_chunk(store, id, chunk, &info));
    *length = (size_t)info.stored_bytes;
    PS_SCOPED_MEMORY unsigned char *stored = malloc(*length);
    check_ok(ps_store_read_stored(store, id, chunk, info.stored_bytes, stored));
    const unsigned char *found = memmem(bytes, size, stored, *length);
    assert_non_null(found);
    return (size_t)(found - bytes);
}

static inline void spit(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
