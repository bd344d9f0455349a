/* runs: particles sorted by leaf, as many at a time as memory holds. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "kernels/fmm/tree.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"
#include "runtime/search.h"

enum { BLOCK = 1 << 14 };

int64_t runs_writer_bytes(const run_set *set) { return (int64_t)BLOCK * 8 * set->record_words; }

/* Records of the run in memory: by its order. */
static void make_records(const run_set *set, int64_t first, int64_t count, int64_t base,
                         uint64_t *records)
{
    for (int64_t i = 0; i < count; ++i) {
        uint64_t *r = records + i * set->record_words;
        int64_t from = set->order[first + i];
        r[0] = set->keys[first + i];
        r[1] = (uint64_t)(base + from);
        for (int c = 0; c < set->columns; ++c) memcpy(&r[2 + c], &set->column[c][from], 8);
    }
}

static ps_status write_run(const run_set *set, int64_t count, int64_t base)
{
    ps_failure failure = {0};
    int64_t record_bytes = 8 * set->record_words;
#pragma omp parallel
    {
        uint64_t *records;
        ps_note_failure(&failure, ps_alloc_untouched((void **)&records, BLOCK * record_bytes,
                                                     "records of particles"));
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < count; first += BLOCK) {
            if (ps_has_failed(&failure)) continue;
            int64_t here = count - first < BLOCK ? count - first : BLOCK;
            make_records(set, first, here, base, records);
            ps_note_failure(&failure, ps_scratch_write(set->file, records, here * record_bytes,
                                                       (base + first) * record_bytes));
        }
        free(records);
    }
    return ps_first_failure(&failure);
}

/* ---- leaves ---- */

static ps_status leaf_list_init(leaf_list *list, int64_t count)
{
    list->count = count;
    PS_TRY(ps_alloc_untouched((void **)&list->keys, 8 * count, "keys of leaves"));
    return ps_alloc_untouched((void **)&list->sizes, 8 * count, "sizes of leaves");
}

void leaf_list_release(leaf_list *list)
{
    free(list->keys);
    free(list->sizes);
    memset(list, 0, sizeof *list);
}

/* Both lists in one; returns its length. out NULL: only that. */
static int64_t merge(const leaf_list *a, const leaf_list *b, leaf_list *out)
{
    int64_t i = 0, j = 0, n = 0;
    for (; i < a->count || j < b->count; ++n) {
        bool first = j == b->count || (i < a->count && a->keys[i] <= b->keys[j]);
        bool second = i == a->count || (j < b->count && b->keys[j] <= a->keys[i]);
        if (out) {
            out->keys[n] = first ? a->keys[i] : b->keys[j];
            out->sizes[n] = (first ? a->sizes[i] : 0) + (second ? b->sizes[j] : 0);
        }
        i += first;
        j += second;
    }
    return n;
}

/* Adds the leaves of the run in memory; its workspace takes them for the moment. */
static ps_status add_leaves(run_set *set, int64_t count)
{
    uint64_t *keys = set->workspace;
    int64_t *starts = (int64_t *)(set->workspace + count);
    leaf_list run = {ps_tree_runs(set->keys, count, 0, keys, starts), keys, starts}, all = {0};
    for (int64_t l = 0; l < run.count; ++l) starts[l] = starts[l + 1] - starts[l];
    ps_status status = leaf_list_init(&all, merge(&set->leaves, &run, NULL));
    if (status != PS_OK) {
        leaf_list_release(&all);
        return status;
    }
    merge(&set->leaves, &run, &all);
    leaf_list_release(&set->leaves);
    set->leaves = all;
    return PS_OK;
}

/* ---- runs ---- */

/* Particles are taken from all over a run: small pages would cost more than they. */
static ps_status take_pages(ps_ledger *ledger, void **out, int64_t bytes, const char *line)
{
    const int64_t page = 2 << 20; /* whole ones, where there are some */
    int64_t whole = bytes < 2 * page ? bytes : (bytes + page - 1) / page * page;
    if (ledger) {
        ps_ledger_add(ledger, PS_ROOM_HOST, line, whole);
        return PS_OK;
    }
    *out = ps_alloc_pages((size_t)whole);
    return *out ? PS_OK
                : ps_fail(PS_EXHAUSTED,
                          "no memory for a run of particles (%.1f MB); --host-memory "
                          "sets what may be used",
                          (double)bytes / 1e6);
}

ps_status runs_allocate(run_set *set, ps_ledger *ledger, const char *kept)
{
    static const char sorting[] = "sorting";
    int64_t n = set->capacity,
            strides = set->runs > 1 ? set->particles / RUN_STRIDE + set->runs + 1 : 0;
    const char *run = set->runs > 1 ? sorting : kept;
    PS_TRY(take_pages(ledger, (void **)&set->memory, 8 * n * set->columns, run));
    for (int c = 0; c < set->columns; ++c) set->column[c] = set->memory + n * c;
    PS_TRY(take_pages(ledger, (void **)&set->keys, 8 * n, run));
    PS_TRY(take_pages(ledger, (void **)&set->order, 8 * n, run));
    /* one word more for the last start of add_leaves */
    PS_TRY(take_pages(ledger, (void **)&set->workspace,
                      8 * (ps_tree_sort_workspace(n, set->level) + 1), sorting));
    PS_TRY(PS_LEDGER_TAKE(ledger, &set->first, set->runs + 1, kept));
    PS_TRY(PS_LEDGER_TAKE(ledger, &set->index_first, set->runs + 1, kept));
    return PS_LEDGER_TAKE(ledger, &set->index, strides, kept);
}

static void add_index(run_set *set, int64_t run, int64_t count)
{
    int64_t at = set->index_first[run];
    for (int64_t i = 0; i < count; i += RUN_STRIDE) set->index[at++] = set->keys[i];
    set->index_first[run + 1] = at;
}

static ps_status make_run(ps_particle_file *file, const ps_octree_box *box, int64_t run,
                          run_set *set)
{
    int64_t base = run * set->capacity, left = set->particles - base;
    int64_t count = left < set->capacity ? left : set->capacity;
    PS_TRY(ps_particles_read(file, base, count, set->column, set->columns));
    ps_tree_points points = {count, set->column[0], set->column[1], set->column[2]};
    set->outside += ps_tree_sort(box, set->level, &points, set->workspace, set->keys, set->order);
    set->first[run + 1] = base + count;
    PS_TRY(add_leaves(set, count));
    if (set->runs == 1) return PS_OK;
    add_index(set, run, count);
    return write_run(set, count, base);
}

/* What only the making of runs needs. */
static void release_workspace(run_set *set)
{
    free(set->workspace);
    set->workspace = NULL;
    if (set->runs == 1) return;
    PS_FREE(set->memory, set->keys, set->order);
    set->memory = NULL;
    set->keys = NULL;
    set->order = NULL;
}

ps_status runs_make(ps_particle_file *file, const ps_octree_box *box, const char *beside,
                    run_set *out)
{
    out->file = -1;
    if (out->runs > 1) PS_TRY(ps_scratch_open(beside, &out->file));
    PS_TRY(runs_allocate(out, NULL, "runs"));
    for (int64_t r = 0; r < out->runs; ++r) PS_TRY(make_run(file, box, r, out));
    release_workspace(out);
    return PS_OK;
}

void runs_release(run_set *set)
{
    release_workspace(set);
    PS_FREE(set->memory, set->keys, set->order, set->first, set->index, set->index_first);
    leaf_list_release(&set->leaves);
    if (set->file >= 0) close(set->file);
    memset(set, 0, sizeof *set);
    set->file = -1;
}

/* Items of keys[count], ascending and `stride` words apart, below `key`. */
static int64_t lower_bound(const uint64_t *keys, int64_t count, int64_t stride, uint64_t key)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, count, at, keys[at * stride] < key);
    return low;
}

ps_status runs_below(const run_set *set, int64_t run, uint64_t key, int64_t *count)
{
    int64_t size = set->first[run + 1] - set->first[run];
    *count = 0;
    if (set->runs == 1) {
        *count = lower_bound(set->keys, size, 1, key);
        return PS_OK;
    }
    const uint64_t *index = set->index + set->index_first[run];
    int64_t strides = set->index_first[run + 1] - set->index_first[run];
    int64_t before = lower_bound(index, strides, 1, key);
    if (before == 0) return PS_OK;
    /* The record searched for lies after that of index before - 1, up to that of index before. */
    int64_t from = (before - 1) * RUN_STRIDE;
    int64_t here = size - from < RUN_STRIDE ? size - from : RUN_STRIDE;
    PS_SCOPED_MEMORY uint64_t *records = NULL;
    PS_TRY(PS_ALLOC(&records, here * set->record_words, "records of particles"));
    PS_TRY(runs_fetch(set, run, from, here, records));
    *count = from + lower_bound(records, here, set->record_words, key);
    return PS_OK;
}

ps_status runs_fetch(const run_set *set, int64_t run, int64_t first, int64_t count,
                     uint64_t *records)
{
    int64_t record_bytes = 8 * set->record_words;
    if (set->runs > 1)
        return ps_scratch_read(set->file, records, count * record_bytes,
                               (set->first[run] + first) * record_bytes);
    make_records(set, first, count, 0, records);
    return PS_OK;
}
