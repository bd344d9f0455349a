/* Leaves that are cut where waves have high ranks (kernels/hbem/block_tree.h). */
#include "kernels/hbem/block_tree.h"

#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

/* What leaves cover of a matrix of tree->dofs squared: all of it once, or the test fails. */
static void check_tiles(const ps_cluster_tree *tree, const ps_cluster_leaves *leaves)
{
    int64_t n = tree->dofs;
    PS_SCOPED_MEMORY uint8_t *seen = calloc((size_t)(n * n), 1);
    for (int64_t l = 0; l < leaves->count; ++l) {
        const ps_cluster_node *r = &tree->nodes[leaves->row[l]],
                              *c = &tree->nodes[leaves->column[l]];
        for (int64_t i = r->begin; i < r->end; ++i)
            for (int64_t j = c->begin; j < c->end; ++j) ++seen[i * n + j];
    }
    for (int64_t i = 0; i < n * n; ++i) assert_int_equal(seen[i], 1);
}

static ps_cluster_leaves leaves_of(const ps_block_tree *tree, double spread)
{
    ps_cluster_leaves leaves;
    check_ok(ps_cluster_leaves_init(&leaves, ps_block_tree_cut(tree, spread, NULL)));
    ps_block_tree_cut(tree, spread, &leaves);
    check_tiles(tree->rows, &leaves);
    return leaves;
}

/* Admissible leaves above a spread whose clusters could be cut. */
static int64_t wide_leaves(const ps_cluster_tree *tree, const ps_cluster_leaves *leaves,
                           double spread)
{
    int64_t count = 0;
    for (int64_t l = 0; l < leaves->count; ++l) {
        const ps_cluster_node *r = &tree->nodes[leaves->row[l]],
                              *c = &tree->nodes[leaves->column[l]];
        bool whole = r->child[0] < 0 && c->child[0] < 0;
        count += leaves->far[l] && !whole && ps_cluster_spread(r, c) > spread;
    }
    return count;
}

static void wide_blocks_are_cut(void **state)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    hbem_body_sphere(&b, 10, PS_SPACE_P1, 1e-3, 8);
    const ps_block_tree blocks = {.rows = &b.tree, .columns = &b.tree, .eta = 2};
    PS_SCOPED(ps_cluster_leaves_release)
    ps_cluster_leaves plain = leaves_of(&blocks, 0),
                      cut = leaves_of(&blocks, .3);
    PS_SCOPED(ps_cluster_leaves_release) ps_cluster_leaves same = leaves_of(&blocks, 1e3);
    assert_true(wide_leaves(&b.tree, &plain, .3) > 10);
    assert_int_equal(wide_leaves(&b.tree, &cut, .3), 0);
    assert_true(cut.count > plain.count);
    assert_int_equal(same.count, plain.count);
    assert_memory_equal(same.row, plain.row, (size_t)plain.count * sizeof *plain.row);
    assert_memory_equal(same.far, plain.far, (size_t)plain.count);
}
