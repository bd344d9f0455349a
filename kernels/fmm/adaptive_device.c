#include "kernels/fmm/adaptive_device.h"

#include "kernels/common/reals.h"
#include "kernels/fmm/device_place.h"

enum { FAR_LEVEL = 2 /* the first with interactions */ };

const char *const ps_adaptive_device_stage_names[PS_ADAPTIVE_DEVICE_STAGES] = {
    "P2M", "M2M", "encode", "M2L", "P2L", "L2L", "meet", "L2P", "M2P"};

/* ---- places ---- */

static const ps_adaptive_tree *tree_of(const ps_adaptive_device *d) { return d->plan->tree; }

static int64_t level_cells(const ps_adaptive_device *d, int level)
{
    return ps_adaptive_level_cells(tree_of(d), level);
}

static int64_t vectors_bytes(const ps_adaptive_device *d)
{
    return d->method.sides * tree_of(d)->cells * d->method.interpolation.points *
           ps_real_bytes(d->method.far);
}

static int64_t target_count(const ps_adaptive_device *d)
{
    return tree_of(d)->sets[tree_of(d)->same ? 0 : 1].points.count;
}

int64_t ps_adaptive_device_place(ps_adaptive_device *d, void *block)
{
    int64_t used = 0;
    for (int i = 0; i < PS_PLAN_PARTS; ++i)
        d->part[i] = d->grown
                         ? d->grown[i]
                         : ps_device_part(block, &used,
                                          (d->plan->part[i].count + 1) * d->plan->part[i].size);
    d->multipoles = ps_device_part(block, &used, vectors_bytes(d));
    d->locals = ps_device_part(block, &used, vectors_bytes(d));
    for (int l = FAR_LEVEL; l < tree_of(d)->levels; ++l)
        d->coded[l] = ps_device_part(block, &used,
                                     d->method.sides * level_cells(d, l) * d->tables[l]->length *
                                         ps_real_bytes(d->method.far));
    d->workspace = ps_device_part(block, &used,
                                  ps_fmm_device_p2p_workspace(tree_of(d)->leaves, target_count(d)));
    return used;
}

ps_status ps_adaptive_device_load(ps_adaptive_device *d)
{
    for (int i = 0; i < PS_PLAN_PARTS; ++i) {
        int64_t bytes = d->plan->part[i].count * d->plan->part[i].size;
        if (bytes > 0) PS_TRY(ps_copy_to_device(d->far, d->part[i], d->plan->part[i].at, bytes));
    }
    return ps_stream_wait(d->far);
}

/* ---- what operators take ---- */

static ps_fmm_device_any_leaves leaves_of(const ps_adaptive_device *d, int set)
{
    const ps_adaptive_tree *t = tree_of(d);
    int last = t->same ? 0 : 1;
    int64_t n = t->sets[set].points.count;
    ps_fmm_device_any_leaves out = {
        .leaves = {.cells = t->leaves, .particles = n, .box = t->box, .set = {d->rows[set], n}},
        .each = d->part[set ? PS_PLAN_TARGETS : PS_PLAN_SOURCES],
        .moments = d->moments};
    if (set == last) {
        out.leaves.potential = d->results;
        out.leaves.gradient = d->gradient ? d->results + d->method.sides * n : NULL;
    }
    return out;
}

/* Leaves as targets: those that the plan is for. */
static ps_fmm_device_any_leaves targets_of(const ps_adaptive_device *d)
{
    ps_fmm_device_any_leaves out = leaves_of(d, tree_of(d)->same ? 0 : 1);
    if (d->plan->shared) out.each = d->part[PS_PLAN_TARGETS];
    return out;
}

/* Vectors of the cells from one, or from the first one of a level, on. */
static ps_fmm_device_vectors from_cell(const ps_adaptive_device *d, void *vectors, int64_t cell)
{
    int64_t points = d->method.interpolation.points;
    return (ps_fmm_device_vectors){(char *)vectors + cell * points * ps_real_bytes(d->method.far),
                                   tree_of(d)->cells * points};
}

static ps_fmm_device_vectors from_level(const ps_adaptive_device *d, void *vectors, int level)
{
    return from_cell(d, vectors, tree_of(d)->level_start[level]);
}

static ps_fmm_device_vectors coded_of(const ps_adaptive_device *d, int level)
{
    return (ps_fmm_device_vectors){d->coded[level],
                                   level_cells(d, level) * d->tables[level]->length};
}

/* Parents are some cells of a level. */
static ps_fmm_device_family family_of(const ps_adaptive_device *d, void *vectors, int level,
                                      ps_fmm_range parents)
{
    const int32_t *children = d->part[PS_PLAN_CHILDREN];
    return (ps_fmm_device_family){.parents = ps_adaptive_size(parents),
                                  .children = children + 8 * parents.begin,
                                  .parent = from_cell(d, vectors, parents.begin),
                                  .child = {.one = from_level(d, vectors, level + 1)}};
}

/* ---- steps ---- */

static ps_status mark(const ps_adaptive_device *d, int which)
{
    return d->marks ? ps_event_record(d->marks[which], d->far) : PS_OK;
}

static ps_status sources_up(const ps_adaptive_device *d)
{
    ps_fmm_device_any_leaves leaves = leaves_of(d, 0);
    ps_fmm_device_vectors all = from_level(d, d->multipoles, 0);
    return ps_fmm_device_p2m_any(&d->method, &leaves, &all, d->far);
}

static ps_status parents_up(const ps_adaptive_device *d)
{
    for (int l = tree_of(d)->levels - 2; l >= FAR_LEVEL; --l) {
        ps_fmm_range cells = {tree_of(d)->level_start[l], tree_of(d)->level_start[l + 1]};
        ps_fmm_device_family family = family_of(d, d->multipoles, l, cells);
        PS_TRY(ps_fmm_device_m2m(&d->method, &family, true, d->far));
    }
    return PS_OK;
}

static ps_status encode(const ps_adaptive_device *d)
{
    for (int l = FAR_LEVEL; l < tree_of(d)->levels; ++l) {
        ps_fmm_device_vectors from = from_level(d, d->multipoles, l), to = coded_of(d, l);
        PS_TRY(
            ps_fmm_device_encode(&d->method, d->tables[l], level_cells(d, l), &from, &to, d->far));
    }
    return PS_OK;
}

static ps_status upward(const ps_adaptive_device *d)
{
    if (!d->given) PS_TRY(ps_fill_zero(d->far, d->multipoles, vectors_bytes(d)));
    PS_TRY(ps_fill_zero(d->far, d->locals, vectors_bytes(d)));
    if (!d->given) PS_TRY(sources_up(d));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_M2M));
    if (!d->given) PS_TRY(parents_up(d));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_ENCODE));
    PS_TRY(encode(d));
    return mark(d, PS_ADAPTIVE_DEVICE_M2L);
}

static ps_status across(const ps_adaptive_device *d, int level)
{
    const ps_adaptive_plan *p = d->plan;
    int64_t first = tree_of(d)->level_start[level];
    ps_fmm_device_m2l m2l = {
        .far = {.cells = level_cells(d, level),
                .blocks = p->block_start[level + 1] - p->block_start[level],
                .order = (int32_t *)d->part[PS_PLAN_ORDER] + first,
                .octant_start = (int32_t *)d->part[PS_PLAN_OCTANTS] + 9 * level,
                .block = (int32_t *)d->part[PS_PLAN_BLOCK] + first,
                .sources =
                    (int32_t *)d->part[PS_PLAN_FAR] + p->block_start[level] * PS_FMM_DEVICE_FAR},
        .sources = {.one = coded_of(d, level)},
        .locals = from_level(d, d->locals, level),
        .factor = d->factors[level]};
    return ps_fmm_device_m2l_run(&d->method, d->tables[level], &m2l, d->far);
}

static ps_status near_to_far(const ps_adaptive_device *d)
{
    ps_fmm_device_p2l p2l = {.sources = leaves_of(d, 0).leaves.set,
                             .locals = from_level(d, d->locals, 0),
                             .boxes = d->part[PS_PLAN_BOXES],
                             .count = d->plan->part[PS_PLAN_P2L_CELL].count,
                             .cell = d->part[PS_PLAN_P2L_CELL],
                             .start = d->part[PS_PLAN_P2L_START],
                             .runs = d->part[PS_PLAN_P2L_RUNS],
                             .moments = d->moments};
    return ps_fmm_device_p2l_run(&d->method, &p2l, d->far);
}

/* ---- the boxes beyond ---- */

static int64_t beyond_numbers(const ps_adaptive_device *d)
{
    return level_cells(d, PS_IMAGES_SMOOTH) * d->method.interpolation.points;
}

int64_t ps_adaptive_device_beyond_bytes(const ps_adaptive_device *d)
{
    return d->periodic ? 2 * beyond_numbers(d) * ps_real_bytes(d->method.far) : 0;
}

/* By the host: from multipoles to locals of a few cells. */
static ps_status beyond(const ps_adaptive_device *d)
{
    int64_t bytes = beyond_numbers(d) * ps_real_bytes(d->method.far);
    for (int side = 0; side < d->method.sides; ++side) {
        ps_fmm_device_vectors from = from_level(d, d->multipoles, PS_IMAGES_SMOOTH),
                              to = from_level(d, d->locals, PS_IMAGES_SMOOTH);
        const char *multipoles =
            (const char *)from.values + side * from.stride * ps_real_bytes(d->method.far);
        char *locals = (char *)to.values + side * to.stride * ps_real_bytes(d->method.far);
        ps_images_beyond b = {.periodic = d->periodic,
                              .tree = tree_of(d),
                              .interpolation = &d->method.interpolation,
                              .precision = d->method.far,
                              .multipoles = d->beyond,
                              .locals = (char *)d->beyond + bytes,
                              .side = side};
        PS_TRY(ps_copy_to_host(d->far, d->beyond, multipoles, bytes));
        PS_TRY(ps_copy_to_host(d->far, b.locals, locals, bytes));
        PS_TRY(ps_stream_wait(d->far));
        ps_adaptive_images_beyond(&b);
        PS_TRY(ps_copy_to_device(d->far, locals, b.locals, bytes));
        PS_TRY(ps_stream_wait(d->far)); /* the next side has the same memory of the host */
    }
    return PS_OK;
}

static ps_status far_field(const ps_adaptive_device *d)
{
    PS_TRY(upward(d));
    for (int l = FAR_LEVEL; l < tree_of(d)->levels; ++l) PS_TRY(across(d, l));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_P2L));
    PS_TRY(near_to_far(d));
    if (d->periodic) PS_TRY(beyond(d));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_L2L));
    for (int l = FAR_LEVEL; l < tree_of(d)->levels - 1; ++l) {
        ps_fmm_device_family family = family_of(d, d->locals, l, d->plan->cells[l]);
        PS_TRY(ps_fmm_device_l2l(&d->method, &family, d->far));
    }
    return mark(d, PS_ADAPTIVE_DEVICE_MEET);
}

static ps_status near_field(const ps_adaptive_device *d)
{
    ps_fmm_device_p2p_any p2p = {.targets = targets_of(d),
                                 .run_start = d->part[PS_PLAN_RUN_START],
                                 .runs = d->part[PS_PLAN_RUNS],
                                 .sources = leaves_of(d, 0).leaves.set,
                                 .workspace = d->workspace};
    return ps_fmm_device_p2p_any_run(&d->method, &p2p, d->near);
}

static ps_status finish(const ps_adaptive_device *d)
{
    ps_fmm_device_any_leaves targets = targets_of(d);
    ps_fmm_device_vectors locals = from_level(d, d->locals, 0);
    ps_fmm_device_m2p m2p = {.targets = targets,
                             .multipoles = from_level(d, d->multipoles, 0),
                             .boxes = d->part[PS_PLAN_BOXES],
                             .count = d->plan->part[PS_PLAN_M2P_LEAF].count,
                             .leaf = d->part[PS_PLAN_M2P_LEAF],
                             .start = d->part[PS_PLAN_M2P_START],
                             .cells = d->part[PS_PLAN_M2P_CELLS]};
    if (tree_of(d)->levels > FAR_LEVEL)
        PS_TRY(ps_fmm_device_l2p_any(&d->method, &targets, &locals, d->far));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_M2P));
    PS_TRY(ps_fmm_device_m2p_run(&d->method, &m2p, d->far));
    return mark(d, PS_ADAPTIVE_DEVICE_STAGES);
}

/* Without a far field its marks are there all the same. */
static ps_status no_far_field(const ps_adaptive_device *d)
{
    for (int s = PS_ADAPTIVE_DEVICE_M2M; s <= PS_ADAPTIVE_DEVICE_MEET; ++s) PS_TRY(mark(d, s));
    return PS_OK;
}

ps_status ps_adaptive_device_run(const ps_adaptive_device *d)
{
    bool apart = d->near != d->far;
    PS_TRY(ps_device_enter_cuda(d->far));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_P2M));
    if (apart) {
        PS_TRY(ps_event_record(d->forked, d->far));
        PS_TRY(ps_event_wait(d->forked, d->near));
        PS_TRY(near_field(d));
        PS_TRY(ps_event_record(d->met, d->near));
    }
    PS_TRY(tree_of(d)->levels > FAR_LEVEL ? far_field(d) : no_far_field(d));
    PS_TRY(apart ? ps_event_wait(d->met, d->far) : near_field(d));
    PS_TRY(mark(d, PS_ADAPTIVE_DEVICE_L2P));
    return finish(d);
}

ps_status ps_adaptive_device_multipoles(const ps_adaptive_device *d)
{
    PS_TRY(ps_device_enter_cuda(d->far));
    PS_TRY(sources_up(d));
    return parents_up(d);
}
