/* store: what is written comes back, with its table, attributes and identity. */
#include "tests/formats/store_samples.h"

#include "runtime/scope.h"
#include "tests/support/temporaries.h"

static void fill_bytes(unsigned char *out, size_t bytes, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < bytes; ++i)
        out[i] = (unsigned char)(i % 4 ? seed : (uint64_t)(256 * check_random(&state)));
}

static void round_trip(ps_type type, int rank, const int64_t *dims, int64_t chunk_rows)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t count = 1;
    ps_dataset_spec spec = array_spec("/group/data", type, dims[0], chunk_rows);
    spec.rank = rank;
    for (int r = 0; r < rank; ++r) count *= spec.dims[r] = dims[r];
    size_t size = ps_type_size(type), bytes = (size_t)count * size;
    PS_SCOPED_MEMORY unsigned char *data = malloc(bytes), *back = malloc(bytes);
    fill_bytes(data, bytes, (uint64_t)(type + 10 * rank));
    check_ok(ps_store_create("round.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, data));
    check_ok(ps_store_commit(&store));
    assert_null(store);
    check_ok(ps_store_open("round.h5", "penstock-test", 1, &store));
    check_ok(ps_store_read_array(store, "/group/data", type, 0, dims[0], (int64_t)bytes, back));
    assert_memory_equal(data, back, bytes);
    int64_t first = dims[0] / 3, rows = dims[0] - first - dims[0] / 7, row = count / dims[0];
    check_ok(ps_store_read_array(store, "/group/data", type, first, rows,
                                 rows * row * (int64_t)size, back));
    assert_memory_equal(data + (size_t)(first * row) * size, back, (size_t)(rows * row) * size);
    ps_verify_result result;
    ps_dataset_info info;
    check_ok(ps_store_verify(store, true, &result));
    check_ok(ps_store_dataset(store, 0, &info));
    assert_int_equal(info.rank, rank);
    assert_int_equal(info.type, type);
    assert_memory_equal(info.dims, dims, (size_t)rank * sizeof *dims);
    assert_int_equal(info.chunk_count, (dims[0] + info.chunk_rows - 1) / info.chunk_rows);
    assert_int_equal(result.chunks, info.chunk_count);
}

static void test_all_types_and_ranks(void **state)
{
    static const int64_t dims[4] = {103, 3, 5, 2};
    for (ps_type type = PS_U8; type <= PS_F64; ++type)
        for (int rank = 1; rank <= 4; ++rank) /* whole, partial last chunk, one row a chunk */
            round_trip(type, rank, dims, rank == 1 ? 0 : rank == 2 ? 40 : rank == 3 ? 1 : 103);
}

static void test_empty_datasets(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_dataset_info info;
    ps_verify_result result;
    ps_dataset_spec none = array_spec("/none", PS_F64, 0, 10),
                    flat = array_spec("/flat", PS_I32, 5, 1);
    flat.rank = 2;
    flat.dims[1] = 0;
    check_ok(ps_store_create("empty.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &none, NULL));
    check_ok(ps_store_write_array(store, &flat, NULL));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("empty.h5", NULL, 0, &store));
    check_ok(ps_store_dataset(store, 1, &info));
    assert_int_equal(info.chunk_count, 0);
    assert_int_equal(info.dims[0], 5);
    check_ok(ps_store_read_array(store, "/none", PS_F64, 0, 0, 0, NULL));
    check_ok(ps_store_verify(store, true, &result));
}

static void test_ragged_chunks_and_extras(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    float values[1000], back[64];
    ps_chunk_info chunk;
    ps_dataset_info info;
    fill_reals(values, 1000, 5);
    check_ok(write_sample("ragged.h5", 5));
    check_ok(ps_store_open("ragged.h5", "penstock-test", 1, &store));
    check_ok(ps_store_dataset(store, 1, &info));
    assert_string_equal(info.name, "/tiles/values");
    assert_string_equal(info.extras[1], "d_max");
    assert_string_equal(info.units, "Pa");
    assert_int_equal(info.chunk_bytes, 256);
    check_ok(ps_store_chunk(store, 1, 0, &chunk));
    assert_int_equal(chunk.count, 3);
    check_near(chunk.extras[0], 3, 0, 0);
    check_ok(ps_store_chunk(store, 1, 1, &chunk));
    check_near(chunk.extras[1], 2, 0, 0);
    check_ok(ps_store_read_chunk(store, 1, 0, sizeof back, back));
    assert_memory_equal(back, values + 40, 12);
    for (int i = 3; i < 64; ++i) check_near(back[i], 0, 0, 0);
    check_fails(ps_store_chunk(store, 1, 2, &chunk), PS_FAILED,
                "chunk 2 of the 2 of /tiles/values");
}

/* The two halves that chunk_stream uses, and what read_chunk gives, are the same. */
static void test_stored_and_decode(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info chunk;
    float whole[300], halves[300];
    char *stored;
    check_ok(write_sample("halves.h5", 6));
    check_ok(ps_store_open("halves.h5", "penstock-test", 1, &store));
    for (int c = 0; c < 4; ++c) {
        check_ok(ps_store_chunk(store, 0, c, &chunk));
        stored = malloc((size_t)chunk.stored_bytes);
        check_ok(ps_store_read_stored(store, 0, c, chunk.stored_bytes, stored));
        check_ok(ps_store_decode(store, 0, c, stored, sizeof halves, halves));
        check_ok(ps_store_read_chunk(store, 0, c, sizeof whole, whole));
        assert_memory_equal(whole, halves, sizeof whole);
        for (int i = 0; i < 300; ++i) halves[i] = 7;
        if (c % 2)
            check_ok(
                ps_store_decode_values(store, 0, c, stored, PS_ROOM(halves, chunk.count), halves));
        else
            check_ok(ps_store_read_values(store, 0, c, PS_ROOM(halves, chunk.count), halves));
        assert_memory_equal(whole, halves, (size_t)chunk.count * sizeof *whole);
        for (int64_t i = chunk.count; i < 300; ++i) check_near(halves[i], 7, 0, 0);
        stored[chunk.stored_bytes / 2] ^= 1;
        check_fails(ps_store_decode(store, 0, c, stored, sizeof halves, halves), PS_INVALID,
                    "hash differs");
        free(stored);
    }
}

/* Sums of squares that overflow tell nothing, and are no damage. */
static void test_large_values(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_verify_result result;
    const double values[4] = {1e308, -1e308, 9e307, 2};
    ps_dataset_spec spec = array_spec("/x", PS_F64, 4, 4);
    check_ok(ps_store_create("large.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("large.h5", "penstock-test", 1, &store));
    check_ok(ps_store_verify(store, true, &result));
    assert_int_equal(result.bad_chunks, 0);
}

static void test_statistics(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    double values[5000], sum = 0, squares = 0;
    uint64_t seed = 9;
    int zeros = 0;
    for (int i = 0; i < 5000; ++i) values[i] = i % 17 == 0 ? 0 : check_random(&seed) - 0.25;
    values[100] = -3;
    values[4999] = 8;
    values[2500] = NAN;
    values[17 * 20] = INFINITY;
    for (int i = 0; i < 5000; ++i) {
        if (!isfinite(values[i])) continue;
        zeros += values[i] == 0;
        sum += values[i];
        squares += values[i] * values[i];
    }
    ps_dataset_spec spec = array_spec("/x", PS_F64, 5000, 5000);
    ps_chunk_info chunk;
    check_ok(ps_store_create("statistics.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_chunk(store, 0, 0, &chunk));
    check_near(chunk.minimum, -3, 0, 0);
    check_near(chunk.maximum, 8, 0, 0);
    check_near(chunk.sum, sum, 1e-9, 0);
    check_near(chunk.sum_squares, squares, 0, 1e-12);
    assert_int_equal(chunk.zeros, zeros);
    assert_int_equal(chunk.non_finite, 2);
    assert_int_equal(chunk.count, 5000);
}

static void test_statistics_of_integers(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info chunk;
    uint16_t values[11] = {9, 0, 65535, 3, 4, 5, 6, 7, 8, 0, 1};
    ps_dataset_spec spec = array_spec("/n", PS_U16, 11, 8);
    check_ok(ps_store_create("integers.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_chunk(store, 0, 0, &chunk));
    check_near(chunk.maximum, 65535, 0, 0);
    check_near(chunk.sum, 65535 + 9 + 3 + 4 + 5 + 6 + 7, 0, 0);
    assert_int_equal(chunk.zeros, 1);
    check_ok(ps_store_chunk(store, 0, 1, &chunk));
    check_near(chunk.minimum, 0, 0, 0);
    check_near(chunk.maximum, 8, 0, 0);
    check_near(chunk.sum_squares, 65, 0, 0);
    assert_int_equal(chunk.count, 3);
}

/* Rounded to nearest: relative error at most 2^-(bits + 1), low bits zero, files smaller. */
static void test_keep_bits(void **state)
{
    static const int bits[3] = {18, 10, 4};
    ps_store *store;
    ps_chunk_info chunk;
    float values[4096], back[4096];
    int64_t stored = INT64_MAX;
    fill_reals(values, 4096, 3);
    values[0] = INFINITY;
    values[1] = 3.4028234e38f; /* must not become infinite */
    values[2] = 0;
    for (int b = 0; b < 3; ++b) {
        ps_dataset_spec spec = array_spec("/x", PS_F32, 4096, 4096);
        spec.keep_bits = bits[b];
        check_ok(ps_store_create("bits.h5", &sample_identity, &store));
        check_ok(ps_store_write_array(store, &spec, values));
        check_ok(ps_store_commit(&store));
        check_ok(ps_store_open("bits.h5", NULL, 0, &store));
        check_ok(ps_store_read_array(store, "/x", PS_F32, 0, 4096, PS_ROOM(back, 4096), back));
        check_ok(ps_store_chunk(store, 0, 0, &chunk));
        assert_true(isinf(back[0]) && isfinite(back[1]));
        check_near(back[2], 0, 0, 0);
        for (int i = 3; i < 4096; ++i) {
            uint32_t word;
            memcpy(&word, &back[i], 4);
            assert_int_equal(word & ((1u << (23 - bits[b])) - 1), 0);
            check_near(back[i], values[i], 0, ldexp(1, -bits[b] - 1));
        }
        assert_int_equal(chunk.non_finite, 1);
        assert_true(chunk.stored_bytes < stored);
        stored = chunk.stored_bytes;
        ps_verify_result result;
        check_ok(ps_store_verify(store, true, &result));
        ps_store_close(&store);
    }
}

static void test_incompressible_is_stored_raw(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info chunk;
    unsigned char noise[4096];
    uint64_t seed = 77;
    for (int i = 0; i < 4096; ++i) noise[i] = (unsigned char)(256 * check_random(&seed));
    ps_dataset_spec spec = array_spec("/noise", PS_U8, 4096, 3000);
    check_ok(ps_store_create("raw.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, noise));
    check_ok(ps_store_chunk(store, 0, 0, &chunk));
    assert_int_equal(chunk.stored_bytes, chunk.raw_bytes);
    check_ok(ps_store_chunk(store, 0, 1, &chunk)); /* padded with zeros: it pays */
    assert_true(chunk.stored_bytes < chunk.raw_bytes);
}

/* No call writes beyond the room it is told, whatever the file holds. */
static void test_capacities(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info chunk;
    float back[300];
    char stored[2000];
    check_ok(write_sample("room.h5", 8));
    check_ok(ps_store_open("room.h5", "penstock-test", 1, &store));
    check_ok(ps_store_chunk(store, 0, 0, &chunk));
    for (int i = 0; i < 300; ++i) back[i] = 7;
    check_fails(ps_store_read_chunk(store, 0, 0, sizeof back - 1, back), PS_INVALID, "1200 bytes");
    check_fails(ps_store_read_values(store, 0, 0, sizeof back - 4, back), PS_INVALID, "1196");
    check_fails(ps_store_read_values(store, 0, 0, sizeof back + 4, back), PS_INVALID, "1204");
    check_fails(ps_store_read_stored(store, 0, 0, chunk.stored_bytes - 1, stored), PS_INVALID,
                "were expected");
    check_ok(ps_store_read_stored(store, 0, 0, sizeof stored, stored));
    check_fails(ps_store_decode(store, 0, 0, stored, sizeof back - 1, back), PS_INVALID, "1200");
    check_fails(ps_store_decode_values(store, 0, 0, stored, 8, back), PS_INVALID, "where 8 were");
    check_fails(ps_store_read_array(store, "/values", PS_F32, 0, 300, 600, back), PS_INVALID,
                "1 values each, 0.5 were expected");
    check_fails(ps_store_read_array(store, "/values", PS_F32, 0, 100, sizeof back, back),
                PS_INVALID, "3 were expected");
    for (int i = 0; i < 300; ++i) check_near(back[i], 7, 0, 0);
}

/* On request: as they are, the valid values and then zeros; rounding still applies. */
static void test_plain_chunks(void **state)
{
    ps_store *store;
    ps_chunk_info chunk;
    float values[600], back[600];
    uint8_t stored[4000];
    for (int i = 0; i < 600; ++i) values[i] = (float)(i % 7) + 0.3f;
    for (int bits = 0; bits <= 10; bits += 10) {
        ps_dataset_spec spec = ragged_spec("/x", PS_F32, 2, 1000);
        int id;
        spec.plain = true;
        spec.keep_bits = bits;
        check_ok(ps_store_create("plain.h5", &sample_identity, &store));
        check_ok(ps_store_define(store, &spec, &id));
        check_ok(ps_store_write_chunk(store, id, 0, values, 600, NULL));
        check_ok(ps_store_write_chunk(store, id, 1, values, 0, NULL));
        check_ok(ps_store_commit(&store));
        check_ok(ps_store_open("plain.h5", NULL, 0, &store));
        check_ok(ps_store_chunk(store, 0, 0, &chunk));
        assert_int_equal(chunk.stored_bytes, 4000);
        check_ok(ps_store_read_stored(store, 0, 0, sizeof stored, stored));
        for (int i = 2400; i < 4000; ++i) assert_int_equal(stored[i], 0);
        check_ok(ps_store_read_values(store, 0, 0, sizeof back, back));
        for (int i = 0; i < 600; ++i) check_near(back[i], values[i], 0, bits ? 0x1p-11 : 0);
        ps_verify_result result;
        check_ok(ps_store_verify(store, true, &result));
        ps_store_close(&store);
    }
}

static void test_attributes(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t number, many[3] = {1, -2, INT64_C(1) << 40};
    double real, reals[3] = {1.5, -0.0, 1e300}, back[3];
    char text[32];
    check_ok(ps_store_create("attributes.h5", &sample_identity, &store));
    check_ok(ps_store_put_int(store, "/", "n", 41));
    check_ok(ps_store_put_int(store, "/", "n", 42)); /* replaces */
    check_ok(ps_store_put_real(store, "/a/b", "x", 0.1));
    check_ok(ps_store_put_reals(store, "/a", "xs", reals, 3));
    check_ok(ps_store_put_ints(store, "/a", "ns", many, 3));
    check_ok(ps_store_put_text(store, "/a", "Type", "UnstructuredGrid"));
    check_ok(ps_store_put_text(store, "/a", "empty", ""));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("attributes.h5", NULL, 0, &store));
    check_ok(ps_store_get_int(store, "/", "n", &number));
    assert_int_equal(number, 42);
    check_ok(ps_store_get_real(store, "/a/b", "x", &real));
    check_near(real, 0.1, 0, 0);
    check_ok(ps_store_get_reals(store, "/a", "xs", back, 3));
    assert_memory_equal(back, reals, sizeof back);
    check_ok(ps_store_get_reals(store, "/a", "ns", back, 3));
    check_near(back[2], 0x1p40, 0, 0);
    check_ok(ps_store_get_text(store, "/a", "Type", text, sizeof text));
    assert_string_equal(text, "UnstructuredGrid");
    check_ok(ps_store_get_text(store, "/a", "empty", text, sizeof text));
    assert_string_equal(text, "");
    assert_true(ps_store_has(store, "/a/b", NULL) && ps_store_has(store, "/a/b", "x"));
    assert_false(ps_store_has(store, "/a/c", NULL) || ps_store_has(store, "/a", "x"));
    check_fails(ps_store_get_int(store, "/a", "Type", &number), PS_INVALID, "is no integer");
    check_fails(ps_store_get_int(store, "/a", "xs", &number), PS_INVALID, "is no integer");
    check_fails(ps_store_get_real(store, "/a", "xs", &real), PS_INVALID,
                "has 3 values, expected 1");
    check_fails(ps_store_get_text(store, "/a", "Type", text, 16), PS_INVALID, "16 characters");
    check_fails(ps_store_get_text(store, "/", "n", text, 16), PS_INVALID, "no text");
    check_fails(ps_store_get_int(store, "/", "m", &number), PS_INVALID, "has no attribute m");
}

static void write_with_threads(const char *path, int threads)
{
    enum { ROWS = 20000, CHUNK = 512, CHUNKS = (ROWS + CHUNK - 1) / CHUNK };
    ps_store *store;
    int id;
    PS_SCOPED_MEMORY float *values = malloc(ROWS * sizeof *values);
    ps_dataset_spec spec = array_spec("/values", PS_F32, ROWS, CHUNK);
    fill_reals(values, ROWS, 1);
    for (int i = 0; i < ROWS; i += 3) values[i] = (float)(i / 100);
    check_ok(ps_store_create(path, &sample_identity, &store));
    check_ok(ps_store_define(store, &spec, &id));
    int failures = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : failures)
    for (int c = CHUNKS - 1; c >= 0; --c) {
        int64_t count = c == CHUNKS - 1 ? ROWS - c * CHUNK : CHUNK;
        failures += ps_store_write_chunk(store, id, c, values + c * CHUNK, count, NULL) != PS_OK;
    }
    assert_int_equal(failures, 0);
    check_ok(ps_store_commit(&store));
}

static void test_threads_give_the_same_content(void **state)
{
    char hash[2][17];
    ps_chunk_info rows[2];
    ps_store *store[2];
    write_with_threads("one.h5", 1);
    write_with_threads("four.h5", 4);
    check_ok(ps_store_open("one.h5", NULL, 0, &store[0]));
    check_ok(ps_store_open("four.h5", NULL, 0, &store[1]));
    for (int s = 0; s < 2; ++s) check_ok(ps_store_content_hash(store[s], hash[s]));
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(ps_store_uuid(store[0]), ps_store_uuid(store[1]));
    for (int c = 0; c < 40; ++c) {
        for (int s = 0; s < 2; ++s) check_ok(ps_store_chunk(store[s], 0, c, &rows[s]));
        assert_memory_equal(&rows[0], &rows[1], sizeof rows[0]);
    }
    for (int s = 0; s < 2; ++s) ps_store_close(&store[s]);
}

static void content_hash_of(const char *path, char *hash)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    check_ok(ps_store_open(path, NULL, 0, &store));
    check_ok(ps_store_content_hash(store, hash));
}

static void test_content_hash(void **state)
{
    char first[17], same[17], other[17];
    check_ok(write_sample("a.h5", 5));
    check_ok(write_sample("b.h5", 5));
    check_ok(write_sample("c.h5", 6));
    content_hash_of("a.h5", first);
    content_hash_of("b.h5", same);
    content_hash_of("c.h5", other);
    assert_string_equal(first, same);
    assert_string_not_equal(first, other);
}

static void test_matches(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *input = NULL, *changed = NULL;
    ps_store *store;
    const char *roles[1] = {"mesh"};
    check_ok(write_sample("in.h5", 5));
    check_ok(write_sample("in2.h5", 6));
    check_ok(ps_store_open("in.h5", NULL, 0, &input));
    check_ok(ps_store_open("in2.h5", NULL, 0, &changed));
    check_ok(ps_store_create("out.h5", &sample_identity, &store));
    check_ok(ps_store_add_input(store, "mesh", input));
    check_fails(ps_store_add_input(store, "mesh", input), PS_FAILED, "recorded already");
    check_ok(ps_store_commit(&store));
    assert_true(ps_store_matches("out.h5", &sample_identity, 1, roles, &input));
    assert_false(ps_store_matches("out.h5", &sample_identity, 1, roles, &changed));
    assert_false(ps_store_matches("out.h5", &sample_identity, 0, NULL, NULL));
    assert_false(ps_store_matches("absent.h5", &sample_identity, 1, roles, &input));
    ps_store_identity others[] = {sample_identity, sample_identity, sample_identity};
    others[0].options = "a=2\n";
    others[1].format_version = 2;
    others[2].format = "penstock-other";
    for (int i = 0; i < 3; ++i)
        assert_false(ps_store_matches("out.h5", &others[i], 1, roles, &input));
}

static void test_wrong_use(void **state)
{
    ps_store *store;
    int id;
    float values[8] = {0};
    ps_dataset_spec spec = array_spec("/x", PS_F32, 8, 4), bad = spec;
    check_ok(ps_store_create("wrong.h5", &sample_identity, &store));
    check_ok(ps_store_define(store, &spec, &id));
    check_fails(ps_store_define(store, &spec, &id), PS_FAILED, "defined twice");
    check_fails_if(bad.name, "/chunks/x", ps_store_define(store, &bad, &id), PS_FAILED, "reserved");
    bad.name = "/y";
    check_fails_if(bad.units, NULL, ps_store_define(store, &bad, &id), PS_FAILED, "units");
    bad.type = PS_I32;
    check_fails_if(bad.keep_bits, 3, ps_store_define(store, &bad, &id), PS_FAILED, "keep_bits");
    bad = array_spec("/y", PS_F64, INT64_C(1) << 40, INT64_C(1) << 30);
    check_fails(ps_store_define(store, &bad, &id), PS_FAILED, "4 GiB");
    check_fails(ps_store_write_chunk(store, 0, 0, values, 5, NULL), PS_FAILED, "which takes 4");
    check_ok(ps_store_write_chunk(store, 0, 0, values, 4, NULL));
    check_fails(ps_store_write_chunk(store, 0, 0, values, 4, NULL), PS_FAILED, "written twice");
    check_fails(ps_store_commit(&store), PS_FAILED, "twice");
    check_ok(ps_store_create("wrong.h5", &sample_identity, &store));
    check_ok(ps_store_define(store, &spec, &id));
    check_ok(ps_store_write_chunk(store, 0, 1, values, 4, NULL));
    check_fails(ps_store_commit(&store), PS_FAILED, "chunk 0 of /x was never written");
    assert_null(store);
    assert_int_not_equal(access("wrong.h5", F_OK), 0);
    assert_int_equal(temporaries_of("wrong.h5"), 0);
    check_fails(ps_store_create(".", &sample_identity, &store), PS_USAGE, "is a folder");
    check_fails(ps_store_create("no/such/x.h5", &sample_identity, &store), PS_USAGE,
                "No such file");
}
