/*
 * record_calls: a library to preload that writes down what a program does to the files of a folder,
 * so that power_loss can make what a disk may hold if the power goes away in between. RECORD_UNDER:
 * the folder; RECORD_TO: an existing folder for the record. Several processes may share one record.
 *
 * The file `log` there has a line an event, in the order in which the calls ended:
 *   make FILE PATH, rename FROM TO, unlink PATH, sync FILE COPY, syncdir PATH,
 *   state FILE COPY      what the file holds at this moment, before the event that follows
 * FILE is the number of the inode, COPY the name of a copy of its contents beside the log. A file
 * is looked at before every event as long as this process could have written it, so writes need not
 * be seen: those of stdio are not. What a call does and its line are one step under a lock of the
 * log.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 256 };

typedef struct watched_file {
    int file; /* of ours, to read it; 0: none */
    dev_t device;
    ino_t inode;
    off_t size;
    uint64_t hash;
} watched_file;

static char under[PATH_MAX];
static const char *to;
static int record = -1;
static long copies;
static watched_file files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int inside; /* calls of this library itself are not recorded */

static void stop_recording(void) { record = -1; }

__attribute__((constructor)) static void begin(void)
{
    char path[PATH_MAX];
    const char *folder = getenv("RECORD_UNDER");
    to = getenv("RECORD_TO");
    if (!to || !folder || !realpath(folder, under)) return;
    snprintf(path, sizeof path, "%s/log", to);
    inside = 1;
    record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    inside = 0;
    pthread_atfork(NULL, NULL, stop_recording);
}

#define NEXT(type, name, ...)                                                                      \
    static type (*next)(__VA_ARGS__);                                                              \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, name)

/* ---- the record ---- */

static void note(const char *format, ...)
{
    char line[3 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(record, line, (size_t)length) != length) abort();
}

/* The absolute path without links in its folder; false if it is not under the folder. */
static int is_ours(const char *path, char out[PATH_MAX])
{
    char folder[PATH_MAX];
    if (record < 0 || inside || !path || strlen(path) >= PATH_MAX) return 0;
    const char *last = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", last ? (int)(last - path) : 1, last ? path : ".");
    char *real = realpath(*folder ? folder : "/", NULL);
    if (!real) return 0;
    int length = snprintf(out, PATH_MAX, "%s/%s", real, last ? last + 1 : path);
    free(real);
    size_t start = strlen(under);
    return length < PATH_MAX && strncmp(out, under, start) == 0 && out[start] == '/';
}

static int is_our_file(int file, char out[PATH_MAX])
{
    char link[64];
    if (record < 0 || inside) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length < 0) return 0;
    out[length] = '\0';
    size_t start = strlen(under);
    return strncmp(out, under, start) == 0 && (out[start] == '/' || out[start] == '\0');
}

/* ---- contents ---- */

static uint64_t hash_of(const unsigned char *data, size_t size)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 1099511628211u;
    return hash;
}

/* Copies the file as it is now; `always` also where it is as it was last. False: it is as it was.
 */
static int copy(watched_file *w, int always, char name[64])
{
    struct stat found;
    if (fstat(w->file, &found) != 0) return 0;
    unsigned char *data = malloc((size_t)found.st_size + 1);
    ssize_t size = data ? pread(w->file, data, (size_t)found.st_size, 0) : -1;
    if (size < 0) abort();
    uint64_t hash = hash_of(data, (size_t)size);
    int changed = always || hash != w->hash || size != w->size;
    if (changed) {
        char path[PATH_MAX];
        snprintf(name, 64, "%ld.%ld", (long)getpid(), ++copies);
        snprintf(path, sizeof path, "%s/%s", to, name);
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (file < 0 || write(file, data, (size_t)size) != size) abort();
        close(file);
    }
    w->hash = hash;
    w->size = size;
    free(data);
    return changed;
}

static void note_states(void)
{
    char name[64];
    for (int i = 0; i < FILES; ++i) {
        if (files[i].file == 0 || !copy(&files[i], 0, name)) continue;
        note("state %lu %s\n", (unsigned long)files[i].inode, name);
    }
}

static watched_file *find(const struct stat *found)
{
    for (int i = 0; i < FILES; ++i)
        if (files[i].file && files[i].device == found->st_dev && files[i].inode == found->st_ino)
            return &files[i];
    return NULL;
}

static watched_file *watch(int file)
{
    char link[64];
    struct stat found;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return NULL;
    watched_file *known = find(&found);
    if (known) return known;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    for (int i = 0; i < FILES; ++i) {
        if (files[i].file) continue;
        files[i] = (watched_file){.file = open(link, O_RDONLY | O_CLOEXEC),
                                  .device = found.st_dev,
                                  .inode = found.st_ino,
                                  .size = -1};
        if (files[i].file < 0) abort();
        return &files[i];
    }
    abort(); /* more files than any program of ours writes */
}

/* A file without a name is lost whatever happens. */
static void forget_unnamed(void)
{
    struct stat found;
    for (int i = 0; i < FILES; ++i)
        if (files[i].file && fstat(files[i].file, &found) == 0 && found.st_nlink == 0) {
            close(files[i].file);
            files[i] = (watched_file){0};
        }
}

/* ---- the calls ---- */

/* Before a call: what the files hold until then. */
static void enter(void)
{
    pthread_mutex_lock(&lock);
    inside = 1;
    flock(record, LOCK_EX);
    note_states();
}

static void leave(void)
{
    int error = errno;
    flock(record, LOCK_UN);
    inside = 0;
    pthread_mutex_unlock(&lock);
    errno = error;
}

static void opened(int file, const char *path, int flags, int was_there)
{
    struct stat found;
    if (file < 0 || (flags & O_ACCMODE) == O_RDONLY) return;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return;
    if (!was_there) note("make %lu %s\n", (unsigned long)found.st_ino, path);
    watch(file);
}

static int is_there(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

int open(const char *path, int flags, ...)
{
    NEXT(int, "open", const char *, int, ...);
    char ours[PATH_MAX];
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & O_ACCMODE) == O_RDONLY || !is_ours(path, ours)) return next(path, flags, mode);
    enter();
    int was_there = is_there(ours), file = next(path, flags, mode);
    opened(file, ours, flags, was_there);
    leave();
    return file;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

FILE *fopen(const char *path, const char *how)
{
    NEXT(FILE *, "fopen", const char *, const char *);
    char ours[PATH_MAX];
    if (how[0] == 'r' || !is_ours(path, ours)) return next(path, how);
    enter();
    int was_there = is_there(ours);
    FILE *file = next(path, how);
    if (file) opened(fileno(file), ours, O_WRONLY, was_there);
    leave();
    return file;
}

FILE *fopen64(const char *path, const char *how) __attribute__((alias("fopen")));

int mkostemp(char *path, int flags)
{
    NEXT(int, "mkostemp", char *, int);
    char ours[PATH_MAX];
    if (!is_ours(path, ours)) return next(path, flags);
    enter();
    int file = next(path, flags);
    char *last = strrchr(path, '/');
    snprintf(strrchr(ours, '/') + 1, PATH_MAX / 2, "%s", last ? last + 1 : path);
    opened(file, ours, O_WRONLY, 0);
    leave();
    return file;
}

/* What is synced is what was there before the call. */
static int sync_file(int (*next)(int), int file)
{
    char path[PATH_MAX], name[64];
    struct stat found;
    if (!is_our_file(file, path) || fstat(file, &found) != 0) return next(file);
    enter();
    watched_file *w = S_ISDIR(found.st_mode) ? NULL : watch(file);
    int has_copy = w && copy(w, 1, name), end = next(file);
    if (end == 0 && S_ISDIR(found.st_mode)) note("syncdir %s\n", path);
    if (end == 0 && has_copy) note("sync %lu %s\n", (unsigned long)found.st_ino, name);
    leave();
    return end;
}

int fsync(int file)
{
    NEXT(int, "fsync", int);
    return sync_file(next, file);
}

int fdatasync(int file)
{
    NEXT(int, "fdatasync", int);
    return sync_file(next, file);
}

int rename(const char *from, const char *to_path)
{
    NEXT(int, "rename", const char *, const char *);
    char ours_from[PATH_MAX], ours[PATH_MAX];
    if (!is_ours(to_path, ours) || !is_ours(from, ours_from)) return next(from, to_path);
    enter();
    int end = next(from, to_path);
    if (end == 0) note("rename %s %s\n", ours_from, ours);
    forget_unnamed();
    leave();
    return end;
}

int unlink(const char *path)
{
    NEXT(int, "unlink", const char *);
    char ours[PATH_MAX];
    if (!is_ours(path, ours)) return next(path);
    enter();
    int end = next(path);
    if (end == 0) note("unlink %s\n", ours);
    forget_unnamed();
    leave();
    return end;
}

int remove(const char *path) __attribute__((alias("unlink")));

int unlinkat(int folder, const char *path, int flags)
{
    NEXT(int, "unlinkat", int, const char *, int);
    char ours[PATH_MAX];
    if (!is_our_file(folder, ours) || strlen(ours) + strlen(path) + 2 > PATH_MAX)
        return next(folder, path, flags);
    enter();
    int end = next(folder, path, flags);
    if (end == 0) note("unlink %s/%s\n", ours, path);
    forget_unnamed();
    leave();
    return end;
}

/* What this library does not know must not pass unseen. */
#define UNKNOWN(name, ...)                                                                         \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        if (record >= 0) note("unknown " #name "\n");                                              \
        errno = ENOSYS;                                                                            \
        return -1;                                                                                 \
    }
UNKNOWN(renameat, int a, const char *b, int c, const char *d)
UNKNOWN(link, const char *a, const char *b)
UNKNOWN(truncate, const char *a, off_t b)

__attribute__((destructor)) static void end(void)
{
    if (record < 0) return;
    enter();
    note("end\n");
    leave();
}
