#include "kernels/hbem/device_side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hbem/entries_internal.h"
#include "kernels/hbem/strata.h"
#include "runtime/compare.h"

/* ITEMS_MAX: of a cluster; 48 a function of the largest clusters. */
enum { ALIGNMENT = 256, ITEMS_MAX = 3072, BOX = 8, NODE = 6 };

static bool is_leaf(const ps_cluster_tree *tree, int64_t node)
{
    return tree->nodes[node].child[0] < 0;
}

/* Triangles of functions [begin, end), ascending, each once. */
static int32_t collect(const ps_hbem_space *space, int64_t begin, int64_t end, int32_t *list)
{
    int64_t count = ps_hbem_triangles_of(space, (ps_hbem_range){begin, end}, list);
    if (space->kind == PS_SPACE_P0) qsort(list, (size_t)count, sizeof *list, ps_compare_i32);
    return (int32_t)count;
}

static int64_t entries_of(const ps_hbem_space *space, int64_t dof)
{
    int64_t count = 0, last = -1;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e) {
        count += space->item[e] / 3 != last;
        last = space->item[e] / 3;
    }
    return count;
}

static bool fits(const ps_hbem_space *space, const ps_cluster_node *node)
{
    return node->end - node->begin <= PS_HBEM_CLUSTER_MAX &&
           ps_hbem_items(space, (ps_hbem_range){node->begin, node->end}) <= ITEMS_MAX;
}

/* Room for the strata of a node, and the rows in none. */
static int32_t strata_room(const ps_cluster_node *node)
{
    int64_t rows = node->end - node->begin;
    return 1 + (rows < PS_HBEM_STRATA_SHARE ? (int32_t)rows : PS_HBEM_STRATA_SHARE);
}

static void count_strata(const ps_cluster_tree *tree, const int32_t *stratum,
                         ps_hbem_device_side *side)
{
    int64_t with = 0;
    for (int64_t i = 0; stratum && i < tree->dofs; ++i) with += stratum[i] >= 0;
    if (with == 0) return;
    side->nodes = tree->node_count;
    for (int64_t n = 0; n < tree->node_count; ++n) side->strata += strata_room(&tree->nodes[n]);
}

ps_status ps_hbem_device_side_count(const ps_hbem_space *space, const ps_cluster_tree *tree,
                                    const int32_t *stratum, ps_hbem_device_side *side)
{
    memset(side, 0, sizeof *side);
    count_strata(tree, stratum, side);
    side->dofs = space->dofs;
    side->items = space->start[space->dofs];
    int64_t clusters = 0, slots = 0, entries = 0, large = 0;
    int32_t most_dofs = 0, most_slots = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : clusters, slots, large) \
    reduction(max : most_dofs, most_slots)
    for (int64_t n = 0; n < tree->node_count; ++n) {
        const ps_cluster_node *node = &tree->nodes[n];
        int32_t list[ITEMS_MAX];
        if (!is_leaf(tree, n)) continue;
        ++clusters;
        if (!fits(space, node)) {
            ++large;
            continue;
        }
        int32_t own = collect(space, node->begin, node->end, list);
        int32_t dofs = (int32_t)(node->end - node->begin);
        slots += own;
        most_slots = own > most_slots ? own : most_slots;
        most_dofs = dofs > most_dofs ? dofs : most_dofs;
    }
#pragma omp parallel for reduction(+ : entries)
    for (int64_t i = 0; i < space->dofs; ++i) entries += entries_of(space, i);
    side->clusters = clusters;
    side->slots = slots;
    side->entries = entries;
    side->most_dofs = most_dofs;
    side->most_slots = most_slots;
    if (large > 0)
        return ps_fail(PS_USAGE,
                       "%lld leaf clusters have more than %d functions (or %d triangles): "
                       "build the tree with smaller leaves",
                       (long long)large, PS_HBEM_CLUSTER_MAX, ITEMS_MAX);
    if (3 * slots > INT32_MAX || 8 * space->surface->triangle_count > INT32_MAX)
        return ps_fail(PS_USAGE, "a device takes %lld triangles at most, this surface has %lld",
                       (long long)INT32_MAX / 8, (long long)space->surface->triangle_count);
    return PS_OK;
}

/* The arrays one after the other: bytes up to and without array `of`. */
static int64_t offset_of(const ps_hbem_device_side *s, int of)
{
    const int64_t sizes[] = {4 * s->dofs,           4 * (s->clusters + 1),
                             4 * (s->clusters + 1), 4 * s->slots,
                             12 * s->slots,         4 * (s->dofs + 1),
                             4 * s->items,          4 * (s->dofs + 1),
                             4 * s->entries,        s->dofs,
                             24 * s->dofs,          24 * s->dofs,
                             BOX * 8 * s->clusters, s->strata > 0 ? 4 * s->dofs : 0,
                             4 * NODE * s->nodes,   4 * s->strata};
    int64_t sum = 0;
    for (int a = 0; a < of; ++a) sum += (sizes[a] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return sum;
}

int64_t ps_hbem_device_side_bytes(const ps_hbem_device_side *side) { return offset_of(side, 16); }

void ps_hbem_device_side_place(ps_hbem_device_side *side, void *memory)
{
    char *base = memory;
    side->cluster_of = (void *)(base + offset_of(side, 0));
    side->cluster_begin = (void *)(base + offset_of(side, 1));
    side->slot_begin = (void *)(base + offset_of(side, 2));
    side->slot_triangle = (void *)(base + offset_of(side, 3));
    side->slot_dof = (void *)(base + offset_of(side, 4));
    side->item_start = (void *)(base + offset_of(side, 5));
    side->item = (void *)(base + offset_of(side, 6));
    side->entry_start = (void *)(base + offset_of(side, 7));
    side->entry = (void *)(base + offset_of(side, 8));
    side->group = (void *)(base + offset_of(side, 9));
    side->point = (void *)(base + offset_of(side, 10));
    side->normal = (void *)(base + offset_of(side, 11));
    side->box = (void *)(base + offset_of(side, 12));
    side->stratum = (void *)(base + offset_of(side, 13));
    side->node = (void *)(base + offset_of(side, 14));
    side->listed = (void *)(base + offset_of(side, 15));
}

/* ---- filling ---- */

/* Starts of the clusters, in the order of their functions. */
static void list_clusters(const ps_hbem_space *space, const ps_cluster_tree *tree,
                          ps_hbem_device_side *side)
{
    int32_t *end_at = side->cluster_of; /* end of the cluster that begins here, for now */
    memset(end_at, 0, (size_t)side->dofs * sizeof *end_at);
    for (int64_t n = 0; n < tree->node_count; ++n)
        if (is_leaf(tree, n)) end_at[tree->nodes[n].begin] = (int32_t)tree->nodes[n].end;
    int32_t count = 0;
    for (int64_t i = 0; i < side->dofs; ++count) {
        int32_t end = end_at[i];
        side->cluster_begin[count] = (int32_t)i;
        for (; i < end; ++i) side->cluster_of[i] = count;
    }
    side->cluster_begin[count] = (int32_t)side->dofs;
    side->item_start[0] = side->entry_start[0] = 0;
#pragma omp parallel for
    for (int64_t i = 0; i < side->dofs; ++i) {
        side->item_start[i + 1] = (int32_t)space->start[i + 1];
        side->entry_start[i + 1] = (int32_t)entries_of(space, i);
    }
    for (int64_t i = 0; i < side->dofs; ++i) side->entry_start[i + 1] += side->entry_start[i];
}

static void include(double *box, const ps_hbem_triangle *t)
{
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) {
            box[c] = fmin(box[c], t->corner[l][c]);
            box[3 + c] = fmax(box[3 + c], t->corner[l][c]);
        }
    box[6] = fmax(box[6], t->diameter);
    box[7] = fmax(box[7], t->jacobian);
}

static void fill_slots(const ps_hbem_space *space, ps_hbem_device_side *side, int64_t cluster,
                       const int32_t *list)
{
    double *box = side->box + BOX * cluster;
    int64_t begin = side->cluster_begin[cluster], end = side->cluster_begin[cluster + 1];
    for (int c = 0; c < BOX; ++c) box[c] = c < 3 ? INFINITY : c < 6 ? -INFINITY : 0;
    for (int32_t s = side->slot_begin[cluster]; s < side->slot_begin[cluster + 1]; ++s) {
        int32_t t = list[s - side->slot_begin[cluster]];
        side->slot_triangle[s] = t;
        for (int l = 0; l < 3; ++l) {
            int32_t dof = space->dof_of[3 * (int64_t)t + l];
            side->slot_dof[3 * (int64_t)s + l] = dof >= begin && dof < end ? dof : -1;
        }
        include(box, &space->surface->triangles[t]);
    }
}

static int32_t find(const int32_t *list, int count, int32_t triangle)
{
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < triangle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether normals of the triangles of a function differ by more than 8 degrees. */
static bool is_creased(const ps_hbem_space *space, int64_t dof)
{
    const ps_hbem_triangle *all = space->surface->triangles;
    const double *first = all[space->item[space->start[dof]] / 3].normal;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e) {
        const double *own = all[space->item[e] / 3].normal;
        if (first[0] * own[0] + first[1] * own[1] + first[2] * own[2] < .99) return true;
    }
    return false;
}

static void fill_dof(const ps_hbem_space *space, ps_hbem_device_side *side, int64_t dof,
                     const int32_t *list)
{
    int32_t cluster = side->cluster_of[dof], entry = side->entry_start[dof];
    int32_t first = side->slot_begin[cluster];
    int count = side->slot_begin[cluster + 1] - first;
    int64_t begin = space->start[dof], end = space->start[dof + 1], last = -1;
    for (int64_t e = begin; e < end; ++e) {
        int64_t t = space->item[e] / 3, hat = space->item[e] % 3;
        side->item[e] = 3 * (first + find(list, count, (int32_t)t)) + (int32_t)hat;
        if (t != last) side->entry[entry++] = (int32_t)(8 * t);
        side->entry[entry - 1] |= 1 << hat;
        last = t;
    }
    memset(side->point + 3 * dof, 0, 3 * sizeof(double));
    memset(side->normal + 3 * dof, 0, 3 * sizeof(double));
    side->group[dof] = 0;
    if (begin == end) return; /* a point is borrowed afterwards */
    const ps_hbem_triangle *t = &space->surface->triangles[space->item[begin] / 3];
    memcpy(side->point + 3 * dof, t->centroid, sizeof t->centroid);
    memcpy(side->normal + 3 * dof, t->normal, sizeof t->normal);
    side->group[dof] = ps_hbem_normal_group(t);
    if (is_creased(space, dof)) side->group[dof] |= PS_HBEM_CREASED;
}

/* Functions without items, which are zero, take the point of a neighbour in the cluster. */
static void borrow_points(const ps_hbem_space *space, ps_hbem_device_side *side, int64_t cluster)
{
    int64_t begin = side->cluster_begin[cluster], end = side->cluster_begin[cluster + 1];
    int64_t lender = begin;
    while (lender + 1 < end && space->start[lender] == space->start[lender + 1]) ++lender;
    for (int64_t i = begin; i < end; ++i)
        if (space->start[i] == space->start[i + 1])
            memcpy(side->point + 3 * i, side->point + 3 * lender, 3 * sizeof(double));
}

static void fill_strata(const ps_cluster_tree *tree, const int32_t *stratum,
                        ps_hbem_device_side *side)
{
    int32_t first = 0;
    memcpy(side->stratum, stratum, (size_t)side->dofs * sizeof *stratum);
    for (int64_t n = 0; n < side->nodes; ++n) {
        const ps_cluster_node *at = &tree->nodes[n];
        const int32_t node[5] = {(int32_t)at->begin, (int32_t)at->end, (int32_t)at->child[0],
                                 (int32_t)at->child[1], first};
        memcpy(side->node + NODE * n, node, sizeof node);
        first += strata_room(at);
    }
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t n = 0; n < side->nodes; ++n) {
        ps_hbem_stratum own[PS_HBEM_STRATA_SHARE];
        int32_t *node = side->node + NODE * n;
        node[5] = ps_hbem_strata_of(stratum + node[0], node[1] - node[0], own);
        for (int32_t e = 0; e < node[5]; ++e) side->listed[node[4] + e] = own[e].number;
        if (node[5] > 0) side->listed[node[4] + node[5]++] = PS_HBEM_NO_STRATUM;
    }
}

void ps_hbem_device_side_fill(const ps_hbem_space *space, const ps_cluster_tree *tree,
                              const int32_t *stratum, ps_hbem_device_side *side)
{
    list_clusters(space, tree, side);
    if (side->strata > 0) fill_strata(tree, stratum, side);
    const int32_t *begin = side->cluster_begin;
    side->slot_begin[0] = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = 0; c < side->clusters; ++c) {
        int32_t list[ITEMS_MAX];
        side->slot_begin[c + 1] = collect(space, begin[c], begin[c + 1], list);
    }
    for (int64_t c = 0; c < side->clusters; ++c) side->slot_begin[c + 1] += side->slot_begin[c];
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = 0; c < side->clusters; ++c) {
        int32_t list[ITEMS_MAX];
        collect(space, begin[c], begin[c + 1], list);
        fill_slots(space, side, c, list);
        for (int64_t i = begin[c]; i < begin[c + 1]; ++i) fill_dof(space, side, i, list);
        borrow_points(space, side, c);
    }
}
