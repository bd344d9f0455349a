/*
 * The order of tasks, in which they could be run one after the other, on one rank.
 *
 * Upward in Morton order: as soon as all children of a group of cells are there, their parents.
 * Then M2L and L2L level by level down to the one above the leaves; then group after group of
 * leaves: P2P, M2L, L2L, L2P and the reduction, so that a piece that is out of memory is wanted
 * by tasks close to each other. Where all is in memory P2P comes beside P2M, as it needs nobody.
 * The scheduler's priorities decide what is really run first.
 */
#include "compute/fmm/flow.h"
#include "runtime/memory.h"

/* All groups on `level` and above whose children are complete: `complete` cells of the level below.
 */
static ps_status climb(flow *f, int level, int64_t complete, int64_t *next)
{
    const ps_octree *tree = f->p->fmm.sources;
    for (; level >= 2; --level) {
        int64_t first, last = 0;
        for (; next[level] < ps_octree_groups(tree, level); ++next[level]) {
            ps_octree_group(tree, level, next[level], &first, &last);
            if (tree->child_start[level][last] > complete) break;
            PS_TRY(flow_add_m2m(f, level, next[level]));
            PS_TRY(flow_add_encode(f, level, next[level]));
        }
        complete = next[level] * f->p->header->group_size;
        if (complete > tree->cells[level]) complete = tree->cells[level];
    }
    return PS_OK;
}

int64_t fmm_place_groups(const fmm_problem *p, int64_t groups)
{
    int64_t gpus = p->gpus > 1 ? p->gpus : 1;
    return (groups + gpus - 1) / gpus;
}

/* P2P of as many groups, or, from the last group of sources on, of all: by turns of the GPUs'
 * intervals, so that each GPU has tasks of its own from the beginning. */
static ps_status near_until(flow *f, int64_t group, int64_t *done)
{
    int64_t groups = ps_octree_groups(f->p->fmm.targets, f->p->leaf),
            places = f->p->gpus > 1 ? f->p->gpus : 1, each = fmm_place_groups(f->p, groups);
    bool last = group + 1 >= ps_octree_groups(f->p->fmm.sources, f->p->leaf);
    for (; f->p->near_first && *done < each * places && (last || *done <= group); ++*done) {
        int64_t g = *done % places * each + *done / places;
        if (g < groups) PS_TRY(flow_add_p2p(f, g));
    }
    return PS_OK;
}

static ps_status upward(flow *f)
{
    const ps_octree *tree = f->p->fmm.sources;
    int64_t next[PS_OCTREE_LEVELS_MAX] = {0}, near = 0;
    for (int64_t g = 0; g < ps_octree_groups(tree, f->p->leaf); ++g) {
        int64_t first, last;
        PS_TRY(near_until(f, g, &near));
        ps_octree_group(tree, f->p->leaf, g, &first, &last);
        PS_TRY(flow_add_p2m(f, g));
        PS_TRY(flow_add_encode(f, f->p->leaf, g));
        PS_TRY(climb(f, f->p->leaf - 1, last, next));
    }
    return PS_OK;
}

static ps_status leaf_group(flow *f, int64_t g)
{
    bool inserted = f->p->near_first && f->p->far;
    if (!inserted && flow_wants_p2p(f, g)) PS_TRY(flow_add_p2p(f, g));
    return flow_add_rest(f, g);
}

static ps_status downward(flow *f)
{
    const ps_octree *tree = f->p->fmm.targets;
    for (int l = 2; l < f->p->leaf; ++l)
        for (int64_t g = 0; g < ps_octree_groups(tree, l); ++g) {
            PS_TRY(flow_add_m2l(f, l, g));
            if (l > 2) PS_TRY(flow_add_l2l(f, l, g));
        }
    for (int64_t g = 0; g < ps_octree_groups(tree, f->p->leaf); ++g) PS_TRY(leaf_group(f, g));
    return PS_OK;
}

ps_status fmm_flow(const fmm_problem *p, const fmm_pool *pool, const uint8_t *done,
                   const fmm_visit *visit, void *context)
{
    flow f = {.p = p, .pool = pool, .done = done, .visit = visit, .context = context};
    ps_status status;
    if (p->ranks > 1) {
        status = flow_of_ranks(&f);
    } else {
        status = p->far ? upward(&f) : PS_OK;
        if (status == PS_OK) status = downward(&f);
    }
    PS_FREE(f.task.pieces, f.task.modes);
    return status;
}
