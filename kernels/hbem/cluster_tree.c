#include "kernels/hbem/cluster_tree.h"

#include <math.h>
#include <string.h>

int64_t ps_cluster_nodes(int64_t dofs, int64_t leaf_size)
{
    if (dofs <= leaf_size) return 1;
    return 1 + ps_cluster_nodes(dofs / 2, leaf_size) + ps_cluster_nodes(dofs - dofs / 2, leaf_size);
}

/* The mean of the corners that the items of function i sit at. */
static void place(const ps_hbem_space *space, int64_t i, double point[3])
{
    int64_t begin = space->start[i], end = space->start[i + 1];
    const ps_hbem_triangle *triangles = space->surface->triangles;
    memset(point, 0, 3 * sizeof *point);
    for (int64_t e = begin; e < end; ++e)
        for (int c = 0; c < 3; ++c)
            point[c] +=
                triangles[space->item[e] / 3].corner[space->item[e] % 3][c] / (double)(end - begin);
}

typedef struct order_key {
    const double *points;
    int axis;
} order_key;

static bool before(const order_key *key, int64_t a, int64_t b)
{
    double left = key->points[3 * a + key->axis], right = key->points[3 * b + key->axis];
    return left != right ? left < right : a < b;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t keep = *a;
    *a = *b;
    *b = keep;
}

/* Moves the smallest `wanted` of order[0 .. count) to the front (Hoare's selection). */
static void select_smallest(const order_key *key, int64_t *order, int64_t count, int64_t wanted)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t pivot = order[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (before(key, order[i], pivot)) ++i;
            while (before(key, pivot, order[j])) --j;
            if (i <= j) swap(&order[i++], &order[j--]);
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            return;
    }
}

static void include(ps_cluster_node *node, const double point[3])
{
    for (int c = 0; c < 3; ++c) {
        node->low[c] = fmin(node->low[c], point[c]);
        node->high[c] = fmax(node->high[c], point[c]);
    }
}

static void start_box(ps_cluster_node *node)
{
    for (int c = 0; c < 3; ++c) {
        node->low[c] = INFINITY;
        node->high[c] = -INFINITY;
    }
}

static void enclose_supports(const ps_cluster_tree *tree, const ps_hbem_space *space,
                             ps_cluster_node *node)
{
    start_box(node);
    for (int64_t p = node->begin; p < node->end; ++p)
        for (int64_t e = space->start[tree->order[p]]; e < space->start[tree->order[p] + 1]; ++e)
            for (int l = 0; l < 3; ++l)
                include(node, space->surface->triangles[space->item[e] / 3].corner[l]);
}

static int longest_axis(const ps_cluster_tree *tree, const ps_cluster_node *node,
                        const double *points)
{
    ps_cluster_node box;
    int axis = 0;
    start_box(&box);
    for (int64_t p = node->begin; p < node->end; ++p) include(&box, points + 3 * tree->order[p]);
    for (int c = 1; c < 3; ++c)
        if (box.high[c] - box.low[c] > box.high[axis] - box.low[axis]) axis = c;
    return axis;
}

static int64_t build(ps_cluster_tree *tree, const ps_hbem_space *space, int64_t begin, int64_t end,
                     const double *points)
{
    int64_t at = tree->node_count++;
    ps_cluster_node *node = &tree->nodes[at];
    *node = (ps_cluster_node){.begin = begin, .end = end, .child = {-1, -1}};
    if (end - begin <= tree->leaf_size) {
        enclose_supports(tree, space, node);
        return at;
    }
    int64_t half = (end - begin) / 2;
    order_key key = {points, longest_axis(tree, node, points)};
    select_smallest(&key, tree->order + begin, end - begin, half);
    node->child[0] = build(tree, space, begin, begin + half, points);
    node->child[1] = build(tree, space, begin + half, end, points);
    start_box(node);
    for (int c = 0; c < 2; ++c) {
        include(node, tree->nodes[node->child[c]].low);
        include(node, tree->nodes[node->child[c]].high);
    }
    return at;
}

void ps_cluster_build(ps_cluster_tree *tree, const ps_hbem_space *space, int64_t leaf_size,
                      ps_cluster_node *nodes, int64_t *order, double *points)
{
    *tree = (ps_cluster_tree){
        .dofs = space->dofs, .leaf_size = leaf_size, .nodes = nodes, .order = order};
    for (int64_t i = 0; i < space->dofs; ++i) {
        order[i] = i;
        place(space, i, points + 3 * i);
    }
    build(tree, space, 0, space->dofs, points);
}

/* ---- pairs of clusters ---- */

static double diameter(const ps_cluster_node *node)
{
    double square = 0;
    for (int c = 0; c < 3; ++c)
        square += (node->high[c] - node->low[c]) * (node->high[c] - node->low[c]);
    return sqrt(square);
}

bool ps_cluster_admissible(const ps_cluster_node *a, const ps_cluster_node *b, double eta)
{
    double square = 0;
    if (eta < 0) return false;
    for (int c = 0; c < 3; ++c) {
        double gap = fmax(a->low[c] - b->high[c], b->low[c] - a->high[c]);
        if (gap > 0) square += gap * gap;
    }
    return square > 0 && (eta == 0 || fmin(diameter(a), diameter(b)) <= eta * sqrt(square));
}

/* Where leaves go: neither, or one of both. */
typedef struct leaf_sink {
    ps_hmatrix_leaf *leaves;
    ps_cluster_leaves *nodes;
    int64_t count;
} leaf_sink;

static void add_leaf(const ps_block_tree *tree, int64_t row, int64_t column, bool far,
                     leaf_sink *sink)
{
    const ps_cluster_node *r = &tree->rows->nodes[row], *c = &tree->columns->nodes[column];
    if (sink->leaves)
        sink->leaves[sink->count] = (ps_hmatrix_leaf){r->begin, r->end, c->begin, c->end, far};
    if (sink->nodes) {
        sink->nodes->row[sink->count] = (int32_t)row;
        sink->nodes->column[sink->count] = (int32_t)column;
        sink->nodes->far[sink->count] = far;
    }
    ++sink->count;
}

static void descend(const ps_block_tree *tree, int64_t row, int64_t column, leaf_sink *sink)
{
    const ps_cluster_node *r = &tree->rows->nodes[row], *c = &tree->columns->nodes[column];
    if (tree->symmetric && r->begin >= c->end) return;
    bool far = ps_cluster_admissible(r, c, tree->eta);
    bool split_row = r->child[0] >= 0, split_column = c->child[0] >= 0;
    bool small = r->end - r->begin <= tree->uncut && c->end - c->begin <= tree->uncut;
    if (far || small || !(split_row || split_column)) {
        add_leaf(tree, row, column, far, sink);
        return;
    }
    for (int a = 0; a < (split_row ? 2 : 1); ++a)
        for (int b = 0; b < (split_column ? 2 : 1); ++b)
            descend(tree, split_row ? r->child[a] : row, split_column ? c->child[b] : column, sink);
}

int64_t ps_block_tree_leaves(const ps_block_tree *tree, ps_hmatrix_leaf *leaves)
{
    leaf_sink sink = {leaves, NULL, 0};
    descend(tree, 0, 0, &sink);
    return sink.count;
}

int64_t ps_block_tree_nodes(const ps_block_tree *tree, ps_cluster_leaves *nodes)
{
    leaf_sink sink = {NULL, nodes, 0};
    descend(tree, 0, 0, &sink);
    return sink.count;
}
