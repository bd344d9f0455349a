#include "runtime/paged_arrays.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "runtime/memory.h"
#include "runtime/scratch_file.h"

/* Where a range will be once all that was asked for is done. */
typedef enum range_place { PLACE_NOWHERE, PLACE_FILE, PLACE_MEMORY } range_place;

typedef struct range {
    range_place place;
    bool changed;
    int64_t done;  /* when it was done with, counting up; 0: in use */
    int file;      /* that has its newest values, unless changed    */
    uint64_t hash; /* of these; the thread sets it                  */
    int64_t reads_asked, reads_done;
} range;

typedef enum task_kind { TASK_READ, TASK_WRITE, TASK_RELEASE } task_kind;
typedef struct task {
    task_kind kind;
    int64_t range;
    int file;
} task;

struct ps_paged {
    int64_t ranges, *bounds;
    int arrays;
    int64_t row_bytes[PS_PAGED_ARRAYS_MAX], all_bytes; /* of a row of all arrays */
    char *base[PS_PAGED_ARRAYS_MAX];
    char *paths[2];
    int files[2], target;
    int64_t capacity, resident, count; /* count: of done ones */
    range *list;
    /* of the thread */
    pthread_t thread;
    bool started, ending;
    pthread_mutex_t lock;
    pthread_cond_t more, finished;
    task *tasks; /* ring of `room` */
    int64_t room, head, tail, completed;
    ps_status status;
    char message[1024];
    ps_paged_stats stats;
};

static int64_t rows_of(const ps_paged *x, int64_t r) { return x->bounds[r + 1] - x->bounds[r]; }

int64_t ps_paged_range_bytes(const ps_paged *x, int64_t r) { return rows_of(x, r) * x->all_bytes; }
void *ps_paged_array(const ps_paged *x, int array) { return x->base[array]; }
int ps_paged_file(const ps_paged *x) { return x->target; }

/* The piece of array k in a range, its bytes, and its place in the files. */
static char *piece(const ps_paged *x, int64_t r, int k, int64_t *bytes, int64_t *at)
{
    *bytes = rows_of(x, r) * x->row_bytes[k];
    *at = x->bounds[r] * x->all_bytes;
    for (int i = 0; i < k; ++i) *at += rows_of(x, r) * x->row_bytes[i];
    return x->base[k] + x->bounds[r] * x->row_bytes[k];
}

/* ---- the thread ---- */

static uint64_t hash_of(const ps_paged *x, int64_t r)
{
    uint64_t hash = (uint64_t)r;
    for (int k = 0; k < x->arrays; ++k) {
        int64_t bytes, at;
        const char *data = piece(x, r, k, &bytes, &at);
        hash = XXH3_64bits_withSeed(data, (size_t)bytes, hash);
    }
    return hash;
}

static ps_status read_range(ps_paged *x, int64_t r, int file)
{
    int64_t bytes, at;
    for (int k = 0; k < x->arrays; ++k) {
        char *data = piece(x, r, k, &bytes, &at);
        PS_TRY_IN(ps_scratch_read(x->files[file], data, bytes, at), "%s", x->paths[file]);
    }
    posix_fadvise(x->files[file], x->bounds[r] * x->all_bytes, ps_paged_range_bytes(x, r),
                  POSIX_FADV_DONTNEED);
    if (hash_of(x, r) == x->list[r].hash) return PS_OK;
    return ps_fail(PS_INVALID, "%s: rows %lld to %lld are damaged: their hash differs",
                   x->paths[file], (long long)x->bounds[r], (long long)x->bounds[r + 1] - 1);
}

static ps_status write_range(ps_paged *x, int64_t r, int file)
{
    int64_t bytes, at;
    x->list[r].hash = hash_of(x, r);
    for (int k = 0; k < x->arrays; ++k) {
        const char *data = piece(x, r, k, &bytes, &at);
        PS_TRY_IN(ps_scratch_write(x->files[file], data, bytes, at), "%s", x->paths[file]);
    }
    return PS_OK;
}

/* Gives whole pages back; those at its ends belong to its neighbours, too. */
static void release_range(ps_paged *x, int64_t r)
{
    int64_t bytes, at, page = sysconf(_SC_PAGESIZE);
    for (int k = 0; k < x->arrays; ++k) {
        char *data = piece(x, r, k, &bytes, &at);
        uintptr_t first =
            ((uintptr_t)data + (uintptr_t)page - 1) / (uintptr_t)page * (uintptr_t)page;
        uintptr_t last = ((uintptr_t)data + (uintptr_t)bytes) / (uintptr_t)page * (uintptr_t)page;
        if (last > first) madvise((void *)first, last - first, MADV_DONTNEED);
    }
}

static ps_status perform(ps_paged *x, const task *t)
{
    double start = ps_clock();
    ps_status status = PS_OK;
    int64_t bytes = ps_paged_range_bytes(x, t->range);
    switch (t->kind) {
    case TASK_READ:
        status = read_range(x, t->range, t->file);
        x->stats.bytes_read += bytes;
        x->stats.read_seconds += ps_clock() - start;
        break;
    case TASK_WRITE:
        status = write_range(x, t->range, t->file);
        x->stats.bytes_written += bytes;
        x->stats.write_seconds += ps_clock() - start;
        break;
    case TASK_RELEASE:
        release_range(x, t->range);
    }
    return status;
}

static void *work(void *opened)
{
    ps_paged *x = opened;
    pthread_mutex_lock(&x->lock);
    for (;;) {
        while (x->head == x->tail && !x->ending) pthread_cond_wait(&x->more, &x->lock);
        if (x->head == x->tail) break;
        task t = x->tasks[x->head % x->room];
        bool failed = x->status != PS_OK;
        pthread_mutex_unlock(&x->lock);
        ps_status status = failed ? PS_OK : perform(x, &t);
        pthread_mutex_lock(&x->lock);
        if (status != PS_OK && x->status == PS_OK) {
            x->status = status;
            snprintf(x->message, sizeof x->message, "%s", ps_message());
        }
        if (t.kind == TASK_READ) ++x->list[t.range].reads_done;
        ++x->head;
        pthread_cond_broadcast(&x->finished);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

static ps_status failure(ps_paged *x)
{
    return x->status == PS_OK ? PS_OK : ps_fail(x->status, "%s", x->message);
}

static ps_status ask(ps_paged *x, task_kind kind, int64_t r, int file)
{
    pthread_mutex_lock(&x->lock);
    while (x->tail - x->head == x->room) pthread_cond_wait(&x->finished, &x->lock);
    x->tasks[x->tail++ % x->room] = (task){kind, r, file};
    ps_status status = failure(x);
    pthread_cond_signal(&x->more);
    pthread_mutex_unlock(&x->lock);
    return status;
}

/* Until a range is read (r >= 0) or all is done. */
static ps_status wait_for(ps_paged *x, int64_t r)
{
    double start = ps_clock();
    pthread_mutex_lock(&x->lock);
    while (x->status == PS_OK &&
           (r < 0 ? x->head < x->tail : x->list[r].reads_done < x->list[r].reads_asked))
        pthread_cond_wait(&x->finished, &x->lock);
    ps_status status = failure(x);
    pthread_mutex_unlock(&x->lock);
    x->stats.waited_seconds += ps_clock() - start;
    return status;
}

/* ---- opening ---- */

static ps_status open_file(ps_paged *x, int k, const char *path)
{
    x->paths[k] = strdup(path);
    x->files[k] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!x->paths[k] || x->files[k] < 0)
        return ps_fail(PS_FAILED, "%s: cannot be opened: %s", path, strerror(errno));
    return PS_OK;
}

static ps_status reserve(ps_paged *x)
{
    for (int k = 0; k < x->arrays; ++k) {
        size_t bytes = (size_t)(x->bounds[x->ranges] * x->row_bytes[k]) + 4096;
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return ps_fail(PS_EXHAUSTED, "no room among the addresses for %.1f MB",
                           (double)bytes / 1e6);
        x->base[k] = memory;
    }
    return PS_OK;
}

static ps_status open_all(const ps_paged_request *request, ps_paged *x)
{
    PS_TRY(PS_ALLOC(&x->bounds, x->ranges + 1, "the ranges"));
    PS_TRY(PS_ALLOC(&x->list, x->ranges, "the ranges"));
    memcpy(x->bounds, request->bounds, (size_t)(x->ranges + 1) * sizeof *x->bounds);
    x->room = 64;
    PS_TRY(PS_ALLOC(&x->tasks, x->room, "the ranges"));
    PS_TRY(reserve(x));
    for (int k = 0; k < 2; ++k) PS_TRY(open_file(x, k, request->paths[k]));
    if (pthread_create(&x->thread, NULL, work, x) != 0)
        return ps_fail(PS_EXHAUSTED, "no thread for reading and writing");
    x->started = true;
    return PS_OK;
}

ps_status ps_paged_open(const ps_paged_request *request, ps_paged **out)
{
    ps_paged *x;
    *out = NULL;
    PS_TRY(PS_ALLOC(&x, 1, "paged arrays"));
    x->ranges = request->ranges;
    x->arrays = request->arrays;
    x->capacity = request->capacity;
    x->files[0] = x->files[1] = -1;
    for (int k = 0; k < x->arrays; ++k) {
        x->row_bytes[k] = request->row_bytes[k];
        x->all_bytes += request->row_bytes[k];
    }
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->more, NULL);
    pthread_cond_init(&x->finished, NULL);
    ps_status status = open_all(request, x);
    if (status == PS_OK)
        *out = x;
    else
        ps_paged_close(&x);
    return status;
}

void ps_paged_close(ps_paged **paged)
{
    ps_paged *x = *paged;
    if (!x) return;
    if (x->started) {
        pthread_mutex_lock(&x->lock);
        x->ending = true;
        pthread_cond_signal(&x->more);
        pthread_mutex_unlock(&x->lock);
        pthread_join(x->thread, NULL);
    }
    for (int k = 0; k < x->arrays; ++k)
        if (x->base[k]) munmap(x->base[k], (size_t)(x->bounds[x->ranges] * x->row_bytes[k]) + 4096);
    for (int k = 0; k < 2; ++k) {
        if (x->files[k] >= 0) close(x->files[k]);
        free(x->paths[k]);
    }
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->more);
    pthread_cond_destroy(&x->finished);
    PS_FREE(x->bounds, x->list, x->tasks, x);
    *paged = NULL;
}

/* ---- ranges ---- */

/* Of the ranges done with, the one that was first; -1: none. */
static int64_t first_done(const ps_paged *x)
{
    int64_t best = -1;
    for (int64_t r = 0; r < x->ranges; ++r)
        if (x->list[r].place == PLACE_MEMORY && x->list[r].done > 0 &&
            (best < 0 || x->list[r].done < x->list[best].done))
            best = r;
    return best;
}

static ps_status write_changed(ps_paged *x, int64_t r)
{
    range *it = x->list + r;
    if (!it->changed) return PS_OK;
    it->changed = false;
    it->file = x->target;
    return ask(x, TASK_WRITE, r, x->target);
}

/* Lets ranges go until there is room. *room: there is. Tasks are done in order, so memory is given
 * back before what is asked for next comes. */
static ps_status make_room(ps_paged *x, int64_t bytes, bool *room)
{
    while (x->resident + bytes > x->capacity) {
        int64_t r = first_done(x);
        *room = false;
        if (r < 0) return PS_OK;
        PS_TRY(write_changed(x, r));
        PS_TRY(ask(x, TASK_RELEASE, r, 0));
        x->list[r].place = PLACE_FILE;
        x->resident -= ps_paged_range_bytes(x, r);
    }
    *room = true;
    return PS_OK;
}

static ps_status no_room(const ps_paged *x, int64_t r)
{
    return ps_fail(PS_EXHAUSTED,
                   "%.1f MB for fields in memory do not do: %.1f MB are in use and %.1f MB more "
                   "are needed; raise --host-memory",
                   (double)x->capacity / 1e6, (double)x->resident / 1e6,
                   (double)ps_paged_range_bytes(x, r) / 1e6);
}

ps_status ps_paged_prefetch(ps_paged *x, int64_t r)
{
    bool room;
    range *it = x->list + r;
    if (it->place != PLACE_FILE) return PS_OK;
    PS_TRY(make_room(x, ps_paged_range_bytes(x, r), &room));
    if (!room) return PS_OK;
    x->resident += ps_paged_range_bytes(x, r);
    it->place = PLACE_MEMORY;
    it->done = 0;
    ++it->reads_asked;
    return ask(x, TASK_READ, r, it->file);
}

ps_status ps_paged_need(ps_paged *x, int64_t r)
{
    PS_TRY(ps_paged_prefetch(x, r));
    if (x->list[r].place != PLACE_MEMORY) return no_room(x, r);
    x->list[r].done = 0;
    return wait_for(x, r);
}

void ps_paged_hold(ps_paged *x)
{
    for (int64_t r = 0; r < x->ranges; ++r) x->list[r].done = 0;
}

void ps_paged_done(ps_paged *x, int64_t r, int changed)
{
    x->list[r].done = ++x->count;
    if (changed) x->list[r].changed = true;
}

ps_status ps_paged_fresh(ps_paged *x, int64_t r)
{
    bool room = true;
    range *it = x->list + r;
    if (it->place != PLACE_MEMORY) {
        PS_TRY(make_room(x, ps_paged_range_bytes(x, r), &room));
        if (!room) return no_room(x, r);
        x->resident += ps_paged_range_bytes(x, r);
    }
    PS_TRY(wait_for(x, -1)); /* it may be on its way */
    it->place = PLACE_MEMORY;
    it->done = 0;
    for (int k = 0; k < x->arrays; ++k) {
        int64_t bytes, at;
        char *data = piece(x, r, k, &bytes, &at);
        memset(data, 0, (size_t)bytes);
    }
    return PS_OK;
}

/* ---- states to keep ---- */

ps_status ps_paged_flush(ps_paged *x, int64_t *hashes)
{
    for (int64_t r = 0; r < x->ranges; ++r) PS_TRY(write_changed(x, r));
    PS_TRY(wait_for(x, -1));
    if (fdatasync(x->files[x->target]) != 0)
        return ps_fail(errno == ENOSPC || errno == EDQUOT ? PS_EXHAUSTED : PS_FAILED,
                       "%s: cannot be synced: %s", x->paths[x->target], strerror(errno));
    for (int64_t r = 0; r < x->ranges; ++r) hashes[r] = (int64_t)x->list[r].hash;
    return PS_OK;
}

void ps_paged_keep(ps_paged *x) { x->target = 1 - x->target; }

ps_status ps_paged_adopt(ps_paged *x, int file, const int64_t *hashes)
{
    PS_TRY(wait_for(x, -1));
    for (int64_t r = 0; r < x->ranges; ++r) { /* what is in memory is forgotten */
        if (x->list[r].place == PLACE_MEMORY) release_range(x, r);
        x->list[r] = (range){.place = PLACE_FILE,
                             .file = file,
                             .hash = (uint64_t)hashes[r],
                             .reads_asked = x->list[r].reads_asked,
                             .reads_done = x->list[r].reads_done};
    }
    x->resident = 0;
    x->target = 1 - file;
    for (int64_t r = 0; r < x->ranges; ++r) {
        ps_status status = read_range(x, r, file);
        release_range(x, r);
        PS_TRY(status);
    }
    return PS_OK;
}

void ps_paged_get_stats(const ps_paged *x, ps_paged_stats *out) { *out = x->stats; }
