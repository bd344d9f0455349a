/*
 * fail_nth: a library to preload. FAIL_CALL names a call (write, fsync, rename, unlink, open,
 * malloc: allocations by the program itself; malloc-inside: those by libraries), and FAIL_NTH which
 * one of it fails, with FAIL_ERRNO (default EIO); FAIL_KILL=1 kills the process there instead.
 * FAIL_COUNT names a file that gets the number of calls at the end. Only files under FAIL_UNDER
 * count, so that those of libraries and logs do not. FAIL_RANK: of several ranks only this one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long nth = -1;
static int error_number = EIO, kills;
static const char *wanted, *under;
static _Thread_local int inside;
static uintptr_t code_begin, code_end; /* of the program itself */

static int note_code(struct dl_phdr_info *info, size_t size, void *context)
{
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            code_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            code_end = code_begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(note_code, NULL);
    wanted = getenv("FAIL_CALL");
    under = getenv("FAIL_UNDER");
    const char *rank = getenv("FAIL_RANK"), *mine = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && (!mine || strcmp(rank, mine) != 0)) wanted = NULL;
    if (getenv("FAIL_NTH")) nth = atol(getenv("FAIL_NTH"));
    if (getenv("FAIL_ERRNO")) error_number = atoi(getenv("FAIL_ERRNO"));
    kills = getenv("FAIL_KILL") != NULL;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    if (!path || !wanted) return;
    wanted = NULL;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld\n", (long)calls);
    fclose(file);
}

static int is_ours(const char *path)
{
    return !under || (path && (strncmp(path, under, strlen(under)) == 0 || path[0] != '/'));
}

static int is_our_file(int file)
{
    char link[64], path[PATH_MAX];
    if (!under) return 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    return strncmp(path, under, strlen(under)) == 0;
}

/* Whether this call is the one. */
static int fails(const char *name)
{
    if (!wanted || strcmp(wanted, name) != 0) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != nth) return 0;
    if (kills) kill(getpid(), SIGKILL);
    errno = error_number;
    return 1;
}

#define NEXT(type, name, ...)                                                                      \
    static type (*next)(__VA_ARGS__);                                                              \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void *data, size_t size)
{
    NEXT(ssize_t, "write", int, const void *, size_t);
    return is_our_file(file) && fails("write") ? -1 : next(file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at)
{
    NEXT(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return is_our_file(file) && fails("write") ? -1 : next(file, data, size, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    NEXT(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
    return is_our_file(file) && fails("write") ? -1 : next(file, parts, count, at);
}

int fsync(int file)
{
    NEXT(int, "fsync", int);
    return is_our_file(file) && fails("fsync") ? -1 : next(file);
}

int fdatasync(int file)
{
    NEXT(int, "fdatasync", int);
    return is_our_file(file) && fails("fsync") ? -1 : next(file);
}

int unlink(const char *path)
{
    NEXT(int, "unlink", const char *);
    return is_ours(path) && fails("unlink") ? -1 : next(path);
}

FILE *fopen(const char *path, const char *how)
{
    NEXT(FILE *, "fopen", const char *, const char *);
    return is_ours(path) && fails("open") ? NULL : next(path, how);
}

int rename(const char *from, const char *to)
{
    NEXT(int, "rename", const char *, const char *);
    return is_ours(to) && fails("rename") ? -1 : next(from, to);
}

int open(const char *path, int flags, ...)
{
    NEXT(int, "open", const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_ours(path) && fails("open") ? -1 : next(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    NEXT(int, "openat", int, const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_ours(path) && fails("open") ? -1 : next(folder, path, flags, mode);
}

/* dlsym may allocate: then the allocation is let pass. */
static int fails_to_allocate(const void *caller)
{
    if (inside || !wanted || strncmp(wanted, "malloc", 6) != 0) return 0;
    int ours = (uintptr_t)caller >= code_begin && (uintptr_t)caller < code_end;
    inside = 1;
    int failed = fails(ours ? "malloc" : "malloc-inside");
    inside = 0;
    if (failed) errno = ENOMEM;
    return failed;
}

#define FAILS_TO_ALLOCATE fails_to_allocate(__builtin_return_address(0))

void *malloc(size_t size)
{
    extern void *__libc_malloc(size_t);
    return FAILS_TO_ALLOCATE ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);
    return FAILS_TO_ALLOCATE ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    extern void *__libc_realloc(void *, size_t);
    return FAILS_TO_ALLOCATE ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    extern void *__libc_memalign(size_t, size_t);
    return FAILS_TO_ALLOCATE ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    extern void *__libc_memalign(size_t, size_t);
    if (FAILS_TO_ALLOCATE) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
