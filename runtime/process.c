#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/memory.h"

extern char **environ;

static bool is_executable(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* folder[0 .. length) / name */
static bool try_folder(const char *folder, size_t length, const char *name, char *out, size_t size)
{
    int written = length ? snprintf(out, size, "%.*s/%s", (int)length, folder, name)
                         : snprintf(out, size, "./%s", name);
    return written > 0 && (size_t)written < size && is_executable(out);
}

bool ps_process_find(const char *name, char *out, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = 0;
        const char *slash = strrchr(self, '/');
        if (slash && try_folder(self, (size_t)(slash - self), name, out, size)) return true;
    }
    for (const char *at = getenv("PATH"); at;) {
        size_t part = strcspn(at, ":");
        if (try_folder(at, part, name, out, size)) return true;
        at = at[part] ? at + part + 1 : NULL;
    }
    return false;
}

static ps_status start(char *const *argv, int input, bool with_errors, int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (with_errors) posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    int error = posix_spawn(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) return ps_fail(PS_FAILED, "%s could not be started: %s", argv[0], strerror(error));
    return PS_OK;
}

/* Reads all of a descriptor; goes on reading, without keeping it, once memory is short. */
static ps_status collect(int source, ps_process_result *result)
{
    ps_status status = PS_OK;
    int64_t capacity = 0;
    char part[4096];
    for (;;) {
        ssize_t got = read(source, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (status != PS_OK) continue;
        status = ps_grow((void **)&result->output, &capacity, (int64_t)result->length + got + 1, 1,
                         "a program's output");
        if (status != PS_OK) continue;
        memcpy(result->output + result->length, part, (size_t)got);
        result->length += (size_t)got;
    }
    if (status == PS_OK)
        status = ps_grow((void **)&result->output, &capacity, (int64_t)result->length + 1, 1,
                         "a program's output");
    if (status == PS_OK) result->output[result->length] = 0;
    return status;
}

static int wait_for(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

ps_status ps_process_run(char *const *argv, int input, bool with_errors, ps_process_result *result)
{
    memset(result, 0, sizeof *result);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ps_fail(PS_EXHAUSTED, "no pipe to %s: %s", argv[0], strerror(errno));
    pid_t child = 0;
    ps_status status = start(argv, input, with_errors, ends[1], &child);
    close(ends[1]);
    if (status == PS_OK) {
        status = collect(ends[0], result);
        result->code = wait_for(child);
    }
    close(ends[0]);
    if (status != PS_OK) {
        free(result->output);
        result->output = NULL;
    }
    return status;
}
