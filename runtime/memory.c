#include "runtime/memory.h"

#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static void *alloc_aligned(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }

static ps_status alloc_by(void *(*alloc)(size_t bytes), void **out, int64_t bytes, const char *what)
{
    *out = NULL;
    if (bytes < 0 || bytes > INT64_MAX - 64)
        return ps_fail(PS_EXHAUSTED, "no memory for %s: %lld bytes", what, (long long)bytes);
    *out = alloc(bytes > 0 ? (size_t)bytes : 64);
    return *out ? PS_OK
                : ps_fail(PS_EXHAUSTED,
                          "no memory for %s: %.1f MB wanted; lower --host-memory or the problem "
                          "size",
                          what, (double)bytes / 1e6);
}

ps_status ps_alloc_untouched(void **out, int64_t bytes, const char *what)
{
    return alloc_by(alloc_aligned, out, bytes, what);
}

ps_status ps_alloc_buffer(void **out, int64_t bytes, const char *what)
{
    return alloc_by(ps_alloc_pages, out, bytes, what);
}

void *ps_alloc_pages(size_t bytes)
{
    enum { HUGE_PAGE = 2 << 20 };
    bool large = bytes >= 2 * (size_t)HUGE_PAGE;
    size_t alignment = large ? HUGE_PAGE : 64;
    void *memory; /* not aligned_alloc: sizes need not be multiples of 2 MiB */
    if (posix_memalign(&memory, alignment, (bytes + 63) / 64 * 64) != 0) return NULL;
    if (large) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

ps_status ps_alloc(void **out, int64_t count, size_t size, const char *what)
{
    *out = NULL;
    if (count < 0 || (uint64_t)count > (INT64_MAX - 64) / (size ? size : 1))
        return ps_fail(PS_EXHAUSTED, "no memory for %s: %lld items of %zu bytes do not fit", what,
                       (long long)count, size);
    PS_TRY(ps_alloc_untouched(out, count * (int64_t)size, what));
    memset(*out, 0, (size_t)count * size);
    return PS_OK;
}

void ps_free_each(void *const *pointers, size_t count)
{
    for (size_t i = 0; i < count; ++i) free(pointers[i]);
}

ps_status ps_grow(void **array, int64_t *capacity, int64_t needed, size_t size, const char *what)
{
    if (needed <= *capacity) return PS_OK;
    int64_t wanted = *capacity * 2 > needed ? *capacity * 2 : needed;
    if (wanted < 16) wanted = 16;
    void *memory =
        (uint64_t)wanted > (UINT64_MAX / 2) / size ? NULL : realloc(*array, (size_t)wanted * size);
    if (!memory)
        return ps_fail(PS_EXHAUSTED, "no memory for %s: %lld items of %zu bytes wanted", what,
                       (long long)wanted, size);
    *array = memory;
    *capacity = wanted;
    return PS_OK;
}

/* A line of a file of /proc, which is in KiB, in bytes; 0: not there. */
static int64_t proc_bytes(const char *path, const char *format)
{
    FILE *file = fopen(path, "r");
    long long kib = 0;
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kib) == 1) break;
    if (file) fclose(file);
    return (int64_t)kib * 1024;
}

int64_t ps_memory_available(void)
{
    int64_t available = proc_bytes("/proc/meminfo", "MemAvailable: %lld");
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    long long limit, used;
    if (file && fscanf(file, "%lld", &limit) == 1) {
        FILE *current = fopen("/sys/fs/cgroup/memory.current", "r");
        if (current && fscanf(current, "%lld", &used) == 1 && limit - used < available)
            available = limit - used;
        if (current) fclose(current);
    }
    if (file) fclose(file);
    return available > 0 ? available : (int64_t)1 << 30;
}

/* Not by getrusage, which begins with what the process was before it became this program. */
int64_t ps_memory_peak(void) { return proc_bytes("/proc/self/status", "VmHWM: %lld"); }

int64_t ps_memory_resident(void) { return proc_bytes("/proc/self/status", "VmRSS: %lld"); }

void ps_memory_trim(void) { malloc_trim(0); }

void ps_memory_tight(void)
{
    enum { BLOCK = 128 << 10 };
    mallopt(M_MMAP_THRESHOLD, BLOCK);
    mallopt(M_TRIM_THRESHOLD, 2 * BLOCK);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double ps_clock(void) { return seconds_of(CLOCK_MONOTONIC); }

double ps_processor_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double ps_thread_seconds(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

int ps_processor_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int ps_processor_list(int *out, int most)
{
    cpu_set_t set;
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    for (int p = 0; p < CPU_SETSIZE && count < most; ++p)
        if (CPU_ISSET(p, &set)) out[count++] = p;
    return count;
}

void ps_thread_stay(const int *processors, int count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < count; ++i) CPU_SET(processors[i], &set);
    if (count > 0) sched_setaffinity(0, sizeof set, &set);
}
