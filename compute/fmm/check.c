/*
 * Results at some targets against direct sums in fp64: those of --check, evenly spaced, and the
 * samples by which --accuracy is kept (accuracy.c).
 *
 * Sources are summed in spans of a group of leaves each, or less; spans in blocks, each by one
 * thread of one rank in ascending order; blocks are added in ascending order. So the sums do not
 * depend on threads, ranks and memory.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "compute/fmm/fmm.h"
#include "kernels/common/counter_random.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

enum {
    BATCH = 2048,    /* targets that are summed at a time */
    SPAN = 8192,     /* sources: their columns stay in the cache for all samples */
    BLOCKS = 64,     /* of spans, summed apart */
    TILES_LEAST = 4, /* tiles of particles that samples are taken from */
    TILES_USUAL = 16,
    TILES_PART = 64 /* one in so many besides */
};

/* ---- which targets ---- */

static ps_status make_room(const fmm_problem *p, int64_t samples, fmm_check **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the check"));
    fmm_check *c = *out;
    c->sides = p->fmm.sides;
    c->sum = p->sum;
    c->rows = ps_fmm_sum_rows(&p->sum);
    PS_TRY(PS_ALLOC(&c->targets, samples, "the check"));
    PS_TRY(PS_ALLOC(&c->positions, (3 + 2 * c->rows) * samples, "the check"));
    c->direct = c->positions + 3 * samples;
    c->taken = c->direct + c->rows * samples;
    c->count = samples;
    return PS_OK;
}

int64_t fmm_check_bytes(const fmm_problem *p, int64_t samples)
{
    return 8 * (2 + 3 + 2 * ps_fmm_sum_rows(&p->sum)) * samples;
}

int64_t fmm_check_summing_bytes(const fmm_problem *p, int64_t samples)
{
    int64_t sides = p->fmm.sides, rows = ps_fmm_sum_rows(&p->sum),
            some = samples < BATCH ? samples : BATCH;
    if (samples == 0) return 0;
    return 8 * BLOCKS * (rows * some + sides) +
           omp_get_max_threads() *
               (8 * (3 + sides) * SPAN +
                (ps_fmm_sum_is_plain(&p->sum) ? 0 : 8 * ps_fmm_sum_room(&p->sum, some)));
}

static ps_octree_side target_side(const fmm_problem *p)
{
    return p->same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS;
}

static ps_status read_position(fmm_source *source, const fmm_problem *p, fmm_check *c, int64_t i)
{
    double *const columns[3] = {c->positions + i, c->positions + c->count + i,
                                c->positions + 2 * c->count + i};
    return fmm_source_read(source, target_side(p), c->targets[i], 1, columns, 3, NULL);
}

/* Ranges of targets that samples are taken from: whole tiles, as a tile is read at once. */
typedef struct tile_set {
    const int64_t *start; /* of all tiles */
    int64_t tiles, used;
} tile_set;

static tile_set choose_tiles(const fmm_problem *p)
{
    tile_set s;
    s.start = ps_octree_tile_start(p->file, target_side(p), &s.tiles);
    int64_t some = s.tiles / 4;
    if (some < TILES_LEAST) some = TILES_LEAST;
    if (some > TILES_USUAL) some = TILES_USUAL;
    some += s.tiles / TILES_PART;
    s.used = some < s.tiles ? some : s.tiles;
    return s;
}

static int64_t tile_number(const tile_set *s, int64_t k)
{
    return (2 * k + 1) * s->tiles / (2 * s->used);
}

/* The target at `place` of all those of the tiles that are used, one behind the other. */
static int64_t target_at(const tile_set *s, int64_t place)
{
    for (int64_t k = 0; k < s->used; ++k) {
        int64_t t = tile_number(s, k), size = s->start[t + 1] - s->start[t];
        if (place < size) return s->start[t] + place;
        place -= size;
    }
    return s->start[s->tiles] - 1;
}

static int64_t densest_leaf(const ps_octree *tree)
{
    int64_t best = 0, most = 0;
    for (int64_t l = 0; l < ps_octree_leaves(tree); ++l)
        if (tree->particle_start[l + 1] - tree->particle_start[l] > most) {
            most = tree->particle_start[l + 1] - tree->particle_start[l];
            best = l;
        }
    return best;
}

/* Of a leaf's particles the one that is nearest to the leaf's border, where interpolation errs
 * most: of the first SPAN. */
static ps_status outermost(const fmm_problem *p, fmm_source *source, int64_t leaf, double *room,
                           int64_t *target)
{
    const ps_octree *tree = p->fmm.targets;
    int64_t begin = tree->particle_start[leaf], count = tree->particle_start[leaf + 1] - begin;
    double centre[3], width, furthest = -1;
    if (count > SPAN) count = SPAN;
    double *const columns[3] = {room, room + count, room + 2 * count};
    PS_TRY(fmm_source_read(source, target_side(p), begin, count, columns, 3, NULL));
    ps_fmm_cell_centre(tree, p->leaf, leaf, centre, &width);
    for (int64_t i = 0; i < count; ++i) {
        double here = 0;
        for (int d = 0; d < 3; ++d) here = fmax(here, fabs(columns[d][i] - centre[d]));
        if (here > furthest) {
            furthest = here;
            *target = begin + i;
        }
    }
    return PS_OK;
}

/* Where each target is in ascending order, so that results are found. Nearly sorted already. */
static ps_status index_targets(fmm_check *c)
{
    if (!c->order) PS_TRY(PS_ALLOC(&c->order, c->count, "the check"));
    for (int64_t i = 0; i < c->count; ++i) {
        int64_t at = i;
        for (; at > 0 && c->targets[c->order[at - 1]] > c->targets[i]; --at)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
    return PS_OK;
}

/* One sample; one of those behind the even ones becomes the outermost one of its leaf, or of the
 * densest leaf. */
static ps_status take_sample(const fmm_problem *p, fmm_source *source, double *room, fmm_check *c,
                             int64_t i)
{
    const ps_octree *tree = p->fmm.targets;
    if (i >= c->even) {
        int64_t leaf = i > c->even ? fmm_leaf_of(tree, c->targets[i]) : densest_leaf(tree);
        PS_TRY(outermost(p, source, leaf, room, &c->targets[i]));
    }
    return read_position(source, p, c, i);
}

/* Samples that follow one another share a tile, which a thread reads once: in `parts`. */
static ps_status take_samples(const fmm_problem *p, fmm_check *c, int64_t parts)
{
    ps_failure failure = {0};
    int64_t each = (c->count + parts - 1) / parts;
    PS_TRY(index_targets(c));
#pragma omp parallel
    {
        fmm_source source;
        double *room = NULL;
        fmm_source_init(&source, p);
        ps_note_failure(&failure, ps_alloc_untouched((void **)&room, 8 * 3 * SPAN, "the check"));
#pragma omp for schedule(dynamic, each)
        for (int64_t at = 0; at < c->count; ++at)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, take_sample(p, &source, room, c, c->order[at]));
        free(room);
        fmm_source_release(&source);
    }
    PS_TRY(ps_first_failure(&failure));
    return c->even < c->count ? index_targets(c) : PS_OK;
}

ps_status fmm_check_open(const fmm_problem *p, int64_t samples, fmm_check **out)
{
    int64_t targets = p->header->count[1], stride = samples < targets ? targets / samples : 1;
    PS_TRY(make_room(p, samples < targets ? samples : targets, out));
    for (int64_t i = 0; i < (*out)->count; ++i) (*out)->targets[i] = i * stride;
    (*out)->even = (*out)->count;
    return take_samples(p, *out, (*out)->count / 8 + 1);
}

ps_status fmm_samples_open(const fmm_problem *p, int64_t samples, fmm_check **out)
{
    enum { SEED = 20130221 };
    tile_set tiles = choose_tiles(p);
    int64_t all = 0, targets = p->header->count[1];
    if (samples >= targets) return fmm_check_open(p, targets, out);
    PS_TRY(make_room(p, samples + (samples + 3) / 4, out));
    fmm_check *c = *out;
    c->even = samples;
    for (int64_t k = 0; k < tiles.used; ++k)
        all += tiles.start[tile_number(&tiles, k) + 1] - tiles.start[tile_number(&tiles, k)];
    for (int64_t i = 0; i < c->count; ++i) {
        int64_t within = i < c->even ? i : i - c->even,
                strata = i < c->even ? c->even : c->count - c->even;
        double place = ((double)within + ps_counter_uniform(SEED, (uint64_t)i, 0)) / (double)strata;
        c->targets[i] = target_at(&tiles, (int64_t)(place * (double)all));
    }
    return take_samples(p, c, tiles.used);
}

void fmm_check_close(fmm_check **check)
{
    if (!*check) return;
    PS_FREE((*check)->targets, (*check)->order, (*check)->positions, *check);
    *check = NULL;
}

/* ---- direct sums ---- */

/* Sources [0, count) of columns[3 + S][stride], which begin there; NULL: those from `begin` on, of
 * the job's reader or the file. */
typedef struct span {
    const double *columns;
    int64_t stride, begin, count;
} span;

typedef struct sum_job {
    const fmm_problem *p;
    const fmm_check *check;
    const span *spans;
    int64_t count;
    fmm_span_reader read; /* NULL: of the file */
    void *context;
    int64_t from, some; /* targets */
    double *sums;       /* [BLOCKS][rows][some], then sums of |q|: [S] */
} sum_job;

static int64_t values_of(const sum_job *job)
{
    return job->check->rows * job->some + job->check->sides;
}

/* Charges alone: as tasks sum them. */
static void add_plain(const sum_job *job, const span *s, double *const positions[3], double *sums)
{
    const fmm_check *c = job->check;
    const ps_fmm_range all = {0, s->count};
    ps_fmm_particles sources = ps_fmm_group_particles(s->columns, NULL, s->stride, c->sides);
    ps_fmm_particles targets = ps_fmm_group_particles(NULL, sums, job->some, c->sides);
    for (int d = 0; d < 3; ++d) targets.position[d] = positions[d];
    ps_fmm_p2p p2p = {.function = job->p->fmm.function,
                      .sides = c->sides,
                      .targets = &targets,
                      .sources = &sources,
                      .target = {0, job->some},
                      .runs = &all,
                      .one_sided = 1,
                      .run_count = 1,
                      .width = job->p->header->box.width};
    ps_fmm_interact(PS_DOUBLE, &p2p);
}

/* Adds what a span does to the sums of its block. */
static ps_status add_span(const sum_job *job, const span *s, double *sums)
{
    const fmm_check *c = job->check;
    double *positions[3];
    for (int d = 0; d < 3; ++d) positions[d] = c->positions + d * c->count + job->from;
    if (ps_fmm_sum_is_plain(&c->sum)) {
        add_plain(job, s, positions, sums);
    } else {
        ps_fmm_rows sources = {(double *)s->columns, s->stride, s->count};
        ps_fmm_rows results = {sums, job->some, job->some};
        PS_SCOPED_MEMORY double *room = NULL;
        PS_TRY(PS_ALLOC(&room, ps_fmm_sum_room(&c->sum, job->some), "direct sums"));
        ps_fmm_sum_direct(&c->sum, (const double *const *)positions, &sources, room, &results);
    }
    for (int side = 0; side < c->sides; ++side)
        for (int64_t i = 0; i < s->count; ++i)
            sums[c->rows * job->some + side] += fabs(s->columns[(3 + side) * s->stride + i]);
    return PS_OK;
}

/* To room[3 + S][count]. */
static ps_status read_span(const sum_job *job, const span *s, fmm_source *source, double *room)
{
    double *column[PS_PARTICLE_COLUMNS_MAX];
    int columns = 3 + job->check->sides;
    if (job->read) return job->read(job->context, s->begin, s->count, room);
    for (int k = 0; k < columns; ++k) column[k] = room + k * s->count;
    return fmm_source_read(source, PS_OCTREE_SOURCES, s->begin, s->count, column, columns, NULL);
}

static ps_status sum_block(const sum_job *job, int64_t block, fmm_source *source, double *room)
{
    for (int64_t i = job->count * block / BLOCKS; i < job->count * (block + 1) / BLOCKS; ++i) {
        span s = job->spans[i];
        if (!s.columns) {
            PS_TRY(read_span(job, &s, source, room));
            s.columns = room;
            s.stride = s.count;
        }
        PS_TRY(add_span(job, &s, job->sums + block * values_of(job)));
    }
    return PS_OK;
}

/* Of `ranks` each sums its blocks. */
static ps_status sum_blocks(const sum_job *job, int rank, int ranks, int threads)
{
    ps_failure failure = {0};
    int64_t room_bytes = 8 * (3 + job->check->sides) * SPAN;
#pragma omp parallel num_threads(threads)
    {
        fmm_source source;
        double *room = NULL;
        fmm_source_init(&source, job->p);
        ps_note_failure(&failure, ps_alloc_untouched((void **)&room, room_bytes, "direct sums"));
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = rank; b < BLOCKS; b += ranks)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, sum_block(job, b, &source, room));
        free(room);
        fmm_source_release(&source);
    }
    return ps_first_failure(&failure);
}

/* Adds the blocks to the direct sums, in their order. */
static void take_blocks(const sum_job *job, fmm_check *c)
{
    double sources = (double)job->p->header->count[0];
    for (int64_t b = 0; b < BLOCKS; ++b) {
        const double *sums = job->sums + b * values_of(job);
        for (int v = 0; v < c->rows; ++v)
            for (int64_t i = 0; i < job->some; ++i)
                c->direct[v * c->count + job->from + i] += sums[v * job->some + i];
        for (int side = 0; side < c->sides && job->from == 0; ++side)
            c->charge[side] += sums[c->rows * job->some + side] / sources;
    }
}

/* Adds a job's spans to the direct sums; collective if `shared`: each rank then sums some blocks.
 */
static ps_status add_job(sum_job job, fmm_check *c, bool shared, int threads)
{
    const fmm_problem *p = job.p;
    ps_status status = PS_OK;
    for (; job.from < c->count && status == PS_OK; job.from += BATCH) {
        job.some = c->count - job.from < BATCH ? c->count - job.from : BATCH;
        PS_TRY(PS_ALLOC(&job.sums, BLOCKS * values_of(&job), "direct sums"));
        status = sum_blocks(&job, shared ? p->rank : 0, shared ? p->ranks : 1, threads);
        if (shared) status = ps_comm_agree(status);
        if (shared && status == PS_OK) status = ps_comm_sum_f64(job.sums, BLOCKS * values_of(&job));
        if (status == PS_OK) take_blocks(&job, c);
        free(job.sums);
    }
    return status;
}

/* Spans of sources in their order, of columns or (NULL) where a reader has them. */
static ps_status list_all(const double *columns, int64_t stride, int64_t count, span **list,
                          int64_t *spans)
{
    *spans = (count + SPAN - 1) / SPAN;
    PS_TRY(PS_ALLOC(list, *spans, "direct sums"));
    for (int64_t i = 0; i < *spans; ++i) {
        int64_t left = count - i * SPAN;
        (*list)[i] = (span){columns ? columns + i * SPAN : NULL, stride, i * SPAN,
                            left < SPAN ? left : SPAN};
    }
    return PS_OK;
}

/* The job with the spans of so many columns. */
static ps_status add_columns(sum_job job, fmm_check *c, const double *columns, int64_t stride,
                             int64_t count, bool shared)
{
    PS_SCOPED_MEMORY span *list = NULL;
    PS_TRY(list_all(columns, stride, count, &list, &job.count));
    job.check = c;
    job.spans = list;
    return add_job(job, c, shared, omp_get_max_threads());
}

ps_status fmm_check_add(const fmm_problem *p, fmm_check *c, const double *columns, int64_t stride,
                        int64_t count)
{
    return add_columns((sum_job){.p = p}, c, columns, stride, count, false);
}

ps_status fmm_check_share(const fmm_problem *p, fmm_check *c, const double *columns, int64_t stride,
                          int64_t count)
{
    return add_columns((sum_job){.p = p}, c, columns, stride, count, true);
}

ps_status fmm_check_share_from(const fmm_problem *p, fmm_check *c, int64_t count,
                               fmm_span_reader read, void *context)
{
    sum_job job = {.p = p, .read = read, .context = context};
    return add_columns(job, c, NULL, 0, count, true);
}

/* Spans of all groups of leaves, from the pool if it has them. */
static ps_status list_spans(const fmm_problem *p, const fmm_pool *pool, span **out, int64_t *count)
{
    const ps_octree *tree = p->fmm.sources;
    int64_t groups = ps_octree_groups(tree, p->leaf), found = 0;
    PS_TRY(PS_ALLOC(out, groups + p->header->count[0] / SPAN, "direct sums"));
    for (int64_t g = 0; g < groups; ++g) {
        int64_t first, end;
        ps_octree_group(tree, p->leaf, g, &first, &end);
        int64_t begin = tree->particle_start[first], size = tree->particle_start[end] - begin;
        const double *columns = pool ? fmm_pool_sources(pool, g) : NULL;
        for (int64_t at = 0; at < size; at += SPAN)
            (*out)[found++] = (span){columns ? columns + at : NULL, size, begin + at,
                                     size - at < SPAN ? size - at : SPAN};
    }
    *count = found;
    return PS_OK;
}

/* What reading takes of a thread: tiles of both sides and a span. */
static int threads_for(const fmm_problem *p, int64_t memory)
{
    int64_t each = fmm_source_bytes(p) + 8 * (3 + p->fmm.sides) * SPAN;
    int threads = omp_get_max_threads();
    return memory / each >= threads ? threads : memory < 2 * each ? 1 : (int)(memory / each);
}

ps_status fmm_check_sum(const fmm_problem *p, const fmm_pool *pool, int64_t memory, fmm_check *c)
{
    PS_SCOPED_MEMORY span *spans = NULL;
    int64_t count = 0;
    if (c->summed) return PS_OK;
    c->summed = true;
    PS_TRY(ps_comm_agree(list_spans(p, pool, &spans, &count)));
    sum_job job = {.p = p, .check = c, .spans = spans, .count = count};
    return add_job(job, c, true, threads_for(p, memory));
}

/* ---- results ---- */

/* The first sample of those in ascending order that is not before a target. */
static int64_t first_from(const fmm_check *c, int64_t target)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, c->count, at, c->targets[c->order[at]] < target);
    return low;
}

void fmm_check_take(fmm_check *c, int64_t first, const fmm_values *values)
{
    for (int64_t at = first_from(c, first); at < c->count; ++at) {
        int64_t i = c->order[at], from = c->targets[i] - first;
        if (from >= values->count) return;
        for (int v = 0; v < c->rows; ++v)
            c->taken[v * c->count + i] = values->rows[v * values->stride + from];
    }
}

int64_t fmm_check_samples(const fmm_check *check) { return check->count; }

/* Relative over rows [first, first + rows). 0 where both are 0. */
static double relative(const fmm_check *c, int first, int rows)
{
    double error = 0, square = 0;
    for (int64_t i = first * c->count; i < (first + rows) * c->count; ++i) {
        error += (c->taken[i] - c->direct[i]) * (c->taken[i] - c->direct[i]);
        square += c->direct[i] * c->direct[i];
    }
    return error > 0 ? sqrt(error / square) : 0;
}

void fmm_check_errors(const fmm_check *c, double *potential, double *gradient, double *hessian)
{
    int each = ps_fmm_sum_components(&c->sum), all = each * c->sum.sides;
    for (int s = 0; s < c->sum.sides; ++s) {
        potential[s] = relative(c, each * s, each);
        gradient[s] = relative(c, all + 3 * each * s, 3 * each);
        hessian[s] = c->sum.derivatives > 1 ? relative(c, 4 * all + 6 * each * s, 6 * each) : 0;
    }
}
