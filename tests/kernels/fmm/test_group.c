/* Operators on groups against the plain evaluation: the far field to the bit whatever the groups,
 * the near field to rounding; mean ranks of tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/group_far.h"
#include "kernels/fmm/group_near.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/fmm_case.h"

enum { COUNT = 6000, SIDES = 2, LEVELS = PS_OCTREE_LEVELS_MAX };

/* Vectors of all groups of a level, each in memory of its own. */
typedef struct level_groups {
    void **base;
    int64_t count;
} level_groups;

static level_groups make_level(const ps_octree *tree, int level, int64_t bytes)
{
    level_groups out = {.count = ps_octree_groups(tree, level)};
    out.base = calloc((size_t)out.count, sizeof *out.base);
    for (int64_t g = 0; g < out.count; ++g) {
        int64_t first, end;
        ps_octree_group(tree, level, g, &first, &end);
        check_ok(ps_alloc(&out.base[g], (end - first) * SIDES * bytes, 1, "vectors of a group"));
    }
    return out;
}

static void free_level(level_groups *groups)
{
    for (int64_t g = 0; g < groups->count; ++g) free(groups->base[g]);
    free(groups->base);
}

static ps_fmm_groups view(const ps_octree *tree, int level, const level_groups *groups)
{
    return (ps_fmm_groups){tree->group_size, tree->cells[level], groups->base};
}

/* All of a level's groups through one operator. */
#define EACH_GROUP(tree, level, ...)                                                               \
    for (int64_t g = 0, first, end; g < ps_octree_groups(tree, level); ++g) {                      \
        ps_octree_group(tree, level, g, &first, &end);                                             \
        __VA_ARGS__;                                                                               \
    }

/* The vectors of a level, together, as the plain evaluation has them. */
static void check_level(const ps_octree *tree, int level, const level_groups *groups,
                        const void *whole, int64_t bytes)
{
    EACH_GROUP(tree, level, {
        for (int side = 0; side < SIDES; ++side)
            assert_memory_equal((const char *)groups->base[g] + side * (end - first) * bytes,
                                (const char *)whole + (side * tree->cells[level] + first) * bytes,
                                (size_t)((end - first) * bytes));
    })
}

static void far_field(fmm_case *c, const tree_case *t, double *results)
{
    const ps_fmm_problem *p = &c->problem;
    const ps_octree *tree = &t->tree;
    int leaf = tree->height - 1;
    int64_t vector = ps_fmm_vector_bytes(p);
    level_groups m[LEVELS], k[LEVELS], l[LEVELS];
    ps_fmm_groups vm[LEVELS], vk[LEVELS], vl[LEVELS];
    PS_SCOPED_MEMORY void *workspace = NULL;
    check_ok(ps_alloc_untouched(&workspace, ps_fmm_m2l_workspace(p), "workspace"));
    for (int level = 2; level <= leaf; ++level) {
        m[level] = make_level(tree, level, vector);
        k[level] = make_level(tree, level, ps_fmm_code_bytes(p, level));
        l[level] = make_level(tree, level, vector);
        vm[level] = view(tree, level, &m[level]);
        vk[level] = view(tree, level, &k[level]);
        vl[level] = view(tree, level, &l[level]);
    }
    ps_fmm_particles all = p->source_set;
    all.potential = results;
    all.gradient = results + SIDES * COUNT;
    EACH_GROUP(tree, leaf, ps_fmm_group_p2m(p, first, end, &all, 0, &vm[leaf]))
    for (int level = leaf - 1; level >= 2; --level)
        EACH_GROUP(tree, level, ps_fmm_group_m2m(p, level, first, end, &vm[level + 1], &vm[level]))
    for (int level = 2; level <= leaf; ++level) {
        EACH_GROUP(tree, level, ps_fmm_group_encode(p, level, first, end, &vm[level], &vk[level]))
        EACH_GROUP(tree, level,
                   ps_fmm_group_m2l(p, level, first, end, &vk[level], &vl[level], workspace))
        if (level == 2) continue;
        EACH_GROUP(tree, level, ps_fmm_group_l2l(p, level, first, end, &vl[level - 1], &vl[level]))
    }
    EACH_GROUP(tree, leaf, ps_fmm_group_l2p(p, first, end, &all, 0, &vl[leaf]))
    for (int level = 2; level <= leaf; ++level) {
        check_level(tree, level, &m[level], p->multipoles[level], vector);
        check_level(tree, level, &l[level], p->locals[level], vector);
        free_level(&m[level]);
        free_level(&k[level]);
        free_level(&l[level]);
    }
}

/* Adds near results: within each group, then with its augmented leaves through copies. */
static void near_field(fmm_case *c, const tree_case *t, double *results)
{
    const ps_fmm_problem *p = &c->problem;
    const ps_octree *tree = &t->tree;
    ps_fmm_particles all = p->source_set;
    all.potential = results;
    all.gradient = results + SIDES * COUNT;
    int64_t cells = tree->cells[tree->height - 1];
    PS_SCOPED_MEMORY int64_t *start = calloc((size_t)cells + 1, 8),
                             *near = calloc((size_t)cells * 27, 8);
    PS_SCOPED_MEMORY int64_t *leaves = calloc((size_t)cells * 27, 8),
                             *place = calloc((size_t)cells + 1, 8);
    PS_SCOPED_MEMORY double *columns = calloc((3 + SIDES) * COUNT, 8),
                            *copies = calloc(4 * SIDES * COUNT, 8);
    ps_tree_list list = {start, near, NULL};
    EACH_GROUP(tree, tree->height - 1, {
        ps_fmm_near_sources inside = {.particles = &all,
                                      .first = first,
                                      .end = end,
                                      .mutual_first = first,
                                      .mutual_end = end};
        ps_fmm_group_p2p(p, first, end, &all, 0, &inside);
        ps_tree_near(tree, tree, first, end, &list);
        int64_t count = ps_tree_augmented(&list, first, end, leaves);
        ps_fmm_near_start(tree, leaves, count, place);
        int64_t some = place[count];
        memset(copies, 0, (size_t)(4 * SIDES * some) * 8);
        for (int64_t i = 0; i < count; ++i)
            for (int64_t j = place[i]; j < place[i + 1]; ++j) {
                int64_t from = tree->particle_start[leaves[i]] + j - place[i];
                for (int v = 0; v < 3 + SIDES; ++v)
                    columns[v * some + j] = c->sorted[v * COUNT + from];
            }
        ps_fmm_particles packed = ps_fmm_group_particles(columns, copies, some, SIDES);
        ps_fmm_near_sources augmented = {
            .particles = &packed, .leaves = leaves, .start = place, .count = count};
        ps_fmm_group_p2p(p, first, end, &all, 0, &augmented);
        for (int64_t i = 0; i < count; ++i)
            for (int64_t j = place[i]; j < place[i + 1]; ++j)
                for (int v = 0; v < 4 * SIDES; ++v)
                    results[v * COUNT + tree->particle_start[leaves[i]] + j - place[i]] +=
                        copies[v * some + j];
    })
}

static void any_groups(void **state)
{
    for (int which = 0; which < 2; ++which)
        for (int64_t size = 1; size < 2000; size = 3 * size + 4) {
            PS_SCOPED(tree_case_release) tree_case t = {0};
            PS_SCOPED(fmm_case_release) fmm_case c = {0};
            fmm_options o = {.order = 4,
                             .function = {PS_FMM_INVERSE, 0},
                             .basis = which,
                             .far = PS_DOUBLE,
                             .near = PS_DOUBLE,
                             .sides = SIDES};
            ps_distribution distribution = which ? PS_DISTRIBUTION_ELLIPSOID : PS_DISTRIBUTION_CUBE;
            check_ok(tree_case_random(&t, distribution, COUNT, which ? 6 : 4, size));
            check_ok(fmm_case_init(&c, &o, &t, 1));
            fmm_case_run(&c);
            PS_SCOPED_MEMORY double *results = calloc(4 * SIDES * COUNT, 8);
            far_field(&c, &t, results);
            near_field(&c, &t, results);
            check_at_most(relative_l2(results, c.results, 4 * SIDES * COUNT), 1e-13);
        }
}

/* Guide 3: 5.0, 12.5, 25.0 for 1/r, l = 3, 5, 7. */
static void mean_ranks(void **state)
{
    static const double expected[3] = {5.0, 12.5, 25.0};
    for (int i = 0; i < 3; ++i) {
        fmm_options o = {.order = 3 + 2 * i, .function = {PS_FMM_INVERSE, 0}, .far = PS_DOUBLE};
        o.epsilon = pow(10, -o.order);
        ps_fmm_m2l_table table;
        PS_SCOPED_MEMORY void *block = NULL;
        check_ok(fmm_case_table(&o, 1, &table, &block));
        check_near(ps_fmm_mean_rank(&table), expected[i], 0.06, 0);
    }
    assert_true(ps_fmm_basis_epsilon(PS_FMM_YUKAWA, 1e-5) == 1e-5);
    assert_true(ps_fmm_basis_epsilon(PS_FMM_DISTANCE, 1e-5) < 1e-6);
}
