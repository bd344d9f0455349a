#include "runtime/scratch_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/path.h"

static bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

ps_status ps_scratch_open(const char *beside, int *file)
{
    char path[4096], name[4096];
    const char *folder = getenv("TMPDIR");
    if (beside)
        snprintf(path, sizeof path, "%.4000s.XXXXXX", beside);
    else
        snprintf(path, sizeof path, "%.4000s/penstock-XXXXXX", folder ? folder : "/tmp");
    /* Without a name from the start, so that nothing stays after a kill; not all file systems can.
     */
    ps_path_folder(path, name, sizeof name);
    *file = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*file >= 0) return PS_OK;
    *file = mkostemp(path, O_CLOEXEC);
    if (*file < 0)
        return ps_fail(is_full(errno) ? PS_EXHAUSTED : PS_USAGE,
                       "no temporary file can be made at %s: %s", path, strerror(errno));
    unlink(path);
    return PS_OK;
}

/* It has no name: its folder is told. */
static ps_status fail(int file, bool writing, ssize_t done)
{
    int error = done < 0 ? errno : 0;
    char link[64], path[4096], folder[4096] = ".";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        ps_path_folder(path, folder, sizeof folder);
    }
    return ps_fail(is_full(error) ? PS_EXHAUSTED : PS_FAILED,
                   "a temporary file in %s cannot be %s: %s%s", folder,
                   writing ? "written" : "read", error ? strerror(error) : "it ends too early",
                   is_full(error) ? "; free some space there" : "");
}

ps_status ps_scratch_write(int file, const void *data, int64_t bytes, int64_t at)
{
    for (const char *from = data; bytes > 0;) {
        ssize_t done = pwrite(file, from, (size_t)bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail(file, true, done);
        from += done;
        at += done;
        bytes -= done;
    }
    return PS_OK;
}

ps_status ps_scratch_read(int file, void *data, int64_t bytes, int64_t at)
{
    for (char *to = data; bytes > 0;) {
        ssize_t done = pread(file, to, (size_t)bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail(file, false, done);
        to += done;
        at += done;
        bytes -= done;
    }
    return PS_OK;
}

/* ---- folders ---- */

static void remove_files(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) unlinkat(dirfd(folder), e->d_name, 0);
    if (folder) closedir(folder);
    rmdir(path);
}

/* Outlives a kill of its parent, in a session of its own, and holds nothing that the parent has
 * open. */
static _Noreturn void wait_and_remove(const char *path, int end)
{
    char nothing;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    dup2(end, 0);
    close_range(1, ~0u, 0);
    while (read(0, &nothing, 1) != 0 && errno == EINTR) {
    }
    remove_files(path);
    _exit(0);
}

ps_status ps_scratch_folder_make(ps_scratch_folder *folder)
{
    int ends[2];
    const char *base = getenv("TMPDIR");
    *folder = (ps_scratch_folder){.alive = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return ps_fail(PS_EXHAUSTED, "no pipe: %s", strerror(errno));
    snprintf(folder->path, sizeof folder->path, "%.3800s/penstock-XXXXXX",
             base && *base ? base : "/tmp");
    bool made = mkdtemp(folder->path) != NULL;
    folder->remover = made ? fork() : -1;
    if (folder->remover == 0) wait_and_remove(folder->path, ends[0]);
    folder->alive = ends[1];
    close(ends[0]);
    if (folder->remover > 0) return PS_OK;
    int error = errno;
    close(ends[1]);
    if (made) rmdir(folder->path);
    ps_status status = ps_fail(PS_EXHAUSTED, "no temporary folder %s: %s; set TMPDIR", folder->path,
                               strerror(error));
    folder->path[0] = '\0';
    return status;
}

void ps_scratch_folder_remove(ps_scratch_folder *folder)
{
    if (!folder->path[0]) return;
    close(folder->alive);
    while (waitpid(folder->remover, NULL, 0) < 0 && errno == EINTR) {
    }
    folder->path[0] = '\0';
}
