/* tiles: sorted particles, from the runs into the chunks of the file. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernels/common/counter_random.h"
#include "kernels/common/word_sort.h"
#include "kernels/fmm/tree.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

typedef struct tile_job {
    const run_set *set;
    const ps_octree *tree;
    ps_octree_file *file;
    ps_octree_side side;
    const int64_t *start;
    int64_t tiles, capacity;
    ps_journal *journal;
    uint8_t *kept; /* [tiles] 1: the journal held it */
    int64_t coincident;
    uint64_t places; /* sum of the mixed places of all particles: each is there once */
} tile_job;

/* A record of the journal: this head, the columns, the places. */
typedef struct kept_tile {
    int64_t side, tile, count, coincident;
} kept_tile;
enum { HEAD_WORDS = sizeof(kept_tile) / 8 };

/* What a thread needs for a tile of `capacity` particles. */
typedef struct tile_space {
    uint64_t *records; /* [capacity][record_words]; free once they are in their leaves */
    double *column[PS_PARTICLE_COLUMNS_MAX];
    int64_t *permutation, *cursor;
    int64_t *begin, *end; /* [runs] records of each run */
} tile_space;

int64_t tile_words(const run_set *set, int64_t capacity)
{
    return capacity * (set->record_words + set->columns + 2) + 1 + 2 * set->runs + HEAD_WORDS;
}

static ps_status space_init(const tile_job *job, tile_space *s)
{
    const run_set *set = job->set;
    int64_t n = job->capacity;
    memset(s, 0, sizeof *s);
    PS_TRY(ps_alloc_untouched((void **)&s->records, 8 * tile_words(set, n), "a tile of particles"));
    s->column[0] = (double *)(s->records + n * set->record_words + HEAD_WORDS);
    for (int c = 1; c < set->columns; ++c) s->column[c] = s->column[c - 1] + n;
    s->permutation = (int64_t *)(s->column[0] + n * set->columns);
    s->cursor = s->permutation + n;
    s->begin = s->cursor + n + 1;
    s->end = s->begin + set->runs;
    return PS_OK;
}

/* The leaf of a sorted particle. */
static int64_t leaf_of(const ps_octree *tree, int64_t particle)
{
    return ps_range_of(tree->particle_start, ps_octree_leaves(tree), particle);
}

/* How many records of each run come before a sorted particle: leaves before its own, and of its own
 * leaf the first ones, run after run. */
static ps_status locate(const tile_job *job, int64_t particle, int64_t *place)
{
    const run_set *set = job->set;
    const ps_octree *tree = job->tree;
    if (particle == tree->particles) {
        for (int64_t r = 0; r < set->runs; ++r) place[r] = set->first[r + 1] - set->first[r];
        return PS_OK;
    }
    int64_t leaf = leaf_of(tree, particle), within = particle - tree->particle_start[leaf];
    uint64_t key = tree->keys[tree->height - 1][leaf];
    for (int64_t r = 0; r < set->runs; ++r) {
        int64_t after = 0;
        PS_TRY(runs_below(set, r, key, &place[r]));
        if (within == 0) continue;
        PS_TRY(runs_below(set, r, key + 1, &after));
        int64_t take = after - place[r] < within ? after - place[r] : within;
        place[r] += take;
        within -= take;
    }
    return PS_OK;
}

/* Puts the records of a run into their leaves, behind those of the runs before. */
static void distribute(const tile_job *job, int64_t first_leaf, int64_t count, tile_space *s)
{
    const uint64_t *keys = job->tree->keys[job->tree->height - 1];
    int64_t leaf = first_leaf;
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t *r = s->records + i * job->set->record_words;
        while (keys[leaf] < r[0]) ++leaf;
        int64_t to = s->cursor[leaf - first_leaf]++;
        s->permutation[to] = (int64_t)r[1];
        for (int c = 0; c < job->set->columns; ++c) memcpy(&s->column[c][to], &r[2 + c], 8);
    }
}

static ps_status fill_tile(const tile_job *job, int64_t tile, tile_space *s)
{
    const ps_octree *tree = job->tree;
    int64_t first = job->start[tile], end = job->start[tile + 1];
    int64_t first_leaf = leaf_of(tree, first), last_leaf = leaf_of(tree, end - 1);
    PS_TRY(locate(job, first, s->begin));
    PS_TRY(locate(job, end, s->end));
    for (int64_t l = first_leaf; l <= last_leaf; ++l) {
        int64_t from = tree->particle_start[l];
        s->cursor[l - first_leaf] = (from > first ? from : first) - first;
    }
    for (int64_t r = 0; r < job->set->runs; ++r) {
        int64_t count = s->end[r] - s->begin[r];
        if (count == 0) continue;
        PS_TRY(runs_fetch(job->set, r, s->begin[r], count, s->records));
        distribute(job, first_leaf, count, s);
    }
    return PS_OK;
}

/* ---- coincident particles ---- */

enum { FEW = 512 };

/* Whether one of [0, i) is at the place of i. */
static bool has_equal(const double *x, const double *y, const double *z, int64_t i)
{
    for (int64_t j = 0; j < i; ++j)
        if (x[j] == x[i] && y[j] == y[i] && z[j] == z[i]) return true;
    return false;
}

/* Every particle against those before it, by x alone at first. */
static int64_t coincident_few(const double *x, const double *y, const double *z, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 1; i < count; ++i) {
        int64_t hits = 0;
        for (int64_t j = 0; j < i; ++j) hits += x[j] == x[i];
        found += hits > 0 && has_equal(x, y, z, i);
    }
    return found;
}

/* Many in one leaf: by their hashes. scratch[2 count]. */
static int64_t coincident_many(const double *x, const double *y, const double *z, int64_t count,
                               uint64_t *scratch)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) scratch[i] = ps_point_hash(x[i], y[i], z[i]);
    const uint64_t *sorted = ps_word_sort(scratch, count, 1, 0, 64, scratch + count);
    for (int64_t i = 1; i < count; ++i) found += sorted[i] == sorted[i - 1];
    return found;
}

static int64_t count_coincident(const tile_job *job, int64_t tile, tile_space *s)
{
    const ps_octree *tree = job->tree;
    int64_t first = job->start[tile], end = job->start[tile + 1], found = 0;
    for (int64_t l = leaf_of(tree, first), from = first; from < end; ++l) {
        int64_t to = tree->particle_start[l + 1] < end ? tree->particle_start[l + 1] : end;
        const double *x = s->column[0] + (from - first), *y = s->column[1] + (from - first);
        const double *z = s->column[2] + (from - first);
        found += to - from <= FEW ? coincident_few(x, y, z, to - from)
                                  : coincident_many(x, y, z, to - from, s->records);
        from = to;
    }
    return found;
}

/* ---- kept tiles ---- */

/* The room of a tile's records, which are in their leaves by now, takes what is kept of it. */
static ps_status keep_tile(const tile_job *job, int64_t tile, int64_t coincident, tile_space *s)
{
    int64_t count = job->start[tile + 1] - job->start[tile];
    int64_t words = HEAD_WORDS + count * (job->set->columns + 1);
    if (!ps_journal_wants(job->journal, 8 * words)) return PS_OK;
    const kept_tile head = {job->side, tile, count, coincident};
    uint64_t *to = s->records;
    memcpy(to, &head, sizeof head);
    to += HEAD_WORDS;
    for (int c = 0; c < job->set->columns; ++c, to += count)
        memcpy(to, s->column[c], 8 * (size_t)count);
    memcpy(to, s->permutation, 8 * (size_t)count);
    return ps_journal_add(job->journal, s->records, 8 * words);
}

/* Whether what was kept are particles of this tile: in their leaves, and of places in PARTICLES. */
static ps_status check_kept(const tile_job *job, const kept_tile *head, const double *const *column,
                            bool *sound)
{
    const ps_octree *tree = job->tree;
    const int64_t *places = (const int64_t *)column[job->set->columns];
    int64_t first = job->start[head->tile], leaf = leaf_of(tree, first);
    const ps_tree_points points = {head->count, column[0], column[1], column[2]};
    PS_SCOPED_MEMORY uint64_t *keys = NULL;
    PS_TRY(PS_ALLOC(&keys, head->count, "a kept tile"));
    ps_tree_keys(&tree->box, tree->height - 1, &points, keys);
    *sound = head->coincident >= 0 && head->coincident < head->count;
    for (int c = 0; c < job->set->columns; ++c)
        *sound &= ps_append_log_is_finite(column[c], head->count, 8);
    for (int64_t i = 0; i < head->count; ++i) {
        while (tree->particle_start[leaf + 1] <= first + i) ++leaf;
        *sound &= keys[i] == tree->keys[tree->height - 1][leaf] && places[i] >= 0 &&
                  places[i] < tree->particles;
    }
    return PS_OK;
}

/* A tile of the journal goes into the file once it is found to be one. */
static ps_status take_tile(void *context, int64_t first, int64_t records, const void *payload,
                           int64_t bytes)
{
    tile_job *job = context;
    kept_tile head = {.tile = -1};
    const double *column[PS_PARTICLE_COLUMNS_MAX + 1];
    if (bytes >= (int64_t)sizeof head) memcpy(&head, payload, sizeof head);
    if (head.side == !job->side) return PS_OK; /* of the other tree */
    if (head.side != job->side || head.tile < 0 || head.tile >= job->tiles ||
        head.count != job->start[head.tile + 1] - job->start[head.tile] ||
        bytes != 8 * (HEAD_WORDS + head.count * (job->set->columns + 1)))
        return ps_fail(PS_INVALID, "the journal holds what is no tile of this tree");
    if (job->kept[head.tile]) return PS_OK;
    column[0] = (const double *)payload + HEAD_WORDS;
    for (int c = 1; c <= job->set->columns; ++c) column[c] = column[c - 1] + head.count;
    bool sound;
    PS_TRY(check_kept(job, &head, column, &sound));
    if (!sound)
        return ps_fail(PS_INVALID,
                       "the journal's tile %lld holds other particles than its leaves: no run has "
                       "written it; --fresh begins anew",
                       (long long)head.tile);
    job->kept[head.tile] = 1;
    job->coincident += head.coincident;
    for (int64_t i = 0; i < head.count; ++i)
        job->places += ps_counter_mix((uint64_t)((const int64_t *)column[job->set->columns])[i]);
    return ps_octree_write_tile(job->file, job->side, head.tile, column,
                                (const int64_t *)column[job->set->columns]);
}

/* ---- all tiles ---- */

static ps_status do_tile(const tile_job *job, int64_t tile, tile_space *s, int64_t *found,
                         uint64_t *places)
{
    PS_TRY(fill_tile(job, tile, s));
    int64_t coincident = count_coincident(job, tile, s);
    *found += coincident;
    for (int64_t i = 0; i < job->start[tile + 1] - job->start[tile]; ++i)
        *places += ps_counter_mix((uint64_t)s->permutation[i]);
    PS_TRY(ps_octree_write_tile(job->file, job->side, tile, (const double *const *)s->column,
                                s->permutation));
    return keep_tile(job, tile, coincident, s);
}

static ps_status do_tiles(tile_job *job)
{
    int64_t found = 0, done = 0;
    uint64_t places = 0;
    ps_failure failure = {0};
    ps_progress progress;
    for (int64_t t = 0; t < job->tiles; ++t) done += job->kept[t];
    const int64_t kept = done;
    if (done) ps_info("%lld of %lld tiles were kept", (long long)done, (long long)job->tiles);
    ps_progress_start(&progress, "writing", "tiles", done, job->tiles);
#pragma omp parallel reduction(+ : found, places)
    {
        tile_space space;
        ps_note_failure(&failure, space_init(job, &space));
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < job->tiles; ++t) {
            if (ps_has_failed(&failure) || job->kept[t]) continue;
            ps_note_failure(&failure, do_tile(job, t, &space, &found, &places));
#pragma omp critical(octree_build_progress)
            ps_progress_update(&progress, ++done);
        }
        free(space.records);
    }
    ps_progress_end(&progress);
    job->coincident += found;
    for (int64_t i = 0; i < job->tree->particles && kept > 0; ++i)
        places -= ps_counter_mix((uint64_t)i);
    if (ps_first_failure(&failure) == PS_OK && kept > 0 && places + job->places != 0)
        return ps_fail(PS_INVALID,
                       "the journal has particles twice: no run has written it; --fresh "
                       "begins anew");
    return ps_first_failure(&failure);
}

ps_status write_tiles(const run_set *set, const ps_octree *tree, ps_journal *journal,
                      ps_octree_file *file, ps_octree_side side, int64_t *coincident)
{
    tile_job job = {.set = set, .tree = tree, .file = file, .side = side, .journal = journal};
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_SCOPED_MEMORY uint8_t *kept = NULL;
    PS_TRY(ps_octree_tiles(tree, &start, &job.tiles, &job.capacity));
    PS_TRY(PS_ALLOC(&kept, job.tiles, "which tiles were kept"));
    job.start = start;
    job.kept = kept;
    PS_TRY(ps_journal_replay(journal, false, take_tile, &job));
    PS_TRY(do_tiles(&job));
    *coincident += job.coincident;
    return PS_OK;
}
