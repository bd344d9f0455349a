/*
 * fail_nth: a library to preload. FAIL_CALL names a call (write, fsync, rename, unlink, open,
 * malloc: allocations by the program itself; malloc-inside: those by libraries) or some, as in
 * rename+unlink, and FAIL_NTH which one of it fails, with FAIL_ERRNO (default EIO). With
 * FAIL_SIGNAL (a number) the process sends itself that signal there instead, and the call goes on
 * if it survives. FAIL_CALL=cpu: the signal comes after FAIL_NTH ms of processor time, counted from
 * when the program has begun to heed SIGTERM. So a test stops and kills at moments that do not
 * depend on how busy a machine is. FAIL_COUNT names a file that gets the number of calls at the
 * end. Only files whose paths begin with FAIL_UNDER count, so that those of libraries and logs do
 * not. FAIL_RANK: of several ranks only this one.
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
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long nth = -1;
static int error_number = EIO, signal_number;
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
    if (getenv("FAIL_SIGNAL")) signal_number = atoi(getenv("FAIL_SIGNAL"));
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

static int is_wanted(const char *name)
{
    const char *at = wanted;
    size_t length = strlen(name);
    while (at && (strncmp(at, name, length) != 0 || (at[length] && at[length] != '+'))) {
        at = strchr(at, '+');
        if (at) ++at;
    }
    return at != NULL;
}

/* Whether this call is the one. */
static int fails(const char *name)
{
    if (!is_wanted(name)) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != nth) return 0;
    errno = error_number;
    return !signal_number || kill(getpid(), signal_number) != 0;
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
    return is_ours(path) && access(path, F_OK) == 0 && fails("unlink") ? -1 : next(path);
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

/* The signal comes by itself once so much processor time is used up. */
static void start_clock(void)
{
    struct sigevent told = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
    struct itimerspec when = {.it_value = {nth / 1000, nth % 1000 * 1000000}};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &told, &timer) == 0)
        timer_settime(timer, 0, &when, NULL);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    NEXT(int, "sigaction", int, const struct sigaction *, struct sigaction *);
    int result = next(number, action, old);
    if (number == SIGTERM && action && is_wanted("cpu") && atomic_fetch_add(&calls, 1) == 0)
        start_clock();
    return result;
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
