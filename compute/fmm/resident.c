/*
 * All on one CUDA device (kernels/fmm/device_evaluate.h): particles are read and copied there in
 * chunks, evaluated at once, results come back by batches of groups.
 */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/check_device.h"
#include "compute/fmm/run.h"
#include "kernels/fmm/device_evaluate.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"

enum { CHUNK = 1 << 20 /* particles a copy, at least */ };

struct fmm_resident {
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_FMM_RESIDENT_MARKS], *moved[2];
    ps_fmm_resident run;
    ps_fmm_device_table tables[PS_OCTREE_LEVELS_MAX];
    void *table_blocks[PS_OCTREE_LEVELS_MAX];
    double *columns[2], *results; /* on the device, in the order of the file            */
    ps_fmm_particles sets[2];
    void *blocks[2];
    double *staging[2]; /* pinned: [max(3 + S, 5 S)][capacity]                    */
    int64_t capacity, bytes;
    double seconds[PS_FMM_RESIDENT_STAGES], evaluation, reading, returning;
};

/* ---- whether ---- */

static bool for_tasks(const fmm_options *o) { return o->journal || o->trace || o->mapping; }

static ps_status wanted(const fmm_run *r, bool *out)
{
    const char *device = r->run->device;
    bool cuda = strncmp(device, "cuda", 4) == 0, must = r->options->resident == FMM_RESIDENT_YES;
    bool can = !for_tasks(r->options) && ps_comm_size() == 1;
    *out = r->options->resident != FMM_RESIDENT_NO && can && strcmp(device, "cpu") != 0 &&
           (cuda || must || ps_device_count() > 0);
    if (must && !can)
        return ps_fail(PS_USAGE, "--resident yes is for one rank, without a journal, --trace "
                                 "and --mapping, which are of tasks");
    if (must && !*out)
        return ps_fail(PS_USAGE, "--resident yes needs a CUDA device, and --device is %s", device);
    return PS_OK;
}

ps_status fmm_resident_open(fmm_run *r)
{
    bool want;
    PS_TRY(wanted(r, &want));
    if (!want) {
        ps_device_expect_tasks();
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&r->resident, 1, "the evaluation on a device"));
    fmm_resident *d = r->resident;
    PS_TRY(ps_device_open(strcmp(r->run->device, "auto") ? r->run->device : "cuda", 0, &d->device));
    PS_TRY(ps_stream_open_ahead(d->device, &d->streams[0]));
    PS_TRY(ps_stream_open(d->device, &d->streams[1]));
    PS_TRY(ps_event_open(d->device, &d->forked));
    PS_TRY(ps_event_open(d->device, &d->met));
    for (int i = 0; i < 2; ++i) PS_TRY(ps_event_open(d->device, &d->moved[i]));
    for (int i = 0; i < PS_FMM_RESIDENT_MARKS; ++i) PS_TRY(ps_event_open(d->device, &d->marks[i]));
    return PS_OK;
}

void fmm_resident_close(fmm_run *r)
{
    fmm_resident *d = r->resident;
    if (!d) return;
    if (d->device) {
        void *memory[] = {d->columns[0], d->columns[1], d->results, d->blocks[0], d->blocks[1]};
        for (int i = 0; i < 5; ++i) ps_device_free(d->device, memory[i]);
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            ps_device_free(d->device, d->table_blocks[l]);
        for (int i = 0; i < 2; ++i) ps_device_free_pinned(d->device, d->staging[i]);
        for (int i = 0; i < PS_FMM_RESIDENT_MARKS; ++i) ps_event_close(&d->marks[i]);
        for (int i = 0; i < 2; ++i) ps_event_close(&d->moved[i]);
        ps_event_close(&d->forked);
        ps_event_close(&d->met);
        for (int i = 0; i < 2; ++i) ps_stream_close(&d->streams[i]);
        ps_device_close(&d->device);
    }
    free(d);
    r->resident = NULL;
}

/* ---- the plan ---- */

static ps_status copy_operators(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    for (int l = 2; l <= p->leaf; ++l) {
        int own = (int)(p->fmm.tables[l] - p->tables);
        d->run.tables[l] = &d->tables[own];
        if (own != l) continue;
        PS_TRY(fmm_operators_upload(&p->tables[l], d->device, d->streams[0], &d->table_blocks[l],
                                    &d->tables[l]));
        d->bytes += ps_fmm_device_table_bytes(&p->tables[l]);
    }
    return PS_OK;
}

static void configure(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    d->run.method = (ps_fmm_device_method){.sides = p->fmm.sides,
                                           .far = p->fmm.far,
                                           .near = p->fmm.near,
                                           .function = p->fmm.function,
                                           .interpolation = p->fmm.interpolation};
    d->run.height = p->header->height;
    d->run.box = p->header->box;
    d->run.count[PS_FMM_SOURCES] = p->header->count[0];
    d->run.count[PS_FMM_TARGETS] = p->same ? 0 : p->header->count[1];
    d->run.gradient = true;
    d->run.near_blocks = ps_fmm_resident_near_blocks(p->fmm.interpolation.order);
    d->run.lanes =
        (ps_fmm_resident_lanes){d->streams[0], d->streams[1], d->forked, d->met, d->marks};
}

static int64_t column_bytes(const fmm_problem *p)
{
    int64_t sides = p->fmm.sides, targets = p->header->count[1];
    return 8 *
           ((3 + sides) * p->header->count[0] + (p->same ? 0 : 3 * targets) + 4 * sides * targets);
}

/* PS_USAGE: numbers that the kernels do not take; PS_EXHAUSTED: too much for the memory. */
static ps_status make_plan(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    const int64_t *cells[2] = {p->fmm.sources->cells, p->fmm.targets->cells};
    int64_t first, free_bytes = ps_device_describe(d->device).memory_free;
    if (r->run->device_memory > 0 && r->run->device_memory < free_bytes)
        free_bytes = r->run->device_memory;
    configure(r);
    PS_TRY(copy_operators(r));
    PS_TRY(ps_fmm_resident_init(&d->run, &first));
    PS_TRY(ps_fmm_resident_expect(&d->run, cells));
    d->bytes += column_bytes(p) + first + d->run.plan.second;
    if (d->bytes <= free_bytes) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "all on one device takes %.2f GB of device memory, and %.2f GB are free or "
                   "allowed; --resident no does with less, by tasks on cores and GPUs",
                   1e-9 * (double)d->bytes, 1e-9 * (double)free_bytes);
}

ps_status fmm_resident_plan(fmm_run *r)
{
    ps_status status = make_plan(r);
    bool too_much = status == PS_EXHAUSTED || status == PS_USAGE;
    if (!too_much || r->options->resident == FMM_RESIDENT_YES) return status;
    ps_info("computing by tasks: %s", ps_message());
    fmm_resident_close(r);
    return PS_OK;
}

/* ---- to the device ---- */

static int64_t capacity_of(const fmm_run *r)
{
    int64_t most = fmm_largest_group(r);
    return most > CHUNK ? most : CHUNK;
}

static int64_t staging_bytes(const fmm_run *r)
{
    int64_t sides = r->problem.fmm.sides, rows = 3 + sides > 5 * sides ? 3 + sides : 5 * sides;
    return 8 * rows * capacity_of(r);
}

static ps_status make_room(fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    int64_t sides = p->fmm.sides, targets = p->header->count[1];
    d->capacity = capacity_of(r);
    for (int i = 0; i < 2; ++i)
        PS_TRY(ps_device_alloc_pinned(d->device, staging_bytes(r), (void **)&d->staging[i]));
    for (int set = 0; set < (p->same ? 1 : 2); ++set)
        PS_TRY(ps_device_alloc(d->device, 8 * (set ? 3 : 3 + sides) * p->header->count[set],
                               (void **)&d->columns[set]));
    PS_TRY(ps_device_alloc(d->device, 8 * 4 * sides * targets, (void **)&d->results));
    PS_TRY(ps_device_alloc(d->device, d->run.plan.first, &d->blocks[0]));
    return ps_device_alloc(d->device, d->run.plan.second, &d->blocks[1]);
}

/* Whether the memory of the evaluation, which has not begun, is enough for direct sums. */
static bool sums_on_device(const fmm_run *r, const fmm_check *c)
{
    return fmm_check_fits_device(c, r->problem.header->count[0], r->resident->run.plan.second);
}

/* Of sources that were read: direct sums of the samples on the cores, or what they take of the
 * charges. */
static ps_status add_to_checks(fmm_run *r, const double *columns, int64_t count)
{
    fmm_check *checks[] = {r->work.check, r->work.samples};
    double start = ps_clock();
    for (int i = 0; i < 2; ++i) {
        if (!checks[i] || checks[i]->summed) continue;
        if (sums_on_device(r, checks[i]))
            fmm_check_charges(&r->problem, checks[i], columns + 3 * count, count, count);
        else
            PS_TRY(fmm_check_add(&r->problem, checks[i], columns, count, count));
    }
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

/* Direct sums on the device, when it has all sources. */
static ps_status finish_checks(fmm_run *r)
{
    fmm_resident *d = r->resident;
    fmm_check *checks[] = {r->work.check, r->work.samples};
    const fmm_device_sources sources = {d->streams[0], d->columns[0], r->problem.header->count[0]};
    double start = ps_clock();
    for (int i = 0; i < 2; ++i) {
        if (!checks[i] || checks[i]->summed) continue;
        if (sums_on_device(r, checks[i]))
            PS_TRY(fmm_check_sum_on_device(&r->problem, checks[i], &sources, d->blocks[1],
                                           d->run.plan.second));
        checks[i]->summed = true;
    }
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

static ps_status send_set(fmm_run *r, int set)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    int64_t all = p->header->count[set];
    int rows = set ? 3 : 3 + p->fmm.sides, turn = 0;
    for (int64_t first = 0; first < all; first += CHUNK, turn ^= 1) {
        int64_t some = all - first < CHUNK ? all - first : CHUNK;
        double *columns[PS_PARTICLE_COLUMNS_MAX];
        for (int c = 0; c < rows; ++c) columns[c] = d->staging[turn] + c * some;
        PS_TRY(ps_event_sync(d->moved[turn]));
        PS_TRY(fmm_source_read(&r->source, set ? PS_OCTREE_TARGETS : PS_OCTREE_SOURCES, first, some,
                               columns, rows, NULL));
        if (set == 0) PS_TRY(add_to_checks(r, columns[0], some));
        for (int c = 0; c < rows; ++c)
            PS_TRY(ps_copy_to_device(d->streams[0], d->columns[set] + c * all + first, columns[c],
                                     8 * some));
        PS_TRY(ps_event_record(d->moved[turn], d->streams[0]));
    }
    d->sets[set] = (ps_fmm_particles){
        .position = {d->columns[set], d->columns[set] + all, d->columns[set] + 2 * all},
        .charges = set ? NULL : d->columns[set] + 3 * all,
        .stride = all};
    return PS_OK;
}

static ps_status send(fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    int last = p->same ? 0 : 1;
    for (int set = 0; set <= last; ++set) PS_TRY(send_set(r, set));
    PS_TRY(finish_checks(r));
    d->sets[last].potential = d->results;
    d->sets[last].gradient = d->results + p->fmm.sides * p->header->count[1];
    return ps_stream_wait(d->streams[0]);
}

/* ---- and back ---- */

/* Groups whose results come together, in one of the buffers: of each [4 S][count] values, then
 * [S][count] charges, if the targets are the sources. */
typedef struct batch {
    int64_t first, end, begin, count; /* groups; their particles */
} batch;

static batch batch_from(const fmm_run *r, int64_t group)
{
    const ps_octree *tree = r->problem.fmm.targets;
    int64_t first, end;
    ps_octree_group(tree, r->problem.leaf, group, &first, &end);
    batch b = {.first = group, .end = group, .begin = tree->particle_start[first]};
    for (; b.end < r->groups; ++b.end) {
        ps_octree_group(tree, r->problem.leaf, b.end, &first, &end);
        int64_t count = tree->particle_start[end] - b.begin;
        if (b.end > b.first && count > r->resident->capacity) break;
        b.count = count;
    }
    return b;
}

/* The particles of a group: first and count. */
static void particles_of(const fmm_run *r, int64_t group, int64_t *begin, int64_t *count)
{
    const ps_octree *tree = r->problem.fmm.targets;
    int64_t first, end;
    ps_octree_group(tree, r->problem.leaf, group, &first, &end);
    *begin = tree->particle_start[first];
    *count = tree->particle_start[end] - *begin;
}

static int rows_back(const fmm_run *r) { return (r->problem.same ? 5 : 4) * r->problem.fmm.sides; }

static ps_status fetch(fmm_run *r, const batch *b, int turn)
{
    fmm_resident *d = r->resident;
    int64_t all = r->problem.header->count[1];
    int rows = rows_back(r), values = 4 * r->problem.fmm.sides;
    for (int64_t g = b->first; g < b->end; ++g) {
        int64_t begin, count;
        particles_of(r, g, &begin, &count);
        double *to = d->staging[turn] + (begin - b->begin) * rows;
        for (int row = 0; row < rows; ++row) {
            const double *from =
                row < values ? d->results + row * all : d->columns[0] + (3 + row - values) * all;
            PS_TRY(ps_copy_to_host(d->streams[0], to + row * count, from + begin, 8 * count));
        }
    }
    return ps_event_record(d->moved[turn], d->streams[0]);
}

static ps_status take_group(fmm_run *r, const batch *b, int64_t group, const int64_t *places,
                            const double *staged)
{
    fmm_sums sums[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX] = {{0}};
    int sides = r->problem.fmm.sides;
    int64_t begin, count;
    particles_of(r, group, &begin, &count);
    const double *values = staged + (begin - b->begin) * rows_back(r);
    fmm_values all = {values, count, count};
    if (r->problem.same) fmm_group_sums(values + 4 * sides * count, &all, sides, sums);
    return fmm_take_results(&r->work, group, places + begin - b->begin, values, sums);
}

static ps_status take_batch(fmm_run *r, const batch *b, int64_t *places, int turn)
{
    fmm_resident *d = r->resident;
    ps_failure failure = {0};
    PS_TRY(fmm_source_read(&r->source, r->problem.same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS,
                           b->begin, b->count, NULL, 0, places));
    PS_TRY(ps_event_sync(d->moved[turn]));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t g = b->first; g < b->end; ++g)
        if (!ps_has_failed(&failure))
            ps_note_failure(&failure, take_group(r, b, g, places, d->staging[turn]));
    return ps_first_failure(&failure);
}

static ps_status take_all(fmm_run *r, int64_t *places)
{
    batch now = batch_from(r, 0);
    PS_TRY(fetch(r, &now, 0));
    for (int turn = 0; now.first < r->groups; turn ^= 1) {
        batch next = {.first = r->groups};
        if (now.end < r->groups) {
            next = batch_from(r, now.end);
            PS_TRY(fetch(r, &next, turn ^ 1));
        }
        PS_TRY(take_batch(r, &now, places, turn));
        now = next;
    }
    return PS_OK;
}

/* ---- the run ---- */

static ps_status evaluate(fmm_run *r)
{
    fmm_resident *d = r->resident;
    const ps_fmm_particles *results = &d->sets[r->problem.same ? 0 : 1];
    PS_TRY(ps_fmm_resident_sort(&d->run, &d->sets[0], &d->sets[1], d->blocks[0]));
    PS_TRY(ps_fmm_resident_run(&d->run, results, d->blocks[1]));
    PS_TRY(ps_stream_wait(d->streams[0]));
    PS_TRY(ps_fmm_resident_seconds(&d->run, d->seconds));
    return ps_event_seconds(d->marks[0], d->marks[PS_FMM_RESIDENT_SCATTER + 1], &d->evaluation);
}

ps_status fmm_resident_prepare(fmm_run *r)
{
    r->groups = ps_octree_groups(r->problem.fmm.targets, r->problem.leaf);
    r->work.problem = &r->problem;
    return fmm_share_memory(r, 2 * staging_bytes(r), r->resident->bytes);
}

ps_status fmm_resident_run(fmm_run *r)
{
    fmm_resident *d = r->resident;
    int64_t *places;
    double start = ps_clock();
    PS_TRY(make_room(r));
    PS_TRY(send(r));
    d->reading = ps_clock() - start;
    PS_TRY(evaluate(r));
    double done = ps_clock();
    PS_TRY(PS_ALLOC(&places, d->capacity, "places"));
    ps_status status = take_all(r, places);
    free(places);
    d->returning = ps_clock() - done;
    r->seconds = ps_clock() - start;
    return status;
}

void fmm_resident_report(const fmm_run *r, ps_report *report)
{
    const fmm_resident *d = r->resident;
    const ps_fmm_resident_plan *plan = &d->run.plan;
    ps_report_section(report, "device");
    ps_report_text(report, "device", ps_device_describe(d->device).name);
    ps_report_int(report, "device_memory", d->bytes);
    ps_report_int(report, "of_columns", column_bytes(&r->problem));
    ps_report_int(report, "of_sorting", plan->sorting);
    ps_report_int(report, "of_sorted_particles", plan->particles);
    ps_report_int(report, "of_tree", plan->tree);
    ps_report_int(report, "of_lists", plan->lists);
    ps_report_int(report, "of_vectors", plan->vectors);
    ps_report_int(report, "of_near_field", plan->workspace);
    if (r->seconds <= 0) return; /* a plan */
    ps_report_real(report, "reading", d->reading);
    ps_report_real(report, "sort_to_results", d->evaluation);
    ps_report_real(report, "returning", d->returning);
    ps_report_section(report, "device_stages");
    for (int s = 0; s < PS_FMM_RESIDENT_STAGES; ++s)
        ps_report_real(report, ps_fmm_resident_stage_names[s], d->seconds[s]);
}
