/* store: parts and the master that joins them. */
#include "runtime/scope.h"
#include "tests/formats/store_samples.h"
#include "tests/support/temporaries.h"

enum { PARTS = 3, ROWS = 500 };

/* Part p: rows_of(p) rows of 2 values from a common array, and p + 1 tiles of capacity 8 + p. */
static int64_t rows_of(int part) { return part == 1 ? 0 : ROWS - 100 * part; }

static void write_part(const char *path, int part, const float *values)
{
    ps_store *store;
    char name[4096];
    int id;
    int64_t before = 0;
    for (int p = 0; p < part; ++p) before += rows_of(p);
    ps_dataset_spec rows = array_spec("/a/rows", PS_F32, rows_of(part), 64);
    ps_dataset_spec tiles = ragged_spec("/tiles", PS_F32, part + 1, 8 + part);
    rows.rank = 2;
    rows.dims[1] = 2;
    rows.dimensions[0] = "/a/row", rows.dimensions[1] = "/direction";
    ps_store_part_path(path, 0, part, name);
    check_ok(ps_store_create(name, &sample_identity, &store));
    check_ok(ps_store_write_array(store, &rows, values + 2 * before));
    check_ok(ps_store_define(store, &tiles, &id));
    for (int t = 0; t <= part; ++t) {
        double extras[2] = {10 * part + t, part};
        check_ok(ps_store_write_chunk(store, id, t, values + part + t, 8 + part, extras));
    }
    check_ok(ps_store_put_int(store, "/", "unknowns", 7));
    check_ok(ps_store_put_text(store, "/a", "Type", "x"));
    check_ok(ps_store_commit(&store));
}

static void write_parts(const char *path, float *values)
{
    fill_reals(values, 2 * PARTS * ROWS, 12);
    for (int p = 0; p < PARTS; ++p) write_part(path, p, values);
    check_ok(ps_store_write_master(path, &sample_identity, 0, PARTS));
}

static void test_joined_reads(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_dataset_info info;
    ps_chunk_info chunk;
    ps_verify_result result;
    float values[2 * PARTS * ROWS], back[2 * PARTS * ROWS];
    int64_t unknowns;
    char text[8], dimensions[64];
    static const char path[] = "run.h5";
    write_parts(path, values);
    check_ok(ps_store_open(path, "penstock-test", 1, &store));
    assert_int_equal(ps_store_part_count(store), PARTS);
    check_ok(ps_store_get_int(store, "/", "unknowns", &unknowns));
    assert_int_equal(unknowns, 7);
    check_ok(ps_store_get_text(store, "/a", "Type", text, sizeof text));
    assert_string_equal(text, "x");
    check_ok(ps_store_get_text(store, "/a/rows", "dimensions", dimensions, sizeof dimensions));
    assert_string_equal(dimensions, "/a/row /direction");
    assert_true(ps_store_has(store, "/a/row", "CLASS") &&
                ps_store_has(store, "/direction", "NAME"));
    assert_false(ps_store_has(store, "/tiles", "dimensions"));
    check_ok(ps_store_dataset(store, 0, &info));
    assert_int_equal(info.dims[0], 800);
    assert_int_equal(info.chunk_count, 8 + 0 + 5);
    check_ok(ps_store_read_array(store, "/a/rows", PS_F32, 0, 800, PS_ROOM(back, 1600), back));
    assert_memory_equal(back, values, 1600 * sizeof *back);
    check_ok(ps_store_read_array(store, "/a/rows", PS_F32, 490, 25, PS_ROOM(back, 50), back));
    assert_memory_equal(back, values + 980, 50 * sizeof *back);
    check_ok(ps_store_dataset(store, 1, &info));
    assert_int_equal(info.chunk_count, 6);
    assert_int_equal(info.dims[1], 10);
    check_ok(ps_store_chunk(store, 1, 4, &chunk)); /* tile 1 of part 2 */
    check_near(chunk.extras[0], 21, 0, 0);
    assert_int_equal(chunk.count, 10);
    check_ok(ps_store_read_chunk(store, 1, 4, PS_ROOM(back, 10), back));
    assert_memory_equal(back, values + 3, 10 * sizeof *back);
    PS_SCOPED_MEMORY char *stored = malloc((size_t)chunk.stored_bytes);
    check_ok(ps_store_read_stored(store, 1, 4, chunk.stored_bytes, stored));
    check_ok(ps_store_decode(store, 1, 4, stored, PS_ROOM(back, 10), back + 100));
    assert_memory_equal(back, back + 100, 10 * sizeof *back);
    check_ok(ps_store_verify(store, true, &result));
    assert_int_equal(result.chunks, 19);
}

static void test_missing_and_foreign_parts(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    float values[2 * PARTS * ROWS];
    char part[4096], kept[4200];
    static const char path[] = "lost.h5";
    write_parts(path, values);
    ps_store_part_path(path, 0, 1, part);
    assert_non_null(strstr(part, "lost.part0001.h5"));
    snprintf(kept, sizeof kept, "%s.kept", part);
    assert_int_equal(rename(part, kept), 0);
    check_fails(ps_store_open(path, NULL, 0, &store), PS_INVALID, "part 1: ");
    assert_non_null(strstr(ps_message(), "lost.part0001.h5: cannot be opened: No such file"));
    write_part(path, 1, values); /* the same content, but not the same file */
    check_fails(ps_store_open(path, NULL, 0, &store), PS_INVALID,
                "is not the file that was joined");
    assert_int_equal(rename(kept, part), 0);
    check_ok(ps_store_open(path, NULL, 0, &store));
}

static void test_damaged_part(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_verify_result result;
    float values[2 * PARTS * ROWS];
    char part[4096];
    static const char path[] = "hurt.h5";
    size_t size, length;
    write_parts(path, values);
    ps_store_part_path(path, 0, 2, part);
    PS_SCOPED_MEMORY unsigned char *bytes = slurp(part, &size);
    bytes[find_chunk(path, 0, 9, bytes, size, &length) + 5] ^= 4; /* chunk 1 of part 2 */
    spit(part, bytes, size);
    check_ok(ps_store_open(path, NULL, 0, &store));
    check_fails(ps_store_verify(store, true, &result), PS_INVALID,
                "hurt.part0002.h5: chunk 1 of /a/rows");
    assert_int_equal(result.bad_chunks, 1);
}

static void test_parts_that_do_not_fit(void **state)
{
    ps_store *store;
    char name[4096];
    static const char path[] = "odd.h5";
    float values[8] = {0};
    for (int p = 0; p < 2; ++p) {
        ps_dataset_spec spec = array_spec("/x", p ? PS_F64 : PS_F32, 4, 4);
        ps_store_part_path(path, 0, p, name);
        check_ok(ps_store_create(name, &sample_identity, &store));
        check_ok(ps_store_write_array(store, &spec, values));
        check_ok(ps_store_commit(&store));
    }
    check_fails(ps_store_write_master(path, &sample_identity, 0, 2), PS_INVALID,
                "odd.part0001.h5: /x differs");
    check_fails(ps_store_write_master(path, &sample_identity, 0, 3), PS_INVALID, "odd.part0002.h5");
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(temporaries_of("odd.h5"), 0);
}

/* A set that fails on the way leaves the set that is there; one that succeeds replaces it. */
static void test_generations(void **state)
{
    char name[4096];
    static const char path[] = "sets.h5";
    int64_t generation;
    float values[2 * PARTS * ROWS];
    ps_store *store;
    check_ok(ps_store_next_generation(path, &generation));
    assert_int_equal(generation, 0);
    write_parts(path, values);
    for (int round = 1; round < 4; ++round) {
        check_ok(ps_store_next_generation(path, &generation));
        assert_int_equal(generation, round);
        for (int p = 0; p < 2; ++p) {
            ps_dataset_spec spec = array_spec("/x", PS_F32, 4, 4);
            ps_store_part_path(path, generation, p, name);
            check_ok(ps_store_create(name, &sample_identity, &store));
            check_ok(ps_store_write_array(store, &spec, values));
            check_ok(ps_store_commit(&store));
            check_ok(ps_store_open(path, "penstock-test", 1, &store)); /* the old set is whole */
            ps_store_close(&store);
            check_ok(ps_store_next_generation(path, &generation)); /* and the new one goes on */
            assert_int_equal(generation, round);
        }
        check_fails(ps_store_write_master(path, &sample_identity, generation, 3), PS_INVALID,
                    "part0002.h5");
        check_ok(ps_store_open(path, "penstock-test", 1, &store));
        ps_store_close(&store);
        check_ok(ps_store_write_master(path, &sample_identity, generation, 2));
        ps_store_part_path(path, generation - 1, 0, name);
        assert_int_not_equal(access(name, F_OK), 0); /* the older set is gone */
        ps_store_part_path(path, generation, 1, name);
        assert_int_equal(access(name, F_OK), 0);
    }
    check_ok(ps_store_open(path, "penstock-test", 1, &store));
    assert_int_equal(ps_store_part_count(store), 2);
    ps_store_close(&store);
    /* a master that cannot be read: above every set that lies there */
    check_write(path, "");
    check_ok(ps_store_next_generation(path, &generation));
    assert_int_equal(generation, 4);
}

/* Sets at one path have one writer at a time; another path is another's. */
static void test_sets_are_held(void **state)
{
    ps_store_set held, other;
    check_ok(ps_store_set_begin("held.h5", &held));
    check_fails(ps_store_set_begin("held.h5", &other), PS_FAILED, "is writing it");
    assert_null(other.hold);
    check_ok(ps_store_set_begin("another.h5", &other));
    ps_store_set_release(&other);
    ps_store_set_release(&held);
    check_ok(ps_store_set_begin("held.h5", &held));
    ps_store_set_release(&held);
    assert_int_equal(temporaries_of("held.h5"), 0);
}

static void test_part_names(void **state)
{
    char out[4096];
    ps_store_part_path("run.h5", 0, 3, out);
    assert_string_equal(out, "run.part0003.h5");
    ps_store_part_path("a.b/run", 0, 12, out);
    assert_string_equal(out, "a.b/run.part0012");
    ps_store_part_path("/x/.hidden", 0, 0, out);
    assert_string_equal(out, "/x/.hidden.part0000");
    ps_store_part_path("a/run.h5", 12, 3, out);
    assert_string_equal(out, "a/run.g12.part0003.h5");
    ps_store_part_path("x.000042.h5", 0, 10000, out);
    assert_string_equal(out, "x.000042.part10000.h5");
}

/* What a program that shows files asks for. */
static void test_lists(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL, *input = NULL;
    PS_SCOPED_MEMORY ps_attribute *attributes = NULL;
    PS_SCOPED_MEMORY ps_input *inputs = NULL;
    int count;
    int64_t ints[2];
    check_ok(write_sample("input.h5", 1));
    check_ok(ps_store_open("input.h5", NULL, 0, &input));
    check_ok(ps_store_create("list.h5", &sample_identity, &store));
    check_ok(ps_store_add_input(store, "mesh", input));
    check_ok(ps_store_put_ints(store, "/g", "version", (int64_t[]){1, 0}, 2));
    check_ok(ps_store_put_text(store, "/g", "kind", "abc"));
    check_ok(ps_store_put_real(store, "/g", "dt", 0.5));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("list.h5", NULL, 0, &store));
    check_ok(ps_store_list_attributes(store, "/g", &attributes, &count));
    assert_int_equal(count, 3);
    assert_string_equal(attributes[0].name, "dt");
    assert_int_equal(attributes[0].kind, PS_ATTRIBUTE_REALS);
    assert_int_equal(attributes[1].kind, PS_ATTRIBUTE_TEXT);
    assert_int_equal(attributes[1].count, 3);
    assert_int_equal(attributes[2].kind, PS_ATTRIBUTE_INTS);
    assert_int_equal(attributes[2].count, 2);
    check_ok(ps_store_get_ints(store, "/g", "version", ints, 2));
    assert_int_equal(ints[0], 1);
    ps_attribute *none;
    check_fails(ps_store_list_attributes(store, "/h", &none, &count), PS_INVALID, "no object /h");
    check_ok(ps_store_list_inputs(store, &inputs, &count));
    assert_int_equal(count, 1);
    assert_string_equal(inputs[0].role, "mesh");
    assert_string_equal(inputs[0].file, "input.h5");
    assert_string_equal(inputs[0].uuid, ps_store_uuid(input));
}
