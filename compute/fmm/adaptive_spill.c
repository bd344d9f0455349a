/*
 * The sorted particles of an adaptive tree in a scratch file: those that memory holds are written
 * there; others are read as runs, as many at a time as memory sorts, and the runs merged. The tree,
 * which stays in memory, is that of all at once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute/fmm/adaptive_stretch.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"
#include "runtime/sizes.h"

enum {
    BLOCK = 1 << 12, /* records at a time                                            */
    AHEAD = 512,     /* records of each run in memory while runs are merged          */
    RUNS = 1 << 12,  /* at most: what is ahead of them is little of what a run takes */
    KEYS = 2,        /* words of a record before its columns: of a run               */
    SLACK = 8 << 20  /* bytes, of the heap                                           */
};

/* ---- from memory ---- */

static ps_status write_block(fmm_adaptive *a, fmm_store *s, const int64_t *order, int64_t first,
                             int64_t count, double *records)
{
    int64_t words = s->columns + 1;
    for (int64_t i = 0; i < count; ++i) {
        for (int c = 0; c < s->columns; ++c)
            records[i * words + c] = a->columns[0][c * s->count + first + i];
        memcpy(&records[i * words + s->columns], &order[first + i], 8);
    }
    return fmm_store_put(s, first, count, records);
}

static ps_status write_all(fmm_adaptive *a, fmm_store *s, const int64_t *order)
{
    ps_failure failure = {0};
#pragma omp parallel
    {
        double *records = NULL;
        ps_note_failure(&failure, ps_alloc_untouched((void **)&records, BLOCK * fmm_store_record(s),
                                                     "particles"));
#pragma omp for schedule(dynamic, 16)
        for (int64_t at = 0; at < s->count; at += BLOCK)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, write_block(a, s, order, at,
                                                      ps_smaller(s->count - at, BLOCK), records));
        free(records);
    }
    return ps_first_failure(&failure);
}

ps_status fmm_adaptive_spill(fmm_run *r, fmm_store *s)
{
    fmm_adaptive *a = r->adaptive;
    PS_SCOPED_MEMORY int64_t *order = NULL;
    PS_TRY(ps_alloc_buffer((void **)&order, 8 * s->count, "the order of particles"));
    for (int64_t i = 0; i < s->count; ++i) order[a->inverse[i]] = i;
    PS_TRY(write_all(a, s, order));
    PS_FREE(a->columns[0], a->inverse);
    a->columns[0] = NULL;
    a->inverse = NULL;
    ps_memory_trim();
    return PS_OK;
}

/* ---- bounds ---- */

static ps_status widen_by(fmm_source *source, int64_t first, int64_t count, double *room,
                          double lower[3], double upper[3])
{
    double *const columns[3] = {room, room + count, room + 2 * count};
    PS_TRY(fmm_source_read(source, PS_OCTREE_SOURCES, first, count, columns, 3, NULL));
    for (int d = 0; d < 3; ++d)
        for (int64_t i = 0; i < count; ++i) {
            lower[d] = fmin(lower[d], columns[d][i]);
            upper[d] = fmax(upper[d], columns[d][i]);
        }
    return PS_OK;
}

static ps_status find_bounds(const fmm_problem *p, double lower[3], double upper[3])
{
    int64_t all = p->header->count[0];
    PS_SCOPED(fmm_source_release) fmm_source source = {0};
    PS_SCOPED_MEMORY double *room = NULL;
    for (int d = 0; d < 3; ++d) {
        lower[d] = INFINITY;
        upper[d] = -INFINITY;
    }
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * 3 * BLOCK, "particles"));
    fmm_source_init(&source, p);
    for (int64_t at = 0; at < all; at += BLOCK)
        PS_TRY(widen_by(&source, at, ps_smaller(all - at, BLOCK), room, lower, upper));
    return PS_OK;
}

/* ---- runs ---- */

/* A record: the upper and the lower levels of a key, then as in the store. */
typedef struct run_set {
    const fmm_problem *problem;
    ps_octree_box box;
    int file, columns;
    int64_t capacity, runs, words; /* particles of a run; words of a record */
    double *made;                  /* [columns][capacity] */
    uint64_t *keys, *workspace;
    int64_t *order;
} run_set;

static int64_t run_bytes(const run_set *s, int64_t particles)
{
    return 8 * (particles * (s->columns + 2) + ps_adaptive_sort_workspace(particles));
}

static void free_run(run_set *s)
{
    PS_FREE(s->made, s->keys, s->order, s->workspace);
    s->made = NULL;
    s->keys = s->workspace = NULL;
    s->order = NULL;
    ps_memory_trim();
}

static ps_status open_run(run_set *s)
{
    int64_t n = s->capacity;
    PS_TRY(ps_alloc_buffer((void **)&s->made, 8 * n * s->columns, "a run of particles"));
    PS_TRY(ps_alloc_buffer((void **)&s->keys, 8 * n, "a run of particles"));
    PS_TRY(ps_alloc_buffer((void **)&s->order, 8 * n, "a run of particles"));
    return ps_alloc_buffer((void **)&s->workspace, 8 * ps_adaptive_sort_workspace(n),
                           "a run of particles");
}

static ps_status write_records(const run_set *s, const ps_adaptive_set *set, int64_t base,
                               int64_t first, int64_t count, uint64_t *records)
{
    for (int64_t i = 0; i < count; ++i) {
        uint64_t *to = records + i * s->words;
        int64_t from = set->order[first + i], place = base + from;
        to[0] = set->keys[first + i];
        to[1] = ps_adaptive_low_key(&s->box, &set->points, from);
        for (int c = 0; c < s->columns; ++c)
            memcpy(&to[KEYS + c], &s->made[c * s->capacity + from], 8);
        memcpy(&to[KEYS + s->columns], &place, 8);
    }
    return ps_scratch_write(s->file, records, 8 * count * s->words, 8 * (base + first) * s->words);
}

static ps_status write_run(const run_set *s, const ps_adaptive_set *set, int64_t base)
{
    ps_failure failure = {0};
#pragma omp parallel
    {
        uint64_t *records = NULL;
        ps_note_failure(&failure, ps_alloc_untouched((void **)&records, 8 * BLOCK * s->words,
                                                     "a run of particles"));
#pragma omp for schedule(dynamic, 1)
        for (int64_t at = 0; at < set->points.count; at += BLOCK)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure,
                                write_records(s, set, base, at,
                                              ps_smaller(set->points.count - at, BLOCK), records));
        free(records);
    }
    return ps_first_failure(&failure);
}

static ps_status make_run(run_set *s, fmm_source *source, int64_t run)
{
    int64_t base = run * s->capacity, n = s->capacity,
            count = ps_smaller(s->problem->header->count[0] - base, n);
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    for (int c = 0; c < s->columns; ++c) columns[c] = s->made + c * n;
    PS_TRY(fmm_source_read(source, PS_OCTREE_SOURCES, base, count, columns, s->columns, NULL));
    ps_adaptive_set set = {
        .points = {count, columns[0], columns[1], columns[2]}, .keys = s->keys, .order = s->order};
    ps_adaptive_sort(&s->box, s->workspace, &set);
    return write_run(s, &set, base);
}

static ps_status make_runs(run_set *s)
{
    fmm_source source;
    ps_status status = open_run(s);
    fmm_source_init(&source, s->problem);
    for (int64_t run = 0; run < s->runs && status == PS_OK; ++run)
        status = make_run(s, &source, run);
    fmm_source_release(&source);
    free_run(s);
    return status;
}

/* ---- merging ---- */

/* The next records of a run. */
typedef struct cursor {
    uint64_t *records;
    int64_t at, some; /* in memory */
    int64_t next, end;
} cursor;

typedef struct merge {
    const run_set *set;
    cursor *runs;
    int32_t *heap; /* of runs, the one with the least key first */
    int64_t size;
} merge;

static ps_status refill(const run_set *s, cursor *c)
{
    c->at = 0;
    c->some = ps_smaller(c->end - c->next, AHEAD);
    if (c->some == 0) return PS_OK;
    PS_TRY(ps_scratch_read(s->file, c->records, 8 * c->some * s->words, 8 * c->next * s->words));
    c->next += c->some;
    return PS_OK;
}

static const uint64_t *front(const merge *m, int32_t run)
{
    return m->runs[run].records + m->runs[run].at * m->set->words;
}

/* Of equal keys the run that is earlier in the file. */
static bool is_before(const merge *m, int32_t a, int32_t b)
{
    const uint64_t *x = front(m, a), *y = front(m, b);
    if (x[0] != y[0]) return x[0] < y[0];
    if (x[1] != y[1]) return x[1] < y[1];
    return a < b;
}

static void sink_down(merge *m, int64_t at)
{
    for (;;) {
        int64_t least = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->size; ++child)
            if (is_before(m, m->heap[child], m->heap[least])) least = child;
        if (least == at) return;
        int32_t run = m->heap[at];
        m->heap[at] = m->heap[least];
        m->heap[least] = run;
        at = least;
    }
}

static ps_status open_merge(const run_set *s, merge *m)
{
    int64_t all = s->problem->header->count[0];
    m->set = s;
    PS_TRY(PS_ALLOC(&m->runs, s->runs, "runs"));
    PS_TRY(PS_ALLOC(&m->heap, s->runs, "runs"));
    for (int64_t i = 0; i < s->runs; ++i) {
        cursor *c = &m->runs[i];
        c->next = i * s->capacity;
        c->end = ps_smaller(all, c->next + s->capacity);
        PS_TRY(ps_alloc_untouched((void **)&c->records, 8 * AHEAD * s->words, "runs"));
        PS_TRY(refill(s, c));
        if (c->some > 0) m->heap[m->size++] = (int32_t)i;
    }
    for (int64_t i = m->size; i-- > 0;) sink_down(m, i);
    return PS_OK;
}

static void close_merge(merge *m)
{
    for (int64_t i = 0; m->runs && i < m->set->runs; ++i) free(m->runs[i].records);
    PS_FREE(m->runs, m->heap);
}

/* The least record, which is then gone. */
static ps_status take_least(merge *m, uint64_t *record)
{
    cursor *c = &m->runs[m->heap[0]];
    memcpy(record, front(m, m->heap[0]), 8 * (size_t)m->set->words);
    if (++c->at == c->some) PS_TRY(refill(m->set, c));
    if (c->some == 0) m->heap[0] = m->heap[--m->size];
    sink_down(m, 0);
    return PS_OK;
}

/* Keys of sorted particle i, those below of it and the one before where they share the upper ones.
 */
static ps_status keep_key(ps_adaptive_set *set, int64_t i, const uint64_t *record, uint64_t *low)
{
    set->keys[i] = record[0];
    if (i > 0 && set->keys[i - 1] == record[0]) {
        if (!set->low) PS_TRY(ps_alloc_buffer((void **)&set->low, 8 * set->points.count, "keys"));
        set->low[i - 1] = *low;
        set->low[i] = record[1];
    }
    *low = record[1];
    return PS_OK;
}

static ps_status merge_runs(merge *m, ps_adaptive_set *set, fmm_store *store)
{
    int64_t words = store->columns + 1;
    PS_SCOPED_MEMORY double *records = NULL;
    PS_SCOPED_MEMORY uint64_t *record = NULL;
    uint64_t low = 0;
    PS_TRY(PS_ALLOC(&record, m->set->words, "runs"));
    PS_TRY(ps_alloc_untouched((void **)&records, BLOCK * fmm_store_record(store), "runs"));
    for (int64_t at = 0; at < store->count; at += BLOCK) {
        int64_t some = ps_smaller(store->count - at, BLOCK);
        for (int64_t i = 0; i < some; ++i) {
            PS_TRY(take_least(m, record));
            PS_TRY(keep_key(set, at + i, record, &low));
            memcpy(records + i * words, record + KEYS, 8 * (size_t)words);
        }
        PS_TRY(fmm_store_put(store, at, some, records));
    }
    return PS_OK;
}

/* ---- all ---- */

/* As many particles as memory sorts at a time; keys of all must fit when runs are merged. */
static ps_status size_runs(const fmm_run *r, run_set *s)
{
    enum { FEWEST = 1 << 12 };
    int64_t all = r->problem.header->count[0], now = ps_memory_resident();
    int64_t left = r->run->host_memory - now - SLACK - fmm_source_bytes(&r->problem) -
                   r->run->threads * 8 * BLOCK * s->words;
    s->capacity = ps_smaller(all, left > 0 ? left / (run_bytes(s, FEWEST) / FEWEST + 1) : 0);
    s->runs = s->capacity ? (all + s->capacity - 1) / s->capacity : RUNS + 1;
    int64_t merging = now + SLACK + 8 * all + s->runs * 8 * AHEAD * s->words;
    if (s->runs <= RUNS && merging <= r->run->host_memory &&
        (s->capacity >= FEWEST || s->runs == 1))
        return PS_OK;
    int64_t least = now + SLACK + 8 * all + fmm_source_bytes(&r->problem) + run_bytes(s, FEWEST);
    return ps_fail(PS_EXHAUSTED,
                   "the keys of all particles are in memory while an adaptive tree is made: at "
                   "least %.1f MB are needed, --host-memory is %.1f MB",
                   1e-6 * (double)least, 1e-6 * (double)r->run->host_memory);
}

/* Sorted runs, the records that they become, and results: asked before any of them is made. */
static ps_status check_disk(const fmm_run *r, const run_set *s, const fmm_store *store)
{
    ps_ledger ledger;
    ps_ledger_open(&ledger, r->run);
    ps_ledger_add(&ledger, PS_ROOM_DISK, "files",
                  store->count * (8 * s->words + fmm_store_record(store)) +
                      fmm_sink_bytes(store->count, &r->problem.sum));
    return ps_ledger_check(&ledger, r->run->host_memory, NULL);
}

static ps_status sort_to(fmm_run *r, run_set *s, fmm_store *store)
{
    PS_SCOPED(close_merge) merge m = {0};
    ps_adaptive_set *set = &r->adaptive->tree.sets[0];
    PS_TRY(size_runs(r, s));
    PS_TRY(check_disk(r, s, store));
    PS_TRY(ps_scratch_open(r->run->output, &s->file));
    PS_TRY(make_runs(s));
    set->points = (ps_tree_points){.count = store->count};
    PS_TRY(ps_alloc_buffer((void **)&set->keys, 8 * store->count, "keys"));
    PS_TRY(open_merge(s, &m));
    return merge_runs(&m, set, store);
}

ps_status fmm_adaptive_sort_out(fmm_run *r, fmm_store *store)
{
    fmm_adaptive *a = r->adaptive;
    double lower[3], upper[3];
    run_set runs = {.problem = &r->problem, .file = -1, .columns = store->columns};
    runs.words = KEYS + store->columns + 1;
    PS_TRY(find_bounds(&r->problem, lower, upper));
    PS_TRY(ps_adaptive_root(lower, upper, &a->tree.box, &a->tree.deepest));
    runs.box = a->tree.box;
    ps_status status = sort_to(r, &runs, store);
    if (runs.file >= 0) close(runs.file);
    ps_memory_trim();
    if (status == PS_OK) status = ps_adaptive_divide(&a->tree);
    PS_FREE(a->tree.sets[0].keys, a->tree.sets[0].low);
    a->tree.sets[0].keys = a->tree.sets[0].low = NULL;
    ps_memory_trim();
    return status;
}
