/* Particles to a device and results back (traffic.h). */
#include "compute/fmm/traffic.h"

#include <math.h>
#include <omp.h>

#include "compute/fmm/check_device.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum {
    CHUNK = 1 << 20, /* particles a copy, at least */
    PART = 16        /* of the host's memory that a tile for every thread may take */
};

ps_status fmm_traffic_open(ps_device *device, ps_stream *stream, fmm_traffic *out)
{
    *out = (fmm_traffic){.device = device, .stream = stream};
    for (int i = 0; i < 2; ++i) PS_TRY(ps_event_open(device, &out->moved[i]));
    return PS_OK;
}

void fmm_traffic_close(fmm_traffic *t)
{
    void *memory[] = {t->columns[0], t->columns[1], t->results};
    if (!t->device) return;
    for (int i = 0; i < 3; ++i) ps_device_free(t->device, memory[i]);
    for (int i = 0; i < 2; ++i) ps_device_free_pinned(t->device, t->staging[i]);
    for (int i = 0; i < 2; ++i) ps_event_close(&t->moved[i]);
    *t = (fmm_traffic){0};
}

/* ---- to the device ---- */

static int64_t staging_bytes(const fmm_run *r, int64_t particles)
{
    int64_t sides = r->problem.fmm.sides, rows = ps_larger(3 + sides, 5 * sides);
    return 2 * 8 * rows * particles;
}

/* A tile for every thread, where that is little of the memory: so many are read at a time. */
static int64_t capacity_of(const fmm_run *r)
{
    int64_t least = ps_larger(fmm_largest_portion(r), CHUNK), all = r->problem.header->count[0];
    int64_t tiles = r->run->threads * ps_smaller(ps_octree_tile_room(all), all);
    if (staging_bytes(r, tiles) > r->run->host_memory / PART) return least;
    return ps_larger(least, tiles);
}

int64_t fmm_traffic_staging(const fmm_run *r) { return staging_bytes(r, capacity_of(r)); }

int64_t fmm_traffic_device_bytes(const fmm_problem *p)
{
    int64_t sides = p->fmm.sides, targets = p->header->count[1];
    return 8 *
           ((3 + sides) * p->header->count[0] + (p->same ? 0 : 3 * targets) + 4 * sides * targets);
}

static int rows_of(const fmm_problem *p, int set) { return set ? 3 : 3 + p->fmm.sides; }

static ps_octree_side side_of(int set) { return set ? PS_OCTREE_TARGETS : PS_OCTREE_SOURCES; }

static ps_status make_room(const fmm_run *r, fmm_traffic *t)
{
    const fmm_problem *p = &r->problem;
    int64_t targets = p->header->count[1];
    t->capacity = capacity_of(r);
    for (int i = 0; i < 2; ++i)
        PS_TRY(
            ps_device_alloc_pinned(t->device, fmm_traffic_staging(r) / 2, (void **)&t->staging[i]));
    for (int set = 0; set < (p->same ? 1 : 2); ++set)
        PS_TRY(ps_device_alloc(t->device, 8 * rows_of(p, set) * p->header->count[set],
                               (void **)&t->columns[set]));
    return ps_device_alloc(t->device, 8 * 4 * p->fmm.sides * targets, (void **)&t->results);
}

/* Sorted particles [first, first + count) of a side to columns of `stride`, by all threads. */
static ps_status read_chunk(fmm_source *sources, int threads, int set, int64_t first, int64_t count,
                            double *to)
{
    const fmm_problem *p = sources[0].problem;
    int rows = rows_of(p, set);
    int64_t tiles;
    const int64_t *start = ps_octree_tile_start(p->file, side_of(set), &tiles);
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t tile = 0; tile < tiles; ++tile) {
        int64_t begin = start[tile] > first ? start[tile] : first,
                end = start[tile + 1] < first + count ? start[tile + 1] : first + count;
        double *columns[PS_PARTICLE_COLUMNS_MAX];
        if (begin >= end || ps_has_failed(&failure)) continue;
        for (int c = 0; c < rows; ++c) columns[c] = to + c * count + begin - first;
        ps_note_failure(&failure, fmm_source_read(&sources[omp_get_thread_num()], side_of(set),
                                                  begin, end - begin, columns, rows, NULL));
    }
    return ps_first_failure(&failure);
}

/* Bounds of places and magnitudes of charges of a chunk. */
static void measure(const fmm_problem *p, fmm_traffic *t, int set, const double *chunk,
                    int64_t first, int64_t count)
{
    int64_t tiles;
    fmm_check magnitudes = {.sides = p->fmm.sides};
    for (int d = 0; d < 3; ++d) {
        double low = t->lower[d], high = t->upper[d];
        const double *x = chunk + d * count;
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
        for (int64_t i = 0; i < count; ++i) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
        t->lower[d] = low;
        t->upper[d] = high;
    }
    if (set) return;
    /* by tiles: the sum does not depend on how many of them come together */
    const int64_t *start = ps_octree_tile_start(p->file, side_of(set), &tiles);
    for (int64_t tile = ps_range_of(start, tiles, first), at = first, end; at < first + count;
         at = end, ++tile) {
        end = ps_smaller(start[tile + 1], first + count);
        fmm_check_charges(p, &magnitudes, chunk + 3 * count + at - first, count, end - at);
    }
    for (int side = 0; side < p->fmm.sides; ++side) t->charge[side] += magnitudes.charge[side];
}

/* Chunks end where tiles do, so that none is read twice. */
static int64_t chunk_end(const fmm_problem *p, int set, int64_t first, int64_t capacity)
{
    int64_t tiles, end = first;
    const int64_t *start = ps_octree_tile_start(p->file, side_of(set), &tiles);
    for (int64_t tile = 1; tile <= tiles && start[tile] - first <= capacity; ++tile)
        end = start[tile] > end ? start[tile] : end;
    return end > first ? end : first + capacity;
}

static void set_particles(fmm_traffic *t, int set, int64_t all)
{
    t->sets[set] = (ps_fmm_particles){
        .position = {t->columns[set], t->columns[set] + all, t->columns[set] + 2 * all},
        .charges = set ? NULL : t->columns[set] + 3 * all,
        .stride = all};
}

static ps_status send_set(const fmm_run *r, fmm_traffic *t, fmm_source *sources, int set)
{
    const fmm_problem *p = &r->problem;
    int64_t all = p->header->count[set];
    int rows = rows_of(p, set), turn = 0;
    for (int64_t first = 0, end; first < all; first = end, turn ^= 1) {
        end = ps_smaller(chunk_end(p, set, first, t->capacity), all);
        int64_t some = end - first;
        double *chunk = t->staging[turn];
        PS_TRY(ps_event_sync(t->moved[turn]));
        PS_TRY(read_chunk(sources, r->run->threads, set, first, some, chunk));
        measure(p, t, set, chunk, first, some);
        for (int c = 0; c < rows; ++c)
            PS_TRY(ps_copy_to_device(t->stream, t->columns[set] + c * all + first, chunk + c * some,
                                     8 * some));
        PS_TRY(ps_event_record(t->moved[turn], t->stream));
    }
    set_particles(t, set, all);
    return PS_OK;
}

ps_status fmm_traffic_send(const fmm_run *r, fmm_traffic *t)
{
    const fmm_problem *p = &r->problem;
    int threads = r->run->threads, last = p->same ? 0 : 1;
    PS_SCOPED_MEMORY fmm_source *sources = NULL;
    ps_status status = PS_OK;
    PS_TRY(make_room(r, t));
    PS_TRY(PS_ALLOC(&sources, threads, "readers of particles"));
    for (int i = 0; i < threads; ++i) fmm_source_init(&sources[i], p);
    for (int d = 0; d < 3; ++d) {
        t->lower[d] = INFINITY;
        t->upper[d] = -INFINITY;
    }
    for (int set = 0; set <= last && status == PS_OK; ++set) status = send_set(r, t, sources, set);
    for (int i = 0; i < threads; ++i) fmm_source_release(&sources[i]);
    ps_memory_trim();
    PS_TRY(status);
    t->sets[last].potential = t->results;
    t->sets[last].gradient = t->results + p->fmm.sides * p->header->count[1];
    return ps_stream_wait(t->stream);
}

ps_status fmm_traffic_copy(const fmm_problem *p, const fmm_traffic *from, fmm_traffic *to)
{
    int64_t all = p->header->count[0], bytes = 8 * rows_of(p, 0) * all;
    PS_TRY(ps_device_alloc(to->device, bytes, (void **)&to->columns[0]));
    PS_TRY(ps_copy_peer(to->stream, to->columns[0], from->device, from->columns[0], bytes));
    set_particles(to, 0, all);
    for (int d = 0; d < 3; ++d) {
        to->lower[d] = from->lower[d];
        to->upper[d] = from->upper[d];
    }
    return ps_stream_wait(to->stream);
}

/* ---- direct sums ---- */

static ps_status sum_on_cores(fmm_run *r, const fmm_traffic *t, fmm_check *check)
{
    const fmm_problem *p = &r->problem;
    int rows = rows_of(p, 0);
    for (int64_t first = 0, all = p->header->count[0], some; first < all; first += some) {
        double *columns[PS_PARTICLE_COLUMNS_MAX];
        some = ps_smaller(all - first, t->capacity);
        for (int c = 0; c < rows; ++c) columns[c] = t->staging[0] + c * some;
        PS_TRY(fmm_source_read(&r->source, PS_OCTREE_SOURCES, first, some, columns, rows, NULL));
        PS_TRY(fmm_check_add(p, check, columns[0], some, some));
    }
    return PS_OK;
}

ps_status fmm_traffic_check(fmm_run *r, const fmm_traffic *t, void *workspace, int64_t bytes)
{
    fmm_check *checks[] = {r->work.check, r->work.samples};
    const fmm_problem *p = &r->problem;
    const fmm_device_sources sources = {t->stream, t->columns[0], p->header->count[0]};
    double start = ps_clock();
    for (int i = 0; i < 2; ++i) {
        if (!checks[i] || checks[i]->summed) continue;
        if (fmm_check_fits_device(checks[i], sources.count, bytes)) {
            for (int side = 0; side < p->fmm.sides; ++side)
                checks[i]->charge[side] = t->charge[side];
            PS_TRY(fmm_check_sum_on_device(p, checks[i], &sources, workspace, bytes));
        } else {
            PS_TRY(sum_on_cores(r, t, checks[i]));
        }
        checks[i]->summed = true;
    }
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

/* ---- and back ---- */

ps_status fmm_traffic_samples(const fmm_run *r, const fmm_traffic *t)
{
    fmm_check *c = r->work.samples;
    int64_t all = r->problem.header->count[1];
    for (int v = 0; v < c->rows; ++v)
        for (int64_t i = 0; i < c->count; ++i)
            PS_TRY(ps_copy_to_host(t->stream, &c->taken[v * c->count + i],
                                   t->results + v * all + c->targets[i], sizeof *c->taken));
    return ps_stream_wait(t->stream);
}

/* Portions whose results come together, in one of the buffers: of each [4 S][count] values, then
 * [S][count] charges, if the targets are the sources. */
typedef struct batch {
    int64_t first, end, begin, count; /* portions; their particles */
} batch;

static batch batch_from(const fmm_run *r, const fmm_traffic *t, int64_t portion)
{
    int64_t begin, count;
    batch b = {.first = portion, .end = portion};
    fmm_portion(r, portion, &b.begin, &count);
    for (; b.end < r->groups; ++b.end) {
        fmm_portion(r, b.end, &begin, &count);
        if (b.end > b.first && begin + count - b.begin > t->capacity) break;
        b.count = begin + count - b.begin;
    }
    return b;
}

static int rows_back(const fmm_run *r) { return (r->problem.same ? 5 : 4) * r->problem.fmm.sides; }

static ps_status fetch(const fmm_run *r, const fmm_traffic *t, const batch *b, int turn)
{
    int64_t all = r->problem.header->count[1];
    int rows = rows_back(r), values = 4 * r->problem.fmm.sides;
    for (int64_t g = b->first; g < b->end; ++g) {
        int64_t begin, count;
        fmm_portion(r, g, &begin, &count);
        double *to = t->staging[turn] + (begin - b->begin) * rows;
        for (int row = 0; row < rows; ++row) {
            const double *from =
                row < values ? t->results + row * all : t->columns[0] + (3 + row - values) * all;
            PS_TRY(ps_copy_to_host(t->stream, to + row * count, from + begin, 8 * count));
        }
    }
    return ps_event_record(t->moved[turn], t->stream);
}

static ps_status take_group(fmm_run *r, const batch *b, int64_t group, const int64_t *places,
                            const double *staged)
{
    fmm_sums sums[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX] = {{0}};
    int sides = r->problem.fmm.sides;
    int64_t begin, count;
    fmm_portion(r, group, &begin, &count);
    const double *values = staged + (begin - b->begin) * rows_back(r);
    fmm_values all = {values, count, count};
    if (r->problem.same) fmm_group_sums(values + 4 * sides * count, &all, sides, sums);
    PS_TRY(fmm_pass_results(&r->work, begin, places + begin - b->begin, &all));
    fmm_take_sums(&r->work, group, 0, FMM_PARTS, sums);
    return PS_OK;
}

/* A thread's: a source, and places of a batch's groups, one after the other. */
static ps_status take_batch(fmm_run *r, const fmm_traffic *t, const batch *b, fmm_source *sources,
                            int64_t *places, int turn)
{
    const ps_octree_side side = r->problem.same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS;
    ps_failure failure = {0};
#pragma omp parallel for schedule(static) num_threads(r->run->threads)
    for (int64_t g = b->first; g < b->end; ++g) {
        int64_t begin, count;
        fmm_portion(r, g, &begin, &count);
        if (ps_has_failed(&failure)) continue;
        ps_note_failure(&failure, fmm_source_read(&sources[omp_get_thread_num()], side, begin,
                                                  count, NULL, 0, places + begin - b->begin));
    }
    PS_TRY(ps_first_failure(&failure));
    PS_TRY(ps_event_sync(t->moved[turn]));
#pragma omp parallel for schedule(dynamic, 1) num_threads(fmm_takers(r))
    for (int64_t g = b->first; g < b->end; ++g)
        if (!ps_has_failed(&failure))
            ps_note_failure(&failure, take_group(r, b, g, places, t->staging[turn]));
    return ps_first_failure(&failure);
}

static ps_status take_batches(fmm_run *r, const fmm_traffic *t, fmm_source *sources,
                              int64_t *places)
{
    batch now = batch_from(r, t, 0);
    PS_TRY(fetch(r, t, &now, 0));
    for (int turn = 0; now.first < r->groups; turn ^= 1) {
        batch next = {.first = r->groups};
        if (now.end < r->groups) {
            next = batch_from(r, t, now.end);
            PS_TRY(fetch(r, t, &next, turn ^ 1));
        }
        PS_TRY(take_batch(r, t, &now, sources, places, turn));
        now = next;
    }
    return PS_OK;
}

ps_status fmm_traffic_take(fmm_run *r, fmm_traffic *t)
{
    PS_SCOPED_MEMORY int64_t *places = NULL;
    PS_SCOPED_MEMORY fmm_source *sources = NULL;
    PS_TRY(PS_ALLOC(&places, t->capacity, "places"));
    PS_TRY(PS_ALLOC(&sources, r->run->threads, "readers of places"));
    for (int i = 0; i < r->run->threads; ++i) fmm_source_init(&sources[i], &r->problem);
    ps_status status = take_batches(r, t, sources, places);
    for (int i = 0; i < r->run->threads; ++i) fmm_source_release(&sources[i]);
    ps_memory_trim();
    return status;
}
