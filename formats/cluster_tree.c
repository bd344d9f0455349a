#include "formats/cluster_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

static const char *const groups[] = {"/test", "/trial"};
static const char nodes_of[] = "nodes of a cluster tree";

/* ---- trees ---- */

/* Nodes as the file has them. */
typedef struct node_columns {
    int64_t *range, *child;
    double *box;
} node_columns;

static void release_columns(node_columns *c) { PS_FREE(c->range, c->child, c->box); }

static ps_status pass_tree(ps_store *store, const char *group, const ps_cluster_tree *tree,
                           const node_columns *c, ps_columns_pass *each)
{
    static const char *const leaf[] = {"range", "child", "box", "order"};
    int64_t nodes = tree->node_count;
    char name[4][PS_NAME_MAX];
    for (int i = 0; i < 4; ++i) snprintf(name[i], PS_NAME_MAX, "%s/%s", group, leaf[i]);
    const ps_column columns[] = {
        {name[0], "1", "begin and end of each node", PS_I64, nodes, 2, .at = &c->range},
        {name[1], "1", "children, -1 for none", PS_I64, nodes, 2, .at = &c->child},
        {name[2], "m", "low and high corner of the supports", PS_F64, nodes, 6, .at = &c->box},
        {name[3], "1", "function at each position", PS_I64, tree->dofs, 1, .at = &tree->order}};
    return each(store, columns, PS_COLUMNS(columns));
}

ps_status ps_cluster_tree_put(ps_store *store, const char *group, const ps_cluster_tree *tree)
{
    PS_SCOPED(release_columns) node_columns c = {0};
    PS_TRY(PS_ALLOC(&c.range, 2 * tree->node_count, nodes_of));
    PS_TRY(PS_ALLOC(&c.child, 2 * tree->node_count, nodes_of));
    PS_TRY(PS_ALLOC(&c.box, 6 * tree->node_count, nodes_of));
    for (int64_t n = 0; n < tree->node_count; ++n) {
        const ps_cluster_node *node = &tree->nodes[n];
        c.range[2 * n] = node->begin;
        c.range[2 * n + 1] = node->end;
        memcpy(c.child + 2 * n, node->child, sizeof node->child);
        memcpy(c.box + 6 * n, node->low, sizeof node->low);
        memcpy(c.box + 6 * n + 3, node->high, sizeof node->high);
    }
    PS_TRY(pass_tree(store, group, tree, &c, ps_columns_write));
    PS_TRY(ps_store_put_int(store, group, "dofs", tree->dofs));
    PS_TRY(ps_store_put_int(store, group, "nodes", tree->node_count));
    return ps_store_put_int(store, group, "leaf_size", tree->leaf_size);
}

static ps_status check_node(const ps_cluster_tree *tree, int64_t n)
{
    const ps_cluster_node *node = &tree->nodes[n];
    bool good = node->begin >= 0 && node->begin < node->end && node->end <= tree->dofs;
    for (int c = 0; c < 3; ++c)
        good = good && isfinite(node->low[c]) && isfinite(node->high[c]) &&
               node->low[c] <= node->high[c];
    const int64_t *child = node->child;
    if (good && !(child[0] == -1 && child[1] == -1)) {
        for (int c = 0; c < 2; ++c) good = good && child[c] > n && child[c] < tree->node_count;
        if (good) {
            const ps_cluster_node *left = &tree->nodes[child[0]], *right = &tree->nodes[child[1]];
            good =
                left->begin == node->begin && left->end == right->begin && right->end == node->end;
        }
    }
    return good ? PS_OK : ps_fail(PS_INVALID, "node %lld is none of a cluster tree", (long long)n);
}

static ps_status check_order(const ps_cluster_tree *tree)
{
    PS_SCOPED_MEMORY uint8_t *seen = NULL;
    PS_TRY(PS_ALLOC(&seen, tree->dofs, "a check of an order"));
    int64_t bad = -1;
    for (int64_t p = 0; p < tree->dofs && bad < 0; ++p) {
        int64_t i = tree->order[p];
        if (i < 0 || i >= tree->dofs || seen[i]++) bad = p;
    }
    return bad < 0 ? PS_OK
                   : ps_fail(PS_INVALID, "the order is no permutation at position %lld",
                             (long long)bad);
}

/* Walks down a tree recurse: a file must not choose how deep. Children come after their parents. */
static ps_status check_depth(const ps_cluster_tree *tree)
{
    enum { DEPTH_MAX = 2000 };
    PS_SCOPED_MEMORY int32_t *depth = NULL;
    PS_TRY(PS_ALLOC(&depth, tree->node_count, "a check of a cluster tree"));
    int64_t deep = -1;
    for (int64_t n = 0; n < tree->node_count; ++n)
        for (int c = 0; c < 2 && tree->nodes[n].child[c] >= 0; ++c) {
            depth[tree->nodes[n].child[c]] = depth[n] + 1;
            if (depth[n] >= DEPTH_MAX) deep = n;
        }
    return deep < 0
               ? PS_OK
               : ps_fail(PS_INVALID, "node %lld lies %d levels deep", (long long)deep, DEPTH_MAX);
}

static ps_status check_tree(const ps_cluster_tree *tree)
{
    if (tree->nodes[0].begin != 0 || tree->nodes[0].end != tree->dofs)
        return ps_fail(PS_INVALID, "the root does not hold all %lld functions",
                       (long long)tree->dofs);
    for (int64_t n = 0; n < tree->node_count; ++n) PS_TRY(check_node(tree, n));
    PS_TRY(check_depth(tree));
    return check_order(tree);
}

static ps_status get_tree(ps_store *store, const char *group, ps_cluster_tree *tree)
{
    PS_SCOPED(release_columns) node_columns c = {0};
    PS_TRY(ps_store_get_int(store, group, "dofs", &tree->dofs));
    PS_TRY(ps_store_get_int(store, group, "nodes", &tree->node_count));
    PS_TRY(ps_store_get_int(store, group, "leaf_size", &tree->leaf_size));
    if (tree->dofs < 1 || tree->dofs > INT32_MAX || tree->node_count < 1 ||
        tree->node_count >= 2 * tree->dofs || tree->leaf_size < 1)
        return ps_fail(PS_INVALID, "%lld functions in %lld clusters", (long long)tree->dofs,
                       (long long)tree->node_count);
    PS_TRY(pass_tree(store, group, tree, &c, ps_columns_load));
    PS_TRY(PS_ALLOC(&tree->nodes, tree->node_count, nodes_of));
    for (int64_t n = 0; n < tree->node_count; ++n) {
        ps_cluster_node *node = &tree->nodes[n];
        node->begin = c.range[2 * n];
        node->end = c.range[2 * n + 1];
        memcpy(node->child, c.child + 2 * n, sizeof node->child);
        memcpy(node->low, c.box + 6 * n, sizeof node->low);
        memcpy(node->high, c.box + 6 * n + 3, sizeof node->high);
    }
    return check_tree(tree);
}

ps_status ps_cluster_tree_get(ps_store *store, const char *group, ps_cluster_tree *tree)
{
    memset(tree, 0, sizeof *tree);
    ps_status status = get_tree(store, group, tree);
    if (status == PS_OK) return PS_OK;
    ps_cluster_tree_release(tree);
    return ps_context(status, "%s: %s", ps_store_path(store), group);
}

void ps_cluster_tree_release(ps_cluster_tree *tree)
{
    free(tree->nodes);
    free(tree->order);
    memset(tree, 0, sizeof *tree);
}

/* ---- leaves ---- */

static ps_status pass_leaves(ps_store *store, const ps_cluster_leaves *leaves,
                             ps_columns_pass *each)
{
    int64_t count = leaves->count;
    const ps_column columns[] = {
        {"/leaves/row", "1", "node of the test tree", PS_I32, count, 1, .at = &leaves->row},
        {"/leaves/column", "1", "node of the trial tree", PS_I32, count, 1, .at = &leaves->column},
        {"/leaves/far", "1", "1: admissible", PS_U8, count, 1, .at = &leaves->far}};
    return each(store, columns, PS_COLUMNS(columns));
}

ps_status ps_cluster_leaves_init(ps_cluster_leaves *leaves, int64_t count)
{
    *leaves = (ps_cluster_leaves){.count = count};
    return pass_leaves(NULL, leaves, ps_columns_allocate);
}

void ps_cluster_leaves_release(ps_cluster_leaves *leaves)
{
    PS_FREE(leaves->row, leaves->column, leaves->far);
    memset(leaves, 0, sizeof *leaves);
}

ps_status ps_cluster_leaves_put(ps_store *store, const ps_cluster_leaves *leaves)
{
    PS_TRY(pass_leaves(store, leaves, ps_columns_write));
    return ps_store_put_int(store, "/leaves", "count", leaves->count);
}

ps_hmatrix_leaf ps_cluster_leaf_at(const ps_cluster_leaves *leaves, const ps_cluster_tree *rows,
                                   const ps_cluster_tree *columns, int64_t leaf)
{
    const ps_cluster_node *row = &rows->nodes[leaves->row[leaf]];
    const ps_cluster_node *column = &columns->nodes[leaves->column[leaf]];
    return (ps_hmatrix_leaf){row->begin, row->end, column->begin, column->end,
                             leaves->far[leaf] != 0};
}

/* A walk down both trees that meets the leaves in their order. */
typedef struct leaf_walk {
    const ps_cluster_tree *rows, *columns;
    const ps_cluster_leaves *leaves;
    bool symmetric;
    int64_t next;
} leaf_walk;

static bool tiles(leaf_walk *walk, int64_t row, int64_t column)
{
    const ps_cluster_node *r = &walk->rows->nodes[row], *c = &walk->columns->nodes[column];
    if (walk->symmetric && r->begin >= c->end) return true;
    if (walk->next == walk->leaves->count) return false;
    if (walk->leaves->row[walk->next] == row && walk->leaves->column[walk->next] == column)
        return walk->leaves->far[walk->next++] <= 1;
    bool split_row = r->child[0] >= 0, split_column = c->child[0] >= 0;
    if (!split_row && !split_column) return false;
    for (int a = 0; a < (split_row ? 2 : 1); ++a)
        for (int b = 0; b < (split_column ? 2 : 1); ++b)
            if (!tiles(walk, split_row ? r->child[a] : row, split_column ? c->child[b] : column))
                return false;
    return true;
}

ps_status ps_cluster_leaves_get(ps_store *store, const ps_cluster_tree *rows,
                                const ps_cluster_tree *columns, bool symmetric,
                                ps_cluster_leaves *leaves)
{
    int64_t count;
    memset(leaves, 0, sizeof *leaves);
    PS_TRY(ps_store_get_int(store, "/leaves", "count", &count));
    if (count < 1 || count > rows->dofs * columns->dofs)
        return ps_fail(PS_INVALID, "%s: %lld leaves", ps_store_path(store), (long long)count);
    leaves->count = count;
    ps_status status = pass_leaves(store, leaves, ps_columns_load);
    leaf_walk walk = {rows, columns, leaves, symmetric, 0};
    if (status == PS_OK && !(tiles(&walk, 0, 0) && walk.next == count))
        status = ps_fail(PS_INVALID,
                         "%s: the leaves do not tile the matrix; leaf %lld is not the "
                         "one that comes next",
                         ps_store_path(store), (long long)walk.next);
    if (status != PS_OK) ps_cluster_leaves_release(leaves);
    return status;
}

/* ---- the file ---- */

static ps_status pass_mesh(ps_store *store, const ps_clusters *c, ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/mesh/vertices", "m", "vertices", PS_F64, c->vertex_count, 3, .at = &c->vertices},
        {"/mesh/triangles", "1", "vertices of each triangle", PS_I32, c->triangle_count, 3,
         .at = &c->triangles}};
    return each(store, columns, PS_COLUMNS(columns));
}

static ps_status pass_head(ps_store *store, const ps_clusters *c, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("same", c->same), PS_ENTRY("closed", c->closed),
                                PS_ENTRY("eta", c->eta), PS_ENTRY("order", c->order),
                                PS_ENTRY("mesh_hash", c->mesh_hash)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

static ps_status put_all(ps_store *store, const ps_clusters *c)
{
    PS_TRY(pass_mesh(store, c, ps_columns_write));
    PS_TRY(ps_store_put_int(store, "/mesh", "vertices", c->vertex_count));
    PS_TRY(ps_store_put_int(store, "/mesh", "triangles", c->triangle_count));
    PS_TRY(ps_store_put_text(store, "/", "test_space", ps_hbem_space_name(c->space[0])));
    PS_TRY(ps_store_put_text(store, "/", "trial_space", ps_hbem_space_name(c->space[1])));
    PS_TRY(pass_head(store, c, ps_entries_put));
    for (int side = 0; side < (c->same ? 1 : 2); ++side)
        PS_TRY(ps_cluster_tree_put(store, groups[side], &c->tree[side]));
    return ps_cluster_leaves_put(store, &c->leaves);
}

ps_status ps_clusters_save(const char *path, const ps_clusters *clusters,
                           const ps_store_identity *identity, const ps_store *mesh)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create_as(path, identity, PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &store));
    PS_TRY(mesh ? ps_store_add_input(store, "mesh", mesh) : PS_OK);
    PS_TRY(put_all(store, clusters));
    return ps_store_commit(&store);
}

static ps_status get_head(ps_store *store, ps_clusters *c)
{
    static const char *const space[] = {"test_space", "trial_space"};
    char name[16];
    for (int side = 0; side < 2; ++side) {
        PS_TRY(ps_store_get_text(store, "/", space[side], name, sizeof name));
        PS_TRY(ps_hbem_space_parse(name, &c->space[side]));
    }
    PS_TRY(pass_head(store, c, ps_entries_get));
    if (!(c->eta >= 0) || !isfinite(c->eta) || (c->same && c->space[0] != c->space[1]))
        return ps_fail(PS_INVALID, "eta %g, one space for %s and %s", c->eta,
                       ps_hbem_space_name(c->space[0]), ps_hbem_space_name(c->space[1]));
    return ps_store_content_hash(store, c->content_hash);
}

static ps_status get_mesh(ps_store *store, ps_clusters *c)
{
    PS_TRY(ps_store_get_int(store, "/mesh", "vertices", &c->vertex_count));
    PS_TRY(ps_store_get_int(store, "/mesh", "triangles", &c->triangle_count));
    if (c->vertex_count < 3 || c->vertex_count > INT32_MAX || c->triangle_count < 1 ||
        c->triangle_count > INT32_MAX / 3)
        return ps_fail(PS_INVALID, "%lld vertices, %lld triangles", (long long)c->vertex_count,
                       (long long)c->triangle_count);
    PS_TRY(pass_mesh(store, c, ps_columns_load));
    for (int64_t i = 0; i < 3 * c->vertex_count; ++i)
        if (!isfinite(c->vertices[i]))
            return ps_fail(PS_INVALID, "vertex %lld is not finite", (long long)(i / 3));
    for (int64_t i = 0; i < 3 * c->triangle_count; ++i)
        if (c->triangles[i] < 0 || c->triangles[i] >= c->vertex_count)
            return ps_fail(PS_INVALID, "triangle %lld has a vertex out of range",
                           (long long)(i / 3));
    return PS_OK;
}

/* Functions of a space, as sizes of the mesh tell. */
static int64_t functions_of(const ps_clusters *c, ps_hbem_space_kind kind)
{
    return kind == PS_SPACE_P1 ? c->vertex_count
                               : c->triangle_count * (kind == PS_SPACE_DP1 ? 3 : 1);
}

static ps_status get_all(ps_store *store, ps_clusters *c)
{
    PS_TRY(get_head(store, c));
    PS_TRY(get_mesh(store, c));
    for (int side = 0; side < (c->same ? 1 : 2); ++side) {
        PS_TRY(ps_cluster_tree_get(store, groups[side], &c->tree[side]));
        if (c->tree[side].dofs != functions_of(c, c->space[side]))
            return ps_fail(PS_INVALID, "%s has %lld functions, the space %lld", groups[side],
                           (long long)c->tree[side].dofs,
                           (long long)functions_of(c, c->space[side]));
    }
    if (c->same) c->tree[1] = c->tree[0];
    return ps_cluster_leaves_get(store, &c->tree[0], &c->tree[1], false, &c->leaves);
}

ps_status ps_clusters_load(const char *path, ps_clusters *clusters)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(clusters, 0, sizeof *clusters);
    PS_TRY(ps_store_open(path, PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &store));
    ps_status status = get_all(store, clusters);
    if (status == PS_OK) return PS_OK;
    ps_clusters_release(clusters);
    return ps_context(status, "%s", path);
}

void ps_clusters_release(ps_clusters *c)
{
    ps_cluster_tree_release(&c->tree[0]);
    if (!c->same) ps_cluster_tree_release(&c->tree[1]);
    ps_cluster_leaves_release(&c->leaves);
    free(c->vertices);
    free(c->triangles);
    memset(c, 0, sizeof *c);
}

static bool wanted(const ps_hmatrix_leaf *leaf, bool symmetric)
{
    return !symmetric || leaf->row_begin <= leaf->column_begin;
}

ps_status ps_clusters_leaves(const ps_clusters *c, bool symmetric, ps_hmatrix_leaf **out,
                             ps_cluster_leaves *nodes)
{
    *out = NULL;
    if (nodes) memset(nodes, 0, sizeof *nodes);
    if (symmetric && !c->same)
        return ps_fail(PS_USAGE, "a matrix of two spaces has no symmetric half");
    int64_t count = 0, at = 0;
    for (int64_t l = 0; l < c->leaves.count; ++l) {
        ps_hmatrix_leaf leaf = ps_cluster_leaf_at(&c->leaves, &c->tree[0], &c->tree[1], l);
        count += wanted(&leaf, symmetric);
    }
    PS_TRY(PS_ALLOC(out, count, "leaves of an H-matrix"));
    ps_status status = nodes ? ps_cluster_leaves_init(nodes, count) : PS_OK;
    for (int64_t l = 0; status == PS_OK && l < c->leaves.count; ++l) {
        ps_hmatrix_leaf leaf = ps_cluster_leaf_at(&c->leaves, &c->tree[0], &c->tree[1], l);
        if (!wanted(&leaf, symmetric)) continue;
        if (nodes) {
            nodes->row[at] = c->leaves.row[l];
            nodes->column[at] = c->leaves.column[l];
            nodes->far[at] = c->leaves.far[l];
        }
        (*out)[at++] = leaf;
    }
    return status;
}
