/*
 * Rectangles of squares on a lattice. Each lays down its lattice points; equal points of several
 * rectangles become one vertex by sorting.
 */

#include "kernels/common/word_sort.h"
#include "preprocess/mesh_surface/shapes.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PATCHES_MAX = 12 };

/* Squares at `at` + i u + j v, i < count[0], j < count[1], u and v the axes after `axis`; the
 * normal is +axis, or -axis if `under`. */
typedef struct patch {
    int axis;
    bool under;
    int64_t at[3], count[2];
} patch;

static int64_t patch_points(const patch *p) { return (p->count[0] + 1) * (p->count[1] + 1); }

/* The part from low to high of the plane `level` across `axis`. */
static patch make_patch(int axis, bool under, int64_t level, const int64_t low[3],
                        const int64_t high[3])
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    patch out = {.axis = axis, .under = under, .count = {high[u] - low[u], high[v] - low[v]}};
    for (int c = 0; c < 3; ++c) out.at[c] = c == axis ? level : low[c];
    return out;
}

static int box_patches(const box_shape *box, patch out[PATCHES_MAX])
{
    const int64_t *n = box->cells;
    int64_t low[3] = {0, 0, 0}, half[3] = {n[0] / 2, n[1] / 2, 0};
    int count = 0;
    if (!box->l_shape) {
        for (int axis = 0; axis < 3; ++axis) {
            out[count++] = make_patch(axis, true, 0, low, n);
            out[count++] = make_patch(axis, false, n[axis], low, n);
        }
        return count;
    }
    const int64_t x_part[3] = {half[0], n[1], n[2]}, y_part[3] = {n[0], half[1], n[2]};
    const int64_t y_rest[3] = {0, half[1], 0}, x_rest[3] = {half[0], 0, 0};
    out[count++] = make_patch(0, true, 0, low, n);
    out[count++] = make_patch(0, false, n[0], low, y_part);
    out[count++] = make_patch(0, false, half[0], y_rest, n);
    out[count++] = make_patch(1, true, 0, low, n);
    out[count++] = make_patch(1, false, n[1], low, x_part);
    out[count++] = make_patch(1, false, half[1], x_rest, n);
    for (int top = 0; top < 2; ++top) {
        out[count++] = make_patch(2, !top, top ? n[2] : 0, low, y_part);
        out[count++] = make_patch(2, !top, top ? n[2] : 0, y_rest, x_part);
    }
    return count;
}

/* Every edge has two triangles and the body has no holes: vertices = triangles / 2 + 2 (Euler). */
shape_size box_size(const box_shape *box)
{
    patch patches[PATCHES_MAX] = {{0}};
    shape_size size = {0, 0};
    int count = box_patches(box, patches);
    for (int p = 0; p < count; ++p) size.triangles += 2 * patches[p].count[0] * patches[p].count[1];
    size.vertices = size.triangles / 2 + 2;
    return size;
}

/* Lattice points in the order of the patches: numbers[point] of the vertices. */
typedef struct lattice {
    int64_t points;
    uint64_t (*items)[2], (*scratch)[2]; /* key, point */
    int32_t *numbers;
} lattice;

static ps_status lattice_open(lattice *l, const patch *patches, int count)
{
    *l = (lattice){.points = 0};
    for (int p = 0; p < count; ++p) l->points += patch_points(&patches[p]);
    PS_TRY(PS_ALLOC(&l->items, l->points, "lattice points"));
    PS_TRY(PS_ALLOC(&l->scratch, l->points, "lattice points"));
    return PS_ALLOC(&l->numbers, l->points, "lattice points");
}

static void lattice_close(lattice *l) { PS_FREE(l->items, l->scratch, l->numbers); }

static void lay_points(lattice *l, const box_shape *box, const patch *p, int64_t first)
{
    int u = (p->axis + 1) % 3, v = (p->axis + 2) % 3;
#pragma omp parallel for
    for (int64_t i = 0; i < patch_points(p); ++i) {
        int64_t at[3] = {p->at[0], p->at[1], p->at[2]};
        at[u] += i / (p->count[1] + 1);
        at[v] += i % (p->count[1] + 1);
        l->items[first + i][0] =
            (uint64_t)((at[0] * (box->cells[1] + 1) + at[1]) * (box->cells[2] + 1) + at[2]);
        l->items[first + i][1] = (uint64_t)(first + i);
    }
}

static void number_vertices(lattice *l, const box_shape *box, ps_surface_mesh *mesh)
{
    int64_t width = box->cells[1] + 1, depth = box->cells[2] + 1, vertex = -1;
    const uint64_t(*sorted)[2] =
        (const uint64_t(*)[2])ps_word_sort(&l->items[0][0], l->points, 2, 0, 64, &l->scratch[0][0]);
    for (int64_t i = 0; i < l->points; ++i) {
        int64_t key = (int64_t)sorted[i][0];
        if (i == 0 || sorted[i][0] != sorted[i - 1][0]) {
            double *out = mesh->vertices + 3 * ++vertex;
            const int64_t at[3] = {key / depth / width, key / depth % width, key % depth};
            for (int c = 0; c < 3; ++c)
                out[c] = box->size[c] * (double)at[c] / (double)box->cells[c];
        }
        l->numbers[sorted[i][1]] = (int32_t)vertex;
    }
}

static void cut_squares(const patch *p, const int32_t *numbers, int32_t *triangles)
{
    int64_t row = p->count[1] + 1;
#pragma omp parallel for
    for (int64_t i = 0; i < p->count[0]; ++i)
        for (int64_t j = 0; j < p->count[1]; ++j) {
            const int32_t *a = numbers + i * row + j, *b = a + row;
            const int32_t corner[4] = {a[0], b[0], b[1], a[1]};
            int32_t *to = triangles + 6 * (i * p->count[1] + j);
            for (int half = 0; half < 2; ++half) {
                to[3 * half] = corner[0];
                to[3 * half + 1] = corner[p->under ? half + 2 : half + 1];
                to[3 * half + 2] = corner[p->under ? half + 1 : half + 2];
            }
        }
}

ps_status box_fill(const box_shape *box, ps_surface_mesh *mesh)
{
    patch patches[PATCHES_MAX] = {{0}};
    PS_SCOPED(lattice_close) lattice l = {0};
    int count = box_patches(box, patches);
    PS_TRY(lattice_open(&l, patches, count));
    int64_t first = 0, triangle = 0;
    for (int p = 0; p < count; first += patch_points(&patches[p++]))
        lay_points(&l, box, &patches[p], first);
    number_vertices(&l, box, mesh);
    first = 0;
    for (int p = 0; p < count; first += patch_points(&patches[p++])) {
        cut_squares(&patches[p], l.numbers + first, mesh->triangles + 3 * triangle);
        triangle += 2 * patches[p].count[0] * patches[p].count[1];
    }
    return PS_OK;
}
