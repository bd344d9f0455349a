#include "runtime/scratch_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"

static void put_file(const ps_scratch_folder *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/some", folder->path);
    check_write(path, "");
}

static void removes_its_files(void **state)
{
    ps_scratch_folder folder, none = {.alive = -1};
    assert_int_equal(ps_scratch_folder_make(&folder), PS_OK);
    char path[4200];
    snprintf(path, sizeof path, "%s", folder.path);
    put_file(&folder);
    ps_scratch_folder_remove(&folder);
    assert_int_not_equal(access(path, F_OK), 0);
    ps_scratch_folder_remove(&folder);
    ps_scratch_folder_remove(&none);
}

static void dies_with_its_process(void **state)
{
    ps_scratch_folder *folder =
        mmap(NULL, sizeof *folder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (ps_scratch_folder_make(folder) != PS_OK) _exit(1);
        put_file(folder);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    /* By another process, which may come to it late. */
    for (int i = 0; i < 6000 && access(folder->path, F_OK) == 0; ++i)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_not_equal(access(folder->path, F_OK), 0);
}

static void says_where_none_can_be(void **state)
{
    ps_scratch_folder folder;
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(ps_scratch_folder_make(&folder), PS_EXHAUSTED);
    assert_string_equal(folder.path, "");
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(removes_its_files),
                                       cmocka_unit_test(dies_with_its_process),
                                       cmocka_unit_test(says_where_none_can_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
