/* Stores of kinds that users open with other programs: chunks are zlib streams that HDF5's own
 * pipeline reads without a plugin, are as small as zstd's frames nearly, and are checked as hard.
 */
#include <math.h>
#include <stdlib.h>

#include "formats/store_private.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/formats/store_samples.h"

enum { ROWS = 40000, CHUNK_ROWS = 15000 };

static const ps_store_identity trace_identity = {
    .format = "penstock-trace", .format_version = 1, .creator = "test", .options = "a=1\n"};

typedef enum content { ZEROS, STEPS, SINES, NOISE, HARD, CONTENTS } content;

static double value_of(content what, int i, uint64_t *state)
{
    double noise = 250 * congruence_uniform(state);
    const double values[CONTENTS] = {
        [STEPS] = i / 37,
        [SINES] = 100 + 50 * sin(1e-3 * i) + cos(.3 * i),
        [NOISE] = noise,
        /* the beginning of each plane is nothing like what follows */
        [HARD] = i % 7000 < 3000 ? noise : 7,
    };
    return values[what];
}

static void fill(ps_type type, content what, void *values)
{
    uint64_t state = 3;
    for (int i = 0; i < ROWS; ++i) {
        double x = value_of(what, i, &state);
        if (type == PS_U8) ((uint8_t *)values)[i] = (uint8_t)((int)x & 255);
        if (type == PS_U16) ((uint16_t *)values)[i] = (uint16_t)x;
        if (type == PS_I64) ((int64_t *)values)[i] = (int64_t)(1e6 * x);
        if (type == PS_F32) ((float *)values)[i] = (float)x;
        if (type == PS_F64) ((double *)values)[i] = x;
    }
}

/* Bytes that all chunks take. */
static int64_t write_file(const char *path, const ps_store_identity *identity, ps_type type,
                          const void *values)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info chunk;
    int64_t bytes = 0;
    ps_dataset_spec spec = array_spec("/x", type, ROWS, CHUNK_ROWS);
    check_ok(ps_store_create(path, identity, &store));
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open(path, NULL, 0, &store));
    for (int c = 0; c < 3; ++c) {
        check_ok(ps_store_chunk(store, 0, c, &chunk));
        bytes += chunk.stored_bytes;
    }
    return bytes;
}

static void read_by_store(const char *path, ps_type type, void *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_verify_result result;
    check_ok(ps_store_open(path, "penstock-trace", 1, &store));
    check_ok(ps_store_verify(store, true, &result));
    check_ok(
        ps_store_read_array(store, "/x", type, 0, ROWS, ROWS * (int64_t)ps_type_size(type), out));
}

static void test_all_contents(void **state)
{
    static const ps_type types[] = {PS_U8, PS_U16, PS_I64, PS_F32, PS_F64};
    PS_SCOPED_MEMORY void *values = malloc(8 * ROWS), *back = malloc(8 * ROWS);
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (int what = 0; what < CONTENTS; ++what) {
            size_t bytes = ROWS * ps_type_size(types[t]);
            fill(types[t], (content)what, values);
            int64_t frames = write_file("frames.h5", &sample_identity, types[t], values);
            int64_t streams = write_file("streams.h5", &trace_identity, types[t], values);
            print_message("type %d content %d: %lld bytes, %lld by zstd\n", types[t], what,
                          (long long)streams, (long long)frames);
            check_at_most((double)streams, 1.15 * (double)frames + 4000);
            read_by_store("streams.h5", types[t], back);
            assert_memory_equal(values, back, bytes);
        }
}

/* Equal bytes from any number of threads and any history of the compressor. */
static void test_bytes_repeat(void **state)
{
    PS_SCOPED_MEMORY double *values = malloc(8 * ROWS);
    int64_t bytes[2];
    char hash[2][17];
    for (int round = 0; round < 2; ++round) {
        PS_SCOPED(ps_store_close) ps_store *store = NULL;
        fill(PS_F64, NOISE, values);
        if (round) write_file("other.h5", &trace_identity, PS_F64, values);
        fill(PS_F64, SINES, values);
        bytes[round] = write_file("repeated.h5", &trace_identity, PS_F64, values);
        check_ok(ps_store_open("repeated.h5", NULL, 0, &store));
        check_ok(ps_store_content_hash(store, hash[round]));
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_string_equal(hash[0], hash[1]);
}

/* Planes of a field that is its own mirror image, rows of 49 bytes in sheets of 97 of them: half of
 * each sheet is met again, at distances that samples of a plane do not span. */
static void test_mirror_images(void **state)
{
    enum { ROW = 49, SHEET = 97, BYTES = 27 * SHEET * ROW };
    PS_SCOPED_MEMORY uint8_t *plane = malloc(BYTES), *stored = malloc(BYTES), *back = malloc(BYTES);
    uint64_t draw = 5;
    void *stream;
    for (int i = 0; i < BYTES; ++i) {
        int row = i / ROW % SHEET, ahead = 2 * row - (SHEET - 1);
        uint8_t random = (uint8_t)(congruence_next(&draw) >> 56);
        plane[i] = ahead > 0 ? plane[i - ROW * ahead] : random;
    }
    check_ok(ps_deflate_open(&stream));
    int64_t size = ps_deflate(stream, plane, BYTES, 1, stored, BYTES);
    ps_deflate_close(stream);
    print_message("mirror images: %lld of %d bytes\n", (long long)size, BYTES);
    assert_in_range(size, BYTES / 2, .56 * BYTES);
    check_ok(ps_inflate(stored, size, back, BYTES));
    assert_memory_equal(plane, back, BYTES);
}

/* Streams that are short, long, cut or followed by more: by their bytes, whatever a hash says. */
static void test_damaged_streams(void **state)
{
    enum { BYTES = 8000 };
    uint8_t planes[BYTES], stored[2 * BYTES], back[2 * BYTES];
    void *stream;
    for (int i = 0; i < BYTES; ++i) planes[i] = (uint8_t)(i / 100);
    check_ok(ps_deflate_open(&stream));
    int64_t size = ps_deflate(stream, planes, BYTES, 8, stored, BYTES);
    assert_in_range(size, 20, BYTES / 4);
    check_ok(ps_inflate(stored, size, back, BYTES));
    assert_memory_equal(planes, back, BYTES);
    check_fails(ps_inflate(stored, size, back, BYTES + 1), PS_INVALID, "8000 bytes, expected 8001");
    check_fails(ps_inflate(stored, size, back, BYTES - 1), PS_INVALID, "");
    for (int64_t cut = 0; cut < size; ++cut)
        check_fails(ps_inflate(stored, cut, back, BYTES), PS_INVALID, "");
    stored[size] = 0;
    check_fails(ps_inflate(stored, size + 1, back, BYTES), PS_INVALID, "");
    stored[size - 1] ^= 1; /* of the checksum */
    check_fails(ps_inflate(stored, size, back, BYTES), PS_INVALID, "does not decompress");
    assert_int_equal(ps_deflate(stream, planes, BYTES, 8, stored, 10), 0);
    ps_deflate_close(stream);
}
