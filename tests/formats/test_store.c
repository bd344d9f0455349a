/* store: what is written comes back, with its table; and what is wrong is refused. */
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/store.h"

static char folder[64];

static const char *at(const char *name)
{
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static const ps_store_identity identity = {.format = "penstock-test",
                                           .format_version = 1,
                                           .creator = "test",
                                           .revision = "0",
                                           .options = "a=1\nb=2\n"};

static ps_dataset_spec array_spec(const char *name, ps_type type, int64_t rows, int64_t chunk_rows)
{
    return (ps_dataset_spec){.name = name,
                             .type = type,
                             .rank = 1,
                             .dims = {rows},
                             .chunk_rows = chunk_rows,
                             .units = "1"};
}

/* Numbers with low entropy in their high bytes, as in real fields. */
static void fill(void *data, size_t bytes, uint64_t seed)
{
    unsigned char *out = data;
    for (size_t i = 0; i < bytes; ++i)
        out[i] = (unsigned char)(i % 4 ? seed : 256 * check_random(&seed));
}

static void round_trip(ps_type type, int rank, const int64_t *dims, int64_t chunk_rows)
{
    ps_store *store;
    int64_t count = 1;
    ps_dataset_spec spec = array_spec("/group/data", type, dims[0], chunk_rows);
    spec.rank = rank;
    for (int r = 0; r < rank; ++r) count *= spec.dims[r] = dims[r];
    size_t bytes = (size_t)count * ps_type_size(type);
    char *data = malloc(bytes + 1), *back = malloc(bytes + 1);
    fill(data, bytes, (uint64_t)(type + 10 * rank));
    check_ok(ps_store_create(at("round.h5"), &identity, &store));
    check_ok(ps_store_write_array(store, &spec, data));
    check_ok(ps_store_commit(&store));
    assert_null(store);
    check_ok(ps_store_open(at("round.h5"), "penstock-test", 1, &store));
    check_ok(ps_store_read_array(store, "/group/data", type, 0, dims[0], back));
    assert_memory_equal(data, back, bytes);
    int64_t first = dims[0] / 3, rows = dims[0] - first - dims[0] / 7, row = count / dims[0];
    size_t size = ps_type_size(type);
    check_ok(ps_store_read_array(store, "/group/data", type, first, rows, back));
    assert_memory_equal(data + (size_t)(first * row) * size, back, (size_t)(rows * row) * size);
    ps_verify_result result;
    check_ok(ps_store_verify(store, true, &result));
    ps_dataset_info info;
    check_ok(ps_store_dataset(store, 0, &info));
    assert_int_equal(result.chunks, info.chunk_count);
    assert_int_equal(info.chunk_count, (dims[0] + info.chunk_rows - 1) / info.chunk_rows);
    ps_store_close(&store);
    free(data);
    free(back);
}

static void test_round_trips(void **state)
{
    static const int64_t dims[4] = {103, 3, 5, 2};
    for (ps_type type = PS_U8; type <= PS_F64; ++type)
        for (int rank = 1; rank <= 4; ++rank)
            for (int64_t rows = 0; rows <= 120; rows += 40) round_trip(type, rank, dims, rows);
}

static int setup(void **state)
{
    strcpy(folder, "/tmp/ps-store-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
