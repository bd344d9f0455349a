/*
 * calls: the calls of this process that change files, in their order, and an end at any one of
 * them. Rename, fsync, fdatasync, pwrite and pwritev of the test program stand before those of the
 * C library, for ours and libhdf5 alike. To be included by one source of a program. What stdio
 * writes is not seen.
 */
#ifndef PS_TESTS_CALLS_H
#define PS_TESTS_CALLS_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char calls_text[8192]; /* "fsync out.h5, rename out.h5, fsync .": writes in a row once     */
static long calls_until_kill; /* 0: none */
static pthread_mutex_t calls_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Notes nothing of what was before; kill: the process ends before that call, counted from 1. */
static inline void calls_begin(long kill_at)
{
    calls_text[0] = '\0';
    calls_until_kill = kill_at;
}

/* The last part of the name, without what marks a temporary. */
static inline void calls_note(const char *call, const char *path)
{
    static char last_item[192];
    char item[192], name[128];
    const char *last = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", last ? last + 1 : path);
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".tmp") == 0)
        for (int dots = 0; dots < 3 && length > 0;) dots += name[--length] == '.';
    name[length] = '\0';
    pthread_mutex_lock(&calls_mutex);
    if (calls_until_kill > 0 && --calls_until_kill == 0) raise(SIGKILL);
    snprintf(item, sizeof item, "%s %s", call, name);
    size_t used = strlen(calls_text);
    if (used == 0 || call[0] != 'w' || strcmp(item, last_item) != 0)
        snprintf(calls_text + used, sizeof calls_text - used, "%s%s", used ? ", " : "", item);
    strcpy(last_item, item);
    pthread_mutex_unlock(&calls_mutex);
}

static inline void calls_note_file(const char *call, int file)
{
    char link[64], path[4096] = "?";
    struct stat found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    calls_note(call, fstat(file, &found) == 0 && S_ISDIR(found.st_mode) ? "." : path);
}

#define CALLS_NEXT(type, name, ...)                                                                \
    static type (*next)(__VA_ARGS__);                                                              \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, name)

int rename(const char *from, const char *to)
{
    CALLS_NEXT(int, "rename", const char *, const char *);
    calls_note("rename", to);
    return next(from, to);
}

int fsync(int file)
{
    CALLS_NEXT(int, "fsync", int);
    calls_note_file("fsync", file);
    return next(file);
}

int fdatasync(int file)
{
    CALLS_NEXT(int, "fdatasync", int);
    calls_note_file("fsync", file);
    return next(file);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at)
{
    CALLS_NEXT(ssize_t, "pwrite", int, const void *, size_t, off_t);
    calls_note_file("write", file);
    return next(file, data, size, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    CALLS_NEXT(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
    calls_note_file("write", file);
    return next(file, parts, count, at);
}

/* In a child: `work` with an end at call n. Its exit code, or -1 where it was killed. */
static inline int calls_kill_child(long n, int (*work)(const void *context), const void *context)
{
    int end;
    pid_t child = fork();
    if (child == 0) {
        calls_begin(n);
        _exit(work(context));
    }
    if (child < 0 || waitpid(child, &end, 0) != child) return -2;
    return WIFEXITED(end) ? WEXITSTATUS(end) : WTERMSIG(end) == SIGKILL ? -1 : -2;
}

#endif
