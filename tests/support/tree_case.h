/* tree_case: particles and their tree in memory, as a test or benchmark needs them. */
#ifndef PS_TESTS_SUPPORT_TREE_CASE_H
#define PS_TESTS_SUPPORT_TREE_CASE_H

#include <stdlib.h>

#include "kernels/fmm/distribution.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"

typedef struct tree_case {
    int64_t count;
    double *x, *y, *z, *q; /* as made */
    uint64_t *keys, *workspace;
    int64_t *order, outside;
    ps_octree tree;
} tree_case;

static inline ps_status tree_case_alloc(tree_case *t, int64_t count, int level)
{
    *t = (tree_case){.count = count};
    PS_TRY(PS_ALLOC(&t->x, 4 * count, "particles"));
    t->y = t->x + count;
    t->z = t->y + count;
    t->q = t->z + count;
    PS_TRY(PS_ALLOC(&t->keys, count, "keys"));
    PS_TRY(PS_ALLOC(&t->order, count, "order"));
    return PS_ALLOC(&t->workspace, ps_tree_sort_workspace(count, level), "workspace");
}

static inline ps_status tree_case_build(tree_case *t, const ps_octree_box *box, int height,
                                        int64_t group_size)
{
    int64_t cells[PS_OCTREE_LEVELS_MAX];
    ps_tree_points points = {t->count, t->x, t->y, t->z};
    t->outside = ps_tree_sort(box, height - 1, &points, t->workspace, t->keys, t->order);
    ps_tree_count(t->keys, t->count, height - 1, cells);
    PS_TRY(ps_octree_init(&t->tree, height, box, cells, group_size));
    ps_tree_fill(t->keys, t->count, &t->tree);
    return PS_OK;
}

static inline ps_status tree_case_random(tree_case *t, ps_distribution distribution, int64_t count,
                                         int height, int64_t group_size)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    PS_TRY(tree_case_alloc(t, count, height - 1));
    double *columns[3] = {t->x, t->y, t->z};
    ps_distribution_positions(distribution, 1, 0, count, columns);
    ps_distribution_charges(PS_CHARGES_UNIFORM, 1, 0, 0, count, t->q);
    return tree_case_build(t, &unit, height, group_size);
}

static inline void tree_case_release(tree_case *t)
{
    PS_FREE(t->x, t->keys, t->order, t->workspace);
    ps_octree_release(&t->tree);
}

#endif
