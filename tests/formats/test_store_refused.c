/* store: what a file says of itself and cannot be, is refused before anything is taken from it. */
#include "tests/formats/store_samples.h"

#include <dlfcn.h>
#include <math.h>
#include <xxhash.h>

#include "formats/h5zstd.h"
#include "formats/store_private.h"
#include "runtime/scope.h"
#include "runtime/trust.h"

/* Sizes that no writer gives are refused before anything is taken from them, though their hash is
 * right. */
static void test_impossible_tables(void **state)
{
    for (int what = 0; what < 5; ++what) {
        ps_store *store;
        float values[300];
        int id;
        ps_dataset_spec spec = array_spec("/values", PS_F32, 300, 300);
        fill_reals(values, 300, 1);
        check_ok(ps_store_create("table.h5", &sample_identity, &store));
        check_ok(ps_store_define(store, &spec, &id));
        check_ok(ps_store_write_chunk(store, id, 0, values, 300, NULL));
        ps_chunk_info *row = &store->datasets[id].chunks[0];
        if (what == 0) row->count = 299;
        if (what == 1) row->zeros = -1;
        if (what == 2) row->non_finite = 301;
        if (what == 3) row->stored_bytes = row->raw_bytes + 1;
        if (what == 4) row->raw_bytes *= 2;
        check_fails(ps_store_commit(&store), PS_INVALID, "impossible sizes in its chunk table");
    }
}

/* A frame that expands to less than its chunk leaves no rest of the buffer for data: neither here
 * nor for HDF5. */
static void test_short_frames(void **state)
{
    float values[200] = {0}, back[200];
    const void *stored;
    PS_SCOPED(ps_scratch_pool_release) ps_scratch_pool pool = {0};
    ps_scratch *scratch;
    ps_chunk_info info = {0};
    ps_codec half = {.type = PS_F32, .elements = 100}, whole = {.type = PS_F32, .elements = 200};
    ps_scratch_pool_init(&pool);
    check_ok(ps_scratch_take(&pool, &scratch));
    check_ok(ps_codec_encode(&half, values, 100, scratch, &info, &stored));
    assert_true(info.stored_bytes < info.raw_bytes);
    unsigned char frame[400];
    memcpy(frame, stored, (size_t)info.stored_bytes);
    check_ok(ps_codec_decode(&half, &info, frame, scratch, 100, back));
    info.raw_bytes = 800;
    check_fails(ps_codec_decode(&whole, &info, frame, scratch, 200, back), PS_INVALID,
                "it holds 400 bytes, expected 800");
    for (unsigned expected = 400; expected <= 800; expected += 400) {
        const unsigned client[2] = {1, expected};
        size_t size = (size_t)info.stored_bytes;
        PS_SCOPED_MEMORY void *buffer = malloc(size);
        memcpy(buffer, frame, size);
        assert_int_equal(ps_h5zstd_filter(0x0100, 2, client, size, &size, &buffer),
                         expected == 400 ? 400 : 0);
    }
    ps_scratch_give(&pool, scratch);
}

/* Bit n: the nth digest from now on comes out wrong. The second of a commit is the record hash. */
static const uint64_t ALL = UINT64_MAX, RECORD = 2;
static uint64_t forged;

XXH64_hash_t XXH3_64bits_digest(const XXH3_state_t *state)
{
    XXH64_hash_t (*next)(const XXH3_state_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "XXH3_64bits_digest");
    uint64_t wrong = forged & 1;
    forged >>= 1;
    return next(state) ^ wrong;
}

static void test_content_hash_is_checked(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    forged = ALL;
    ps_status status = write_sample("forged.h5", 1);
    forged = 0;
    check_ok(status);
    check_fails(ps_store_open("forged.h5", "penstock-test", 1, &store), PS_INVALID,
                "forged.h5: its content hash is");
    check_fails(ps_store_open("forged.h5", NULL, 0, &store), PS_INVALID, "recorded was");
    assert_null(store);
    ps_trust_inputs(true);
    status = ps_store_open("forged.h5", "penstock-test", 1, &store);
    ps_trust_inputs(false);
    check_ok(status);
}

static ps_status write_empty(const char *path, int layout)
{
    ps_store *store;
    PS_TRY(ps_store_create(path, &sample_identity, &store));
    PS_TRY(ps_store_put_int(store, "/", "store_version", layout));
    forged = RECORD;
    ps_status status = ps_store_commit(&store);
    forged = 0;
    return status;
}

/* Options and inputs are in a hash of their own; files of the first version have none. */
static void test_record_hash_is_checked(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    check_ok(write_empty("record.h5", 2));
    check_fails(ps_store_open("record.h5", "penstock-test", 1, &store), PS_INVALID,
                "record.h5: its record hash is");
    check_ok(write_empty("record.h5", 1));
    check_ok(ps_store_open("record.h5", "penstock-test", 1, &store));
}

/* More links and attributes than libhdf5 keeps in a header by itself. */
static void test_many_links(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    char name[64];
    check_ok(ps_store_create("many.h5", &sample_identity, &store));
    for (int i = 0; i < 40; ++i) {
        snprintf(name, sizeof name, "/group/deep%d/x", i % 20);
        if (i >= 20) snprintf(name, sizeof name, "/group/x%d", i);
        ps_dataset_spec spec = array_spec(name, PS_I32, 1, 1);
        check_ok(ps_store_write_array(store, &spec, &i));
        check_ok(ps_store_put_int(store, "/group", name + 7, i));
    }
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("many.h5", "penstock-test", 1, &store));
    assert_int_equal(store->layout, 2);
    assert_int_equal(store->count, 40);
}

/* Kinds of files without gaps are not opened with values that are not finite; whoever asks for no
 * kind sees them. */
static void test_finite_is_checked(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    float values[300];
    ps_dataset_spec spec = array_spec("/values", PS_F32, 300, 100);
    fill_reals(values, 300, 1);
    values[150] = NAN;
    check_ok(ps_store_create("nan.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_commit(&store));
    check_fails(ps_store_open("nan.h5", "penstock-test", 1, &store), PS_INVALID,
                "chunk 1 of /values has 1 values that are not finite");
    assert_null(store);
    check_ok(ps_store_open("nan.h5", NULL, 0, &store));
}
