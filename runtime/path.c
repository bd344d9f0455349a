#include "runtime/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "runtime/memory.h"

enum {
    PATH_SIZE = 4096,
    SPARED_MOST = 1024,
    SUFFIXES = 40 /* what names of parts, checkpoints, logs and temporaries have behind it */
};

const char *ps_path_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t ps_path_stem(const char *path)
{
    const char *last = ps_path_last(path), *dot = strrchr(last, '.');
    return dot && dot > last ? (size_t)(dot - path) : strlen(path);
}

void ps_path_folder(const char *path, char *out, size_t size)
{
    size_t length = (size_t)(ps_path_last(path) - path);
    if (length == 0)
        snprintf(out, size, ".");
    else
        snprintf(out, size, "%.*s", length == 1 ? 1 : (int)length - 1, path);
}

ps_status ps_path_unreadable(const char *path)
{
    bool exhausted = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    return ps_fail(exhausted ? PS_EXHAUSTED : PS_INVALID, "%s: cannot be opened: %s", path,
                   strerror(errno));
}

ps_status ps_path_check_input(const char *path, const char *what)
{
    struct stat found;
    if (stat(path, &found) != 0) return ps_path_unreadable(path);
    const char *is = S_ISDIR(found.st_mode)    ? "is a folder"
                     : !S_ISREG(found.st_mode) ? "is not a regular file"
                     : found.st_size == 0      ? "is empty"
                                               : NULL;
    return is ? ps_fail(PS_INVALID, "%s %s; %s is expected", path, is, what) : PS_OK;
}

ps_status ps_path_open_input(const char *path, const char *what, FILE **out)
{
    *out = NULL;
    PS_TRY(ps_path_check_input(path, what));
    *out = fopen(path, "rb");
    return *out ? PS_OK : ps_path_unreadable(path);
}

ps_status ps_path_read(const char *path, const char *name, char **text, int64_t *bytes)
{
    enum { PART = 65536 };
    struct stat found;
    int64_t room = 0, part = PART, got = PART;
    FILE *file = fopen(path, "rb");
    *text = NULL;
    *bytes = 0;
    if (!file) return ps_path_unreadable(name);
    bool regular = fstat(fileno(file), &found) == 0 && S_ISREG(found.st_mode);
    if (regular) part = got = found.st_size;
    ps_status status = PS_OK;
    do {
        status = ps_grow((void **)text, &room, *bytes + part + 1, 1, "the text of a file");
        if (status != PS_OK) break;
        got = (int64_t)fread(*text + *bytes, 1, (size_t)part, file);
        (*text)[*bytes += got] = 0;
    } while (got == part && !regular);
    if (status == PS_OK && (ferror(file) || (regular && got < part)))
        status = ps_path_unreadable(name);
    fclose(file);
    if (status != PS_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool ps_path_same(const char *a, const char *b)
{
    struct stat one, other;
    char folder[2][PATH_SIZE];
    bool first = stat(a, &one) == 0, second = stat(b, &other) == 0;
    if (first || second) return first && second && is_same(&one, &other);
    ps_path_folder(a, folder[0], PATH_SIZE);
    ps_path_folder(b, folder[1], PATH_SIZE);
    return strcmp(ps_path_last(a), ps_path_last(b)) == 0 && stat(folder[0], &one) == 0 &&
           stat(folder[1], &other) == 0 && is_same(&one, &other);
}

/* ---- files that are not written ---- */

static struct spared_file {
    struct stat file;
    bool speaks;
    char *watched; /* the path, from ps_path_watch on */
} spared[SPARED_MOST];
static int spared_count;

void ps_path_spare(const char *path)
{
    if (spared_count < SPARED_MOST && stat(path, &spared[spared_count].file) == 0) ++spared_count;
}

void ps_path_spare_stream(int descriptor)
{
    if (spared_count == SPARED_MOST || fstat(descriptor, &spared[spared_count].file) != 0) return;
    spared[spared_count++].speaks = true;
}

ps_status ps_path_check_spared(const char *path)
{
    struct stat found;
    if (spared_count == 0 || stat(path, &found) != 0 || !S_ISREG(found.st_mode)) return PS_OK;
    for (int i = 0; i < spared_count; ++i)
        if (is_same(&found, &spared[i].file))
            return ps_fail(PS_USAGE, "%s: %s; the output needs another name", path,
                           spared[i].speaks ? "takes what this program prints" : "is read");
    return PS_OK;
}

ps_status ps_path_watch(const char *path)
{
    struct stat found;
    int i = 0;
    if (stat(path, &found) != 0) return ps_path_unreadable(path);
    while (i < spared_count && !is_same(&found, &spared[i].file)) ++i;
    if (i == SPARED_MOST) return ps_fail(PS_USAGE, "%s: more than %d files are read", path, i);
    spared[i].file = found;
    if (i == spared_count) ++spared_count;
    if (!spared[i].watched) spared[i].watched = strdup(path);
    return spared[i].watched ? PS_OK : ps_fail(PS_EXHAUSTED, "%s: no memory for its name", path);
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return is_same(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

ps_status ps_path_end_watch(void)
{
    ps_status status = PS_OK;
    for (int i = 0; i < spared_count; ++i) {
        struct stat found;
        char *path = spared[i].watched;
        spared[i].watched = NULL;
        if (path && (stat(path, &found) != 0 || !is_unchanged(&found, &spared[i].file)))
            status = ps_fail(PS_INVALID,
                             "%s: was changed or replaced while it was read: what was read is "
                             "neither the old file nor the new one; give the command again",
                             path);
        free(path);
    }
    return status;
}

int64_t ps_path_room(const char *path)
{
    char folder[PATH_SIZE];
    struct statvfs disk;
    ps_path_folder(path ? path : ".", folder, sizeof folder);
    if (statvfs(folder, &disk) != 0) return INT64_MAX;
    return (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}

int64_t ps_path_beside(const char *path)
{
    enum { BLOCK = 512 };
    const char *last = ps_path_last(path);
    size_t length = ps_path_stem(path) - (size_t)(last - path);
    char folder[PATH_SIZE];
    struct stat found;
    int64_t bytes = 0;
    ps_path_folder(path, folder, sizeof folder);
    DIR *entries = opendir(folder);
    if (!entries) return 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        const char *name = entry->d_name;
        bool beside =
            strncmp(name, last, length) == 0 && name[length] == '.' && strcmp(name, last) != 0;
        if (beside && fstatat(dirfd(entries), name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(found.st_mode))
            bytes += (int64_t)found.st_blocks * BLOCK;
    }
    closedir(entries);
    return bytes;
}

ps_status ps_path_check_output(const char *path)
{
    char folder[PATH_SIZE];
    struct stat found;
    size_t length = strlen(ps_path_last(path));
    if (*path == 0) return ps_fail(PS_USAGE, "the name of an output is empty; name a file");
    if (length > NAME_MAX - SUFFIXES)
        return ps_fail(PS_USAGE,
                       "%s: a name of %zu bytes; with what stands behind it in other names "
                       "of a run at most %d are possible",
                       path, length, NAME_MAX - SUFFIXES);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return ps_fail(PS_USAGE, "%s: is a folder; name a file", path);
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) /* a rename would replace a device */
        return ps_fail(PS_USAGE,
                       "%s: is a device, a pipe or a socket, or a link to one; name a file", path);
    PS_TRY(ps_path_check_spared(path));
    ps_path_folder(path, folder, sizeof folder);
    if (stat(folder, &found) == 0 && !S_ISDIR(found.st_mode))
        return ps_fail(PS_USAGE, "%s: cannot be written: %s is no folder", path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return ps_fail(PS_USAGE, "%s: cannot be written, folder %s: %s", path, folder,
                       strerror(errno));
    return PS_OK;
}

int ps_path_sync_folder(const char *path)
{
    char folder[PATH_SIZE];
    ps_path_folder(path, folder, sizeof folder);
    int error = 0, file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return errno;
    if (fsync(file) != 0) error = errno;
    if (close(file) != 0 && !error) error = errno;
    return error;
}
