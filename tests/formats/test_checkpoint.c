/* Checkpoint generations: newest good one wins, older go, crashes do not matter
 * (formats/checkpoint.h). */
#include "formats/checkpoint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/support/calls.h"

enum { ITEMS = 5000 };
static char folder[64], run[128];
static const char identity[] = "steps=10\nemitter=a\nemitter=b\ngroup=8\ninput-matrix=77\n";

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/ps-check-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(run, sizeof run, "%s/run", folder);
    return 0;
}

static int empty_folder(void **state) { return ps_checkpoint_prune(run, 0) == PS_OK ? 0 : -1; }

static int drop_folder(void **state)
{
    empty_folder(state);
    return rmdir(folder);
}

typedef struct sample {
    double past[ITEMS];
    float few[3];
    ps_checkpoint_array arrays[2];
    ps_checkpoint state;
} sample;

static void make_sample(sample *s, int64_t step)
{
    for (int i = 0; i < ITEMS; ++i) s->past[i] = cos((double)(step * 7919 + i));
    for (int i = 0; i < 3; ++i) s->few[i] = (float)step + (float)i;
    s->arrays[0] = (ps_checkpoint_array){"/past", "1", PS_F64, ITEMS, s->past};
    s->arrays[1] = (ps_checkpoint_array){"/few", "Pa", PS_F32, 3, s->few};
    s->state = (ps_checkpoint){step, "uuid-1", identity, 2, s->arrays, 0, 0};
}

static void check_generation(int64_t generation, int64_t step)
{
    static sample read, expected;
    make_sample(&read, 0);
    memset(read.past, 0, sizeof read.past);
    make_sample(&expected, step);
    check_ok(ps_checkpoint_load(run, generation, &read.state));
    assert_int_equal(read.state.step, step);
    assert_memory_equal(read.past, expected.past, sizeof read.past);
    assert_memory_equal(read.few, expected.few, sizeof read.few);
}

static void check_list(const char *expected)
{
    int64_t *generations, count;
    char text[256] = "";
    check_ok(ps_checkpoint_list(run, &generations, &count));
    for (int64_t i = 0; i < count; ++i)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%lld ",
                 (long long)generations[i]);
    free(generations);
    assert_string_equal(text, expected);
}

static void comes_back(void **state)
{
    static sample s;
    char path[4096];
    ps_checkpoint_path(run, 42, path);
    assert_non_null(strstr(path, "/run.000042.h5"));
    make_sample(&s, 16);
    check_ok(ps_checkpoint_save(run, 42, &s.state));
    check_generation(42, 16);
    s.state.uuid = "uuid-2";
    check_fails(ps_checkpoint_load(run, 42, &s.state), PS_INVALID, "belongs to another run");
    s.state.part = 3; /* of a rank, or a batch */
    check_fails(ps_checkpoint_load(run, 42, &s.state), PS_INVALID,
                "part 0 of the run, not of part 3");
    check_ok(ps_checkpoint_save(run, 44, &s.state));
    check_ok(ps_checkpoint_load(run, 44, &s.state));
    check_fails(ps_checkpoint_check(run, 44, s.state.uuid, 0, &s.state.step, &s.state.log), PS_INVALID,
                "part 3 of the run, not of part 0");
    s.state.part = 0;
    make_sample(&s, 16);
    s.arrays[0].count = 17;
    check_fails(ps_checkpoint_load(run, 42, &s.state), PS_INVALID, "/past holds 5000 items");
    make_sample(&s, 16);
    s.arrays[1].name = "/other";
    check_fails(ps_checkpoint_load(run, 42, &s.state), PS_INVALID, "/other");
    check_fails(ps_checkpoint_load(run, 43, &s.state), PS_INVALID, "run.000043.h5");
}

static void lists_and_prunes_its_own_files_alone(void **state)
{
    static sample s;
    static const char *const strangers[] = {"run.log", "run.000001.h5x", "run.1.h5",
                                            "runner.000001.h5", "run.part0001.h5"};
    char name[256];
    for (int i = 0; i < 5; ++i) {
        snprintf(name, sizeof name, "%s/%s", folder, strangers[i]);
        check_write(name, "");
    }
    snprintf(name, sizeof name, "%s/run.000009.h5.12.0123456789abcdef.tmp", folder);
    check_write(name, "");
    for (int64_t g = 8; g < 12; ++g) {
        make_sample(&s, 8 * g);
        check_ok(ps_checkpoint_save(run, g, &s.state));
    }
    make_sample(&s, 1);
    check_ok(ps_checkpoint_save(run, 1234567, &s.state));
    check_list("1234567 11 10 9 8 ");
    check_ok(ps_checkpoint_prune(run, 3));
    check_list("1234567 11 10 ");
    assert_int_not_equal(access(name, F_OK), 0);
    check_ok(ps_checkpoint_prune(run, 0));
    check_list("");
    for (int i = 0; i < 5; ++i) {
        snprintf(name, sizeof name, "%s/%s", folder, strangers[i]);
        assert_int_equal(unlink(name), 0);
    }
}

/* Files of others may have such names: a text, a store of another format, a name that only ends
 * like a temporary. What a damaged checkpoint left is removed. */
static void spares_what_is_no_checkpoint(void **state)
{
    static sample s;
    char text[256], other[256], similar[256], cut[4096];
    ps_store *store;
    const ps_store_identity sort = {.format = "penstock-sample", .format_version = 1};
    snprintf(text, sizeof text, "%s/run.000003.h5", folder);
    snprintf(other, sizeof other, "%s/run.000004.h5", folder);
    snprintf(similar, sizeof similar, "%s/run.000004.h5.mine.tmp", folder);
    check_write(text, "what somebody wrote\n");
    check_write(similar, "");
    check_ok(ps_store_create(other, &sort, &store));
    check_ok(ps_store_commit(&store));
    for (int64_t g = 5; g < 8; ++g) {
        make_sample(&s, 8 * g);
        check_ok(ps_checkpoint_save(run, g, &s.state));
    }
    ps_checkpoint_path(run, 5, cut);
    assert_int_equal(truncate(cut, 700), 0);
    check_ok(ps_checkpoint_prune(run, 1));
    check_list("7 4 3 ");
    check_ok(ps_checkpoint_prune(run, 0));
    check_list("4 3 ");
    assert_int_equal(unlink(text), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(unlink(similar), 0);
}

/* Wherever a bit flips or the file ends, loading fails or the state is right. */
static void damage_is_seen(void **state)
{
    static sample s;
    char path[4096];
    struct stat file;
    make_sample(&s, 16);
    check_ok(ps_checkpoint_save(run, 1, &s.state));
    ps_checkpoint_path(run, 1, path);
    stat(path, &file);
    int descriptor = open(path, O_RDWR), seen = 0, tried = 0;
    for (off_t at = 5; at < file.st_size; at += 1 + file.st_size / 97) {
        unsigned char byte, flipped;
        assert_int_equal(pread(descriptor, &byte, 1, at), 1);
        flipped = byte ^ 0x10;
        assert_int_equal(pwrite(descriptor, &flipped, 1, at), 1);
        static sample read, expected;
        make_sample(&read, 0);
        make_sample(&expected, 16);
        if (ps_checkpoint_load(run, 1, &read.state) == PS_OK) {
            assert_int_equal(read.state.step, 16);
            assert_memory_equal(read.past, expected.past, sizeof read.past);
        } else {
            ++seen;
        }
        ++tried;
        assert_int_equal(pwrite(descriptor, &byte, 1, at), 1);
    }
    close(descriptor);
    check_at_most(0.8 * tried, seen); /* most of the file is data */
    check_generation(1, 16);
    for (int part = 0; part < 10; ++part) {
        assert_int_equal(truncate(path, file.st_size * (9 - part) / 10), 0);
        assert_int_equal(ps_checkpoint_load(run, 1, &s.state), PS_INVALID);
    }
}

static void differences_are_named(void **state)
{
    check_ok(ps_identity_check("run", identity, identity));
    static const char *const rows[][3] = {
        {identity, "steps=11\nemitter=a\nemitter=b\ngroup=8\ninput-matrix=77\n",
         "run had steps \"10\", now it is \"11\""},
        {identity, "steps=10\nemitter=a\nemitter=c\ngroup=8\ninput-matrix=77\n",
         "had emitter \"b\", now it is \"c\""},
        {identity, "steps=10\nemitter=a\ngroup=8\ninput-matrix=77\n",
         "had emitter \"b\", now it is \"\""},
        {identity, "steps=10\nemitter=a\nemitter=b\ngroup=8\ninput-matrix=78\n",
         "had input-matrix \"77\", now it is \"78\""},
        {"a=1\n", "a=1\nb=2\n", "had b \"\", now it is \"2\""},
        {"a=1\nb=2\n", "a=1\n", "had b \"2\", now it is \"\""},
        {"a=1\nc=3\n", "a=1\nb=2\nc=3\n", "had b \"\", now it is \"2\""},
        {"a=1\nb=2\nc=3\n", "a=1\nc=3\n", "had b \"2\", now it is \"\""},
        {"a=1", "a=11", "had a \"1\", now it is \"11\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        check_fails(ps_identity_check("run", rows[i][0], rows[i][1]), PS_USAGE, rows[i][2]);
}

static void the_writer_keeps_two(void **state)
{
    static sample s;
    ps_checkpoint_writer *writer;
    check_ok(ps_checkpoint_writer_open(run, 3, 2, NULL, &writer));
    for (int64_t step = 8; step <= 40; step += 8) {
        check_ok(ps_checkpoint_writer_wait(writer));
        make_sample(&s, step);
        check_ok(ps_checkpoint_writer_submit(writer, &s.state));
    }
    check_ok(ps_checkpoint_writer_wait(writer));
    double seconds;
    int64_t count;
    ps_checkpoint_writer_stats(writer, &seconds, &count);
    assert_int_equal(count, 5);
    check_at_most(1e-6, seconds);
    ps_checkpoint_writer_close(&writer);
    check_list("7 6 ");
    check_generation(7, 40);
    check_generation(6, 32);
}

static void the_writer_passes_failures_on(void **state)
{
    static sample s;
    ps_checkpoint_writer *writer;
    make_sample(&s, 8);
    check_ok(ps_checkpoint_writer_open("/nowhere/at/all/run", 1, 2, NULL, &writer));
    check_ok(ps_checkpoint_writer_submit(writer, &s.state));
    assert_int_not_equal(ps_checkpoint_writer_wait(writer), PS_OK);
    assert_non_null(strstr(ps_message(), "/nowhere/at/all"));
    assert_int_not_equal(ps_checkpoint_writer_submit(writer, &s.state), PS_OK);
    ps_checkpoint_writer_close(&writer);
    ps_checkpoint_writer_close(&writer);
}

static int write_four(const void *context)
{
    static sample s;
    ps_checkpoint_writer *writer;
    if (ps_checkpoint_writer_open(run, 2, 2, NULL, &writer) != PS_OK) return 1;
    for (int64_t step = 2; step <= 5; ++step) {
        if (ps_checkpoint_writer_wait(writer) != PS_OK) return 2;
        make_sample(&s, step);
        if (ps_checkpoint_writer_submit(writer, &s.state) != PS_OK) return 3;
    }
    return ps_checkpoint_writer_wait(writer);
}

/* A child that writes generations is killed before any of its calls: the newest that is there is
 * whole, and at most the two newest numbers are in doubt. */
static void survives_kill(void **state)
{
    int64_t newest = 1;
    int code = -1;
    for (long n = 1; code == -1; ++n) {
        static sample s;
        int64_t *generations, count;
        empty_folder(NULL);
        make_sample(&s, 1);
        check_ok(ps_checkpoint_save(run, 1, &s.state));
        code = calls_kill_child(n, write_four, NULL);
        check_ok(ps_checkpoint_list(run, &generations, &count));
        assert_true(count >= 1 && count <= 3);
        check_generation(generations[0], generations[0]); /* committed means whole */
        assert_true(generations[0] == newest || generations[0] == newest + 1);
        newest = generations[0];
        free(generations);
    }
    assert_int_equal(code, 0);
    assert_int_equal(newest, 5);
}

/* A generation counts only with the log that it continues: that is on the disk before the
 * generation has its name. */
static void the_log_is_synced_first(void **state)
{
    static sample s;
    char path[160];
    ps_append_log *log;
    ps_checkpoint_writer *writer;
    snprintf(path, sizeof path, "%s.log", run);
    check_ok(ps_append_log_create(path, "uuid-1", identity, &log));
    check_ok(ps_checkpoint_writer_open(run, 1, 2, log, &writer));
    make_sample(&s, 1);
    calls_begin(0);
    check_ok(ps_append_log_append(log, 1, "x", 1));
    check_ok(ps_checkpoint_writer_submit(writer, &s.state));
    check_ok(ps_checkpoint_writer_wait(writer));
    assert_string_equal(calls_text, "write run.log, fsync run.log, write run.000001.h5, fsync "
                                    "run.000001.h5, rename run.000001.h5, fsync .");
    ps_checkpoint_writer_close(&writer);
    ps_append_log_close(&log);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(comes_back, empty_folder),
        cmocka_unit_test_teardown(lists_and_prunes_its_own_files_alone, empty_folder),
        cmocka_unit_test_teardown(spares_what_is_no_checkpoint, empty_folder),
        cmocka_unit_test_teardown(damage_is_seen, empty_folder),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test_teardown(the_writer_keeps_two, empty_folder),
        cmocka_unit_test(the_writer_passes_failures_on),
        cmocka_unit_test_teardown(survives_kill, empty_folder),
        cmocka_unit_test_teardown(the_log_is_synced_first, empty_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
