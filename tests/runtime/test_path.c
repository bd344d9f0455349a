#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/path.h"
#include "tests/check.h"

static void parts_of_names(void **state)
{
    static const struct {
        const char *path, *folder, *last;
        size_t stem;
    } cases[] = {{"a/b.h5", "a", "b.h5", 3},
                 {"b.h5", ".", "b.h5", 1},
                 {"/b.x.h5", "/", "b.x.h5", 4},
                 {"/a.b/c", "/a.b", "c", 6},
                 {"a/.hidden", "a", ".hidden", 9},
                 {"../x", "..", "x", 4},
                 {"", ".", "", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char folder[64];
        ps_path_folder(cases[i].path, folder, sizeof folder);
        assert_string_equal(folder, cases[i].folder);
        assert_string_equal(ps_path_last(cases[i].path), cases[i].last);
        assert_int_equal(ps_path_stem(cases[i].path), cases[i].stem);
    }
}

static void outputs_and_sameness(void **state)
{
    char folder[] = "/tmp/penstock-path-XXXXXX", file[64], link[64], absent[64], below[64],
         around[96];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(absent, sizeof absent, "%s/no/where", folder);
    snprintf(below, sizeof below, "%s/file/x", folder);
    check_write(file, "");
    assert_int_equal(symlink("file", link), 0);
    assert_true(ps_path_same(file, link));
    assert_false(ps_path_same(file, folder));
    assert_false(ps_path_same(absent, absent)); /* no folder there */
    snprintf(below, sizeof below, "%s/new", folder);
    snprintf(around, sizeof around, "%s/../%s/new", folder, ps_path_last(folder));
    assert_true(ps_path_same(below, around));
    assert_false(ps_path_same(below, file));
    snprintf(below, sizeof below, "%s/file/x", folder);
    check_ok(ps_path_check_output(file));
    check_fails(ps_path_check_output(folder), PS_USAGE, "is a folder; name a file");
    check_fails(ps_path_check_output(absent), PS_USAGE, "No such file");
    check_fails(ps_path_check_output(below), PS_USAGE, "is no folder");
    char name[256] = "";
    check_fails(ps_path_check_output(name), PS_USAGE, "is empty");
    memset(name, 'a', 215);
    check_ok(ps_path_check_output(name));
    name[215] = 'a';
    check_fails(ps_path_check_output(name), PS_USAGE, "a name of 216 bytes");
    ps_path_spare(absent);
    check_ok(ps_path_check_output(file));
    ps_path_spare(link);
    check_fails(ps_path_check_output(file), PS_USAGE, "is read; the output needs another name");
    check_fails(ps_path_check_spared(link), PS_USAGE, "is read");
    snprintf(below, sizeof below, "%s/said", folder);
    FILE *made = fopen(below, "w");
    assert_non_null(made);
    ps_path_spare_stream(fileno(made));
    check_fails(ps_path_check_output(below), PS_USAGE, "takes what this program prints");
    fclose(made);
    unlink(below);
    assert_true(ps_path_room(file) >= 0 && ps_path_room(file) < INT64_MAX);
    assert_true(ps_path_room(absent) == INT64_MAX);
    assert_int_equal(ps_path_sync_folder(file), 0);
    assert_int_not_equal(ps_path_sync_folder(absent), 0);
    unlink(file);
    unlink(link);
    rmdir(folder);
}

/* A file that changes between hashing and reading is told, whichever way it changes. */
static void watched_files(void **state)
{
    const struct timespec old[2] = {{1, 0}, {1, 0}};
    for (int how = 0; how < 4; ++how) {
        for (int f = 0; f < 2; ++f) {
            check_write(f ? "b" : "a", f ? "two" : "one");
            assert_int_equal(utimensat(AT_FDCWD, f ? "b" : "a", old, 0), 0);
        }
        check_ok(ps_path_watch("a"));
        check_ok(ps_path_end_watch());
        check_ok(ps_path_watch("a"));
        nanosleep(&(struct timespec){0, 20000000}, NULL); /* a tick of the file system's clock */
        if (how == 0) assert_int_equal(rename("b", "a"), 0);
        if (how == 1) assert_int_equal(unlink("a"), 0);
        if (how == 2) { /* in place, as long, and as old by the time that anybody can set */
            FILE *file = fopen("a", "r+");
            fputs("two", file);
            fclose(file);
            assert_int_equal(utimensat(AT_FDCWD, "a", old, 0), 0);
        }
        if (how == 3)
            check_ok(ps_path_end_watch());
        else
            check_fails(ps_path_end_watch(), PS_INVALID, "a: was changed or replaced");
        check_ok(ps_path_end_watch()); /* told once */
        unlink("a");
        unlink("b");
    }
    check_fails(ps_path_watch("a"), PS_INVALID, "a: cannot be opened");
}

/* Whole, with a 0 behind it: a file, an empty one, and a pipe, which does not say how long it is. */
static void whole_files(void **state)
{
    enum { LONG = 200000 };
    static char letters[LONG];
    char *text;
    int64_t bytes;
    memset(letters, 'x', sizeof letters);
    for (int kind = 0; kind < 3; ++kind) {
        size_t count = kind == 1 ? 0 : sizeof letters;
        pid_t writer = 0;
        if (kind == 2) {
            assert_int_equal(mkfifo("text", 0600), 0);
            writer = fork();
        }
        if (writer == 0) {
            FILE *file = fopen("text", "w");
            bool good = file && fwrite(letters, 1, count, file) == count && fclose(file) == 0;
            if (kind == 2) _exit(!good);
            assert_true(good);
        }
        check_ok(ps_path_read("text", "a text", &text, &bytes));
        assert_int_equal(bytes, count);
        assert_memory_equal(text, letters, count);
        assert_int_equal(text[count], 0);
        free(text);
        if (writer) waitpid(writer, NULL, 0);
        unlink("text");
    }
    check_fails(ps_path_read("text", "a text", &text, &bytes), PS_INVALID, "a text: cannot be");
    assert_null(text);
}
