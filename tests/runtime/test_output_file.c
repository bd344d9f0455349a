/* output_file: one writer a path, temporaries that nobody foresees, and only regular files. */
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/calls.h"
#include "tests/support/temporaries.h"

static char folder[] = "/tmp/ps-output-XXXXXX", path[64];

static int setup(void **state)
{
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/out.txt", folder);
    return 0;
}

static int teardown(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char text[4][96];
    static int next;
    char *out = text[next++ % 4];
    snprintf(out, 96, "%s/%s", folder, name);
    return out;
}

static ps_status write_text(ps_output *output, const char *text)
{
    FILE *stream;
    PS_TRY(ps_output_stream(output, &stream));
    fputs(text, stream);
    return fclose(stream) == 0 ? PS_OK : PS_FAILED;
}

static void check_text(const char *file, const char *expected)
{
    char text[64] = "";
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    assert_non_null(fgets(text, sizeof text, stream));
    fclose(stream);
    assert_string_equal(text, expected);
}

static void commits_and_discards(void **state)
{
    ps_output *output;
    check_ok(ps_output_begin(path, &output));
    check_ok(write_text(output, "one"));
    assert_int_not_equal(access(path, F_OK), 0);
    check_ok(ps_output_commit(&output));
    assert_null(output);
    check_text(path, "one");
    check_ok(ps_output_begin(path, &output));
    check_ok(write_text(output, "two"));
    assert_int_equal(temporaries_of(path), 1);
    ps_output_discard(&output);
    check_text(path, "one");
    assert_int_equal(temporaries_of(path), 0);
    ps_output_discard(&output); /* NULL is fine */
}

/* The second writer is told the pid of the first, whether it is the same process or another. */
static void refuses_a_second_writer(void **state)
{
    ps_output *first, *second;
    char pid[48];
    int end;
    snprintf(pid, sizeof pid, "process %lld is writing it", (long long)getpid());
    check_ok(ps_output_begin(path, &first));
    check_fails(ps_output_begin(path, &second), PS_FAILED, pid);
    assert_null(second);
    pid_t child = fork();
    if (child == 0)
        _exit(ps_output_begin(path, &second) == PS_FAILED && strstr(ps_message(), pid) ? 0 : 1);
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    check_ok(ps_output_begin(in_folder("other.txt"), &second)); /* another name is free */
    ps_output_discard(&second);
    ps_output_discard(&first);
    check_ok(ps_output_begin(path, &first));
    ps_output_discard(&first);
}

static void removes_what_the_dead_left(void **state)
{
    ps_output *output;
    int ready[2], end;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (ps_output_begin(path, &output) != PS_OK || write(ready[1], "x", 1) != 1) _exit(1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(temporaries_of(path), 1);
    check_fails(ps_output_begin(path, &output), PS_FAILED, "is writing it");
    ps_output_tidy(path);
    assert_int_equal(temporaries_of(path), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &end, 0), child);
    check_ok(ps_output_begin(path, &output));
    assert_int_equal(temporaries_of(path), 1);
    ps_output_discard(&output);
    check_write(in_folder("out.txt.12.0123456789abcdef.tmp"), "");
    ps_output_tidy(path);
    assert_int_equal(temporaries_of(path), 0);
    close(ready[0]);
    close(ready[1]);
}

static void keeps_to_regular_files(void **state)
{
    ps_output *output;
    check_fails(ps_output_begin("/dev/null", &output), PS_USAGE, "is a device");
    assert_int_equal(symlink("/dev/null", in_folder("null")), 0);
    check_fails(ps_output_begin(in_folder("null"), &output), PS_USAGE, "is a device");
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    check_fails(ps_output_begin(in_folder("pipe"), &output), PS_USAGE, "is a device");
    check_fails(ps_output_begin(folder, &output), PS_USAGE, "is a folder");
    struct stat null;
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_true(S_ISCHR(null.st_mode));
    /* a target that becomes a device meanwhile */
    check_ok(ps_output_begin(path, &output));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_fails(ps_output_commit(&output), PS_USAGE, "is a device");
    unlink(path);
}

/* A temporary that was swapped for another file gets nobody's name. */
static void notices_another_temporary(void **state)
{
    ps_output *output;
    check_ok(ps_output_begin(path, &output));
    check_ok(write_text(output, "right"));
    check_ok(ps_output_commit(&output));
    check_ok(ps_output_begin(path, &output));
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s", ps_output_temporary(output));
    assert_int_equal(unlink(temporary), 0);
    assert_int_equal(symlink("/etc/passwd", temporary), 0);
    check_fails(ps_output_commit(&output), PS_FAILED, "was removed or replaced");
    check_text(path, "right");
    unlink(temporary);
}

static void print_words(FILE *file, const void *context)
{
    for (int i = 0; i < *(const int *)context; ++i) fputs("word ", file);
}

/* The file is on the disk before it gets its name, and the name before the caller hears of success.
 */
static void is_synced_in_order(void **state)
{
    ps_output *output;
    check_ok(ps_output_begin(path, &output));
    check_ok(write_text(output, "synced"));
    calls_begin(0);
    check_ok(ps_output_commit(&output));
    assert_string_equal(calls_text, "fsync out.txt, rename out.txt, fsync .");
}

/* The random part of a temporary's name becomes known, and somebody puts a link to another file
 * there in time. */
static const char *planted, *victim;

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
    memset(out, 0x11, size);
    if (planted && link(victim, planted) != 0) return -1;
    return (ssize_t)size;
}

static void opens_nothing_that_is_there(void **state)
{
    ps_output *output;
    char name[128];
    snprintf(name, sizeof name, "%s.%lld.1111111111111111.tmp", path, (long long)getpid());
    victim = in_folder("victim");
    check_ok(ps_output_print(victim, print_words, &(int){1}));
    planted = name;
    ps_status status = ps_output_begin(path, &output);
    planted = NULL;
    check_fails(status, PS_FAILED, "File exists");
    assert_null(output);
    check_text(victim, "word ");
    assert_int_equal(unlink(name), 0);
}

static void knows_its_names(void **state)
{
    int64_t pid = 0;
    assert_true(ps_output_is_temporary("a/x.h5", "x.h5.77.0123456789abcdef.tmp", &pid));
    assert_int_equal(pid, 77);
    static const char *const others[] = {"x.h5",
                                         "x.h5.tmp",
                                         "x.h5.77.0123456789abcde.tmp",
                                         "x.h5.7a.0123456789abcdef.tmp",
                                         "x.h5.77.0123456789abcdef.tmp2",
                                         "y.h5.7.0123456789abcdef"};
    for (int i = 0; i < 6; ++i) assert_false(ps_output_is_temporary("a/x.h5", others[i], &pid));
}

/* A text is there whole or not at all, also where writing fails in the middle or at the end of it.
 */
static void prints_whole_texts(void **state)
{
    const struct rlimit little = {1000, RLIM_INFINITY};
    struct rlimit before;
    const char *text = in_folder("text");
    check_ok(ps_output_print(text, print_words, &(int){2}));
    check_text(text, "word word ");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int words = 300; words <= 30000; words *= 100) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        ps_status status = ps_output_print(text, print_words, &words);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        check_fails(status, PS_FAILED, "cannot be written whole: File too large");
        check_text(text, "word word ");
        assert_int_equal(temporaries_of(text), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_and_discards),       cmocka_unit_test(refuses_a_second_writer),
        cmocka_unit_test(removes_what_the_dead_left), cmocka_unit_test(keeps_to_regular_files),
        cmocka_unit_test(notices_another_temporary),  cmocka_unit_test(knows_its_names),
        cmocka_unit_test(prints_whole_texts),         cmocka_unit_test(is_synced_in_order),
        cmocka_unit_test(opens_nothing_that_is_there)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
