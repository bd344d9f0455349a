#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/device_backend.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct cpu_event {
    ps_event base;
    bool recorded;
    double clock; /* seconds */
} cpu_event;

/* Streams carry nothing: work is done when the call returns. */

static void release(ps_device *device) { free(device); }

static void find_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value || value[1] != ' ') continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value + 2);
        break;
    }
    if (file) fclose(file);
}

static int cores(void)
{
    cpu_set_t set;
    int here = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return here > 0 ? here : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void describe(const ps_device *device, ps_device_info *out)
{
    out->kind = PS_DEVICE_CPU;
    find_name(out->name, sizeof out->name);
    out->memory_total = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    out->memory_free = ps_memory_available();
    out->multiprocessors = cores();
}

static ps_status allocate(ps_device *device, int64_t bytes, void **out)
{
    return ps_alloc_untouched(out, bytes, "a device buffer");
}

static void free_memory(ps_device *device, void *memory) { free(memory); }

/* A file in memory of `ring` bytes, mapped again and again. */
static ps_status allocate_ring(ps_device *device, int64_t bytes, int64_t *ring, void **out)
{
    *ring = ps_round_up(*ring > 0 ? *ring : 1, sysconf(_SC_PAGESIZE));
    size_t all = (size_t)ps_round_up(bytes > 0 ? bytes : 1, *ring);
    int file = memfd_create("penstock", MFD_CLOEXEC);
    char *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool made = file >= 0 && memory != MAP_FAILED && ftruncate(file, *ring) == 0;
    for (size_t at = 0; made && at < all; at += (size_t)*ring)
        made = mmap(memory + at, (size_t)*ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                    file, 0) != MAP_FAILED;
    if (file >= 0) close(file);
    if (!made && memory != MAP_FAILED) munmap(memory, all);
    if (!made)
        return ps_fail(PS_EXHAUSTED, "no ring of %.1f MB of memory is to be had: %s",
                       (double)*ring / 1e6, strerror(errno));
    *out = memory;
    return PS_OK;
}

static void free_ring(ps_device *device, void *memory, int64_t bytes, int64_t ring)
{
    munmap(memory, (size_t)ps_round_up(bytes > 0 ? bytes : 1, ring));
}

static ps_status stream_open(ps_device *device, bool ahead, ps_stream **out)
{
    return PS_ALLOC(out, 1, "a stream");
}

static void stream_release(ps_stream *stream) { free(stream); }
static ps_status stream_wait(ps_stream *stream) { return PS_OK; }
static void *stream_handle(ps_stream *stream) { return NULL; }
static ps_status stream_enter(ps_stream *stream) { return PS_OK; }

static ps_status copy(ps_stream *stream, void *to, const void *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
    return PS_OK;
}

static ps_status copy_peer(ps_stream *stream, void *to, ps_device *source, const void *from,
                           int64_t bytes)
{
    return copy(stream, to, from, bytes);
}

static ps_status fill_zero(ps_stream *stream, void *memory, int64_t bytes)
{
    memset(memory, 0, (size_t)bytes);
    return PS_OK;
}

static ps_status event_open(ps_device *device, ps_event **out)
{
    cpu_event *event;
    PS_TRY(PS_ALLOC(&event, 1, "an event"));
    *out = &event->base;
    return PS_OK;
}

static void event_release(ps_event *event) { free(event); }

static ps_status event_record(ps_event *base, ps_stream *stream)
{
    cpu_event *event = (cpu_event *)base;
    event->recorded = true;
    event->clock = ps_clock();
    return PS_OK;
}

static ps_status event_wait(ps_event *event, ps_stream *stream) { return PS_OK; }
static ps_status event_sync(ps_event *event) { return PS_OK; }

static ps_status event_is_done(ps_event *event, bool *out)
{
    *out = true;
    return PS_OK;
}

static ps_status event_seconds(ps_event *start, ps_event *end, double *out)
{
    const cpu_event *a = (const cpu_event *)start, *b = (const cpu_event *)end;
    if (!a->recorded || !b->recorded)
        return ps_fail(PS_FAILED, "the time between events was asked before they were recorded");
    *out = b->clock - a->clock;
    return PS_OK;
}

static ps_status copy_all(ps_stream *stream, const ps_copies *copies)
{
    for (int k = 0; k < copies->count; ++k)
        memcpy(copies->to[k], copies->from[k], copies->bytes[k]);
    return PS_OK;
}

ps_status ps_device_cpu_open(ps_device **out)
{
    static const ps_device_ops ops = {
        .release = release,
        .describe = describe,
        .alloc = allocate,
        .free = free_memory,
        .alloc_pinned = allocate,
        .free_pinned = free_memory,
        .alloc_ring = allocate_ring,
        .free_ring = free_ring,
        .stream_open = stream_open,
        .stream_release = stream_release,
        .stream_wait = stream_wait,
        .stream_handle = stream_handle,
        .stream_enter = stream_enter,
        .copy_to_device = copy,
        .copy_to_host = copy,
        .fill_zero = fill_zero,
        .copy_on_device = copy,
        .copy_peer = copy_peer,
        .copy_all = copy_all,
        .event_open = event_open,
        .event_release = event_release,
        .event_record = event_record,
        .event_wait = event_wait,
        .event_sync = event_sync,
        .event_is_done = event_is_done,
        .event_seconds = event_seconds,
    };
    PS_TRY(PS_ALLOC(out, 1, "a device"));
    (*out)->ops = &ops;
    return PS_OK;
}
