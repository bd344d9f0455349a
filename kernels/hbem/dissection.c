#include "kernels/hbem/dissection.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/search.h"
#include "runtime/sizes.h"

enum { TASK = 4096, LEAF = PS_DISSECTION_LEAF };

static int64_t node_count(int64_t dofs)
{
    return dofs <= LEAF ? 1 : 1 + node_count(dofs / 2) + node_count(dofs - dofs / 2);
}

static int64_t depth_of(int64_t dofs) { return dofs <= LEAF ? 1 : 1 + depth_of(dofs - dofs / 2); }

/* ---- memory ---- */

typedef struct scratch {
    int32_t *owner; /* [dofs] nodes; -1: none yet */
    int32_t *depth; /* [nodes]                    */
    int32_t *stamp; /* [nodes] the last place     */
} scratch;

static int64_t place_arrays(ps_dissection *d, char *memory, scratch *s)
{
    int64_t used = 0, n = d->dofs, nodes = d->nodes;
    d->place = ps_host_part(memory, &used, 4 * n);
    d->dof = ps_host_part(memory, &used, 4 * n);
    d->first = ps_host_part(memory, &used, 4 * (nodes + 1));
    d->child = ps_host_part(memory, &used, 8 * nodes);
    d->parent = ps_host_part(memory, &used, 4 * nodes);
    d->by_depth = ps_host_part(memory, &used, 4 * nodes);
    d->depth_first = ps_host_part(memory, &used, 4 * (d->depth + 1));
    d->row_first = ps_host_part(memory, &used, 8 * (nodes + 1));
    d->number_first = ps_host_part(memory, &used, 8 * (nodes + 1));
    s->owner = ps_host_part(memory, &used, 4 * n);
    s->depth = ps_host_part(memory, &used, 4 * nodes);
    s->stamp = ps_host_part(memory, &used, 4 * nodes);
    return used;
}

static ps_dissection sizes(int64_t dofs)
{
    return (ps_dissection){.dofs = dofs, .nodes = node_count(dofs), .depth = depth_of(dofs)};
}

int64_t ps_dissection_bytes(int64_t dofs)
{
    ps_dissection d = sizes(dofs);
    scratch s;
    return place_arrays(&d, NULL, &s);
}

/* ---- separators ---- */

typedef struct range {
    int64_t low, high;
    int32_t node, depth;
} range;

/* Whether function i, free itself, has a free neighbour in [low, high). */
static bool touches(const ps_pencil *m, const int32_t *owner, int64_t i, int64_t low, int64_t high)
{
    if (owner[i] >= 0) return false;
    for (int64_t e = m->start[i]; e < m->start[i + 1]; ++e) {
        int64_t j = m->column[e];
        if (j >= low && j < high && owner[j] < 0) return true;
    }
    return false;
}

/* Takes the separator of two ranges out of the one where it is smaller. */
static void take_separator(const ps_pencil *m, int32_t *owner, const range *r, int64_t middle)
{
    int64_t ends[2][2] = {{r->low, middle}, {middle, r->high}}, count[2] = {0};
    for (int side = 0; side < 2; ++side)
        for (int64_t i = ends[side][0]; i < ends[side][1]; ++i)
            count[side] += touches(m, owner, i, ends[1 - side][0], ends[1 - side][1]);
    int side = count[1] < count[0];
    for (int64_t i = ends[side][0]; i < ends[side][1]; ++i)
        if (touches(m, owner, i, ends[1 - side][0], ends[1 - side][1])) owner[i] = r->node;
}

static void cut(const ps_pencil *m, const ps_dissection *d, const scratch *s, range r)
{
    int64_t size = r.high - r.low, middle = r.low + size / 2;
    int32_t right = r.node - 1, left = right - (int32_t)node_count(size - size / 2);
    s->depth[r.node] = r.depth;
    d->child[2 * r.node] = d->child[2 * r.node + 1] = -1;
    if (size <= LEAF) {
        for (int64_t i = r.low; i < r.high; ++i)
            if (s->owner[i] < 0) s->owner[i] = r.node;
        return;
    }
    take_separator(m, s->owner, &r, middle);
    d->child[2 * r.node] = left;
    d->child[2 * r.node + 1] = right;
    d->parent[left] = d->parent[right] = r.node;
#pragma omp task if (size > TASK)
    cut(m, d, s, (range){r.low, middle, left, r.depth + 1});
    cut(m, d, s, (range){middle, r.high, right, r.depth + 1});
#pragma omp taskwait
}

/* Numbers places by nodes. */
static void number(ps_dissection *d, const scratch *s)
{
    memset(d->first, 0, (size_t)(d->nodes + 1) * sizeof *d->first);
    for (int64_t i = 0; i < d->dofs; ++i) ++d->first[s->owner[i] + 1];
    for (int64_t node = 0; node < d->nodes; ++node) {
        int64_t pivots = d->first[node + 1];
        if (pivots > d->most_pivots) d->most_pivots = pivots;
        d->first[node + 1] += d->first[node];
    }
    for (int64_t i = 0; i < d->dofs; ++i) {
        d->place[i] = d->first[s->owner[i]]++;
        d->dof[d->place[i]] = (int32_t)i;
    }
    for (int64_t node = d->nodes; node > 0; --node) d->first[node] = d->first[node - 1];
    d->first[0] = 0;
}

static void sort_depths(ps_dissection *d, const scratch *s)
{
    memset(d->depth_first, 0, (size_t)(d->depth + 1) * sizeof *d->depth_first);
    for (int64_t node = 0; node < d->nodes; ++node) ++d->depth_first[d->depth - s->depth[node]];
    for (int64_t at = 0; at < d->depth; ++at) d->depth_first[at + 1] += d->depth_first[at];
    for (int64_t node = 0; node < d->nodes; ++node)
        d->by_depth[d->depth_first[d->depth - 1 - s->depth[node]]++] = (int32_t)node;
    for (int64_t at = d->depth; at > 0; --at) d->depth_first[at] = d->depth_first[at - 1];
    d->depth_first[0] = 0;
}

/* ---- rows ---- */

/* Calls for all nodes that a place is a row of: below its own node, those of its earlier neighbours
 * and up from there. Counts, or fills where there is `row`. */
static void visit_rows(const ps_pencil *m, ps_dissection *d, int32_t *stamp, int32_t *owner)
{
    for (int64_t node = 0; node < d->nodes; ++node) stamp[node] = -1;
    for (int32_t at = 0; at < d->dofs; ++at) {
        int32_t own = owner[d->dof[at]];
        for (int64_t e = m->start[d->dof[at]]; e < m->start[d->dof[at] + 1]; ++e) {
            int32_t node = owner[m->column[e]];
            if (node >= own) continue;
            for (; node != own && stamp[node] != at; node = d->parent[node]) {
                stamp[node] = at;
                if (d->row) d->row[d->row_first[node]] = at;
                ++d->row_first[node];
            }
        }
    }
    for (int64_t node = d->nodes; d->row && node > 0; --node)
        d->row_first[node] = d->row_first[node - 1];
    if (d->row) d->row_first[0] = 0;
}

static void count_rows(ps_dissection *d)
{
    for (int64_t node = 0; node < d->nodes; ++node) {
        int64_t pivots = ps_dissection_pivots(d, node), rows = d->row_first[node];
        d->row_first[node] = d->rows;
        d->number_first[node] = d->numbers;
        d->rows += rows;
        d->numbers += pivots * (pivots + rows);
        if (rows > d->most_rows) d->most_rows = rows;
    }
    d->row_first[d->nodes] = d->rows;
    d->number_first[d->nodes] = d->numbers;
}

static scratch scratch_of(const ps_dissection *d, void *memory)
{
    ps_dissection copy = *d;
    scratch s;
    place_arrays(&copy, memory, &s);
    return s;
}

ps_status ps_dissection_cut(const ps_pencil *m, void *memory, ps_dissection *d)
{
    scratch s;
    *d = sizes(m->dofs);
    d->nnz = m->nnz;
    place_arrays(d, memory, &s);
    memset(s.owner, 0xff, (size_t)d->dofs * sizeof *s.owner);
    d->parent[d->nodes - 1] = -1;
#pragma omp parallel
#pragma omp single
    cut(m, d, &s, (range){0, d->dofs, (int32_t)d->nodes - 1, 0});
    number(d, &s);
    sort_depths(d, &s);
    memset(d->row_first, 0, (size_t)(d->nodes + 1) * sizeof *d->row_first);
    visit_rows(m, d, s.stamp, s.owner);
    count_rows(d);
    if (d->rows + d->dofs < INT32_MAX / 2) return PS_OK;
    return ps_fail(PS_EXHAUSTED, "sparse factors of %lld rows: use --sparse iterative",
                   (long long)d->rows);
}

/* Where `place` is among sorted rows; -1: nowhere. */
static int32_t find(const int32_t *row, int64_t count, int32_t place)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, count, at, row[at] < place);
    return low < count && row[low] == place ? (int32_t)low : -1;
}

/* Position of a place in the front of a node; -1: it is not in it. */
static int32_t position(const ps_dissection *d, int64_t node, int32_t place)
{
    int64_t pivots = ps_dissection_pivots(d, node);
    if (place < d->first[node]) return -1;
    if (place < d->first[node + 1]) return place - d->first[node];
    int32_t at = find(d->row + d->row_first[node], ps_dissection_rows(d, node), place);
    return at < 0 ? -1 : (int32_t)(pivots + at);
}

static void fill_node(const ps_pencil *m, ps_dissection *d, int64_t node)
{
    int32_t *gather = d->gather + 2 * (d->first[node] + d->row_first[node]);
    int64_t front = ps_dissection_pivots(d, node) + ps_dissection_rows(d, node);
    for (int64_t i = 0; i < 2 * front; ++i) gather[i] = -1;
    for (int side = 0; side < 2 && d->child[2 * node] >= 0; ++side) {
        int64_t child = d->child[2 * node + side];
        for (int64_t r = 0; r < ps_dissection_rows(d, child); ++r)
            gather[2 * position(d, node, d->row[d->row_first[child] + r]) + side] = (int32_t)r;
    }
    for (int32_t at = d->first[node]; at < d->first[node + 1]; ++at)
        for (int64_t e = m->start[d->dof[at]]; e < m->start[d->dof[at] + 1]; ++e)
            d->entry[e] = position(d, node, d->place[m->column[e]]);
}

void ps_dissection_fill(const ps_pencil *m, ps_dissection *d)
{
    /* The memory of the cut begins at place. */
    scratch s = scratch_of(d, d->place);
    visit_rows(m, d, s.stamp, s.owner);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t node = 0; node < d->nodes; ++node) fill_node(m, d, node);
}
