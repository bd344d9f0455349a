/* The far field on GPUs, by the kernels of kernels/fmm/device_ops.h: the outputs of a task are
 * those of a CPU worker's (tasks.c), to rounding. */
#include <stdlib.h>

#include "compute/fmm/gpu.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- vectors ---- */

/* Vectors of `length` numbers of the cells of a group. */
static ps_fmm_device_vectors vectors_of(void *values, int64_t cells, int64_t length)
{
    return (ps_fmm_device_vectors){values, cells * length};
}

static int64_t points_of(const gpu_scene *s) { return s->p->fmm.interpolation.points; }

/* Multipoles or locals of a group, in an access of the call. */
static ps_fmm_device_vectors access_vectors(const gpu_scene *s, const ps_octree *tree, int level,
                                            int64_t group, int access)
{
    return vectors_of(s->call->data[access], ps_octree_group_cells(tree, level, group),
                      points_of(s));
}

/* Puts a table of vectors of groups in the room of the lane: of `count` accesses from `from` on,
 * whose groups are groups[i], or first + i if groups is NULL. */
typedef struct group_run {
    const int64_t *groups;
    int64_t first, count, length;
    int from, level;
} group_run;

static ps_status put_table(const gpu_scene *s, const group_run *run,
                           ps_fmm_device_vectors_table *out)
{
    PS_SCOPED_MEMORY ps_fmm_device_vectors *table = NULL;
    PS_TRY(PS_ALLOC(&table, run->count, "a table of groups"));
    for (int64_t i = 0; i < run->count; ++i) {
        int64_t group = run->groups ? run->groups[i] : run->first + i;
        int64_t cells = ps_octree_group_cells(s->p->fmm.sources, run->level, group);
        table[i] = vectors_of(s->call->data[run->from + i], cells, run->length);
    }
    *out = (ps_fmm_device_vectors_table){.table = (const void *)s->room,
                                         .shift = fmm_code_shift(s->p)};
    /* the copy has taken what is not pinned when it returns */
    return ps_copy_to_device(s->call->stream, s->room, table, run->count * (int64_t)sizeof *table);
}

/* ---- leaves ---- */

/* Leaves of the group, with lists in an access and rows of particles in another one. */
static ps_fmm_device_leaves leaves_of(const gpu_scene *s, const ps_octree *tree, int rows,
                                      int lists)
{
    fmm_leaf_layout l = fmm_leaf_layout_of(tree, s->group);
    const char *base = s->call->data[lists];
    return (ps_fmm_device_leaves){
        .cells = l.cells,
        .particles = l.particles,
        .keys = (const uint64_t *)base,
        .box = s->p->header->box,
        .level = s->p->leaf,
        .set = {s->call->data[rows], l.particles, (const int32_t *)(base + l.start)}};
}

ps_status fmm_gpu_p2m(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    ps_fmm_device_leaves leaves = leaves_of(&s, tree, 1, 2);
    ps_fmm_device_vectors to = access_vectors(&s, tree, s.p->leaf, s.group, 0);
    return ps_fmm_device_p2m(&s.gpus->method, &leaves, &to, call->stream);
}

/* ---- up and down ---- */

ps_status fmm_gpu_m2m(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    int64_t first, end, size = tree->group_size;
    ps_octree_group(tree, s.level, s.group, &first, &end);
    group_run children = {.first = tree->child_start[s.level][first] / size,
                          .length = points_of(&s),
                          .from = 1,
                          .level = s.level + 1};
    children.count = (tree->child_start[s.level][end] - 1) / size - children.first + 1;
    ps_fmm_device_family family = {.parents = end - first,
                                   .children = call->data[1 + children.count],
                                   .parent = access_vectors(&s, tree, s.level, s.group, 0)};
    PS_TRY(put_table(&s, &children, &family.child));
    return ps_fmm_device_m2m(&s.gpus->method, &family, false, call->stream);
}

ps_status fmm_gpu_encode(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    const ps_octree *tree = s.p->fmm.sources;
    const ps_fmm_device_table *table = &s.own->tables[s.level];
    int64_t cells = ps_octree_group_cells(tree, s.level, s.group);
    ps_fmm_device_vectors to = vectors_of(call->data[0], cells, table->length);
    ps_fmm_device_vectors from = access_vectors(&s, tree, s.level, s.group, 1);
    return ps_fmm_device_encode(&s.gpus->method, table, cells, &from, &to, call->stream);
}

/* Adds to locals what the parents, in accesses from `at` on, have for them: one launch for each
 * group of parents. */
static ps_status add_parents(const gpu_scene *s, int locals, int at)
{
    const ps_octree *tree = s->p->fmm.targets;
    int64_t first, end, size = tree->group_size;
    ps_octree_group(tree, s->level, s->group, &first, &end);
    int64_t parent = ps_fmm_parent(tree, s->level, first);
    int64_t last = ps_fmm_parent(tree, s->level, end - 1) + 1, from = parent / size;
    int64_t groups = (last - 1) / size - from + 1;
    const int32_t *children = s->call->data[at + groups];
    size_t vector = (size_t)(ps_fmm_vector_bytes(&s->p->fmm));
    ps_fmm_device_vectors_table own = {.one = access_vectors(s, tree, s->level, s->group, locals)};
    for (int64_t g = from; g < from + groups; ++g) {
        int64_t begin = g * size > parent ? g * size : parent;
        int64_t stop = (g + 1) * size < last ? (g + 1) * size : last;
        ps_fmm_device_vectors above =
            access_vectors(s, tree, s->level - 1, g, (int)(at + g - from));
        above.values = (char *)above.values + (size_t)(begin - g * size) * vector;
        ps_fmm_device_family family = {
            .parents = stop - begin, .children = children, .parent = above, .child = own};
        PS_TRY(ps_fmm_device_l2l(&s->gpus->method, &family, s->call->stream));
        children += PS_FMM_DEVICE_CHILDREN * (stop - begin);
    }
    return PS_OK;
}

ps_status fmm_gpu_l2l(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    return add_parents(&s, 0, 1);
}

ps_status fmm_gpu_l2p(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    const ps_octree *tree = s.p->fmm.targets;
    ps_fmm_device_leaves leaves = leaves_of(&s, tree, 2, 3);
    ps_fmm_device_vectors from = access_vectors(&s, tree, s.p->leaf, s.group, 1);
    bool at_once = s.p->leaves_at_once;
    if (at_once && s.level > 2) PS_TRY(add_parents(&s, 1, 4));
    leaves.potential = call->data[0];
    leaves.gradient = leaves.potential + s.p->fmm.sides * leaves.particles;
    return ps_fmm_device_l2p(&s.gpus->method, &leaves, &from, at_once, call->stream);
}

/* ---- across ---- */

ps_status fmm_gpu_m2l(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    const ps_group_list *list = &s.p->lists.far[s.level];
    fmm_far_layout l = fmm_far_layout_of(s.p, s.level, s.group);
    group_run sources = {.groups = list->items + list->start[s.group],
                         .count = list->start[s.group + 1] - list->start[s.group],
                         .length = s.p->fmm.tables[s.level]->length,
                         .from = 1,
                         .level = s.level};
    const char *lists = call->data[1 + sources.count];
    ps_fmm_device_m2l m2l = {.far = {.cells = l.cells,
                                     .blocks = l.blocks,
                                     .order = (const int32_t *)(lists + l.order),
                                     .octant_start = (const int32_t *)(lists + l.octant_start),
                                     .block = (const int32_t *)(lists + l.block),
                                     .sources = (const int32_t *)(lists + l.sources)},
                             .locals = access_vectors(&s, s.p->fmm.targets, s.level, s.group, 0),
                             .factor = s.p->fmm.factors[s.level]};
    PS_TRY(put_table(&s, &sources, &m2l.sources));
    return ps_fmm_device_m2l_run(&s.gpus->method, &s.own->tables[s.level], &m2l, call->stream);
}
