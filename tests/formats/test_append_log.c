/* Append logs: records, torn and flipped bytes, cuts (formats/append_log.h). */
#include "formats/append_log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/calls.h"

static const char path[] = "run.log";
static const char identity[] = "dt=0.5\ngroup=8\n";

static int64_t size_of(void)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_size;
}

/* Another byte at a place of the log; returns what was there. */
static unsigned char overwrite(int64_t at, unsigned char byte)
{
    unsigned char was;
    int descriptor = open(path, O_RDWR);
    assert_int_equal(pread(descriptor, &was, 1, at), 1);
    assert_int_equal(pwrite(descriptor, &byte, 1, at), 1);
    close(descriptor);
    return was;
}

/* Record i holds i + 1 steps of one double each, all with a value made of their number. */
static void fill(ps_append_log *log, int first, int end)
{
    double values[64];
    for (int i = first; i < end; ++i) {
        int64_t last = ps_append_log_last(log);
        for (int s = 0; s <= i; ++s) values[s] = 0.1 * (double)(last + 1 + s);
        check_ok(ps_append_log_append(log, i + 1, values, (i + 1) * (int64_t)sizeof *values));
    }
}

static void write_new(int records)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    check_ok(ps_append_log_create(path, "uuid-of-run", identity, &log));
    fill(log, 0, records);
    check_ok(ps_append_log_sync(log));
}

static ps_status check_record(void *context, int64_t first, int64_t count, const void *payload,
                              int64_t bytes)
{
    int64_t *next = context;
    const double *values = payload;
    assert_int_equal(first, *next);
    assert_int_equal(bytes, count * 8);
    for (int64_t s = 0; s < count; ++s) check_near(values[s], 0.1 * (double)(first + s), 0, 0);
    *next += count;
    return PS_OK;
}

/* Opens, replays everything and returns the last step. */
static int64_t last_step(void)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    int64_t next = 1;
    check_ok(ps_append_log_open(path, &log));
    int64_t last = ps_append_log_last(log);
    check_ok(ps_append_log_replay(log, 0, check_record, &next));
    assert_int_equal(next, last + 1);
    return last;
}

static void comes_back(void **state)
{
    write_new(6);
    ps_append_log *log;
    check_ok(ps_append_log_open(path, &log));
    assert_string_equal(ps_append_log_uuid(log), "uuid-of-run");
    assert_string_equal(ps_append_log_identity(log), identity);
    assert_int_equal(ps_append_log_last(log), 21);
    fill(log, 6, 8);
    ps_append_log_close(&log);
    assert_int_equal(last_step(), 36);
    write_new(0);
    assert_int_equal(last_step(), 0);
}

static void every_cut_keeps_the_whole_records(void **state)
{
    write_new(4);
    int64_t ends[5] = {0}, size = size_of();
    for (int i = 4; i >= 0; --i) ends[i] = i == 4 ? size : ends[i + 1] - 32 - 8 * (i + 1);
    static const int64_t steps[] = {0, 1, 3, 6, 10};
    for (int64_t cut = size - 1; cut >= ends[0]; --cut) {
        assert_int_equal(truncate(path, cut), 0);
        int whole = 0;
        while (whole < 4 && ends[whole + 1] <= cut) ++whole;
        assert_int_equal(last_step(), steps[whole]);
    }
    ps_append_log *log;
    for (int64_t cut = ends[0] - 1; cut >= 0; --cut) {
        assert_int_equal(truncate(path, cut), 0);
        check_fails(ps_append_log_open(path, &log), PS_INVALID, path);
        assert_null(log);
    }
}

static void every_flipped_bit_is_seen(void **state)
{
    write_new(3);
    int64_t size = size_of(), head = size - 3 * 32 - 6 * 8;
    for (int64_t at = 0; at < size; ++at) {
        unsigned char byte = overwrite(at, 0);
        overwrite(at, byte ^ (unsigned char)(1 << at % 8));
        ps_append_log *log;
        if (at < head) {
            check_fails(ps_append_log_open(path, &log), PS_INVALID, path);
        } else {
            int64_t kept = at < head + 40 ? 0 : at < head + 40 + 48 ? 1 : 3;
            assert_int_equal(last_step(), kept);
        }
        overwrite(at, byte);
    }
    assert_int_equal(last_step(), 6);
}

static void cuts_at_a_step_and_goes_on(void **state)
{
    write_new(5);
    ps_append_log *log;
    check_ok(ps_append_log_open(path, &log));
    assert_true(ps_append_log_ends_at(log, 0));
    assert_true(ps_append_log_ends_at(log, 6));
    assert_false(ps_append_log_ends_at(log, 7));
    assert_false(ps_append_log_ends_at(log, 16));
    check_fails(ps_append_log_truncate(log, 7), PS_INVALID, "no record ends with step 7");
    check_ok(ps_append_log_truncate(log, 6));
    assert_int_equal(ps_append_log_last(log), 6);
    fill(log, 3, 4);
    ps_append_log_close(&log);
    assert_int_equal(last_step(), 10);
    int64_t size = size_of();
    check_ok(ps_append_log_open(path, &log));
    check_ok(ps_append_log_truncate(log, 0));
    fill(log, 0, 4);
    ps_append_log_close(&log);
    assert_int_equal(last_step(), 10);
    assert_int_equal(size_of(), size);
}

static void a_change_while_open_is_seen(void **state)
{
    write_new(3);
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    check_ok(ps_append_log_open(path, &log));
    overwrite(size_of() - 3, 'x');
    int64_t next = 1;
    check_fails(ps_append_log_replay(log, 0, check_record, &next), PS_INVALID,
                "the record that ends with step 6 has changed");
}

/* Of a longer log of before nothing is left behind the new records. */
static void replaces_a_longer_one(void **state)
{
    unlink(path);
    write_new(2);
    int64_t bytes = size_of();
    write_new(6);
    write_new(2);
    assert_int_equal(last_step(), 3);
    assert_int_equal(size_of(), bytes);
}

static void foreign_files_are_refused(void **state)
{
    ps_append_log *log;
    unlink(path);
    check_fails(ps_append_log_open(path, &log), PS_INVALID, "No such file");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100; ++i) fprintf(file, "hello ");
    fclose(file);
    check_fails(ps_append_log_open(path, &log), PS_USAGE, "is no Penstock log");
    check_fails(ps_append_log_create(path, "b", "", &log), PS_USAGE, "would be lost");
    unlink(path);
    write_new(1);
    char head[56 + 256];
    uint32_t length;
    int descriptor = open(path, O_RDWR);
    assert_true(pread(descriptor, head, sizeof head, 0) > 56);
    head[8] = 2; /* the version, before the length of the identity; the hash behind that is right */
    memcpy(&length, head + 12, sizeof length);
    uint64_t hash = XXH3_64bits_withSeed(head + 56, length, XXH3_64bits(head, 56));
    memcpy(head + 56 + length, &hash, sizeof hash);
    assert_int_equal(pwrite(descriptor, head, 64 + length, 0), 64 + length);
    close(descriptor);
    check_fails(ps_append_log_open(path, &log), PS_USAGE, "version 2 is from the future");
}

/* What a second writer is told of this process; where the system does not list locks, less. */
static const char *writer(void)
{
    static char text[64];
    snprintf(text, sizeof text, "process %lld is writing it", (long long)getpid());
    return access("/proc/locks", R_OK) == 0 ? text : "another process is writing it";
}

static void one_process_at_a_time(void **state)
{
    ps_append_log *log, *second;
    write_new(1);
    check_ok(ps_append_log_open(path, &log));
    check_fails(ps_append_log_open(path, &second), PS_FAILED, writer());
    check_fails(ps_append_log_create(path, "b", "", &second), PS_FAILED, writer());
    ps_append_log_close(&log);
    assert_int_equal(last_step(), 1);
}

/* A child appends as fast as it can and is killed: what is left is a whole beginning. */
static int write_twenty(const void *context)
{
    ps_append_log *log;
    if (ps_append_log_create(path, "killed", identity, &log) != PS_OK) return 1;
    for (int record = 0; record < 20; ++record) fill(log, 20, 21);
    return ps_append_log_sync(log);
}

/* Killed before any of its calls a writer leaves whole records, the last of them in its place. */
static void survives_kill(void **state)
{
    int64_t last = 0;
    int code = -1;
    for (long n = 4; code == -1; ++n) { /* head, folder and log come first */
        unlink(path);
        code = calls_kill_child(n, write_twenty, NULL);
        int64_t now = last_step();
        assert_true(now == last || now == last + 21);
        last = now;
    }
    assert_int_equal(code, 0);
    assert_int_equal(last, 20 * 21);
}

/* What was synced survives the loss of power: the file, and its name in the folder. */
static void is_synced(void **state)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *log = NULL;
    unlink(path);
    calls_begin(0);
    check_ok(ps_append_log_create(path, "uuid-of-run", identity, &log));
    assert_string_equal(calls_text, "write run.log, fsync ., fsync run.log");
    calls_begin(0);
    fill(log, 0, 2);
    check_ok(ps_append_log_sync(log));
    assert_string_equal(calls_text, "write run.log, fsync run.log");
}

static void a_full_disk_keeps_what_was_there(void **state)
{
    write_new(3);
    pid_t child = fork();
    if (child == 0) { /* a file size limit stands in for a full disk */
        signal(SIGXFSZ, SIG_IGN);
        ps_append_log *log;
        static double many[1 << 16];
        if (ps_append_log_open(path, &log) != PS_OK) _exit(1);
        struct rlimit limit = {4096, 4096};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
        if (ps_append_log_append(log, 9, many, sizeof many) != PS_EXHAUSTED) _exit(3);
        if (!strstr(ps_message(), "free some space")) _exit(4);
        if (ps_append_log_last(log) != 6) _exit(5);
        _exit(0);
    }
    int how;
    waitpid(child, &how, 0);
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(last_step(), 6);
    check_at_most((double)size_of(), 400);
}

static void identifiers_differ(void **state)
{
    char a[PS_RUN_UUID_SIZE], b[PS_RUN_UUID_SIZE];
    ps_run_uuid(a);
    ps_run_uuid(b);
    assert_int_equal(strlen(a), 36);
    assert_string_not_equal(a, b);
}
