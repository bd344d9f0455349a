/*
 * fmm_device_case: a problem of tests/support/fmm_case.h in the memory of a device, with the lists
 * of kernels/fmm/device_ops.h made on the host from the tree; whole levels, or cut into groups.
 */
#ifndef PS_TESTS_SUPPORT_FMM_DEVICE_CASE_H
#define PS_TESTS_SUPPORT_FMM_DEVICE_CASE_H

#include "kernels/fmm/device_ops.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/scope.h"
#include "tests/support/fmm_case.h"

enum { DEVICE_BLOCKS_MAX = 512 };

typedef struct fmm_device_case {
    ps_device *device;
    ps_stream *stream;
    const fmm_case *from;
    ps_fmm_device_method method;
    ps_fmm_device_leaves leaves;
    ps_fmm_device_table
        tables[PS_OCTREE_LEVELS_MAX]; /* of levels; the first for all with a degree */
    /* Of levels, on the device. */
    ps_fmm_device_vectors multipoles[PS_OCTREE_LEVELS_MAX], coded[PS_OCTREE_LEVELS_MAX],
        locals[PS_OCTREE_LEVELS_MAX];
    void *blocks[DEVICE_BLOCKS_MAX]; /* all memory of it */
    int block_count;
} fmm_device_case;

static inline ps_status device_room(fmm_device_case *c, int64_t bytes, void **out)
{
    PS_TRY(ps_device_alloc(c->device, bytes > 0 ? bytes : 16, out));
    c->blocks[c->block_count++] = *out;
    return PS_OK;
}

/* Copies `bytes` of the host to new memory of the device. */
static inline ps_status device_upload(fmm_device_case *c, const void *host, int64_t bytes,
                                      void **out)
{
    PS_TRY(device_room(c, bytes, out));
    PS_TRY(ps_copy_to_device(c->stream, *out, host, bytes));
    return ps_stream_wait(c->stream);
}

static inline ps_status device_fetch(fmm_device_case *c, void *host, const void *from,
                                     int64_t bytes)
{
    PS_TRY(ps_copy_to_host(c->stream, host, from, bytes));
    return ps_stream_wait(c->stream);
}

static inline int64_t device_real(const fmm_device_case *c)
{
    return c->method.far == PS_SINGLE ? 4 : 8;
}

static inline const ps_octree *device_tree(const fmm_device_case *c)
{
    return c->from->problem.sources;
}

/* ---- lists ---- */

/* How cells of a level are cut: group g has cells [g size, (g + 1) size); size 0: no cut, codes are
 * cells. */
typedef struct cell_cut {
    int64_t size;
    int shift;
} cell_cut;

static inline int32_t cut_code(cell_cut cut, int64_t cell)
{
    if (cell < 0) return -1;
    return cut.size ? (int32_t)(cell / cut.size << cut.shift | cell % cut.size) : (int32_t)cell;
}

/* near[leaf][27] of leaves [first, end). */
static inline ps_status near_list(const ps_octree *tree, cell_cut cut, int64_t first, int64_t end,
                                  int32_t **out)
{
    int level = tree->height - 1;
    PS_TRY(PS_ALLOC(out, PS_FMM_DEVICE_NEAR * (end - first), "near list"));
    for (int64_t c = first; c < end; ++c) {
        int64_t around[27];
        ps_tree_around(tree, level, tree->keys[level][c], around);
        for (int n = 0; n < 27; ++n) (*out)[27 * (c - first) + n] = cut_code(cut, around[n]);
    }
    return PS_OK;
}

/* children[8] of a cell of a level above the leaves, as cells or -1. */
static inline void children_of(const ps_octree *tree, int level, int64_t cell, int64_t out[8])
{
    for (int o = 0; o < 8; ++o) out[o] = -1;
    if (cell < 0) return;
    for (int64_t c = tree->child_start[level][cell]; c < tree->child_start[level][cell + 1]; ++c)
        out[tree->keys[level + 1][c] & 7] = c;
}

static inline ps_status children_list(const ps_octree *tree, int level, cell_cut cut, int64_t first,
                                      int64_t end, int32_t **out)
{
    PS_TRY(PS_ALLOC(out, 8 * (end - first), "children"));
    for (int64_t p = first; p < end; ++p) {
        int64_t child[8];
        children_of(tree, level, p, child);
        for (int o = 0; o < 8; ++o) (*out)[8 * (p - first) + o] = cut_code(cut, child[o]);
    }
    return PS_OK;
}

typedef struct far_lists {
    int64_t cells, blocks;
    int32_t *order, octant_start[9], *block, *sources;
} far_lists;

static inline ps_status far_lists_make(const ps_octree *tree, int level, cell_cut cut,
                                       int64_t first, int64_t end, far_lists *out)
{
    const uint64_t *keys = tree->keys[level];
    *out = (far_lists){.cells = end - first};
    PS_TRY(PS_ALLOC(&out->order, end - first, "order"));
    PS_TRY(PS_ALLOC(&out->block, end - first, "blocks"));
    PS_TRY(PS_ALLOC(&out->sources, PS_FMM_DEVICE_FAR * (end - first), "sources"));
    for (int64_t c = first; c < end; ++c) {
        if (c == first || keys[c] >> 3 != keys[c - 1] >> 3) {
            int64_t around[27], child[8];
            ps_tree_around(tree, level - 1, keys[c] >> 3, around);
            for (int n = 0; n < 27; ++n) {
                children_of(tree, level - 1, around[n], child);
                for (int o = 0; o < 8; ++o)
                    out->sources[PS_FMM_DEVICE_FAR * out->blocks + 8 * n + o] =
                        cut_code(cut, child[o]);
            }
            ++out->blocks;
        }
        out->block[c - first] = (int32_t)out->blocks - 1;
    }
    int32_t at = 0;
    for (uint64_t o = 0; o < 8; ++o) {
        out->octant_start[o] = at;
        for (int64_t c = first; c < end; ++c)
            if ((keys[c] & 7) == o) out->order[at++] = (int32_t)(c - first);
    }
    out->octant_start[8] = at;
    return PS_OK;
}

static inline void far_lists_release(far_lists *lists)
{
    PS_FREE(lists->order, lists->block, lists->sources);
}

static inline ps_status far_lists_upload(fmm_device_case *c, const far_lists *lists,
                                         ps_fmm_device_far *out)
{
    *out = (ps_fmm_device_far){.cells = lists->cells, .blocks = lists->blocks};
    PS_TRY(device_upload(c, lists->order, 4 * lists->cells, (void **)&out->order));
    PS_TRY(device_upload(c, lists->octant_start, 36, (void **)&out->octant_start));
    PS_TRY(device_upload(c, lists->block, 4 * lists->cells, (void **)&out->block));
    return device_upload(c, lists->sources, 4 * PS_FMM_DEVICE_FAR * lists->blocks,
                         (void **)&out->sources);
}

/* ---- what is there ---- */

/* start[first .. end] from 0 on. */
static inline ps_status start_upload(fmm_device_case *c, int64_t first, int64_t end,
                                     const int32_t **out)
{
    const int64_t *start = device_tree(c)->particle_start;
    PS_SCOPED_MEMORY int32_t *own = NULL;
    PS_TRY(PS_ALLOC(&own, end - first + 1, "starts"));
    for (int64_t i = first; i <= end; ++i) own[i - first] = (int32_t)(start[i] - start[first]);
    ps_status status = device_upload(c, own, 4 * (end - first + 1), (void **)out);
    return status;
}

/* Leaves [first, end) with the results at `results` ([4 sides][all particles]). */
static inline ps_status leaves_of(fmm_device_case *c, int64_t first, int64_t end,
                                  const double *rows, double *results, bool gradient,
                                  ps_fmm_device_leaves *out)
{
    const ps_octree *tree = device_tree(c);
    int level = tree->height - 1;
    int64_t begin = tree->particle_start[first], all = tree->particles;
    *out = (ps_fmm_device_leaves){.cells = end - first,
                                  .particles = tree->particle_start[end] - begin,
                                  .box = tree->box,
                                  .level = level,
                                  .set = {.rows = rows + begin, .stride = all},
                                  .potential = results + begin};
    if (gradient) out->gradient = results + c->method.sides * all + begin;
    PS_TRY(device_upload(c, tree->keys[level] + first, 8 * (end - first), (void **)&out->keys));
    return start_upload(c, first, end, &out->set.start);
}

static inline ps_status level_upload(fmm_device_case *c, int level)
{
    const ps_fmm_problem *p = &c->from->problem;
    int64_t cells = p->sources->cells[level], points = p->interpolation.points,
            length = p->tables[level]->length, real = device_real(c);
    c->multipoles[level].stride = c->locals[level].stride = cells * points;
    c->coded[level].stride = cells * length;
    PS_TRY(device_room(c, p->sides * cells * points * real, &c->multipoles[level].values));
    PS_TRY(device_room(c, p->sides * cells * points * real, &c->locals[level].values));
    return device_room(c, p->sides * cells * length * real, &c->coded[level].values);
}

static inline ps_status table_upload(fmm_device_case *c, int level)
{
    const ps_fmm_m2l_table *table = c->from->problem.tables[level];
    int64_t bytes = ps_fmm_device_table_bytes(table);
    PS_SCOPED_MEMORY void *host = NULL;
    PS_TRY(ps_alloc_untouched(&host, bytes, "operators"));
    ps_status status = ps_fmm_device_table_pack(table, host, &c->tables[level]);
    if (status == PS_OK) status = device_upload(c, host, bytes, (void **)&c->tables[level].block);
    return status;
}

/* The whole problem; vectors are not initialised. gradient: whether it is wanted. */
static inline ps_status fmm_device_init(fmm_device_case *c, const fmm_case *from, ps_device *device,
                                        bool gradient)
{
    const ps_fmm_problem *p = &from->problem;
    const ps_octree *tree = p->sources;
    void *rows, *results;
    *c = (fmm_device_case){.device = device, .from = from};
    c->method = (ps_fmm_device_method){p->sides, p->far, p->near, p->function, p->interpolation};
    PS_TRY(ps_stream_open(device, &c->stream));
    PS_TRY(device_upload(c, from->sorted, (3 + p->sides) * tree->particles * 8, &rows));
    PS_TRY(device_room(c, 4 * p->sides * tree->particles * 8, &results));
    PS_TRY(ps_fill_zero(c->stream, results, 4 * p->sides * tree->particles * 8));
    PS_TRY(leaves_of(c, 0, tree->cells[tree->height - 1], rows, results, gradient, &c->leaves));
    for (int l = 2; l < tree->height; ++l) {
        PS_TRY(level_upload(c, l));
        if (l > 2 && p->tables[l] == p->tables[l - 1])
            c->tables[l] = c->tables[l - 1];
        else
            PS_TRY(table_upload(c, l));
    }
    return PS_OK;
}

static inline void fmm_device_release(fmm_device_case *c)
{
    for (int i = 0; i < c->block_count; ++i) ps_device_free(c->device, c->blocks[i]);
    ps_stream_close(&c->stream);
}

/* Groups of a level's vectors as a table on the device, and their cut. */
static inline ps_status vectors_table(fmm_device_case *c, const ps_fmm_device_vectors *all,
                                      int64_t cells, int64_t length, cell_cut cut,
                                      ps_fmm_device_vectors_table *out)
{
    *out = (ps_fmm_device_vectors_table){.one = *all, .shift = cut.shift};
    if (!cut.size) return PS_OK;
    int64_t groups = (cells + cut.size - 1) / cut.size;
    PS_SCOPED_MEMORY ps_fmm_device_vectors *table = NULL;
    PS_TRY(PS_ALLOC(&table, groups, "groups"));
    for (int64_t g = 0; g < groups; ++g)
        table[g] = (ps_fmm_device_vectors){
            (char *)all->values + g * cut.size * length * device_real(c), all->stride};
    ps_status status =
        device_upload(c, table, groups * (int64_t)sizeof *table, (void **)&out->table);
    return status;
}

/* The same of the particles of leaves. */
static inline ps_status sources_table(fmm_device_case *c, cell_cut cut,
                                      ps_fmm_device_sources_table *out)
{
    const ps_octree *tree = device_tree(c);
    int64_t cells = c->leaves.cells;
    *out = (ps_fmm_device_sources_table){.one = c->leaves.set, .shift = cut.shift};
    if (!cut.size) return PS_OK;
    int64_t groups = (cells + cut.size - 1) / cut.size;
    PS_SCOPED_MEMORY ps_fmm_device_sources *table = NULL;
    PS_TRY(PS_ALLOC(&table, groups, "groups"));
    ps_status status = PS_OK;
    for (int64_t g = 0; g < groups && status == PS_OK; ++g) {
        int64_t first = g * cut.size, end = first + cut.size < cells ? first + cut.size : cells;
        table[g] = (ps_fmm_device_sources){.rows = c->leaves.set.rows + tree->particle_start[first],
                                           .stride = c->leaves.set.stride};
        status = start_upload(c, first, end, &table[g].start);
    }
    if (status == PS_OK)
        status = device_upload(c, table, groups * (int64_t)sizeof *table, (void **)&out->table);
    return status;
}

/* What the operators take, for whole levels. */
static inline ps_status near_of(fmm_device_case *c, cell_cut cut, int64_t first, int64_t end,
                                const ps_fmm_device_leaves *targets, ps_fmm_device_p2p *out)
{
    int32_t *near;
    *out = (ps_fmm_device_p2p){.targets = *targets};
    PS_TRY(near_list(device_tree(c), cut, first, end, &near));
    ps_status status = device_upload(c, near, 4 * 27 * (end - first), (void **)&out->near);
    free(near);
    PS_TRY(status);
    PS_TRY(sources_table(c, cut, &out->sources));
    return device_room(c, ps_fmm_device_p2p_workspace(targets->cells, targets->particles),
                       &out->workspace);
}

/* Parents [first, end) on a level with all children cut. */
static inline ps_status family_of(fmm_device_case *c, int level, cell_cut cut, int64_t first,
                                  int64_t end, bool locals, ps_fmm_device_family *out)
{
    const ps_octree *tree = device_tree(c);
    int64_t points = c->method.interpolation.points;
    const ps_fmm_device_vectors *vectors = locals ? c->locals : c->multipoles;
    int32_t *children;
    *out = (ps_fmm_device_family){.parents = end - first, .parent = vectors[level]};
    out->parent.values = (char *)out->parent.values + first * points * device_real(c);
    PS_TRY(children_list(tree, level, cut, first, end, &children));
    ps_status status = device_upload(c, children, 32 * (end - first), (void **)&out->children);
    free(children);
    PS_TRY(status);
    return vectors_table(c, &vectors[level + 1], tree->cells[level + 1], points, cut, &out->child);
}

/* M2L of targets [first, end) on a level. */
static inline ps_status m2l_of(fmm_device_case *c, int level, cell_cut cut, int64_t first,
                               int64_t end, ps_fmm_device_m2l *out)
{
    const ps_fmm_problem *p = &c->from->problem;
    far_lists lists;
    *out = (ps_fmm_device_m2l){.locals = c->locals[level], .factor = p->factors[level]};
    out->locals.values =
        (char *)out->locals.values + first * p->interpolation.points * device_real(c);
    PS_TRY(far_lists_make(p->sources, level, cut, first, end, &lists));
    ps_status status = far_lists_upload(c, &lists, &out->far);
    far_lists_release(&lists);
    PS_TRY(status);
    return vectors_table(c, &c->coded[level], p->sources->cells[level], p->tables[level]->length,
                         cut, &out->sources);
}

#endif
