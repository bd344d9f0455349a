#include "kernels/fmm/adaptive_growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/balance.h"
#include "runtime/sizes.h"

/* What a growth needs on its way. */
typedef struct growth {
    const ps_growth_engine *engine;
    ps_growth_arrays a;
    ps_adaptive_tree *tree;
    ps_adaptive_plan *plan;
    int64_t capacity; /* of cells */
} growth;

static ps_status each(growth *g, ps_growth_step step, int64_t count)
{
    return count > 0 ? g->engine->each(g->engine->self, step, &g->a, count) : PS_OK;
}

static ps_status room(growth *g, int64_t count, size_t size, void *out)
{
    return g->engine->room(g->engine->self, (count + 1) * (int64_t)size, (void **)out);
}

static ps_status part(growth *g, ps_adaptive_part which, int64_t count, size_t size)
{
    g->plan->part[which].count = count;
    g->plan->part[which].size = (int64_t)size;
    return room(g, count, size, &g->a.part[which]);
}

/* to[count + 1] = sums of from[count], and their whole. from has a number more. */
static ps_status scan(growth *g, int32_t *from, int32_t *to, int64_t count, int32_t *whole)
{
    PS_TRY(g->engine->zero(g->engine->self, from + count, sizeof *from));
    PS_TRY(g->engine->scan(g->engine->self, from, to, count + 1));
    return g->engine->take(g->engine->self, whole, to + count, sizeof *whole);
}

/* ---- cells ---- */

/* As many cells as leaves of an eighth of their size on average, the least of a cube, make. */
static ps_status make_room(growth *g, int64_t particles)
{
    ps_growth_arrays *a = &g->a;
    g->capacity = ps_smaller(12 * particles / a->leaf_size + 4096, INT32_MAX / 256);
    PS_TRY(room(g, g->capacity, sizeof *a->cell, &a->cell));
    PS_TRY(room(g, g->capacity, sizeof *a->around, &a->around));
    PS_TRY(room(g, g->capacity, sizeof *a->leaves_around, &a->leaves_around));
    PS_TRY(room(g, 8 * g->capacity, sizeof(int32_t), &a->borders));
    for (int i = 0; i < 2; ++i) {
        PS_TRY(room(g, g->capacity, sizeof(int32_t), &a->count[i]));
        PS_TRY(room(g, g->capacity, sizeof(int32_t), &a->start[i]));
    }
    PS_TRY(room(g, 1, sizeof(int32_t), &a->overfull));
    return g->engine->zero(g->engine->self, a->overfull, sizeof(int32_t));
}

/* Divides the cells of a level. */
static ps_status divide(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int32_t cells = a->end - a->first, children;
    PS_TRY(each(g, PS_GROWTH_BORDERS, 8 * (int64_t)cells));
    PS_TRY(each(g, PS_GROWTH_COUNT, cells));
    PS_TRY(scan(g, a->count[0], a->start[0], cells, &children));
    if (a->end + (int64_t)children > g->capacity)
        return ps_fail(PS_EXHAUSTED, "more cells of an adaptive tree than a device has room for");
    PS_TRY(each(g, PS_GROWTH_FILL, 8 * (int64_t)cells));
    PS_TRY(each(g, PS_GROWTH_AROUND, 27 * (int64_t)children));
    a->first = a->end;
    a->end += children;
    a->level_start[++a->level] = a->first;
    return PS_OK;
}

static ps_status make_root(growth *g, int64_t particles)
{
    ps_growth_arrays *a = &g->a;
    PS_TRY(make_room(g, particles));
    /* The root: by hand, as everything else of it is 0 but for what is -1. */
    a->end = 1;
    a->level_start[0] = 0;
    a->cells = (int32_t)particles; /* for the step alone */
    return each(g, PS_GROWTH_ROOT, 1);
}

static ps_status make_cells(growth *g, int64_t particles)
{
    ps_growth_arrays *a = &g->a;
    int32_t overfull;
    PS_TRY(make_root(g, particles));
    while (a->end > a->first && a->level < PS_GROWTH_LEVELS) PS_TRY(divide(g));
    a->levels = a->end > a->first ? a->level + 1 : a->level;
    a->level_start[a->levels] = a->end;
    a->cells = a->end;
    PS_TRY(g->engine->take(g->engine->self, &overfull, a->overfull, sizeof overfull));
    if (!overfull) return PS_OK;
    return ps_fail(PS_INVALID,
                   "an adaptive tree of more than %d levels, or more than %d particles "
                   "at one place, is made on the host",
                   PS_GROWTH_LEVELS, a->leaf_size);
}

/* ---- leaves, blocks ---- */

static ps_status make_kinds(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int32_t divided;
    PS_TRY(each(g, PS_GROWTH_KINDS, a->cells));
    PS_TRY(room(g, a->cells, sizeof(int32_t), &a->leaf_number));
    PS_TRY(room(g, a->cells, sizeof(int32_t), &a->divided));
    PS_TRY(scan(g, a->count[0], a->leaf_number, a->cells, &a->leaves));
    PS_TRY(scan(g, a->count[1], a->divided, a->cells, &divided));
    for (int l = 0; l <= a->levels; ++l)
        PS_TRY(g->engine->take(g->engine->self, &a->divided_start[l],
                               a->divided + a->level_start[l], sizeof(int32_t)));
    PS_TRY(part(g, PS_PLAN_SOURCES, a->leaves, sizeof(ps_fmm_device_leaf)));
    PS_TRY(part(g, PS_PLAN_BOXES, a->cells, sizeof(ps_fmm_device_cell)));
    PS_TRY(part(g, PS_PLAN_M2P_LEAF, a->leaves, sizeof(int32_t)));
    PS_TRY(room(g, a->leaves, sizeof *a->kept, &a->kept));
    PS_TRY(part(g, PS_PLAN_P2L_CELL, a->cells, sizeof(int32_t)));
    return each(g, PS_GROWTH_BOXES, a->cells);
}

static ps_status make_far(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int64_t rows = a->levels > 1 ? a->divided_start[a->levels] - a->divided_start[1] : 0;
    g->plan->block_start[0] = g->plan->block_start[1] = g->plan->block_start[2] = 0;
    for (int l = 2; l < a->levels; ++l)
        g->plan->block_start[l + 1] = a->divided_start[l] - a->divided_start[1];
    PS_TRY(part(g, PS_PLAN_CHILDREN, 8 * (int64_t)a->cells, sizeof(int32_t)));
    PS_TRY(part(g, PS_PLAN_BLOCK, a->cells, sizeof(int32_t)));
    PS_TRY(part(g, PS_PLAN_FAR, rows * PS_FMM_DEVICE_FAR, sizeof(int32_t)));
    return each(g, PS_GROWTH_FAR, 28 * (int64_t)a->cells);
}

static ps_status make_order(growth *g)
{
    enum { BITS = 27 + 3 + 1 + 5 };
    ps_growth_arrays *a = &g->a;
    PS_TRY(room(g, a->cells, sizeof *a->labels, &a->labels));
    PS_TRY(room(g, a->cells, sizeof *a->numbers, &a->numbers));
    PS_TRY(part(g, PS_PLAN_ORDER, a->cells, sizeof(int32_t)));
    PS_TRY(part(g, PS_PLAN_OCTANTS, 9 * a->levels, sizeof(int32_t)));
    PS_TRY(each(g, PS_GROWTH_LABELS, a->cells));
    PS_TRY(g->engine->sort(g->engine->self, &a->labels, &a->numbers, a->cells, BITS));
    PS_TRY(each(g, PS_GROWTH_ORDER, a->cells));
    return each(g, PS_GROWTH_OCTANTS, 9 * a->levels);
}

/* ---- lists ---- */

static ps_status make_lists(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int32_t runs, far;
    PS_TRY(part(g, PS_PLAN_M2P_START, a->leaves + 1, sizeof(int32_t)));
    PS_TRY(part(g, PS_PLAN_RUN_START, a->leaves + 1, sizeof(int32_t)));
    if (!a->shared) PS_TRY(each(g, PS_GROWTH_LIST_COUNT, a->leaves));
    PS_TRY(scan(g, a->count[0], a->part[PS_PLAN_RUN_START], a->leaves, &runs));
    PS_TRY(scan(g, a->count[1], a->part[PS_PLAN_M2P_START], a->leaves, &far));
    PS_TRY(part(g, PS_PLAN_RUNS, runs, sizeof(ps_fmm_device_run)));
    PS_TRY(part(g, PS_PLAN_M2P_CELLS, far, sizeof(int32_t)));
    PS_TRY(each(g, PS_GROWTH_LIST_FILL, a->leaves));
    if (far == 0) g->plan->part[PS_PLAN_M2P_LEAF].count = 0;
    return PS_OK;
}

static ps_status make_near(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int32_t near;
    PS_TRY(part(g, PS_PLAN_P2L_START, a->cells + 1, sizeof(int32_t)));
    PS_TRY(each(g, PS_GROWTH_NEAR_COUNT, a->cells));
    PS_TRY(scan(g, a->count[0], a->part[PS_PLAN_P2L_START], a->cells, &near));
    PS_TRY(part(g, PS_PLAN_P2L_RUNS, near, sizeof(ps_fmm_device_run)));
    if (near == 0) g->plan->part[PS_PLAN_P2L_CELL].count = 0;
    return near ? each(g, PS_GROWTH_NEAR_FILL, a->cells) : PS_OK;
}

/* ---- work ---- */

enum { KINDS = 4 };

static ps_status begin_work(growth *g)
{
    PS_TRY(room(g, KINDS * PS_GROWTH_SLOTS, sizeof *g->a.work, &g->a.work));
    return g->engine->zero(g->engine->self, g->a.work,
                           KINDS * PS_GROWTH_SLOTS * (int64_t)sizeof *g->a.work);
}

static ps_status count_work(growth *g, ps_adaptive_work *out)
{
    int64_t sums[KINDS * PS_GROWTH_SLOTS],
        *all[KINDS] = {&out->direct, &out->m2l, &out->m2p, &out->p2l};
    *out = (ps_adaptive_work){.direct_cells = g->plan->part[PS_PLAN_RUNS].count,
                              .m2p_cells = g->plan->part[PS_PLAN_M2P_CELLS].count,
                              .p2l_cells = g->plan->part[PS_PLAN_P2L_RUNS].count};
    if (!g->a.shared) PS_TRY(begin_work(g));
    if (!g->a.shared) PS_TRY(each(g, PS_GROWTH_WORK_LEAVES, g->a.leaves));
    PS_TRY(each(g, PS_GROWTH_WORK_CELLS, g->a.cells));
    PS_TRY(g->engine->take(g->engine->self, sums, g->a.work, sizeof sums));
    for (int k = 0; k < KINDS; ++k)
        for (int i = 0; i < PS_GROWTH_SLOTS; ++i) *all[k] += sums[k * PS_GROWTH_SLOTS + i];
    return PS_OK;
}

/* ---- shares ---- */

/* Where each rank's stretch of buckets of particles begins, for all levels. */
static void cut_buckets(const growth *g, const int64_t *buckets, const ps_adaptive_own *share,
                        int32_t *cuts)
{
    ps_split_equal(buckets, PS_GROWTH_BUCKETS, share->ranks, share->first);
    for (int k = 0; k < share->ranks; ++k) {
        /* the first particle of the bucket */
        int64_t at = (share->first[k] * g->a.particles + PS_GROWTH_BUCKETS - 1) / PS_GROWTH_BUCKETS;
        for (int l = 0; l < g->a.levels; ++l) cuts[k * g->a.levels + l] = (int32_t)at;
    }
}

/* From cuts anywhere to those between leaves. */
static ps_status cut_leaves(growth *g, const ps_adaptive_own *share, int64_t *buckets,
                            int32_t *cuts)
{
    ps_growth_arrays *a = &g->a;
    int64_t count = (int64_t)share->ranks * a->levels, bytes = count * (int64_t)sizeof *cuts;
    PS_TRY(g->engine->take(g->engine->self, buckets, a->buckets,
                           PS_GROWTH_BUCKETS * (int64_t)sizeof *buckets));
    cut_buckets(g, buckets, share, cuts);
    PS_TRY(room(g, count, sizeof *cuts, &a->cuts));
    PS_TRY(g->engine->give(g->engine->self, a->cuts, cuts, bytes));
    PS_TRY(each(g, PS_GROWTH_CUTS, count));
    PS_TRY(g->engine->take(g->engine->self, cuts, a->cuts, bytes));
    for (int k = 0; k < share->ranks; ++k) {
        int32_t first = a->particles;
        for (int l = 0; l < a->levels; ++l)
            first = cuts[k * a->levels + l] < first ? cuts[k * a->levels + l] : first;
        share->first[k] = k == 0 ? 0 : first;
    }
    share->first[share->ranks] = a->particles;
    return PS_OK;
}

static ps_status find_own(growth *g)
{
    ps_growth_arrays *a = &g->a;
    int32_t own[2 * PS_GROWTH_LEVELS];
    PS_TRY(room(g, 2 * a->levels, sizeof *own, &a->own_cells));
    PS_TRY(part(g, PS_PLAN_TARGETS, a->leaves, sizeof(ps_fmm_device_leaf)));
    PS_TRY(each(g, PS_GROWTH_OWN_CELLS, 2 * a->levels));
    PS_TRY(each(g, PS_GROWTH_OWN_LEAVES, a->leaves));
    PS_TRY(
        g->engine->take(g->engine->self, own, a->own_cells, 2 * a->levels * (int64_t)sizeof *own));
    for (int l = 0; l < a->levels; ++l)
        g->plan->cells[l] = (ps_fmm_range){own[2 * l], ps_larger(own[2 * l], own[2 * l + 1])};
    return PS_OK;
}

/* Counts lists of all leaves, cuts, and leaves the counts of own leaves. */
static ps_status make_share(growth *g, const ps_adaptive_own *share)
{
    ps_growth_arrays *a = &g->a;
    int64_t *buckets = NULL, held = 0, kept = 0;
    int32_t *cuts = NULL;
    a->shared = true;
    a->costs = share->costs;
    PS_TRY(begin_work(g));
    PS_TRY(room(g, PS_GROWTH_BUCKETS, sizeof *buckets, &a->buckets));
    PS_TRY(
        g->engine->zero(g->engine->self, a->buckets, PS_GROWTH_BUCKETS * (int64_t)sizeof *buckets));
    PS_TRY(each(g, PS_GROWTH_LIST_COUNT, a->leaves));
    PS_TRY(each(g, PS_GROWTH_SHARE_WORK, a->cells));
    ps_status status = g->tree->room((void **)&buckets, &held, PS_GROWTH_BUCKETS, sizeof *buckets,
                                     "work of targets");
    if (status == PS_OK)
        status = g->tree->room((void **)&cuts, &kept, (int64_t)share->ranks * a->levels,
                               sizeof *cuts, "cuts between ranks");
    if (status == PS_OK) status = cut_leaves(g, share, buckets, cuts);
    free(buckets);
    free(cuts);
    PS_TRY(status);
    a->own_begin = (int32_t)share->first[share->rank];
    a->own_end = (int32_t)share->first[share->rank + 1];
    return find_own(g);
}

static void own_all(growth *g)
{
    for (int l = 0; l < g->a.levels; ++l)
        g->plan->cells[l] = (ps_fmm_range){g->a.level_start[l], g->a.level_start[l + 1]};
    g->a.own_end = g->a.particles;
}

/* ---- all ---- */

int64_t ps_adaptive_growth_bytes(int64_t particles, int64_t leaf_size)
{
    enum { FOR_EACH = 12000, LEAST = 1 << 26 }; /* what is full: 12 cells, lists of half of them */
    return FOR_EACH * (particles / leaf_size + 1) + LEAST;
}

static void tell(const growth *g, void *parts[PS_PLAN_PARTS])
{
    const ps_growth_arrays *a = &g->a;
    ps_adaptive_tree *t = g->tree;
    t->levels = a->levels;
    t->cells = a->cells;
    t->leaves = a->leaves;
    for (int l = 0; l <= a->levels; ++l) t->level_start[l] = a->level_start[l];
    g->plan->shared = a->shared;
    g->plan->own = (ps_fmm_range){a->own_begin, a->own_end};
    memcpy(parts, a->part, sizeof a->part);
}

ps_status ps_adaptive_grow(const ps_growth_engine *engine, const uint64_t *keys,
                           ps_adaptive_rule rule, const ps_adaptive_own *share,
                           ps_adaptive_tree *tree, ps_adaptive_plan *plan,
                           void *parts[PS_PLAN_PARTS], ps_adaptive_work *work)
{
    int64_t particles = tree->sets[0].points.count;
    growth g = {.engine = engine, .tree = tree, .plan = plan};
    if (!tree->same || particles < 1 || particles > INT32_MAX || tree->leaf_size > INT32_MAX)
        return ps_fail(PS_INVALID, "this adaptive tree is made on the host");
    *plan = (ps_adaptive_plan){.tree = tree, .rule = rule};
    g.a.box = tree->box;
    g.a.keys = keys;
    g.a.particles = (int32_t)particles;
    g.a.leaf_size = (int32_t)tree->leaf_size;
    g.a.points = (int32_t)rule.points;
    PS_TRY(make_cells(&g, particles));
    PS_TRY(make_kinds(&g));
    PS_TRY(make_far(&g));
    own_all(&g);
    if (share && share->ranks > 1) PS_TRY(make_share(&g, share));
    PS_TRY(make_order(&g));
    PS_TRY(make_lists(&g));
    PS_TRY(make_near(&g));
    tell(&g, parts);
    return work ? count_work(&g, work) : PS_OK;
}
