#include "kernels/fmm/device_evaluate.h"

#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/fmm/device_place.h"
#include "kernels/fmm/evaluate.h"

enum { FAR_LEVEL = 2 /* the first with interactions */ };

const char *const ps_fmm_resident_stage_names[PS_FMM_RESIDENT_STAGES] = {
    "sort",   "gather", "tree", "lists", "invert", "P2M",     "M2M",
    "encode", "M2L",    "L2L",  "meet",  "L2P",    "scatter", "P2P"};

/* ---- sizes ---- */

static const ps_device_tree *sources_of(const ps_fmm_resident *r)
{
    return &r->tree[PS_FMM_SOURCES];
}

static const ps_device_tree *targets_of(const ps_fmm_resident *r) { return &r->tree[r->sets - 1]; }

static int64_t target_count(const ps_fmm_resident *r) { return r->count[r->sets - 1]; }

static int result_columns(const ps_fmm_resident *r)
{
    return (r->gradient ? 4 : 1) * r->method.sides;
}

static int64_t place_vectors(ps_fmm_resident *r, char *block)
{
    int64_t used = 0, real = ps_real_bytes(r->method.far) * r->method.sides;
    for (int l = FAR_LEVEL; l < r->height; ++l) {
        int64_t points = r->method.interpolation.points, length = r->tables[l]->length;
        int64_t sources = sources_of(r)->cells[l], targets = targets_of(r)->cells[l];
        r->multipoles[l] = ps_device_part(block, &used, sources * points * real);
        r->coded[l] = ps_device_part(block, &used, sources * length * real);
        r->locals[l] = ps_device_part(block, &used, targets * points * real);
    }
    return used;
}

static int64_t place_particles(ps_fmm_resident *r, char *block)
{
    int64_t used = 0, sides = r->method.sides;
    r->rows[0] = ps_device_part(block, &used, r->count[0] * (3 + sides) * 8);
    r->rows[1] = r->rows[0];
    if (r->sets == 2) r->rows[1] = ps_device_part(block, &used, r->count[1] * 3 * 8);
    r->results = ps_device_part(block, &used, target_count(r) * result_columns(r) * 8);
    return used;
}

/* The parts of the first block; counts them for a block of NULL. */
static ps_status place_first(ps_fmm_resident *r, char *block)
{
    ps_fmm_resident_plan *plan = &r->plan;
    plan->sorting = 0;
    for (int set = 0; set < r->sets; ++set) {
        int64_t some;
        PS_TRY(ps_device_sort_bytes(&r->sort[set], r->lanes.far, &some));
        if (block) ps_device_sort_attach(&r->sort[set], block + plan->sorting);
        plan->sorting += ps_device_padded(some);
    }
    plan->particles = place_particles(r, block ? block + plan->sorting : NULL);
    plan->first = plan->sorting + plan->particles;
    return PS_OK;
}

/* Those of the second one. */
static void place_second(ps_fmm_resident *r, char *block)
{
    ps_fmm_resident_plan *plan = &r->plan;
    char *at = block;
    plan->tree = 0;
    for (int set = 0; set < r->sets; ++set) {
        ps_device_tree_attach(&r->tree[set], at ? at + plan->tree : NULL);
        plan->tree += ps_device_tree_bytes(&r->tree[set]);
    }
    if (at) at += plan->tree;
    ps_device_lists_attach(targets_of(r), &r->lists, at);
    if (at) at += plan->lists;
    plan->vectors = place_vectors(r, at);
    if (at) at += plan->vectors;
    plan->workspace = ps_device_padded(
        ps_fmm_device_p2p_workspace(targets_of(r)->cells[r->height - 1], target_count(r)));
    r->workspace = at;
    plan->second = plan->tree + plan->lists + plan->vectors + plan->workspace;
}

/* ---- checks ---- */

static ps_status check_config(const ps_fmm_resident *r)
{
    if (r->method.sides < 1 || r->method.sides > PS_FMM_SIDES_MAX)
        return ps_fail(PS_USAGE, "%d right-hand sides; there may be 1 to %d", r->method.sides,
                       PS_FMM_SIDES_MAX);
    if (r->height < 1 || r->height > PS_OCTREE_LEVELS_MAX)
        return ps_fail(PS_USAGE, "a height of %d; it must be 1 .. %d", r->height,
                       PS_OCTREE_LEVELS_MAX);
    if (!(r->box.width > 0)) return ps_fail(PS_USAGE, "a box of width %g", r->box.width);
    for (int l = FAR_LEVEL; l < r->height; ++l)
        if (!r->tables[l] || r->tables[l]->order != r->method.interpolation.order)
            return ps_fail(PS_USAGE, "no operators of order %d for level %d",
                           r->method.interpolation.order, l);
    return PS_OK;
}

ps_status ps_fmm_resident_init(ps_fmm_resident *r, int64_t *bytes)
{
    PS_TRY(check_config(r));
    r->sets = r->count[PS_FMM_TARGETS] > 0 ? 2 : 1;
    memset(&r->plan, 0, sizeof r->plan);
    for (int set = 0; set < r->sets; ++set) {
        r->sort[set] =
            (ps_device_sort){.count = r->count[set], .level = r->height - 1, .box = r->box};
        r->tree[set] = (ps_device_tree){.height = r->height};
    }
    PS_TRY(place_first(r, NULL));
    *bytes = r->plan.first;
    return PS_OK;
}

/* The plan of the second block, once the cells are known. */
static ps_status plan_second(ps_fmm_resident *r)
{
    PS_TRY(ps_device_lists_bytes(targets_of(r), &r->lists, r->lanes.far, &r->plan.lists));
    place_second(r, NULL);
    return PS_OK;
}

ps_status ps_fmm_resident_expect(ps_fmm_resident *r, const int64_t *const cells[2])
{
    for (int set = 0; set < r->sets; ++set)
        memcpy(r->tree[set].cells, cells[set], (size_t)r->height * sizeof **cells);
    return plan_second(r);
}

/* ---- steps ---- */

static ps_status mark(const ps_fmm_resident *r, int which, ps_stream *stream)
{
    return r->lanes.marks ? ps_event_record(r->lanes.marks[which], stream) : PS_OK;
}

/* `later` goes on when what is on `earlier` now is done. */
static ps_status order_streams(ps_event *event, ps_stream *earlier, ps_stream *later)
{
    if (earlier == later) return PS_OK;
    PS_TRY(ps_event_record(event, earlier));
    return ps_event_wait(event, later);
}

static ps_status sort_set(ps_fmm_resident *r, int set, const ps_fmm_particles *particles)
{
    ps_tree_points points = {r->count[set], particles->position[0], particles->position[1],
                             particles->position[2]};
    return ps_device_sort_run(&r->sort[set], &points, r->lanes.far);
}

static ps_status gather_set(const ps_fmm_resident *r, int set, const ps_fmm_particles *particles)
{
    int64_t n = r->count[set];
    ps_device_columns columns = {.count = set ? 3 : 3 + r->method.sides};
    for (int c = 0; c < columns.count; ++c) {
        columns.from[c] =
            c < 3 ? particles->position[c] : particles->charges + (c - 3) * particles->stride;
        columns.to[c] = r->rows[set] + c * n;
    }
    return ps_device_gather(&r->sort[set], &columns, r->lanes.far);
}

ps_status ps_fmm_resident_sort(ps_fmm_resident *r, const ps_fmm_particles *sources,
                               const ps_fmm_particles *targets, void *block)
{
    const ps_fmm_particles *particles[2] = {sources, targets};
    PS_TRY(place_first(r, block));
    PS_TRY(mark(r, PS_FMM_RESIDENT_SORT, r->lanes.far));
    for (int set = 0; set < r->sets; ++set) PS_TRY(sort_set(r, set, particles[set]));
    PS_TRY(order_streams(r->lanes.forked, r->lanes.far, r->lanes.near));
    PS_TRY(mark(r, PS_FMM_RESIDENT_GATHER, r->lanes.far));
    for (int set = 0; set < r->sets; ++set) PS_TRY(gather_set(r, set, particles[set]));
    PS_TRY(mark(r, PS_FMM_RESIDENT_TREE, r->lanes.far));
    r->outside = 0;
    for (int set = 0; set < r->sets; ++set) {
        int64_t outside;
        PS_TRY(ps_device_sort_cells(&r->sort[set], r->lanes.near, r->tree[set].cells, &outside));
        r->outside += outside;
    }
    return plan_second(r);
}

static ps_status scatter_results(const ps_fmm_resident *r, const ps_fmm_particles *to)
{
    int64_t n = target_count(r);
    ps_device_columns columns = {.count = result_columns(r)};
    for (int c = 0; c < columns.count; ++c) {
        int gradient = c - r->method.sides;
        columns.from[c] = r->results + c * n;
        columns.to[c] =
            gradient < 0 ? to->potential + c * to->stride : to->gradient + gradient * to->stride;
    }
    return ps_device_scatter(&r->sort[r->sets - 1], &columns, r->lanes.far);
}

static ps_fmm_device_leaves leaves_of(const ps_fmm_resident *r, int set)
{
    const ps_device_tree *tree = &r->tree[set];
    int level = r->height - 1;
    int64_t n = r->count[set];
    ps_fmm_device_leaves leaves = {.cells = tree->cells[level],
                                   .particles = n,
                                   .keys = tree->keys[level],
                                   .box = r->box,
                                   .level = level,
                                   .set = {r->rows[set], n, tree->particle_start}};
    if (set == r->sets - 1) {
        leaves.potential = r->results;
        leaves.gradient = r->gradient ? r->results + r->method.sides * n : NULL;
    }
    return leaves;
}

static ps_fmm_device_vectors vectors_of(void *values, int64_t cells, int64_t length)
{
    return (ps_fmm_device_vectors){values, cells * length};
}

static ps_fmm_device_vectors multipoles_of(const ps_fmm_resident *r, int level)
{
    return vectors_of(r->multipoles[level], sources_of(r)->cells[level],
                      r->method.interpolation.points);
}

static ps_fmm_device_vectors locals_of(const ps_fmm_resident *r, int level)
{
    return vectors_of(r->locals[level], targets_of(r)->cells[level],
                      r->method.interpolation.points);
}

static ps_fmm_device_vectors coded_of(const ps_fmm_resident *r, int level)
{
    return vectors_of(r->coded[level], sources_of(r)->cells[level], r->tables[level]->length);
}

static ps_status near_field(const ps_fmm_resident *r)
{
    ps_stream *near = r->lanes.near;
    ps_fmm_device_p2p p2p = {.targets = leaves_of(r, r->sets - 1),
                             .near = r->lists.around[r->height - 1],
                             .sources = {.one = leaves_of(r, PS_FMM_SOURCES).set},
                             .blocks = near == r->lanes.far ? 0 : r->near_blocks,
                             .workspace = r->workspace};
    PS_TRY(mark(r, PS_FMM_RESIDENT_P2P + 1, near));
    PS_TRY(ps_fmm_device_p2p_run(&r->method, &p2p, near));
    return mark(r, PS_FMM_RESIDENT_P2P + 2, near);
}

static ps_status upward(const ps_fmm_resident *r)
{
    int leaves = r->height - 1;
    ps_fmm_device_leaves set = leaves_of(r, PS_FMM_SOURCES);
    ps_fmm_device_vectors multipoles = multipoles_of(r, leaves);
    PS_TRY(mark(r, PS_FMM_RESIDENT_P2M, r->lanes.far));
    PS_TRY(ps_fmm_device_p2m(&r->method, &set, &multipoles, r->lanes.far));
    PS_TRY(mark(r, PS_FMM_RESIDENT_M2M, r->lanes.far));
    for (int l = leaves - 1; l >= FAR_LEVEL; --l) {
        ps_fmm_device_family family = {.parents = sources_of(r)->cells[l],
                                       .children = sources_of(r)->children[l],
                                       .parent = multipoles_of(r, l),
                                       .child = {.one = multipoles_of(r, l + 1)}};
        PS_TRY(ps_fmm_device_m2m(&r->method, &family, false, r->lanes.far));
    }
    PS_TRY(mark(r, PS_FMM_RESIDENT_ENCODE, r->lanes.far));
    for (int l = FAR_LEVEL; l <= leaves; ++l) {
        ps_fmm_device_vectors from = multipoles_of(r, l), to = coded_of(r, l);
        PS_TRY(ps_fmm_device_encode(&r->method, r->tables[l], sources_of(r)->cells[l], &from, &to,
                                    r->lanes.far));
    }
    return PS_OK;
}

static ps_status across(const ps_fmm_resident *r, int level)
{
    const ps_device_tree *targets = targets_of(r);
    ps_fmm_device_m2l m2l = {.far = {.cells = targets->cells[level],
                                     .blocks = targets->cells[level - 1],
                                     .order = r->lists.by_octant[level],
                                     .octant_start = r->lists.octant_start[level],
                                     .block = targets->parent[level],
                                     .sources = r->lists.far[level]},
                             .sources = {.one = coded_of(r, level)},
                             .locals = locals_of(r, level),
                             .factor =
                                 ps_fmm_level_factor(&r->box, level, r->method.function.kernel)};
    return ps_fmm_device_m2l_run(&r->method, r->tables[level], &m2l, r->lanes.far);
}

static ps_status downward(const ps_fmm_resident *r)
{
    for (int l = FAR_LEVEL; l < r->height - 1; ++l) {
        ps_fmm_device_family family = {.parents = targets_of(r)->cells[l],
                                       .children = targets_of(r)->children[l],
                                       .parent = locals_of(r, l),
                                       .child = {.one = locals_of(r, l + 1)}};
        PS_TRY(ps_fmm_device_l2l(&r->method, &family, r->lanes.far));
    }
    return PS_OK;
}

static ps_status far_field(const ps_fmm_resident *r)
{
    PS_TRY(upward(r));
    PS_TRY(mark(r, PS_FMM_RESIDENT_M2L, r->lanes.far));
    for (int l = FAR_LEVEL; l < r->height; ++l) PS_TRY(across(r, l));
    PS_TRY(mark(r, PS_FMM_RESIDENT_L2L, r->lanes.far));
    return downward(r);
}

static ps_status finish(const ps_fmm_resident *r, const ps_fmm_particles *results)
{
    ps_stream *far = r->lanes.far;
    PS_TRY(order_streams(r->lanes.met, r->lanes.near, far));
    PS_TRY(mark(r, PS_FMM_RESIDENT_L2P, far));
    if (r->height > FAR_LEVEL) {
        ps_fmm_device_leaves leaves = leaves_of(r, r->sets - 1);
        ps_fmm_device_vectors locals = locals_of(r, r->height - 1);
        PS_TRY(ps_fmm_device_l2p(&r->method, &leaves, &locals, true, far));
    }
    PS_TRY(mark(r, PS_FMM_RESIDENT_SCATTER, far));
    PS_TRY(scatter_results(r, results));
    return mark(r, PS_FMM_RESIDENT_SCATTER + 1, far);
}

/* Without a far field its marks are there all the same. */
static ps_status no_far_field(const ps_fmm_resident *r)
{
    for (int s = PS_FMM_RESIDENT_P2M; s <= PS_FMM_RESIDENT_L2L; ++s)
        PS_TRY(mark(r, s, r->lanes.far));
    return PS_OK;
}

ps_status ps_fmm_resident_run(ps_fmm_resident *r, const ps_fmm_particles *results, void *block)
{
    ps_stream *far = r->lanes.far;
    place_second(r, block);
    for (int set = 0; set < r->sets; ++set)
        PS_TRY(ps_device_tree_fill(&r->sort[set], &r->tree[set], far));
    PS_TRY(mark(r, PS_FMM_RESIDENT_LISTS, far));
    PS_TRY(ps_device_lists_fill(targets_of(r), sources_of(r), &r->lists, far));
    PS_TRY(order_streams(r->lanes.forked, far, r->lanes.near));
    if (far != r->lanes.near) PS_TRY(near_field(r));
    PS_TRY(mark(r, PS_FMM_RESIDENT_INVERT, far));
    PS_TRY(ps_device_sort_invert(&r->sort[r->sets - 1], far));
    PS_TRY(r->height > FAR_LEVEL ? far_field(r) : no_far_field(r));
    PS_TRY(mark(r, PS_FMM_RESIDENT_MEET, far));
    if (far == r->lanes.near) PS_TRY(near_field(r));
    return finish(r, results);
}

ps_status ps_fmm_resident_seconds(const ps_fmm_resident *r, double seconds[PS_FMM_RESIDENT_STAGES])
{
    ps_event **marks = r->lanes.marks;
    if (!marks) return ps_fail(PS_USAGE, "this evaluation was not timed");
    for (int s = 0; s <= PS_FMM_RESIDENT_SCATTER; ++s)
        PS_TRY(ps_event_seconds(marks[s], marks[s + 1], &seconds[s]));
    return ps_event_seconds(marks[PS_FMM_RESIDENT_P2P + 1], marks[PS_FMM_RESIDENT_P2P + 2],
                            &seconds[PS_FMM_RESIDENT_P2P]);
}
