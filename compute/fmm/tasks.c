/* What tasks do on CPU workers. The order of data is that of flow.c. */
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/sizes.h"

/* What a worker has for itself. */
typedef struct room {
    void **base, **other; /* [groups] places of vectors, of two levels */
    void *m2l;
    double *columns;    /* [3 + S][augmented particles] */
    int64_t *start;     /* [augmented leaves + 1] */
    fmm_copies *copies; /* [groups that have leaves of one as augmented] */
} room;

/* Sizes of the parts of a worker's room, one after the other. */
enum { PARTS = 6 };
static void parts_of(const fmm_problem *p, int64_t bytes[PARTS])
{
    bytes[0] = bytes[1] = ps_padded(8 * p->lists.groups_max);
    bytes[2] = p->far ? ps_padded(ps_fmm_m2l_workspace(&p->fmm)) : 0;
    bytes[3] = ps_padded(8 * (3 + p->fmm.sides) * p->lists.augmented_particles_max);
    bytes[4] = ps_padded(8 * (p->lists.augmented_leaves_max + 1));
    bytes[5] = ps_padded((int64_t)sizeof(fmm_copies) * p->lists.copied_max);
}

int64_t fmm_scratch_bytes(const fmm_problem *p)
{
    int64_t bytes[PARTS], all = 0;
    parts_of(p, bytes);
    for (int i = 0; i < PARTS; ++i) all += bytes[i];
    return all;
}

static room room_of(const fmm_work *work, int worker)
{
    int64_t bytes[PARTS];
    char *at[PARTS] = {work->scratch[worker]};
    parts_of(work->problem, bytes);
    for (int i = 1; i < PARTS; ++i) at[i] = at[i - 1] + bytes[i - 1];
    return (room){.base = (void **)at[0],
                  .other = (void **)at[1],
                  .m2l = at[2],
                  .columns = (double *)at[3],
                  .start = (int64_t *)at[4],
                  .copies = (fmm_copies *)at[5]};
}

/* What every task begins with. */
typedef struct scene {
    fmm_work *work;
    const fmm_problem *p;
    int level, part;
    int64_t group;
    room room;
} scene;

static scene scene_of(const ps_task_call *call)
{
    const fmm_arguments *a = call->arguments;
    return (scene){a->work, a->work->problem, a->level,
                   a->part, a->group,         room_of(a->work, call->worker)};
}

/* ---- vectors ---- */

static ps_fmm_groups groups_of(const ps_octree *tree, int level, void **base)
{
    return (ps_fmm_groups){tree->group_size, tree->cells[level], base};
}

/* The one group that is given, and zeros in it. */
static ps_fmm_groups own_group(const ps_octree *tree, int level, int64_t group, void **base,
                               void *vectors)
{
    base[group] = vectors;
    return groups_of(tree, level, base);
}

static void clear_vectors(const scene *s, const ps_octree *tree, void *vectors)
{
    int64_t first, end;
    ps_octree_group(tree, s->level, s->group, &first, &end);
    memset(vectors, 0, (size_t)((end - first) * s->p->fmm.sides * ps_fmm_vector_bytes(&s->p->fmm)));
}

/* Groups from `first` on, as they are in the call from access `from` on. */
static void place_run(void **base, int64_t first, const ps_task_call *call, int from, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) base[first + i] = call->data[from + i];
}

static void place_list(void **base, const ps_group_list *list, int64_t group,
                       const ps_task_call *call, int from)
{
    for (int64_t i = list->start[group]; i < list->start[group + 1]; ++i)
        base[list->items[i]] = call->data[from + i - list->start[group]];
}

/* ---- particles ---- */

typedef struct leaf_range {
    int64_t first, end, begin, count; /* leaves; particles */
} leaf_range;

static leaf_range leaves_of(const ps_octree *tree, int64_t group)
{
    leaf_range r;
    ps_octree_group(tree, tree->height - 1, group, &r.first, &r.end);
    r.begin = tree->particle_start[r.first];
    r.count = tree->particle_start[r.end] - r.begin;
    return r;
}

/* Targets without charges, where they are not the sources. */
static ps_fmm_particles target_particles(const fmm_problem *p, const double *columns,
                                         double *results, int64_t count)
{
    ps_fmm_particles set = ps_fmm_group_particles(columns, results, count, p->fmm.sides);
    if (!p->same) set.charges = NULL;
    return set;
}

static size_t result_bytes(const fmm_problem *p, int64_t particles)
{
    return (size_t)(8 * 4 * p->fmm.sides * particles);
}

/* ---- the far field ---- */

static ps_status p2m(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    leaf_range r = leaves_of(tree, s.group);
    ps_fmm_groups to = own_group(tree, s.level, s.group, s.room.base, call->data[0]);
    ps_fmm_particles particles =
        ps_fmm_group_particles(call->data[1], NULL, r.count, s.p->fmm.sides);
    clear_vectors(&s, tree, call->data[0]);
    ps_fmm_group_p2m(&s.p->fmm, r.first, r.end, &particles, r.begin, &to);
    return PS_OK;
}

static ps_status m2m(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    int64_t first, end, size = tree->group_size;
    ps_octree_group(tree, s.level, s.group, &first, &end);
    int64_t from = tree->child_start[s.level][first] / size,
            last = (tree->child_start[s.level][end] - 1) / size;
    ps_fmm_groups to = own_group(tree, s.level, s.group, s.room.base, call->data[0]);
    ps_fmm_groups children = groups_of(tree, s.level + 1, s.room.other);
    place_run(s.room.other, from, call, 1, last - from + 1);
    clear_vectors(&s, tree, call->data[0]);
    ps_fmm_group_m2m(&s.p->fmm, s.level, first, end, &children, &to);
    return PS_OK;
}

static ps_status encode(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    int64_t first, end;
    ps_octree_group(tree, s.level, s.group, &first, &end);
    ps_fmm_groups to = own_group(tree, s.level, s.group, s.room.base, call->data[0]);
    ps_fmm_groups from = own_group(tree, s.level, s.group, s.room.other, call->data[1]);
    ps_fmm_group_encode(&s.p->fmm, s.level, first, end, &from, &to);
    return PS_OK;
}

static ps_status m2l(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_octree *targets = s.p->fmm.targets;
    int64_t first, end;
    ps_octree_group(targets, s.level, s.group, &first, &end);
    ps_fmm_groups to = own_group(targets, s.level, s.group, s.room.base, call->data[0]);
    ps_fmm_groups from = groups_of(s.p->fmm.sources, s.level, s.room.other);
    place_list(s.room.other, &s.p->lists.far[s.level], s.group, call, 1);
    clear_vectors(&s, targets, call->data[0]);
    ps_fmm_group_m2l(&s.p->fmm, s.level, first, end, &from, &to, s.room.m2l);
    return PS_OK;
}

/* Adds to locals what the parents, in accesses from `from` on, have for them. */
static void add_parents(const scene *s, const ps_task_call *call, int locals, int from)
{
    const ps_octree *tree = s->p->fmm.targets;
    int64_t first, end, size = tree->group_size;
    ps_octree_group(tree, s->level, s->group, &first, &end);
    int64_t parent = ps_fmm_parent(tree, s->level, first) / size,
            last = ps_fmm_parent(tree, s->level, end - 1) / size;
    ps_fmm_groups to = own_group(tree, s->level, s->group, s->room.base, call->data[locals]);
    ps_fmm_groups parents = groups_of(tree, s->level - 1, s->room.other);
    place_run(s->room.other, parent, call, from, last - parent + 1);
    ps_fmm_group_l2l(&s->p->fmm, s->level, first, end, &parents, &to);
}

static ps_status l2l(const ps_task_call *call)
{
    scene s = scene_of(call);
    add_parents(&s, call, 0, 1);
    return PS_OK;
}

static ps_status l2p(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_octree *tree = s.p->fmm.targets;
    leaf_range r = leaves_of(tree, s.group);
    ps_fmm_groups from = own_group(tree, s.level, s.group, s.room.base, call->data[1]);
    ps_fmm_particles particles = target_particles(s.p, call->data[2], call->data[0], r.count);
    if (!s.p->leaves_at_once)
        memset(call->data[0], 0, result_bytes(s.p, r.count));
    else if (s.level > 2)
        add_parents(&s, call, 1, s.p->gpus ? 4 : 3);
    ps_fmm_group_l2p(&s.p->fmm, r.first, r.end, &particles, r.begin, &from);
    return PS_OK;
}

/* ---- the near field ---- */

/* Particles of the augmented leaves, from their groups, one after the other. */
static void pack_augmented(const scene *s, const int64_t *leaves, int64_t count, void *const *base)
{
    const ps_octree *tree = s->p->fmm.sources;
    int64_t all = s->room.start[count], size = tree->group_size;
    for (int64_t i = 0; i < count; ++i) {
        leaf_range owner = leaves_of(tree, leaves[i] / size);
        const double *from = base[leaves[i] / size];
        int64_t at = tree->particle_start[leaves[i]] - owner.begin,
                some = s->room.start[i + 1] - s->room.start[i];
        for (int c = 0; c < 3 + s->p->fmm.sides; ++c)
            memcpy(s->room.columns + c * all + s->room.start[i], from + c * owner.count + at,
                   (size_t)some * 8);
    }
}

/* Pairs with the augmented leaves: results of these go to copies. */
static void p2p_augmented(const scene *s, const ps_task_call *call, const leaf_range *r,
                          const ps_fmm_particles *own)
{
    const ps_group_list *list = &s->p->lists.augmented;
    const int64_t *leaves = list->items + list->start[s->group];
    int64_t count = list->start[s->group + 1] - list->start[s->group];
    ps_fmm_near_start(s->p->fmm.sources, leaves, count, s->room.start);
    place_list(s->room.base, &s->p->lists.owners, s->group, call, 3);
    pack_augmented(s, leaves, count, s->room.base);
    int64_t all = s->room.start[count];
    ps_fmm_particles copies =
        ps_fmm_group_particles(s->room.columns, call->data[1], all, s->p->fmm.sides);
    ps_fmm_near_sources augmented = {
        .particles = &copies, .leaves = leaves, .start = s->room.start, .count = count};
    memset(call->data[1], 0, result_bytes(s->p, all));
    ps_fmm_group_p2p(&s->p->fmm, r->first, r->end, own, r->begin, &augmented);
}

/* Pairs with the groups of the near list, in accesses from `from` on: their own results are none of
 * this task's. */
static void p2p_around(const scene *s, const ps_task_call *call, int from, const leaf_range *r,
                       const ps_fmm_particles *own)
{
    const ps_group_list *near = &s->p->lists.near;
    for (int64_t i = near->start[s->group]; i < near->start[s->group + 1]; ++i) {
        leaf_range other = leaves_of(s->p->fmm.sources, near->items[i]);
        ps_fmm_particles particles = ps_fmm_group_particles(
            call->data[from + i - near->start[s->group]], NULL, other.count, s->p->fmm.sides);
        ps_fmm_near_sources sources = {
            .particles = &particles, .first = other.first, .end = other.end, .begin = other.begin};
        ps_fmm_group_p2p(&s->p->fmm, r->first, r->end, own, r->begin, &sources);
    }
}

static void p2p_same(const scene *s, const ps_task_call *call)
{
    leaf_range r = leaves_of(s->p->fmm.targets, s->group);
    const ps_group_list *owners = &s->p->lists.owners;
    bool augmented = s->p->mutual && owners->start[s->group + 1] > owners->start[s->group];
    ps_fmm_particles own = ps_fmm_group_particles(call->data[augmented ? 2 : 1], call->data[0],
                                                  r.count, s->p->fmm.sides);
    ps_fmm_near_sources inside = {.particles = &own,
                                  .first = r.first,
                                  .end = r.end,
                                  .begin = r.begin,
                                  .mutual_first = r.first,
                                  .mutual_end = r.end};
    ps_fmm_group_p2p(&s->p->fmm, r.first, r.end, &own, r.begin, &inside);
    if (augmented) p2p_augmented(s, call, &r, &own);
    if (!s->p->mutual) p2p_around(s, call, 2, &r, &own);
}

static void p2p_between(const scene *s, const ps_task_call *call)
{
    leaf_range r = leaves_of(s->p->fmm.targets, s->group);
    ps_fmm_particles own = target_particles(s->p, call->data[1], call->data[0], r.count);
    p2p_around(s, call, 2, &r, &own);
}

static ps_status p2p(const ps_task_call *call)
{
    scene s = scene_of(call);
    memset(call->data[0], 0, result_bytes(s.p, leaves_of(s.p->fmm.targets, s.group).count));
    (s.p->same ? p2p_same : p2p_between)(&s, call);
    return PS_OK;
}

/* ---- the reduction ---- */

/* Sums of some parts of a group from `part` on. */
void fmm_take_sums(fmm_work *work, int64_t group, int part, int parts, const fmm_sums *sums)
{
    int sides = work->problem->fmm.sides;
    memcpy(work->sums + (group * FMM_PARTS + part) * sides, sums,
           (size_t)(parts * sides) * sizeof *sums);
    __atomic_add_fetch(&work->finished, 1, __ATOMIC_RELAXED);
}

ps_status fmm_take_results(fmm_work *work, int64_t group, const int64_t *places,
                           const double *values, const fmm_sums *sums)
{
    leaf_range r = leaves_of(work->problem->fmm.targets, group);
    fmm_values all = {values, r.count, r.count};
    PS_TRY(fmm_pass_results(work, r.begin, places, &all));
    fmm_take_sums(work, group, 0, FMM_PARTS, sums);
    return PS_OK;
}

/* Of what group `from` has computed, that for leaves of this one. */
static fmm_copies copies_of(const scene *s, const leaf_range *r, int64_t from, const double *values)
{
    const int64_t *place = s->p->fmm.sources->particle_start;
    const ps_group_list *list = &s->p->lists.augmented;
    fmm_copies c = {.values = values};
    for (int64_t i = list->start[from]; i < list->start[from + 1]; ++i) {
        const int64_t *leaf = &list->items[i];
        int64_t some = place[*leaf + 1] - place[*leaf];
        c.all += some;
        if (*leaf < r->first) c.offset += some;
        if (*leaf < r->first || *leaf >= r->end) continue;
        if (!c.leaf) c.leaf = leaf;
        c.end = leaf + 1;
    }
    return c;
}

static ps_status reduce(const ps_task_call *call)
{
    scene s = scene_of(call);
    const fmm_problem *p = s.p;
    const ps_group_list *copied = &p->lists.copied;
    leaf_range r = leaves_of(p->fmm.targets, s.group);
    int at = 2;
    fmm_sums sums[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX];
    fmm_reduction sum = {.work = s.work,
                         .begin = r.begin,
                         .count = r.count,
                         .near = call->data[0],
                         .places = call->data[1],
                         .copies = s.room.copies,
                         .part = s.part,
                         .parts = FMM_PARTS / p->reductions};
    if (p->far && !p->leaves_at_once) sum.far = call->data[at++];
    if (p->same) sum.charges = (const double *)call->data[at++] + 3 * r.count;
    for (int64_t i = p->mutual ? copied->start[s.group] : 0;
         p->mutual && i < copied->start[s.group + 1]; ++i)
        sum.copies[sum.copied++] = copies_of(&s, &r, copied->items[i], call->data[at++]);
    sum.keep = s.work->journal || p->ranks > 1 || !fmm_sink_in_memory(s.work->sink);
    PS_TRY(fmm_reduce(&sum, sums));
    if (s.work->journal)
        PS_TRY(fmm_journal_add(s.work->journal, s.group, sums, p->fmm.sides, sum.near,
                               4 * p->fmm.sides * r.count));
    if (sum.keep && p->ranks == 1)
        return fmm_take_results(s.work, s.group, sum.places, sum.near, sums);
    fmm_take_sums(s.work, s.group, sum.part, sum.parts, sums);
    return PS_OK;
}

const ps_codelet fmm_codelets[FMM_KINDS] = {{"P2M", FMM_P2M, p2m, fmm_gpu_p2m},
                                            {"M2M", FMM_M2M, m2m, fmm_gpu_m2m},
                                            {"encode", FMM_ENCODE, encode, fmm_gpu_encode},
                                            {"M2L", FMM_M2L, m2l, fmm_gpu_m2l},
                                            {"L2L", FMM_L2L, l2l, fmm_gpu_l2l},
                                            {"L2P", FMM_L2P, l2p, fmm_gpu_l2p},
                                            {"P2P", FMM_P2P, p2p, fmm_gpu_p2p},
                                            {"P2P-Reduction", FMM_REDUCE, reduce, NULL}};
