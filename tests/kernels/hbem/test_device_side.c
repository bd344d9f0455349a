/* Tables for devices: slots, items and entries describe the supports as the space does. */
#include "kernels/hbem/device_assembly.h"
#include "kernels/hbem/strata.h"
#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

typedef struct tables {
    hbem_body body;
    ps_hbem_device_side side;
    void *memory;
} tables;

/* The tables of a body that is made. */
static void fill(tables *t, const int32_t *stratum)
{
    check_ok(ps_hbem_device_side_count(&t->body.c.space, &t->body.tree, stratum, &t->side));
    t->memory = malloc((size_t)ps_hbem_device_side_bytes(&t->side));
    ps_hbem_device_side_place(&t->side, t->memory);
    ps_hbem_device_side_fill(&t->body.c.space, &t->body.tree, stratum, &t->side);
}

static void make(tables *t, int n, ps_hbem_space_kind kind, int leaf)
{
    hbem_body_sphere(&t->body, n, kind, 1e-4, leaf);
    fill(t, NULL);
}

static void release(tables *t)
{
    free(t->memory);
    hbem_body_release(&t->body);
}

/* Clusters cover the functions; every slot's hats are the space's, where they are in its cluster.
 */
static void check_slots(const tables *t)
{
    const ps_hbem_device_side *s = &t->side;
    assert_int_equal(s->cluster_begin[0], 0);
    assert_int_equal(s->cluster_begin[s->clusters], s->dofs);
    assert_int_equal(s->slot_begin[s->clusters], s->slots);
    for (int64_t c = 0; c < s->clusters; ++c) {
        assert_true(s->cluster_begin[c + 1] - s->cluster_begin[c] <= s->most_dofs);
        assert_true(s->slot_begin[c + 1] - s->slot_begin[c] <= s->most_slots);
        for (int32_t slot = s->slot_begin[c]; slot < s->slot_begin[c + 1]; ++slot)
            for (int l = 0; l < 3; ++l) {
                int32_t dof = t->body.c.space.dof_of[3 * s->slot_triangle[slot] + l];
                int32_t own = s->cluster_of[dof] == c ? dof : -1;
                assert_int_equal(s->slot_dof[3 * slot + l], own);
            }
    }
}

/* Items and entries of a function are its hats, in the space's order. */
static void check_functions(const tables *t)
{
    const ps_hbem_device_side *s = &t->side;
    const ps_hbem_space *space = &t->body.c.space;
    for (int64_t i = 0; i < s->dofs; ++i) {
        int hats = 0;
        for (int64_t e = space->start[i]; e < space->start[i + 1]; ++e) {
            int32_t slot = s->item[e] / 3, hat = s->item[e] % 3;
            assert_int_equal(s->slot_dof[s->item[e]], i);
            assert_int_equal(3 * (int64_t)s->slot_triangle[slot] + hat, space->item[e]);
        }
        for (int32_t e = s->entry_start[i]; e < s->entry_start[i + 1]; ++e)
            for (int l = 0; l < 3; ++l)
                if (s->entry[e] >> l & 1) {
                    assert_int_equal(space->dof_of[3 * (s->entry[e] >> 3) + l], i);
                    ++hats;
                }
        assert_int_equal(hats, space->start[i + 1] - space->start[i]);
    }
}

static void slots_and_functions(void **state)
{
    const ps_hbem_space_kind kinds[] = {PS_SPACE_P0, PS_SPACE_P1, PS_SPACE_DP1};
    for (int k = 0; k < 3; ++k) {
        PS_SCOPED(release) tables t = {0};
        make(&t, 5, kinds[k], 16);
        check_slots(&t);
        check_functions(&t);
    }
}

static void boxes_enclose_supports(void **state)
{
    PS_SCOPED(release) tables t = {0};
    make(&t, 5, PS_SPACE_P1, 10);
    for (int64_t slot = 0, c = 0; slot < t.side.slots; ++slot) {
        while (slot >= t.side.slot_begin[c + 1]) ++c;
        const double *box = t.side.box + 8 * c;
        const ps_hbem_triangle *triangle = &t.body.c.triangles[t.side.slot_triangle[slot]];
        for (int e = 0; e < 9; ++e)
            assert_true(triangle->corner[e / 3][e % 3] >= box[e % 3] &&
                        triangle->corner[e / 3][e % 3] <= box[3 + e % 3]);
        assert_true(triangle->diameter <= box[6]);
    }
}

/* Of a cube of 8 x 8 x 8 cells those on edges and corners: 12 x 7 + 8. */
static void functions_on_edges_are_creased(void **state)
{
    PS_SCOPED(release) tables t = {0};
    hbem_body_cells(&t.body, 4, 0, PS_SPACE_P1, 1e-4, 16);
    fill(&t, NULL);
    int64_t creased = 0;
    for (int64_t i = 0; i < t.side.dofs; ++i) creased += t.side.group[i] >= PS_HBEM_CREASED;
    assert_int_equal(t.side.dofs, 386);
    assert_int_equal(creased, 92);
}

/* Nodes are those of the tree; each has the strata of its rows, and those in none after them. */
static void nodes_have_strata(void **state)
{
    PS_SCOPED(release) tables t = {0};
    make(&t, 8, PS_SPACE_P0, 16);
    assert_int_equal(t.side.nodes, 0);
    free(t.memory);
    const int64_t dofs = t.body.c.space.dofs;
    PS_SCOPED_MEMORY int32_t *stratum = calloc((size_t)dofs, sizeof *stratum);
    for (int64_t i = 0; i < dofs; ++i)
        stratum[i] = i % 3 == 0 ? 7 : i % 100 == 1 ? 5 : PS_HBEM_NO_STRATUM;
    fill(&t, stratum);
    assert_int_equal(t.side.nodes, t.body.tree.node_count);
    assert_memory_equal(t.side.stratum, stratum, 4 * (size_t)dofs);
    for (int64_t n = 0; n < t.side.nodes; ++n) {
        const int32_t *node = t.side.node + 6 * n, *own = t.side.listed + node[4];
        const ps_cluster_node *at = &t.body.tree.nodes[n];
        ps_hbem_stratum expected[PS_HBEM_STRATA_SHARE];
        int count = ps_hbem_strata_of(stratum + at->begin, at->end - at->begin, expected);
        assert_true(node[0] == at->begin && node[1] == at->end);
        assert_true(node[2] == at->child[0] && node[3] == at->child[1]);
        assert_true(count > 0 && node[4] + node[5] <= t.side.strata);
        assert_int_equal(node[5], count + 1);
        for (int e = 0; e < count; ++e) assert_int_equal(own[e], expected[e].number);
        assert_int_equal(own[count], PS_HBEM_NO_STRATUM);
    }
}

static void large_leaves_are_refused(void **state)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    ps_hbem_device_side side;
    hbem_body_sphere(&b, 6, PS_SPACE_P1, 1e-4, 100);
    assert_int_equal(ps_hbem_device_side_count(&b.c.space, &b.tree, NULL, &side), PS_USAGE);
}

/* Near leaves first, in their order; far ones by size; every leaf once; room for all. */
static void leaves_in_the_order_of_the_device(void **state)
{
    PS_SCOPED(release) tables t = {0};
    make(&t, 12, PS_SPACE_P1, 16);
    ps_block_tree blocks = {&t.body.tree, &t.body.tree, 2, true};
    ps_hbem_device_operator op = {.test = t.side, .trial = t.side};
    int64_t count, far = 0;
    PS_SCOPED_MEMORY ps_hmatrix_leaf *leaves = hbem_leaves(&blocks, &count);
    size_t n = (size_t)count;
    PS_SCOPED_MEMORY int32_t *order = calloc(n, sizeof *order);
    PS_SCOPED_MEMORY int32_t *list = calloc(n, sizeof *list);
    PS_SCOPED_MEMORY ps_hbem_device_leaf *at = calloc(n, sizeof *at);
    PS_SCOPED_MEMORY ps_hbem_device_block *made = calloc(n, sizeof *made);
    PS_SCOPED_MEMORY char *seen = calloc(n, 1);
    ps_hbem_device_batch batch = {
        .count = count, .leaf = order, .list = list, .at = at, .blocks = made};
    ps_hbem_device_batch_fill(&batch, leaves, &op, 4);
    for (int64_t e = 0; e < count; ++e) {
        const ps_hmatrix_leaf *leaf = &leaves[batch.leaf[e]];
        assert_false(seen[batch.leaf[e]]++);
        assert_int_equal(leaf->far, e >= batch.near_count);
        assert_int_equal(leaf->row_begin, batch.at[e].row_begin);
        assert_int_equal(batch.blocks[e].rank, leaf->far ? PS_HBEM_UNSET : PS_RANK_DENSE);
        if (!leaf->far) assert_true(batch.blocks[e].offset < batch.near_numbers);
        if (e > 0 && !leaf->far) assert_true(batch.leaf[e] > batch.leaf[e - 1]);
    }
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) far += batch.list_count[size];
    assert_int_equal(far, count - batch.near_count);
    assert_true(batch.most_numbers > batch.near_numbers);
}
