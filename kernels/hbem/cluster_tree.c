#include "kernels/hbem/cluster_tree.h"

#include <math.h>
#include <string.h>

#include "kernels/common/space_curve.h"

/* Larger clusters are cut by all threads together, the others by one thread each. */
enum { WIDE = 1 << 16, BINS = 1024, BLOCKS = 64 };

typedef struct placed {
    double point[3];
    int64_t dof;
} placed;

typedef struct subtree {
    int64_t node, begin, end;
} subtree;

/* A tree in the making. */
typedef struct building {
    ps_cluster_tree *tree;
    const ps_hbem_space *space;
    ps_cluster_cut cut;
    placed *items, *spare; /* [dofs]                 */
    int32_t *bins;         /* [BLOCKS][BINS]         */
    subtree *narrow;       /* subtrees of one thread */
    int64_t narrow_count;
} building;

int64_t ps_cluster_nodes(int64_t dofs, int64_t leaf_size)
{
    if (dofs <= leaf_size) return 1;
    return 1 + ps_cluster_nodes(dofs / 2, leaf_size) + ps_cluster_nodes(dofs - dofs / 2, leaf_size);
}

int64_t ps_cluster_scratch(int64_t dofs)
{
    int64_t curve = (int64_t)ps_space_curve_workspace(dofs) + 64;
    return 2 * dofs * (int64_t)sizeof(placed) + BLOCKS * BINS * (int64_t)sizeof(int32_t) +
           (2 * dofs / WIDE + 2) * (int64_t)sizeof(subtree) + curve;
}

/* The mean of the corners that the items of function i sit at. */
static void mean_corner(const ps_hbem_space *space, int64_t i, double point[3])
{
    int64_t begin = space->start[i], end = space->start[i + 1];
    const ps_hbem_triangle *triangles = space->surface->triangles;
    memset(point, 0, 3 * sizeof *point);
    for (int64_t e = begin; e < end; ++e)
        for (int c = 0; c < 3; ++c)
            point[c] +=
                triangles[space->item[e] / 3].corner[space->item[e] % 3][c] / (double)(end - begin);
}

/* ---- boxes ---- */

static void include(ps_cluster_node *node, const double point[3])
{
    for (int c = 0; c < 3; ++c) {
        node->low[c] = point[c] < node->low[c] ? point[c] : node->low[c];
        node->high[c] = point[c] > node->high[c] ? point[c] : node->high[c];
    }
}

static void start_box(ps_cluster_node *node)
{
    for (int c = 0; c < 3; ++c) {
        node->low[c] = INFINITY;
        node->high[c] = -INFINITY;
    }
}

static void enclose_supports(const building *b, ps_cluster_node *node)
{
    const ps_hbem_space *space = b->space;
    start_box(node);
    for (int64_t p = node->begin; p < node->end; ++p) {
        int64_t dof = b->items[p].dof;
        for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e)
            for (int l = 0; l < 3; ++l)
                include(node, space->surface->triangles[space->item[e] / 3].corner[l]);
        if (space->start[dof] == space->start[dof + 1]) include(node, b->items[p].point);
    }
}

static void enclose_children(const ps_cluster_tree *tree, ps_cluster_node *node)
{
    start_box(node);
    for (int c = 0; c < 2; ++c) {
        include(node, tree->nodes[node->child[c]].low);
        include(node, tree->nodes[node->child[c]].high);
    }
}

static int longest(const ps_cluster_node *box)
{
    int axis = 0;
    for (int c = 1; c < 3; ++c)
        if (box->high[c] - box->low[c] > box->high[axis] - box->low[axis]) axis = c;
    return axis;
}

/* ---- halving ---- */

static bool before(const placed *a, const placed *b, int axis)
{
    return a->point[axis] != b->point[axis] ? a->point[axis] < b->point[axis] : a->dof < b->dof;
}

/* Moves the smallest `wanted` items to the front (Hoare's selection). */
static void select_smallest(placed *items, int64_t count, int64_t wanted, int axis)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        placed pivot = items[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (before(&items[i], &pivot, axis)) ++i;
            while (before(&pivot, &items[j], axis)) --j;
            if (i > j) break;
            placed keep = items[i];
            items[i++] = items[j];
            items[j--] = keep;
        }
        if (wanted - 1 <= j)
            high = j;
        else if (wanted - 1 >= i)
            low = i;
        else
            return;
    }
}

static void halve_alone(placed *items, int64_t count, int64_t half)
{
    ps_cluster_node box;
    start_box(&box);
    for (int64_t p = 0; p < count; ++p) include(&box, items[p].point);
    select_smallest(items, count, half, longest(&box));
}

static int bin_of(double x, double low, double scale)
{
    double bin = (x - low) * scale;
    return bin < BINS - 1 ? (int)bin : BINS - 1;
}

static void enclose_together(const placed *items, int64_t count, ps_cluster_node *box)
{
    double x0 = INFINITY, x1 = INFINITY, x2 = INFINITY, y0 = -INFINITY, y1 = y0, y2 = y0;
#pragma omp parallel for reduction(min : x0, x1, x2) reduction(max : y0, y1, y2)
    for (int block = 0; block < BLOCKS; ++block) {
        ps_cluster_node own;
        start_box(&own);
        for (int64_t p = count * block / BLOCKS; p < count * (block + 1) / BLOCKS; ++p)
            include(&own, items[p].point);
        x0 = fmin(x0, own.low[0]), x1 = fmin(x1, own.low[1]), x2 = fmin(x2, own.low[2]);
        y0 = fmax(y0, own.high[0]), y1 = fmax(y1, own.high[1]), y2 = fmax(y2, own.high[2]);
    }
    *box = (ps_cluster_node){.low = {x0, x1, x2}, .high = {y0, y1, y2}};
}

/* The bin that holds item number `half` in order; *below items are in bins before it. */
static int middle_bin(const int32_t *bins, int64_t half, int64_t *below)
{
    *below = 0;
    for (int bin = 0;; ++bin) {
        int64_t here = 0;
        for (int block = 0; block < BLOCKS; ++block) here += bins[block * BINS + bin];
        if (bin == BINS - 1 || *below + here >= half) return bin;
        *below += here;
    }
}

/* Items of lower bins, of the middle one, of higher ones, each in their order. The blocks are
 * fixed, so the result does not depend on threads. */
static void part_by_bin(building *b, placed *items, int64_t count, int middle, int axis,
                        const double range[2])
{
    int64_t place_of[BLOCKS][3], totals[3] = {0};
    for (int block = 0; block < BLOCKS; ++block)
        for (int bin = 0; bin < BINS; ++bin) {
            int third = bin < middle ? 0 : bin == middle ? 1 : 2;
            if (bin == 0) memset(place_of[block], 0, sizeof place_of[block]);
            place_of[block][third] += b->bins[block * BINS + bin];
        }
    for (int block = 0; block < BLOCKS; ++block)
        for (int third = 0; third < 3; ++third) {
            int64_t here = place_of[block][third];
            place_of[block][third] = totals[third];
            totals[third] += here;
        }
#pragma omp parallel for schedule(static)
    for (int block = 0; block < BLOCKS; ++block) {
        int64_t at[3] = {place_of[block][0], totals[0] + place_of[block][1],
                         totals[0] + totals[1] + place_of[block][2]};
        for (int64_t p = count * block / BLOCKS; p < count * (block + 1) / BLOCKS; ++p) {
            int bin = bin_of(items[p].point[axis], range[0], range[1]);
            b->spare[at[bin < middle ? 0 : bin == middle ? 1 : 2]++] = items[p];
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < count; ++p) items[p] = b->spare[p];
}

static void halve_together(building *b, placed *items, int64_t count, int64_t half)
{
    ps_cluster_node box;
    int64_t below;
    enclose_together(items, count, &box);
    int axis = longest(&box);
    double extent = box.high[axis] - box.low[axis];
    double range[2] = {box.low[axis], extent > 0 ? BINS / extent : 0};
#pragma omp parallel for schedule(static)
    for (int block = 0; block < BLOCKS; ++block) {
        int32_t *own = b->bins + block * BINS;
        memset(own, 0, BINS * sizeof *own);
        for (int64_t p = count * block / BLOCKS; p < count * (block + 1) / BLOCKS; ++p)
            ++own[bin_of(items[p].point[axis], range[0], range[1])];
    }
    int middle = middle_bin(b->bins, half, &below);
    part_by_bin(b, items, count, middle, axis, range);
    int64_t inside = 0;
    for (int block = 0; block < BLOCKS; ++block) inside += b->bins[block * BINS + middle];
    select_smallest(items + below, inside, half - below, axis);
}

/* ---- building ---- */

/* The node over [begin, end) and its children's numbers; false for a leaf. */
static bool make_node(building *b, int64_t at, int64_t begin, int64_t end)
{
    int64_t half = (end - begin) / 2, leaf_size = b->tree->leaf_size;
    ps_cluster_node *node = &b->tree->nodes[at];
    *node = (ps_cluster_node){.begin = begin, .end = end, .child = {-1, -1}};
    if (end - begin <= leaf_size) return false;
    node->child[0] = at + 1;
    node->child[1] = at + 1 + ps_cluster_nodes(half, leaf_size);
    return true;
}

static void build_alone(building *b, int64_t at, int64_t begin, int64_t end)
{
    ps_cluster_node *node = &b->tree->nodes[at];
    int64_t half = (end - begin) / 2;
    if (!make_node(b, at, begin, end)) {
        enclose_supports(b, node);
        return;
    }
    if (b->cut == PS_CUT_MEDIAN) halve_alone(b->items + begin, end - begin, half);
    build_alone(b, node->child[0], begin, begin + half);
    build_alone(b, node->child[1], begin + half, end);
    enclose_children(b->tree, node);
}

/* The wide clusters; the others are noted in b->narrow. */
static void build_wide(building *b, int64_t at, int64_t begin, int64_t end)
{
    int64_t half = (end - begin) / 2;
    if (end - begin <= WIDE || end - begin <= b->tree->leaf_size) {
        b->narrow[b->narrow_count++] = (subtree){at, begin, end};
        return;
    }
    make_node(b, at, begin, end);
    if (b->cut == PS_CUT_MEDIAN) halve_together(b, b->items + begin, end - begin, half);
    build_wide(b, b->tree->nodes[at].child[0], begin, begin + half);
    build_wide(b, b->tree->nodes[at].child[1], begin + half, end);
}

static void enclose_wide(building *b, int64_t at)
{
    ps_cluster_node *node = &b->tree->nodes[at];
    if (node->end - node->begin <= WIDE || node->child[0] < 0) return;
    for (int c = 0; c < 2; ++c) enclose_wide(b, node->child[c]);
    enclose_children(b->tree, node);
}

/* Sorts the items along a curve; `workspace` for the sort, positions and order in b->spare. */
static void follow_curve(building *b, void *workspace)
{
    int64_t count = b->tree->dofs;
    double *positions = (double *)b->spare;
    int32_t *order = (int32_t *)(positions + 3 * count);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < count; ++p) memcpy(positions + 3 * p, b->items[p].point, 24);
    ps_space_curve_order(b->cut == PS_CUT_HILBERT ? PS_CURVE_HILBERT : PS_CURVE_MORTON, positions,
                         count, workspace, order);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < count; ++p) {
        memcpy(b->items[p].point, positions + 3 * (int64_t)order[p], 24);
        b->items[p].dof = order[p];
    }
}

void ps_cluster_build(ps_cluster_tree *tree, const ps_hbem_space *space,
                      const ps_cluster_method *method, void *scratch)
{
    building b = {.tree = tree, .space = space, .cut = method->cut};
    tree->dofs = space->dofs;
    tree->leaf_size = method->leaf_size;
    tree->node_count = ps_cluster_nodes(space->dofs, method->leaf_size);
    b.items = scratch;
    b.spare = b.items + space->dofs;
    b.bins = (int32_t *)(b.spare + space->dofs);
    b.narrow = (subtree *)(b.bins + BLOCKS * BINS);
    void *workspace = b.narrow + 2 * space->dofs / WIDE + 2;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < space->dofs; ++i) {
        mean_corner(space, i, b.items[i].point);
        b.items[i].dof = i;
    }
    if (b.cut != PS_CUT_MEDIAN) follow_curve(&b, workspace);
    build_wide(&b, 0, 0, space->dofs);
#pragma omp parallel for schedule(dynamic)
    for (int64_t n = 0; n < b.narrow_count; ++n)
        build_alone(&b, b.narrow[n].node, b.narrow[n].begin, b.narrow[n].end);
    enclose_wide(&b, 0);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < space->dofs; ++p) tree->order[p] = b.items[p].dof;
}
