/*
 * store: whatever happens to a file or to a writer, a reader gets the right data or a refusal
 * that names the file, and an older file survives.
 */
#include "runtime/scope.h"
#include "tests/formats/store_samples.h"
#include "tests/support/calls.h"
#include "tests/support/temporaries.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- writers that die or find no room; first, while this process has no threads ---- */

static int write_one(const void *path) { return write_sample(path, 1); }

static uint64_t seed_of(const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t seed;
    check_ok(ps_store_open(path, "penstock-test", 1, &store));
    check_ok(ps_store_get_int(store, "/tiles", "seed", &seed));
    return (uint64_t)seed;
}

/* A writer that is killed before any of its calls leaves the old file; at the folder's sync, which
 * comes after the rename, it leaves the new one. */
static void test_kill_keeps_the_old_file(void **state)
{
    static const char path[] = "killed.h5";
    int code = -1, kept = 0, replaced = 0;
    for (long n = 1; code == -1; ++n) {
        check_ok(write_sample(path, 0));
        code = calls_kill_child(n, write_one, path);
        if (code != -1) break;
        uint64_t seed = seed_of(path);
        check_ok(read_sample(path, seed));
        kept += seed == 0;
        replaced += seed == 1;
    }
    assert_int_equal(code, 0);
    assert_int_equal(replaced, 1);
    assert_true(kept >= 10);
    check_ok(write_sample(path, 99)); /* a .tmp left behind is no obstacle */
    check_ok(read_sample(path, 99));
    assert_int_equal(temporaries_of("killed.h5"), 0);
}

/* In a child: writes with files limited to `limit` bytes; its exit code is the status. */
static int write_limited(const char *path, rlim_t limit)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit bound = {limit, limit};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &bound) != 0) _exit(99);
        ps_status status = write_sample(path, 2);
        if (status != PS_OK && !strstr(ps_message(), path)) _exit(98);
        if (status != PS_OK && write_sample(path, 2) == PS_OK) _exit(97); /* fails again, alive */
        _exit(status);
    }
    int end;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    return WEXITSTATUS(end);
}

static void test_no_room_keeps_the_old_file(void **state)
{
    static const char path[] = "full.h5";
    size_t size;
    int refused = 0, written = 0;
    check_ok(write_sample(path, 2));
    free(slurp(path, &size));
    check_ok(write_sample(path, 1));
    for (int step = 0; step <= 24; ++step) {
        size_t limit = step < 24 ? size * (size_t)step / 23 : 8 * size;
        int code = write_limited(path, limit);
        if (code == PS_OK) {
            ++written;
            assert_true(limit >= size);
            check_ok(read_sample(path, 2));
            continue;
        }
        ++refused;
        assert_int_equal(code, PS_EXHAUSTED);
        check_ok(read_sample(path, 1));
        assert_int_equal(temporaries_of("full.h5"), 0);
    }
    assert_true(refused >= 22 && written >= 1);
}

/* Files limited to `limit` bytes, of this process; 0: no more. */
static void limit_files(rlim_t limit)
{
    struct rlimit bound;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &bound), 0);
    bound.rlim_cur = limit ? limit : bound.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &bound), 0);
}

/* A chunk that finds no room is lost for good, though there is room again before the commit. Chunks
 * of 1 MiB take their bytes to the file outside HDF5, those of 4 KiB within. */
static void test_lost_chunk_forbids_commit(void **state)
{
    enum { CHUNKS = 4 };
    static float noise[1 << 18];
    fill_reals(noise, 1 << 18, 5);
    signal(SIGXFSZ, SIG_IGN);
    for (int64_t values = 1 << 18; values >= 1 << 10; values >>= 8) {
        int id;
        ps_store *store;
        ps_dataset_spec spec = ragged_spec("/lost", PS_F32, CHUNKS, values);
        check_ok(ps_store_create("lost.h5", &sample_identity, &store));
        check_ok(ps_store_define(store, &spec, &id));
        check_ok(ps_store_write_chunk(store, id, 0, noise, values, NULL));
        limit_files(4096);
        assert_int_equal(ps_store_write_chunk(store, id, 1, noise, values, NULL), PS_EXHAUSTED);
        assert_non_null(strstr(ps_message(), "chunk 1 of /lost: File too large"));
        limit_files(0);
        check_ok(ps_store_write_chunk(store, id, 2, noise, values, NULL));
        check_ok(ps_store_write_chunk(store, id, 3, noise, values, NULL));
        assert_int_equal(ps_store_commit(&store), PS_EXHAUSTED);
        assert_non_null(strstr(ps_message(), "chunk 1 of /lost: File too large"));
        assert_int_not_equal(access("lost.h5", F_OK), 0);
        assert_int_equal(temporaries_of("lost.h5"), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void test_too_little_space_is_refused_at_once(void **state)
{
    ps_store *store;
    ps_store_identity huge = sample_identity;
    huge.disk_estimate = INT64_C(1) << 60;
    check_fails(ps_store_create("huge.h5", &huge, &store), PS_EXHAUSTED, "MB free");
    assert_null(store);
    assert_int_equal(temporaries_of("huge.h5"), 0);
}

static void test_discard(void **state)
{
    ps_store *store;
    check_ok(write_sample("kept.h5", 3));
    check_ok(ps_store_create("kept.h5", &sample_identity, &store));
    assert_int_equal(temporaries_of("kept.h5"), 1);
    ps_store_close(&store);
    assert_int_equal(temporaries_of("kept.h5"), 0);
    check_ok(read_sample("kept.h5", 3));
    ps_store_close(&store); /* NULL is fine */
}

/* ---- damaged files ---- */

/* Refused as invalid with the file's name, or right. Returns whether it was refused. */
static bool check_damaged(const char *path, uint64_t seed, const char *what, size_t place)
{
    ps_status status = read_sample(path, seed);
    if (status == PS_OK || (status == PS_INVALID && strstr(ps_message(), path)))
        return status != PS_OK;
    print_error("%s %zu: %d: %s\n", what, place, status, ps_message());
    fail();
    return false;
}

static void test_truncated_at_every_length(void **state)
{
    size_t size;
    check_ok(write_sample("whole.h5", 7));
    PS_SCOPED_MEMORY unsigned char *bytes = slurp("whole.h5", &size);
    for (size_t length = 0; length < size; length += length < 64 ? 1 : 37) {
        spit("cut.h5", bytes, length);
        assert_true(check_damaged("cut.h5", 7, "cut at", length));
    }
    spit("cut.h5", bytes, 0);
    check_fails(read_sample("cut.h5", 7), PS_INVALID, "is empty");
}

static void test_every_bit_of_a_chunk_counts(void **state)
{
    size_t size, length;
    ps_store *store;
    ps_verify_result result;
    check_ok(write_sample("whole.h5", 8));
    PS_SCOPED_MEMORY unsigned char *bytes = slurp("whole.h5", &size);
    for (int chunk = 0; chunk < 4; ++chunk) {
        size_t start = find_chunk("whole.h5", 0, chunk, bytes, size, &length);
        for (size_t bit = (size_t)chunk; bit < 8 * length; bit += 331) {
            bytes[start + bit / 8] ^= (unsigned char)(1 << bit % 8);
            spit("flip.h5", bytes, size);
            bytes[start + bit / 8] ^= (unsigned char)(1 << bit % 8);
            check_fails(read_sample("flip.h5", 8), PS_INVALID, "of /values: its hash differs");
        }
        bytes[start] ^= 1;
        spit("flip.h5", bytes, size);
        bytes[start] ^= 1;
        char name[64];
        snprintf(name, sizeof name, "chunk %d of /values: its hash differs", chunk);
        check_ok(ps_store_open("flip.h5", NULL, 0, &store));
        check_ok(ps_store_verify(store, false, &result)); /* the quick look is at sizes only */
        check_fails(ps_store_verify(store, true, &result), PS_INVALID, name);
        assert_int_equal(result.bad_chunks, 1);
        assert_int_equal(result.chunks, 6);
        assert_non_null(strstr(result.first_problem, name));
        ps_store_close(&store);
    }
}

/* Deterministic mutations anywhere: bits, bytes, runs of zeros, swapped blocks. */
static void mutate(unsigned char *bytes, size_t size, uint64_t *random)
{
    size_t place = (size_t)(check_random(random) * (double)size);
    size_t length = 1 + (size_t)(check_random(random) * 40);
    if (place + length > size) length = size - place;
    int how = (int)(4 * check_random(random));
    double with = check_random(random);
    if (how == 0) bytes[place] ^= (unsigned char)(1 << (int)(8 * with));
    if (how == 1) bytes[place] = (unsigned char)(256 * with);
    if (how == 2) memset(bytes + place, 0, length);
    if (how == 3) memmove(bytes + place, bytes + (size_t)(with * (double)(size - length)), length);
}

static void test_mutations_never_give_wrong_data(void **state)
{
    size_t size;
    uint64_t random = 2026;
    int refused = 0;
    check_ok(write_sample("whole.h5", 9));
    PS_SCOPED_MEMORY unsigned char *bytes = slurp("whole.h5", &size), *copy = malloc(size);
    for (int round = 0; round < 600; ++round) {
        memcpy(copy, bytes, size);
        for (int times = 1 + round % 3; times > 0; --times) mutate(copy, size, &random);
        spit("mutant.h5", copy, size);
        refused += check_damaged("mutant.h5", 9, "mutation", (size_t)round);
    }
    assert_true(refused > 200);
}

static void test_wrong_kinds_of_files(void **state)
{
    ps_store *store;
    ps_store_identity future = sample_identity;
    future.format_version = 7;
    check_ok(ps_store_create("future.h5", &future, &store));
    check_ok(ps_store_commit(&store));
    check_fails(ps_store_open("future.h5", "penstock-test", 1, &store), PS_INVALID,
                "future.h5: penstock-test is version 7, this program reads up to 1: use a newer "
                "penstock");
    check_ok(ps_store_open("future.h5", NULL, 0, &store));
    ps_store_close(&store);
    check_fails(ps_store_open("future.h5", "penstock-mesh", 7, &store), PS_INVALID,
                "future.h5: is a penstock-test file, expected penstock-mesh");
    check_fails(ps_store_open("absent.h5", NULL, 0, &store), PS_INVALID, "No such file");
    check_fails(ps_store_open(".", NULL, 0, &store), PS_INVALID, "is a folder");
    spit("text.h5", (const unsigned char *)"solid cube\nendsolid\n", 20);
    check_fails(ps_store_open("text.h5", NULL, 0, &store), PS_INVALID, "not an HDF5 file");
    assert_null(store);
}

/* A future container, and a file that is HDF5 but not ours. */
static void test_foreign_hdf5(void **state)
{
    ps_store *store;
    check_ok(ps_store_create("container.h5", &sample_identity, &store));
    check_ok(ps_store_put_int(store, "/", "store_version", 4));
    check_fails(ps_store_commit(&store), PS_INVALID, "its container is version 4");
    check_ok(ps_store_create("foreign.h5", &sample_identity, &store));
    check_ok(ps_store_put_text(store, "/", "format", "NeXus"));
    check_fails(ps_store_commit(&store), PS_INVALID, "is an HDF5 file, but not one of penstock");
    assert_int_not_equal(access("foreign.h5", F_OK), 0);
}
