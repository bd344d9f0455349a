/*
 * check_fmm_tree: trees built on the CUDA device against those of the CPU, number by number: order,
 * cells, children, particles, and who is around whom, for one tree and for two. Ends with "N
 * passed, N failed, N skipped".
 */
#include <stdio.h>
#include <string.h>

#include "kernels/fmm/device_lists.h"
#include "kernels/fmm/tree_lists.h"
#include "tests/support/tree_case.h"
#include "tests/support/verdict.h"

/* A tree on the device with the memory that it lies in. */
typedef struct device_case {
    ps_device *device;
    ps_stream *stream;
    ps_device_sort sort;
    ps_device_tree tree;
    void *points, *sort_memory, *tree_memory;
    int64_t outside;
} device_case;

static void release(device_case *d)
{
    if (!d->device) return;
    ps_device_free(d->device, d->points);
    ps_device_free(d->device, d->sort_memory);
    ps_device_free(d->device, d->tree_memory);
    ps_stream_close(&d->stream);
    ps_device_close(&d->device);
}

static ps_status build(device_case *d, const tree_case *t)
{
    int64_t n = t->count, bytes;
    *d = (device_case){.sort = {.count = n, .level = t->tree.height - 1, .box = t->tree.box},
                       .tree = {.height = t->tree.height}};
    PS_TRY(ps_device_open("cuda:0", 0, &d->device));
    PS_TRY(ps_stream_open(d->device, &d->stream));
    PS_TRY(ps_device_alloc(d->device, 3 * n * 8, &d->points));
    PS_TRY(ps_copy_to_device(d->stream, d->points, t->x, 3 * n * 8));
    const double *x = d->points;
    ps_tree_points points = {n, x, x + n, x + 2 * n};
    PS_TRY(ps_device_sort_bytes(&d->sort, d->stream, &bytes));
    PS_TRY(ps_device_alloc(d->device, bytes, &d->sort_memory));
    ps_device_sort_attach(&d->sort, d->sort_memory);
    PS_TRY(ps_device_sort_run(&d->sort, &points, d->stream));
    PS_TRY(ps_device_sort_cells(&d->sort, d->stream, d->tree.cells, &d->outside));
    PS_TRY(ps_device_alloc(d->device, ps_device_tree_bytes(&d->tree), &d->tree_memory));
    ps_device_tree_attach(&d->tree, d->tree_memory);
    return ps_device_tree_fill(&d->sort, &d->tree, d->stream);
}

/* ---- comparisons ---- */

/* count numbers of `size` bytes on the device, signed where they are of 4, against int64 here. */
static ps_status compare(device_case *d, const char *what, int level, const void *there,
                         const int64_t *here, int64_t count, int size)
{
    char *copy = malloc((size_t)(count * size) + 1);
    ps_status status;
    PS_GUARD(status, done, ps_copy_to_host(d->stream, copy, there, count * size));
    PS_GUARD(status, done, ps_stream_wait(d->stream));
    for (int64_t i = 0; i < count && status == PS_OK; ++i) {
        int64_t value = size == 8   ? ((int64_t *)copy)[i]
                        : size == 4 ? ((int32_t *)copy)[i]
                                    : ((uint8_t *)copy)[i];
        if (value != here[i])
            status = ps_fail(PS_FAILED, "%s, level %d: number %lld of %lld is %lld, not %lld", what,
                             level, (long long)i, (long long)count, (long long)value,
                             (long long)here[i]);
    }
done:
    free(copy);
    return status;
}

static ps_status compare_inner(device_case *d, const ps_octree *tree, int level)
{
    int64_t cells = tree->cells[level], below = tree->cells[level + 1];
    int64_t *children = calloc((size_t)(8 * cells), sizeof *children);
    int64_t *parent = calloc((size_t)below, sizeof *parent);
    for (int64_t i = 0; i < 8 * cells; ++i) children[i] = -1;
    for (int64_t c = 0; c < cells; ++c)
        for (int64_t s = tree->child_start[level][c]; s < tree->child_start[level][c + 1]; ++s) {
            children[8 * c + (int64_t)(tree->keys[level + 1][s] & 7)] = s;
            parent[s] = c;
        }
    ps_status status;
    PS_GUARD(status, done,
             compare(d, "start of children", level, d->tree.child_start[level],
                     tree->child_start[level], cells + 1, 4));
    PS_GUARD(status, done,
             compare(d, "children", level, d->tree.children[level], children, 8 * cells, 4));
    PS_GUARD(status, done,
             compare(d, "parents", level, d->tree.parent[level + 1], parent, below, 4));
done:
    free(children);
    free(parent);
    return status;
}

static ps_status compare_tree(device_case *d, const tree_case *t)
{
    const ps_octree *tree = &t->tree;
    int leaves = tree->height - 1;
    if (d->outside != t->outside)
        return ps_fail(PS_FAILED, "%lld points outside, not %lld", (long long)d->outside,
                       (long long)t->outside);
    PS_TRY(compare(d, "order", leaves, d->sort.order, t->order, t->count, 4));
    for (int l = 0; l <= leaves; ++l) {
        if (d->tree.cells[l] != tree->cells[l])
            return ps_fail(PS_FAILED, "%lld cells on level %d, not %lld",
                           (long long)d->tree.cells[l], l, (long long)tree->cells[l]);
        PS_TRY(compare(d, "keys", l, d->tree.keys[l], (const int64_t *)tree->keys[l],
                       tree->cells[l], 8));
        if (l < leaves) PS_TRY(compare_inner(d, tree, l));
    }
    return compare(d, "particles", leaves, d->tree.particle_start, tree->particle_start,
                   tree->cells[leaves] + 1, 4);
}

/* What lists[around] says, and the children of the cells around. */
static ps_status compare_around(device_case *d, const ps_device_lists *lists,
                                const ps_octree *targets, const ps_octree *sources, int level)
{
    int64_t cells = targets->cells[level], *around, *far;
    ps_status status;
    PS_TRY(PS_ALLOC(&around, 27 * cells, "cells around"));
    PS_TRY(PS_ALLOC(&far, 216 * cells, "their children"));
#pragma omp parallel for
    for (int64_t c = 0; c < cells; ++c)
        ps_tree_around(sources, level, targets->keys[level][c], around + 27 * c);
    PS_GUARD(status, done,
             compare(d, "around", level, lists->around[level], around, 27 * cells, 4));
    if (level == 0 || level + 1 >= targets->height) goto done;
    for (int64_t i = 0; i < 216 * cells; ++i) far[i] = -1;
    for (int64_t i = 0; i < 27 * cells; ++i) {
        if (around[i] < 0) continue;
        const int64_t *start = sources->child_start[level] + around[i];
        for (int64_t s = start[0]; s < start[1]; ++s)
            far[8 * i + (int64_t)(sources->keys[level + 1][s] & 7)] = s;
    }
    status = compare(d, "far", level + 1, lists->far[level + 1], far, 216 * cells, 4);
done:
    free(around);
    free(far);
    return status;
}

/* Where there are source cells around a cell's parent, as a number; 0 on levels that are not
 * sparse. */
static uint64_t pattern_of(const ps_octree *targets, const ps_octree *sources, int level,
                           int64_t cell)
{
    int64_t around[27];
    uint64_t pattern = 0;
    if (targets->cells[level] >= 7 * targets->cells[level - 1]) return 0;
    ps_tree_around(sources, level - 1, targets->keys[level][cell] >> 3, around);
    for (int n = 0; n < 27; ++n) pattern |= (uint64_t)(around[n] >= 0) << n;
    return pattern;
}

typedef struct labelled {
    uint64_t label;
    int64_t cell;
} labelled;

static int by_label(const void *a, const void *b)
{
    const labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static ps_status compare_octants(device_case *d, const ps_device_lists *lists,
                                 const ps_octree *tree, const ps_octree *sources, int level)
{
    int64_t start[9] = {0}, *order, used = tree->cells[level];
    labelled *cells;
    PS_TRY(PS_ALLOC(&order, used, "cells by octant"));
    PS_TRY(PS_ALLOC(&cells, used, "cells by octant"));
    for (int64_t c = 0; c < used; ++c) {
        uint64_t octant = tree->keys[level][c] & 7;
        ++start[octant + 1];
        cells[c] = (labelled){octant << 27 | pattern_of(tree, sources, level, c), c};
    }
    for (int o = 0; o < 8; ++o) start[o + 1] += start[o];
    qsort(cells, (size_t)used, sizeof *cells, by_label);
    for (int64_t c = 0; c < used; ++c) order[c] = cells[c].cell;
    free(cells);
    ps_status status = compare(d, "octants", level, lists->octant_start[level], start, 9, 4);
    if (status == PS_OK)
        status = compare(d, "by octant", level, lists->by_octant[level], order, used, 4);
    free(order);
    return status;
}

static ps_status compare_lists(device_case *d, const device_case *from, const ps_octree *targets,
                               const ps_octree *sources)
{
    void *memory = NULL;
    ps_device_lists lists;
    int64_t bytes;
    ps_status status;
    PS_TRY(ps_device_lists_bytes(&d->tree, &lists, d->stream, &bytes));
    PS_GUARD(status, done, ps_device_alloc(d->device, bytes, &memory));
    ps_device_lists_attach(&d->tree, &lists, memory);
    PS_GUARD(status, done, ps_stream_wait(from->stream));
    PS_GUARD(status, done, ps_device_lists_fill(&d->tree, &from->tree, &lists, d->stream));
    for (int l = 0; l < targets->height; ++l) {
        PS_GUARD(status, done, compare_around(d, &lists, targets, sources, l));
        if (l >= 2) PS_GUARD(status, done, compare_octants(d, &lists, targets, sources, l));
    }
done:
    ps_device_free(d->device, memory);
    return status;
}

/* Columns to sorted order, and back. */
static ps_status compare_columns(device_case *d, const tree_case *t)
{
    int64_t n = t->count;
    double *here = malloc((size_t)(6 * n) * 8), *there = NULL;
    const double *x = d->points;
    ps_status status;
    PS_GUARD(status, done, ps_device_alloc(d->device, 6 * n * 8, (void **)&there));
    ps_device_columns in = {3, {x, x + n, x + 2 * n}, {there, there + n, there + 2 * n}};
    ps_device_columns out = {
        3, {there, there + n, there + 2 * n}, {there + 3 * n, there + 4 * n, there + 5 * n}};
    PS_GUARD(status, done, ps_device_gather(&d->sort, &in, d->stream));
    PS_GUARD(status, done, ps_device_sort_invert(&d->sort, d->stream));
    PS_GUARD(status, done, ps_device_scatter(&d->sort, &out, d->stream));
    PS_GUARD(status, done, ps_copy_to_host(d->stream, here, there, 6 * n * 8));
    PS_GUARD(status, done, ps_stream_wait(d->stream));
    for (int64_t i = 0; i < n; ++i)
        if (here[n + i] != t->y[t->order[i]] || here[i] != t->x[t->order[i]])
            status = ps_fail(PS_FAILED, "sorted particle %lld is another", (long long)i);
    if (memcmp(here + 3 * n, t->x, (size_t)(3 * n) * 8))
        status = ps_fail(PS_FAILED, "columns do not come back as they were");
done:
    free(here);
    ps_device_free(d->device, there);
    return status;
}

/* ---- cases ---- */

typedef enum points_kind { CUBE, ELLIPSOID, ONE_PLACE, OUTSIDE, KINDS } points_kind;

static ps_status make(tree_case *t, points_kind kind, int64_t count, int height, uint64_t seed)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    PS_TRY(tree_case_alloc(t, count, height - 1));
    double *columns[3] = {t->x, t->y, t->z};
    ps_distribution_positions(kind == ELLIPSOID ? PS_DISTRIBUTION_ELLIPSOID : PS_DISTRIBUTION_CUBE,
                              seed, 0, count, columns);
    for (int64_t i = 0; i < 3 * count; ++i) {
        if (kind == ONE_PLACE) t->x[i] = 0.75;
        if (kind == OUTSIDE) t->x[i] = 1.5 * t->x[i] - 0.25;
    }
    return tree_case_build(t, &unit, height, 100);
}

static ps_status check(points_kind kind, int64_t count, int height)
{
    tree_case t = {0}, other = {0};
    device_case d = {0}, second = {0};
    ps_status status;
    PS_GUARD(status, done, make(&t, kind, count, height, 1));
    PS_GUARD(status, done, make(&other, kind, count / 2 + 1, height, 2));
    PS_GUARD(status, done, build(&d, &t));
    PS_GUARD(status, done, build(&second, &other));
    PS_GUARD(status, done, compare_tree(&d, &t));
    PS_GUARD(status, done, compare_columns(&d, &t));
    PS_GUARD(status, done, compare_lists(&d, &d, &t.tree, &t.tree));
    PS_GUARD(status, done, compare_lists(&d, &second, &t.tree, &other.tree));
done:
    release(&d);
    release(&second);
    tree_case_release(&t);
    tree_case_release(&other);
    return status;
}

int main(int argc, char **argv)
{
    static const int64_t counts[] = {1, 2, 1000, 20001, 200003};
    static const int heights[] = {1, 2, 3, 5, 8, 11, 12, 21};
    int64_t largest = argc > 1 ? atoll(argv[1]) : 200003; /* smaller for a checker of memory */
    for (int kind = ps_device_count() > 0 ? 0 : KINDS; kind < KINDS; ++kind)
        for (int h = 0; h < 8; ++h)
            for (int n = 0; n < 5 && counts[n] <= largest; ++n) {
                if (counts[n] > 20001 && heights[h] != 5 && heights[h] != 8) continue;
                if (largest <= 1000 && h % 3 > 0) continue;
                verdict_of(check((points_kind)kind, counts[n], heights[h]),
                           "points %d, N %lld, h %d", kind, (long long)counts[n], heights[h]);
            }
    return verdict_end();
}
