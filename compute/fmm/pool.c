/*
 * Pieces of data within a memory budget. Only the thread that inserts tasks touches the pool: it
 * runs ahead of the workers, so that reading hides behind their work. The piece used longest ago
 * leaves first; one that no task is to access any more, or that can be read again, leaves no trace,
 * others go to the scratch file.
 */
#include <stdlib.h>
#include <unistd.h>

#include "compute/fmm/fmm.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scratch_file.h"
#include "runtime/sizes.h"

typedef struct piece {
    int8_t what, level;
    int64_t group;
    int64_t bytes, uses; /* tasks yet to be inserted */
    void *memory;
    ps_task_data *data;
    int64_t place;        /* in the scratch file; -1: none */
    bool stored;          /* the scratch file holds it as it is */
    bool written;         /* by some task */
    int64_t stamp;        /* acquisition that met it last */
    int64_t older, newer; /* by last use, of those in memory; -1: none */
} piece;

struct fmm_pool {
    const fmm_problem *problem;
    fmm_source source;
    int64_t first[FMM_WHATS][PS_OCTREE_LEVELS_MAX]; /* number of the piece of group 0; -1: none */
    int64_t count;
    piece *pieces;
    ps_task_queue *queue;
    int64_t budget, used, oldest, newest, stamp, scratch_end, tasks_done;
    int scratch;
    const char *beside;
    char *slab; /* all pieces, if all fit; pinned if `device` */
    ps_device *device;
    fmm_pool_figures figures;
};

/* ---- sizes ---- */

static int64_t augmented_particles(const fmm_problem *p, int64_t group)
{
    const ps_group_list *list = &p->lists.augmented;
    int64_t count = 0;
    for (int64_t i = list->start[group]; i < list->start[group + 1]; ++i)
        count += p->trees[0].particle_start[list->items[i] + 1] -
                 p->trees[0].particle_start[list->items[i]];
    return count;
}

static int64_t bytes_of(const fmm_problem *p, fmm_what what, int level, int64_t group)
{
    const ps_octree *sources = p->fmm.sources, *targets = p->fmm.targets;
    int sides = p->fmm.sides;
    switch (what) {
    case FMM_SOURCES:
        return 8 * (3 + sides) * ps_octree_group_particles(sources, group);
    case FMM_TARGETS:
        return 8 * 3 * ps_octree_group_particles(targets, group);
    case FMM_PLACES:
        return 8 * ps_octree_group_particles(targets, group);
    case FMM_NEAR:
    case FMM_FAR:
        return 8 * 4 * sides * ps_octree_group_particles(targets, group);
    case FMM_COPIES:
        return 8 * 4 * sides * augmented_particles(p, group);
    case FMM_PACKED:
        return 8 * (3 + sides) * augmented_particles(p, group);
    case FMM_NEAR_LISTS:
        return fmm_near_layout_of(p, group).bytes;
    case FMM_FAR_LISTS:
        return fmm_far_layout_of(p, level, group).bytes;
    case FMM_UP_LISTS:
        return fmm_up_bytes(sources, level, group);
    case FMM_DOWN_LISTS:
        return fmm_down_bytes(targets, level, group);
    case FMM_SOURCE_LEAVES:
        return fmm_leaf_layout_of(sources, group).bytes;
    case FMM_TARGET_LEAVES:
        return fmm_leaf_layout_of(targets, group).bytes;
    case FMM_MULTIPOLES:
        return sides * ps_octree_group_cells(sources, level, group) * ps_fmm_vector_bytes(&p->fmm);
    case FMM_CODED:
        return sides * ps_octree_group_cells(sources, level, group) *
               ps_fmm_code_bytes(&p->fmm, level);
    case FMM_LOCALS:
        return sides * ps_octree_group_cells(targets, level, group) * ps_fmm_vector_bytes(&p->fmm);
    default:
        return 0;
    }
}

/* Groups of a kind on a level; 0 where there is no such piece. */
static int64_t groups_of(const fmm_problem *p, fmm_what what, int level)
{
    bool leveled = what == FMM_MULTIPOLES || what == FMM_CODED || what == FMM_LOCALS ||
                   what == FMM_FAR_LISTS || what == FMM_UP_LISTS || what == FMM_DOWN_LISTS;
    bool for_gpus = what >= FMM_PACKED && what <= FMM_TARGET_LEAVES;
    bool of_sources = what == FMM_SOURCES || what == FMM_MULTIPOLES || what == FMM_CODED ||
                      what == FMM_UP_LISTS || what == FMM_SOURCE_LEAVES;
    const ps_octree *tree = of_sources ? p->fmm.sources : p->fmm.targets;
    if (for_gpus && p->gpus == 0) return 0;
    if ((what == FMM_UP_LISTS && level == p->leaf) || (what == FMM_DOWN_LISTS && level == 2))
        return 0;
    if (leveled) return level >= 2 && level <= p->leaf ? ps_octree_groups(tree, level) : 0;
    if (level != 0 || ((what == FMM_TARGETS || what == FMM_TARGET_LEAVES) && p->same) ||
        ((what == FMM_COPIES || what == FMM_PACKED) && !p->mutual) || (what == FMM_FAR && !p->far))
        return 0;
    return ps_octree_groups(tree, p->leaf);
}

static void number_pieces(fmm_pool *pool)
{
    for (int what = 0; what < FMM_WHATS; ++what)
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) {
            int64_t groups = groups_of(pool->problem, (fmm_what)what, l);
            pool->first[what][l] = groups ? pool->count : -1;
            pool->count += groups;
        }
}

int64_t fmm_piece(const fmm_pool *pool, fmm_what what, int level, int64_t group)
{
    return pool->first[what][level] + group;
}

int64_t fmm_pool_bytes(const fmm_pool *pool, int64_t number) { return pool->pieces[number].bytes; }

int64_t fmm_pool_whole(const fmm_pool *pool)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < pool->count; ++i)
        if (pool->pieces[i].uses) bytes += pool->pieces[i].bytes;
    return bytes;
}

void fmm_pool_expect(fmm_pool *pool, int64_t number) { ++pool->pieces[number].uses; }

void fmm_pool_expect_none(fmm_pool *pool)
{
    for (int64_t i = 0; i < pool->count; ++i) pool->pieces[i].uses = 0;
}

ps_status fmm_pool_open(const fmm_problem *p, fmm_pool **out)
{
    PS_TRY(PS_ALLOC(out, 1, "pieces of data"));
    fmm_pool *pool = *out;
    pool->problem = p;
    pool->scratch = -1;
    pool->oldest = pool->newest = -1;
    fmm_source_init(&pool->source, p);
    number_pieces(pool);
    PS_TRY(PS_ALLOC(&pool->pieces, pool->count, "pieces of data"));
    for (int what = 0; what < FMM_WHATS; ++what)
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            for (int64_t g = 0; g < groups_of(p, (fmm_what)what, l); ++g)
                pool->pieces[pool->first[what][l] + g] =
                    (piece){.what = (int8_t)what,
                            .level = (int8_t)l,
                            .group = g,
                            .bytes = bytes_of(p, (fmm_what)what, l, g),
                            .place = -1,
                            .older = -1,
                            .newer = -1};
    return PS_OK;
}

void fmm_pool_empty(fmm_pool *pool)
{
    for (int64_t i = 0; pool->pieces && i < pool->count; ++i) {
        if (!pool->slab) free(pool->pieces[i].memory);
        pool->pieces[i].memory = NULL;
    }
    if (pool->device)
        ps_device_free_pinned(pool->device, pool->slab);
    else
        free(pool->slab);
    pool->slab = NULL;
    pool->device = NULL;
    fmm_source_release(&pool->source);
}

void fmm_pool_close(fmm_pool **out)
{
    fmm_pool *pool = *out;
    if (!pool) return;
    fmm_pool_empty(pool);
    free(pool->pieces);
    if (pool->scratch >= 0) close(pool->scratch);
    free(pool);
    *out = NULL;
}

fmm_pool_figures fmm_pool_measure(const fmm_pool *pool) { return pool->figures; }

const double *fmm_pool_sources(const fmm_pool *pool, int64_t group)
{
    return pool->slab ? pool->pieces[fmm_piece(pool, FMM_SOURCES, 0, group)].memory : NULL;
}

/* ---- by last use ---- */

static void unlink_piece(fmm_pool *pool, int64_t number)
{
    piece *q = &pool->pieces[number];
    *(q->older >= 0 ? &pool->pieces[q->older].newer : &pool->oldest) = q->newer;
    *(q->newer >= 0 ? &pool->pieces[q->newer].older : &pool->newest) = q->older;
    q->older = q->newer = -1;
}

static void link_newest(fmm_pool *pool, int64_t number)
{
    piece *q = &pool->pieces[number];
    q->older = pool->newest;
    q->newer = -1;
    *(pool->newest >= 0 ? &pool->pieces[pool->newest].newer : &pool->oldest) = number;
    pool->newest = number;
}

/* ---- out of memory ---- */

/* What comes from the octree is had again from there. */
static bool is_read_again(const piece *q) { return q->what < FMM_NEAR; }

static ps_status store_piece(fmm_pool *pool, piece *q)
{
    if (pool->scratch < 0) PS_TRY(ps_scratch_open(pool->beside, &pool->scratch));
    if (q->place < 0) {
        q->place = pool->scratch_end;
        pool->scratch_end += q->bytes;
    }
    PS_TRY(ps_scratch_write(pool->scratch, q->memory, q->bytes, q->place));
    q->stored = true;
    pool->figures.written_bytes += q->bytes;
    return PS_OK;
}

/* Lets a piece go if no task is under way with it. */
static ps_status evict(fmm_pool *pool, int64_t number, bool *gone)
{
    piece *q = &pool->pieces[number];
    bool keep = q->uses > 0 && q->written && !q->stored && !is_read_again(q);
    *gone = false;
    if (keep && ps_task_data_fetch(pool->queue, q->data) != PS_OK) return PS_OK;
    if (ps_task_data_release(pool->queue, &q->data) != PS_OK) return PS_OK;
    *gone = true;
    if (keep) PS_TRY(store_piece(pool, q));
    free(q->memory);
    q->memory = NULL;
    unlink_piece(pool, number);
    pool->used -= q->bytes;
    ++pool->figures.evictions;
    return PS_OK;
}

/* Evicts what is necessary for `bytes` more, as far as tasks under way allow. */
static ps_status evict_some(fmm_pool *pool, int64_t bytes)
{
    for (int64_t at = pool->oldest; at >= 0 && pool->used + bytes > pool->budget;) {
        int64_t next = pool->pieces[at].newer;
        bool gone;
        if (pool->pieces[at].stamp != pool->stamp) PS_TRY(evict(pool, at, &gone));
        at = next;
    }
    return PS_OK;
}

static ps_status make_room(fmm_pool *pool, int64_t bytes)
{
    while (pool->used + bytes > pool->budget) {
        double start = ps_clock();
        int64_t done = pool->tasks_done;
        PS_TRY(evict_some(pool, bytes));
        pool->figures.move_seconds += ps_clock() - start;
        if (pool->used + bytes <= pool->budget) break;
        start = ps_clock();
        PS_TRY(ps_task_queue_progress(pool->queue, &pool->tasks_done));
        pool->figures.wait_seconds += ps_clock() - start;
        if (pool->tasks_done == done && pool->tasks_done == ps_task_queue_count(pool->queue)) {
            PS_TRY(evict_some(pool, bytes));
            if (pool->used + bytes > pool->budget)
                return ps_fail(PS_EXHAUSTED, "--host-memory does not suffice for a task");
        }
    }
    return PS_OK;
}

/* ---- into memory ---- */

static ps_status load_particles(const fmm_problem *p, fmm_source *source, fmm_what what,
                                int64_t group, void *memory)
{
    const ps_octree *tree = what == FMM_SOURCES ? p->fmm.sources : p->fmm.targets;
    ps_octree_side side = what == FMM_SOURCES || p->same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS;
    int64_t first, end;
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    ps_octree_group(tree, p->leaf, group, &first, &end);
    int64_t begin = tree->particle_start[first], count = tree->particle_start[end] - begin;
    if (what == FMM_PLACES) return fmm_source_read(source, side, begin, count, NULL, 0, memory);
    int column_count = what == FMM_SOURCES ? 3 + p->fmm.sides : 3;
    for (int c = 0; c < column_count; ++c) columns[c] = (double *)memory + c * count;
    return fmm_source_read(source, side, begin, count, columns, column_count, NULL);
}

/* Particles of the augmented leaves of a group, one after the other. */
static ps_status load_packed(const fmm_problem *p, fmm_source *source, int64_t group,
                             double *memory)
{
    const ps_group_list *list = &p->lists.augmented;
    int64_t all = augmented_particles(p, group), at = 0;
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    for (int64_t i = list->start[group]; i < list->start[group + 1]; ++i) {
        int64_t begin = p->trees[0].particle_start[list->items[i]],
                count = p->trees[0].particle_start[list->items[i] + 1] - begin;
        for (int c = 0; c < 3 + p->fmm.sides; ++c) columns[c] = memory + c * all + at;
        PS_TRY(fmm_source_read(source, PS_OCTREE_SOURCES, begin, count, columns, 3 + p->fmm.sides,
                               NULL));
        at += count;
    }
    return PS_OK;
}

/* What comes from the octree. Thread-safe for different sources. */
static ps_status load(const fmm_problem *p, fmm_source *source, piece *q)
{
    switch (q->what) {
    case FMM_PACKED:
        return load_packed(p, source, q->group, q->memory);
    case FMM_NEAR_LISTS:
        fmm_near_lists(p, q->group, q->memory);
        return PS_OK;
    case FMM_FAR_LISTS:
        fmm_far_lists(p, q->level, q->group, q->memory);
        return PS_OK;
    case FMM_UP_LISTS:
        fmm_up_lists(p, q->level, q->group, q->memory);
        return PS_OK;
    case FMM_DOWN_LISTS:
        fmm_down_lists(p, q->level, q->group, q->memory);
        return PS_OK;
    case FMM_SOURCE_LEAVES:
        fmm_leaf_lists(p->fmm.sources, q->group, q->memory);
        return PS_OK;
    case FMM_TARGET_LEAVES:
        fmm_leaf_lists(p->fmm.targets, q->group, q->memory);
        return PS_OK;
    default:
        return load_particles(p, source, (fmm_what)q->what, q->group, q->memory);
    }
}

static ps_status fill(fmm_pool *pool, piece *q)
{
    pool->figures.read_bytes += q->bytes;
    if (is_read_again(q)) return load(pool->problem, &pool->source, q);
    if (!q->stored) return ps_fail(PS_FAILED, "a piece of data is read before it was written");
    return ps_scratch_read(pool->scratch, q->memory, q->bytes, q->place);
}

static ps_status bring(fmm_pool *pool, int64_t number, ps_access_mode mode)
{
    piece *q = &pool->pieces[number];
    PS_TRY(make_room(pool, q->bytes));
    q->memory = ps_alloc_pages((size_t)(q->bytes > 0 ? q->bytes : 64));
    if (!q->memory)
        return ps_fail(PS_EXHAUSTED, "no memory for %lld bytes of data", (long long)q->bytes);
    link_newest(pool, number);
    pool->used += q->bytes;
    if (pool->used > pool->figures.peak_bytes) pool->figures.peak_bytes = pool->used;
    double start = ps_clock();
    if (mode & PS_READ) PS_TRY(fill(pool, q));
    pool->figures.move_seconds += ps_clock() - start;
    return ps_task_data_register(pool->queue, q->memory, q->bytes, &q->data);
}

ps_status fmm_pool_acquire(fmm_pool *pool, const int64_t *numbers, const ps_access_mode *modes,
                           int count, ps_task_access *out)
{
    ++pool->stamp;
    for (int i = 0; i < count; ++i) pool->pieces[numbers[i]].stamp = pool->stamp;
    for (int i = 0; i < count; ++i) {
        piece *q = &pool->pieces[numbers[i]];
        if (q->memory) {
            unlink_piece(pool, numbers[i]);
            link_newest(pool, numbers[i]);
        } else {
            PS_TRY(bring(pool, numbers[i], modes[i]));
        }
        --q->uses;
        if (modes[i] & PS_WRITE) {
            q->written = true;
            q->stored = false;
        }
        out[i] = (ps_task_access){q->data, modes[i]};
    }
    return PS_OK;
}

ps_status fmm_pool_settle(fmm_pool *pool, int64_t number, void **memory)
{
    int64_t done = -1;
    piece *q = &pool->pieces[number];
    while (ps_task_data_fetch(pool->queue, q->data) != PS_OK) {
        int64_t before = done;
        PS_TRY(ps_task_queue_progress(pool->queue, &done));
        if (done == before)
            return ps_fail(PS_FAILED, "a piece of data is not ready though all tasks are done");
    }
    *memory = q->memory;
    return PS_OK;
}

ps_status fmm_pool_start(fmm_pool *pool, ps_task_queue *queue, int64_t budget, const char *beside)
{
    pool->queue = queue;
    pool->budget = budget;
    pool->beside = beside;
    for (int64_t i = 0; i < pool->count && pool->slab; ++i) {
        piece *q = &pool->pieces[i];
        if (!q->memory) continue;
        link_newest(pool, i);
        pool->used += q->bytes;
        PS_TRY(ps_task_data_register(queue, q->memory, q->bytes, &q->data));
    }
    pool->figures.peak_bytes = pool->used;
    return PS_OK;
}

/* ---- all at once ---- */

/* Pages of what tasks will write are there before they begin. */
static void touch(piece *q)
{
    for (int64_t i = 0; i < q->bytes; i += 4096) ((char *)q->memory)[i] = 0;
}

static ps_status load_all(fmm_pool *pool)
{
    ps_failure failure = {0};
    int64_t bytes = 0, some = pool->count / (32 * ps_processor_count()) + 1;
#pragma omp parallel reduction(+ : bytes)
    {
        fmm_source source;
        fmm_source_init(&source, pool->problem);
#pragma omp for schedule(dynamic, some)
        for (int64_t i = 0; i < pool->count; ++i) {
            piece *q = &pool->pieces[i];
            if (!q->memory || ps_has_failed(&failure)) continue;
            if (is_read_again(q))
                ps_note_failure(&failure, load(pool->problem, &source, q));
            else
                touch(q);
            bytes += is_read_again(q) ? q->bytes : 0;
        }
        fmm_source_release(&source);
    }
    pool->figures.read_bytes += bytes;
    return ps_first_failure(&failure);
}

ps_status fmm_pool_load(fmm_pool *pool, ps_device *device)
{
    int64_t bytes = 0;
    double start = ps_clock();
    for (int64_t i = 0; i < pool->count; ++i)
        if (pool->pieces[i].uses) bytes += ps_device_padded(pool->pieces[i].bytes);
    pool->device = device;
    if (device)
        PS_TRY(ps_device_alloc_pinned(device, bytes + 256, (void **)&pool->slab));
    else
        pool->slab = ps_alloc_pages((size_t)bytes + 256);
    if (!pool->slab)
        return ps_fail(PS_EXHAUSTED, "no memory for %lld bytes of data", (long long)bytes);
    char *at = pool->slab;
    for (int64_t i = 0; i < pool->count; ++i) {
        if (!pool->pieces[i].uses) continue;
        pool->pieces[i].memory = at;
        at += ps_device_padded(pool->pieces[i].bytes);
    }
    PS_TRY(load_all(pool));
    ps_memory_trim(); /* tiles that were read */
    pool->figures.load_seconds = ps_clock() - start;
    return PS_OK;
}
