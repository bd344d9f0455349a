/* block_tree: pairs of clusters (kernels/hbem/cluster_tree.h). */
#include "kernels/hbem/block_tree.h"

#include <math.h>

/* Pairs from which threads descend: no more than FRONTIER. */
enum { FRONTIER = 4096 };

static double square_extent(const ps_cluster_node *node)
{
    double square = 0;
    for (int c = 0; c < 3; ++c)
        square += (node->high[c] - node->low[c]) * (node->high[c] - node->low[c]);
    return square;
}

bool ps_cluster_admissible(const ps_cluster_node *a, const ps_cluster_node *b, double eta)
{
    double square = 0;
    if (eta < 0) return false;
    for (int c = 0; c < 3; ++c) {
        double left = a->low[c] - b->high[c], right = b->low[c] - a->high[c];
        double gap = left > right ? left : right;
        if (gap > 0) square += gap * gap;
    }
    if (square == 0 || eta == 0) return square > 0;
    double first = square_extent(a), second = square_extent(b);
    return (first < second ? first : second) <= eta * eta * square;
}

double ps_cluster_spread(const ps_cluster_node *a, const ps_cluster_node *b)
{
    double apart = 0, square = square_extent(a) * square_extent(b);
    for (int c = 0; c < 3; ++c) {
        double twice = a->low[c] + a->high[c] - b->low[c] - b->high[c];
        apart += twice * twice / 4;
    }
    return apart > 0 ? sqrt(square / apart) : 0;
}

/* What is cut, and how far. */
typedef struct cutting {
    const ps_cluster_tree *rows, *columns;
    double eta, spread;
    bool symmetric;
} cutting;

/* Where leaves go: neither, or one of both. */
typedef struct leaf_sink {
    ps_hmatrix_leaf *leaves;
    ps_cluster_leaves *nodes;
    int64_t count;
} leaf_sink;

typedef struct pair {
    int64_t row, column;
} pair;

static void add_leaf(const cutting *tree, pair at, bool far, leaf_sink *sink)
{
    const ps_cluster_node *r = &tree->rows->nodes[at.row], *c = &tree->columns->nodes[at.column];
    if (sink->leaves)
        sink->leaves[sink->count] = (ps_hmatrix_leaf){r->begin, r->end, c->begin, c->end, far};
    if (sink->nodes) {
        sink->nodes->row[sink->count] = (int32_t)at.row;
        sink->nodes->column[sink->count] = (int32_t)at.column;
        sink->nodes->far[sink->count] = far;
    }
    ++sink->count;
}

/* Whether an admissible block is to be cut, and can be. */
static bool is_wide(const cutting *tree, const ps_cluster_node *r, const ps_cluster_node *c)
{
    return tree->spread > 0 && (r->child[0] >= 0 || c->child[0] >= 0) &&
           ps_cluster_spread(r, c) > tree->spread;
}

typedef enum pair_kind { PAIR_NONE, PAIR_NEAR, PAIR_FAR, PAIR_CUT } pair_kind;

static pair_kind kind_of(const cutting *tree, pair at)
{
    const ps_cluster_node *r = &tree->rows->nodes[at.row], *c = &tree->columns->nodes[at.column];
    if (tree->symmetric && r->begin >= c->end) return PAIR_NONE;
    if (ps_cluster_admissible(r, c, tree->eta)) return is_wide(tree, r, c) ? PAIR_CUT : PAIR_FAR;
    return r->child[0] < 0 && c->child[0] < 0 ? PAIR_NEAR : PAIR_CUT;
}

/* The pairs that a pair is cut into: rows outside. Returns their number. */
static int cut(const cutting *tree, pair at, pair out[4])
{
    const ps_cluster_node *r = &tree->rows->nodes[at.row], *c = &tree->columns->nodes[at.column];
    int count = 0;
    for (int a = 0; a < (r->child[0] >= 0 ? 2 : 1); ++a)
        for (int b = 0; b < (c->child[0] >= 0 ? 2 : 1); ++b)
            out[count++] = (pair){r->child[0] >= 0 ? r->child[a] : at.row,
                                  c->child[0] >= 0 ? c->child[b] : at.column};
    return count;
}

static void descend(const cutting *tree, pair at, leaf_sink *sink)
{
    pair inner[4];
    pair_kind kind = kind_of(tree, at);
    if (kind == PAIR_FAR || kind == PAIR_NEAR) add_leaf(tree, at, kind == PAIR_FAR, sink);
    if (kind != PAIR_CUT) return;
    int count = cut(tree, at, inner);
    for (int i = 0; i < count; ++i) descend(tree, inner[i], sink);
}

/* Pairs in depth-first order whose descents together give all leaves. */
static int frontier_of(const cutting *tree, pair out[FRONTIER])
{
    pair next[FRONTIER];
    int count = 1, before = 0;
    out[0] = (pair){0, 0};
    while (count != before && 4 * count <= FRONTIER) {
        before = count;
        count = 0;
        for (int i = 0; i < before; ++i)
            if (kind_of(tree, out[i]) == PAIR_CUT)
                count += cut(tree, out[i], next + count);
            else
                next[count++] = out[i];
        for (int i = 0; i < count; ++i) out[i] = next[i];
    }
    return count;
}

static int64_t fill(const cutting *tree, ps_hmatrix_leaf *leaves, ps_cluster_leaves *nodes)
{
    pair frontier[FRONTIER];
    int64_t first[FRONTIER + 1] = {0};
    int count = frontier_of(tree, frontier);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; ++i) {
        leaf_sink sink = {0};
        descend(tree, frontier[i], &sink);
        first[i + 1] = sink.count;
    }
    for (int i = 0; i < count; ++i) first[i + 1] += first[i];
    if (!leaves && !nodes) return first[count];
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; ++i) {
        leaf_sink sink = {leaves, nodes, first[i]};
        descend(tree, frontier[i], &sink);
    }
    return first[count];
}

static cutting cutting_of(const ps_block_tree *tree, double spread)
{
    return (cutting){tree->rows, tree->columns, tree->eta, spread, tree->symmetric};
}

int64_t ps_block_tree_leaves(const ps_block_tree *tree, ps_hmatrix_leaf *leaves)
{
    cutting plain = cutting_of(tree, 0);
    return fill(&plain, leaves, NULL);
}

int64_t ps_block_tree_cut(const ps_block_tree *tree, double spread, ps_cluster_leaves *nodes)
{
    cutting own = cutting_of(tree, spread);
    return fill(&own, NULL, nodes);
}
