/* The tasks, and what they access. */

#include "compute/fmm/flow.h"
#include "runtime/memory.h"

static ps_status access_piece(flow *f, fmm_what what, int level, int64_t group, ps_access_mode mode)
{
    fmm_task *t = &f->task;
    if (t->count == t->capacity) {
        int64_t capacity = t->capacity, modes = t->capacity;
        PS_TRY(ps_grow((void **)&t->pieces, &capacity, t->count + 1, sizeof *t->pieces, "a task"));
        PS_TRY(ps_grow((void **)&t->modes, &modes, capacity, sizeof *t->modes, "a task"));
        t->capacity = (int)capacity;
    }
    t->pieces[t->count] = fmm_piece(f->pool, what, level, group);
    t->modes[t->count++] = mode;
    return PS_OK;
}

static ps_status access_list(flow *f, fmm_what what, int level, const ps_group_list *list,
                             int64_t group)
{
    for (int64_t i = list->start[group]; i < list->start[group + 1]; ++i)
        PS_TRY(access_piece(f, what, level, list->items[i], PS_READ));
    return PS_OK;
}

/* Groups of the cells [first, end) of a level. */
static ps_status access_cells(flow *f, fmm_what what, int level, int64_t first, int64_t end)
{
    int64_t size = f->p->header->group_size;
    for (int64_t g = first / size; g * size < end; ++g)
        PS_TRY(access_piece(f, what, level, g, PS_READ));
    return PS_OK;
}

static void begin(flow *f, fmm_kind kind, int level, int64_t group)
{
    f->task.kind = kind;
    f->task.level = level;
    f->task.part = 0;
    f->task.group = group;
    f->task.count = 0;
    f->task.flop = 0;
}

static ps_status end(flow *f) { return f->visit->task(f->context, &f->task); }

static double particles_of(const ps_octree *tree, int64_t group)
{
    return (double)ps_octree_group_particles(tree, group);
}

/* ---- upward ---- */

ps_status flow_add_p2m(flow *f, int64_t g)
{
    double l = f->p->fmm.interpolation.order, sides = f->p->fmm.sides;
    begin(f, FMM_P2M, f->p->leaf, g);
    f->task.flop =
        particles_of(f->p->fmm.sources, g) * sides * (2 * l * l * l + 2 * l * l + 6 * l * (l - 1));
    PS_TRY(access_piece(f, FMM_MULTIPOLES, f->p->leaf, g, PS_WRITE));
    PS_TRY(access_piece(f, FMM_SOURCES, 0, g, PS_READ));
    if (f->p->gpus) PS_TRY(access_piece(f, FMM_SOURCE_LEAVES, 0, g, PS_READ));
    return end(f);
}

ps_status flow_add_m2m(flow *f, int level, int64_t g)
{
    const ps_octree *tree = f->p->fmm.sources;
    double l = f->p->fmm.interpolation.order;
    int64_t first, last;
    ps_octree_group(tree, level, g, &first, &last);
    begin(f, FMM_M2M, level, g);
    int64_t from = tree->child_start[level][first], to = tree->child_start[level][last];
    f->task.flop = (double)(to - from) * f->p->fmm.sides * 6 * l * l * l * l;
    PS_TRY(access_piece(f, FMM_MULTIPOLES, level, g, PS_WRITE));
    PS_TRY(access_cells(f, FMM_MULTIPOLES, level + 1, from, to));
    if (f->p->gpus) PS_TRY(access_piece(f, FMM_UP_LISTS, level, g, PS_READ));
    return end(f);
}

ps_status flow_add_encode(flow *f, int level, int64_t g)
{
    const fmm_problem *p = f->p;
    begin(f, FMM_ENCODE, level, g);
    f->task.flop = (double)ps_octree_group_cells(p->fmm.sources, level, g) * p->fmm.sides * 2 *
                   p->fmm.tables[level]->size * p->fmm.interpolation.points;
    PS_TRY(access_piece(f, FMM_CODED, level, g, PS_WRITE));
    PS_TRY(access_piece(f, FMM_MULTIPOLES, level, g, PS_READ));
    return end(f);
}

/* ---- downward ---- */

ps_status flow_add_m2l(flow *f, int level, int64_t g)
{
    const fmm_problem *p = f->p;
    begin(f, FMM_M2L, level, g);
    f->task.flop = (double)p->lists.far_pairs[level][g] * p->fmm.sides * 4 *
                   p->fmm.interpolation.points * p->mean_rank[level];
    PS_TRY(access_piece(f, FMM_LOCALS, level, g, PS_WRITE));
    PS_TRY(access_list(f, FMM_CODED, level, &p->lists.far[level], g));
    if (p->gpus) PS_TRY(access_piece(f, FMM_FAR_LISTS, level, g, PS_READ));
    return end(f);
}

/* The part of a task that brings locals of parents to a group: flop, locals and lists. */
static ps_status access_parents(flow *f, int level, int64_t g)
{
    const ps_octree *tree = f->p->fmm.targets;
    double l = f->p->fmm.interpolation.order;
    int64_t first, last;
    ps_octree_group(tree, level, g, &first, &last);
    f->task.flop += (double)(last - first) * f->p->fmm.sides * 6 * l * l * l * l;
    PS_TRY(access_cells(f, FMM_LOCALS, level - 1, ps_fmm_parent(tree, level, first),
                        ps_fmm_parent(tree, level, last - 1) + 1));
    return f->p->gpus ? access_piece(f, FMM_DOWN_LISTS, level, g, PS_READ) : PS_OK;
}

ps_status flow_add_l2l(flow *f, int level, int64_t g)
{
    begin(f, FMM_L2L, level, g);
    PS_TRY(access_piece(f, FMM_LOCALS, level, g, PS_READ_WRITE));
    PS_TRY(access_parents(f, level, g));
    return end(f);
}

/* Results, locals, particles, lists of leaves; with L2L then what that wants of the parents. */
ps_status flow_add_l2p(flow *f, int64_t g)
{
    double l = f->p->fmm.interpolation.order;
    bool at_once = f->p->leaves_at_once, with_l2l = at_once && f->p->leaf > 2;
    begin(f, FMM_L2P, f->p->leaf, g);
    f->task.flop = particles_of(f->p->fmm.targets, g) * f->p->fmm.sides *
                   (4 * l * l * l + 6 * l * l + 8 * l + 12 * l * (l - 1));
    PS_TRY(access_piece(f, at_once ? FMM_NEAR : FMM_FAR, 0, g, at_once ? PS_READ_WRITE : PS_WRITE));
    PS_TRY(access_piece(f, FMM_LOCALS, f->p->leaf, g, with_l2l ? PS_READ_WRITE : PS_READ));
    PS_TRY(access_piece(f, f->p->same ? FMM_SOURCES : FMM_TARGETS, 0, g, PS_READ));
    if (f->p->gpus)
        PS_TRY(access_piece(f, f->p->same ? FMM_SOURCE_LEAVES : FMM_TARGET_LEAVES, 0, g, PS_READ));
    if (with_l2l) PS_TRY(access_parents(f, f->p->leaf, g));
    return end(f);
}

/* Near results, copies if P2P is mutual, the group of targets; then owners of augmented leaves if
 * it is mutual, else the groups around (of two trees the group's own place among them). */
ps_status flow_add_p2p(flow *f, int64_t g)
{
    const fmm_problem *p = f->p;
    const fmm_lists *lists = &p->lists;
    bool copies = p->mutual && lists->owners.start[g + 1] > lists->owners.start[g];
    begin(f, FMM_P2P, p->leaf, g);
    f->task.flop = lists->near_flop[g];
    PS_TRY(access_piece(f, FMM_NEAR, 0, g, PS_WRITE));
    if (copies) PS_TRY(access_piece(f, FMM_COPIES, 0, g, PS_WRITE));
    PS_TRY(access_piece(f, p->same ? FMM_SOURCES : FMM_TARGETS, 0, g, PS_READ));
    PS_TRY(access_list(f, FMM_SOURCES, 0, p->mutual ? &lists->owners : &lists->near, g));
    if (p->gpus) PS_TRY(access_piece(f, FMM_NEAR_LISTS, 0, g, PS_READ));
    if (p->gpus && copies) PS_TRY(access_piece(f, FMM_PACKED, 0, g, PS_READ));
    return end(f);
}

/* Near results (which become the sum), places, far results if there are, charges if the targets
 * have them, copies. */
static ps_status add_reduction(flow *f, int64_t g, int part)
{
    const fmm_problem *p = f->p;
    begin(f, FMM_REDUCE, p->leaf, g);
    f->task.part = part * (FMM_PARTS / p->reductions);
    f->task.flop = 4 * p->fmm.sides * particles_of(p->fmm.targets, g) / p->reductions;
    PS_TRY(access_piece(f, FMM_NEAR, 0, g, p->reductions > 1 ? PS_READ : PS_READ_WRITE));
    PS_TRY(access_piece(f, FMM_PLACES, 0, g, PS_READ));
    if (p->far && !p->leaves_at_once) PS_TRY(access_piece(f, FMM_FAR, 0, g, PS_READ));
    if (p->same) PS_TRY(access_piece(f, FMM_SOURCES, 0, g, PS_READ));
    if (p->mutual) PS_TRY(access_list(f, FMM_COPIES, 0, &p->lists.copied, g));
    return end(f);
}

ps_status flow_add_reduce(flow *f, int64_t g)
{
    for (int part = 0; part < f->p->reductions; ++part) PS_TRY(add_reduction(f, g, part));
    return PS_OK;
}

bool flow_is_done(const flow *f, int64_t g) { return f->done && f->done[g]; }

bool flow_wants_p2p(const flow *f, int64_t g)
{
    const ps_group_list *owners = &f->p->lists.owners;
    bool wanted = !flow_is_done(f, g);
    for (int64_t i = f->p->mutual ? owners->start[g] : 0;
         f->p->mutual && i < owners->start[g + 1] && !wanted; ++i)
        wanted = !flow_is_done(f, owners->items[i]);
    return wanted;
}

ps_status flow_add_rest(flow *f, int64_t g)
{
    int leaf = f->p->leaf;
    if (flow_is_done(f, g)) return PS_OK;
    if (f->p->far) PS_TRY(flow_add_m2l(f, leaf, g));
    if (f->p->far && leaf > 2 && !f->p->leaves_at_once) PS_TRY(flow_add_l2l(f, leaf, g));
    if (f->p->far) PS_TRY(flow_add_l2p(f, g));
    return flow_add_reduce(f, g);
}
