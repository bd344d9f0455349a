#include "runtime/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/path.h"
#include "runtime/stop.h"

enum { PATH_SIZE = 4096, HEX_DIGITS = 16 };

struct ps_output {
    char path[PATH_SIZE], temporary[PATH_SIZE];
    int file; /* holds the lock */
};

/* The disk, or the process's files. */
static bool is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE;
}

/* ---- names ---- */

bool ps_output_is_temporary(const char *path, const char *name, int64_t *pid)
{
    const char *last = ps_path_last(path);
    size_t length = strlen(last);
    char *end;
    if (strncmp(name, last, length) != 0 || name[length] != '.') return false;
    name += length + 1;
    if (*name < '1' || *name > '9') return false;
    *pid = strtoll(name, &end, 10);
    return *end == '.' && strspn(end + 1, "0123456789abcdef") == HEX_DIGITS &&
           strcmp(end + 1 + HEX_DIGITS, ".tmp") == 0;
}

static ps_status make_name(ps_output *output)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)time(NULL) << 32 ^ (uint64_t)clock() ^ (uint64_t)(uintptr_t)output;
    int length = snprintf(output->temporary, PATH_SIZE, "%s.%lld.%0*llx.tmp", output->path,
                          (long long)getpid(), HEX_DIGITS, (unsigned long long)number);
    return length < PATH_SIZE ? PS_OK : ps_fail(PS_USAGE, "%s: the name is too long", output->path);
}

/* ---- locks ---- */

/* Some file systems know no locks: these let pass. */
static bool is_taken(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* The folder's lock is held while a writer looks for others and makes its own temporary. */
static ps_status lock_folder(const char *path, int *folder)
{
    char name[PATH_SIZE];
    ps_path_folder(path, name, sizeof name);
    *folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0)
        return ps_fail(is_full(errno) ? PS_EXHAUSTED : PS_USAGE,
                       "%s: cannot be written, folder %s: %s", path, name, strerror(errno));
    const struct timespec pause = {0, 5000000};
    for (int tries = 0; tries < 6000; ++tries) {
        if (!is_taken(*folder)) return PS_OK;
        nanosleep(&pause, NULL);
    }
    close(*folder);
    return ps_fail(PS_FAILED, "%s: another process has kept folder %s locked for 30 s", path, name);
}

/* A temporary of this path: removed if its writer is dead, else the path is refused. */
static ps_status meet(const ps_output *output, int folder, const char *name, int64_t pid)
{
    struct stat found;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return PS_OK;
    bool regular = fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    bool taken = regular && is_taken(file);
    if (regular && !taken) unlinkat(folder, name, 0);
    close(file);
    if (!taken) return PS_OK;
    return ps_fail(PS_FAILED,
                   "%s: process %lld is writing it; wait for that run to end, or name another file",
                   output->path, (long long)pid);
}

static ps_status meet_all(const ps_output *output, int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0) close(copy);
    if (!list) return PS_OK; /* may be written, but not listed */
    ps_status status = PS_OK;
    int64_t pid;
    for (struct dirent *entry; status == PS_OK && (entry = readdir(list));)
        if (ps_output_is_temporary(output->path, entry->d_name, &pid))
            status = meet(output, folder, entry->d_name, pid);
    closedir(list);
    return status;
}

void ps_output_tidy(const char *path)
{
    ps_output output = {.file = -1};
    char folder[PATH_SIZE];
    ps_path_folder(path, folder, sizeof folder);
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    snprintf(output.path, PATH_SIZE, "%s", path);
    if (!is_taken(file)) meet_all(&output, file);
    close(file);
}

/* ---- beginning ---- */

static ps_status make_file(ps_output *output)
{
    PS_TRY(make_name(output));
    ps_stop_temporary(output->temporary);
    output->file =
        open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int error = errno;
    if (output->file >= 0) {
        if (!is_taken(output->file)) return PS_OK;
        return ps_fail(PS_FAILED, "%s: another process has locked it", output->temporary);
    }
    bool wrong = error == ENOENT || error == ENOTDIR || error == EACCES || error == EROFS ||
                 error == ENAMETOOLONG || error == EPERM;
    return ps_fail(wrong            ? PS_USAGE
                   : is_full(error) ? PS_EXHAUSTED
                                    : PS_FAILED,
                   "%s: cannot be written: %s", output->path, strerror(error));
}

static ps_status begin(ps_output *output)
{
    int folder;
    PS_TRY(ps_path_check_output(output->path));
    PS_TRY(lock_folder(output->path, &folder));
    ps_status status = meet_all(output, folder);
    if (status == PS_OK) status = make_file(output);
    close(folder);
    return status;
}

ps_status ps_output_begin(const char *path, ps_output **out)
{
    *out = NULL;
    if (strlen(path) >= PATH_SIZE) return ps_fail(PS_USAGE, "%.80s...: the name is too long", path);
    ps_output *output = malloc(sizeof *output);
    if (!output) return ps_fail(PS_EXHAUSTED, "%s: no memory for its name", path);
    snprintf(output->path, PATH_SIZE, "%s", path);
    output->temporary[0] = 0;
    output->file = -1;
    ps_status status = begin(output);
    *out = output;
    if (status != PS_OK) ps_output_discard(out);
    return status;
}

const char *ps_output_temporary(const ps_output *output) { return output->temporary; }

ps_status ps_output_stream(const ps_output *output, FILE **stream)
{
    int copy = fcntl(output->file, F_DUPFD_CLOEXEC, 0);
    *stream = copy < 0 ? NULL : fdopen(copy, "w");
    if (*stream) return PS_OK;
    int error = errno;
    if (copy >= 0) close(copy);
    return ps_fail(PS_FAILED, "%s: cannot be written: %s", output->path, strerror(error));
}

/* ---- the end ---- */

static ps_status synced(const char *path, int error)
{
    if (!error) return PS_OK;
    return ps_fail(is_full(error) ? PS_EXHAUSTED : PS_FAILED, "%s: cannot be brought to disk: %s",
                   path, strerror(error));
}

/* The name still means the file that was made. */
static bool is_ours(const ps_output *output)
{
    struct stat made, named;
    return fstat(output->file, &made) == 0 && lstat(output->temporary, &named) == 0 &&
           made.st_dev == named.st_dev && made.st_ino == named.st_ino;
}

static ps_status rename_durably(ps_output *output)
{
    PS_TRY(synced(output->temporary, fsync(output->file) != 0 ? errno : 0));
    if (!is_ours(output))
        return ps_fail(PS_FAILED,
                       "%s: its temporary file %s was removed or replaced while it was written",
                       output->path, ps_path_last(output->temporary));
    PS_TRY(ps_path_check_output(output->path));
    if (rename(output->temporary, output->path) != 0)
        return ps_fail(PS_FAILED, "%s: cannot get its name: %s", output->path, strerror(errno));
    ps_stop_renews(output->path);
    close(output->file); /* nothing is left to remove */
    output->file = -1;
    return synced(output->path, ps_path_sync_folder(output->path));
}

ps_status ps_output_commit(ps_output **output)
{
    ps_status status = rename_durably(*output);
    ps_output_discard(output);
    return status;
}

void ps_output_discard(ps_output **output)
{
    if (!*output) return;
    ps_stop_forget((*output)->temporary);
    if ((*output)->file >= 0) {
        if (is_ours(*output)) unlink((*output)->temporary);
        close((*output)->file);
    }
    free(*output);
    *output = NULL;
}

/* ---- whole texts ---- */

/* errno is kept from the call that failed: a later one that succeeds may change it. */
static ps_status print_all(const ps_output *output, FILE *file, ps_text_printer *print,
                           const void *context)
{
    errno = 0;
    print(file, context);
    bool good = !ferror(file) && fflush(file) == 0;
    int error = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good) return PS_OK;
    return ps_fail(is_full(error) ? PS_EXHAUSTED : PS_FAILED, "%s: cannot be written whole: %s",
                   output->path, strerror(error));
}

ps_status ps_output_print(const char *path, ps_text_printer *print, const void *context)
{
    ps_output *output;
    FILE *file = NULL;
    PS_TRY(ps_output_begin(path, &output));
    ps_status status = ps_output_stream(output, &file);
    if (status == PS_OK) status = print_all(output, file, print, context);
    if (status == PS_OK) return ps_output_commit(&output);
    ps_output_discard(&output);
    return status;
}
