#include "kernels/common/mesh_repair.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/radix_sort.h"
#include "kernels/common/space_curve.h"
#include "runtime/search.h"

enum { AXIS_BITS = 21 };

typedef struct weld_grid {
    const double *vertices;
    int64_t count;
    double tolerance, lower[3], step;
    uint64_t *keys; /* ascending */
    int32_t *items; /* vertices in the order of their keys */
    uint8_t *alone; /* nobody can be near this vertex */
} weld_grid;

size_t ps_weld_workspace(int64_t count)
{
    return (size_t)count * (2 * sizeof(uint64_t) + 2 * sizeof(int32_t) + 1);
}

/* Cell of a coordinate, and whether the cell below (-1) or above (1) is within the tolerance. */
static int64_t cell_and_side(const weld_grid *g, double x, int axis, int *side)
{
    double place = (x - g->lower[axis]) / g->step, cell = floor(place);
    double reach = 1.0001 * g->tolerance / g->step + 1e-9;
    *side = place - cell <= reach ? -1 : cell + 1 - place <= reach ? 1 : 0;
    return (int64_t)cell + 1; /* so that the cell below the first has a number */
}

static uint64_t key_of(const int64_t cell[3])
{
    return (uint64_t)cell[0] << (2 * AXIS_BITS) | (uint64_t)cell[1] << AXIS_BITS |
           (uint64_t)cell[2];
}

/* Keys of the up to eight cells that may hold vertices near v; the own cell first. */
static int keys_around(const weld_grid *g, int64_t v, uint64_t keys[8])
{
    int64_t cell[3];
    int side[3], found = 0;
    for (int c = 0; c < 3; ++c) cell[c] = cell_and_side(g, g->vertices[3 * v + c], c, &side[c]);
    for (int choice = 0; choice < 8; ++choice) {
        int64_t there[3];
        bool exists = true;
        for (int c = 0; c < 3; ++c) {
            bool move = choice >> c & 1;
            exists = exists && (!move || side[c] != 0);
            there[c] = cell[c] + (move ? side[c] : 0);
        }
        if (exists) keys[found++] = key_of(there);
    }
    return found;
}

static void build_grid(weld_grid *g, void *workspace)
{
    double extent;
    uint64_t around[8], *keys_scratch;
    ps_space_curve_cube(g->vertices, g->count, g->lower, &extent);
    g->step = fmax(2 * g->tolerance, extent / (1 << (AXIS_BITS - 1)));
    if (g->step == 0) g->step = 1;
    g->keys = workspace;
    keys_scratch = g->keys + g->count;
    g->items = (int32_t *)(keys_scratch + g->count);
    g->alone = (uint8_t *)(g->items + 2 * g->count);
    for (int64_t v = 0; v < g->count; ++v) {
        g->alone[v] = keys_around(g, v, around) == 1;
        g->keys[v] = around[0];
        g->items[v] = (int32_t)v;
    }
    ps_radix_sort(g->keys, g->items, g->count, 3 * AXIS_BITS, keys_scratch, g->items + g->count);
    for (int64_t i = 1; i < g->count; ++i)
        if (g->keys[i] == g->keys[i - 1]) g->alone[g->items[i]] = g->alone[g->items[i - 1]] = 0;
}

static int64_t first_with_key(const weld_grid *g, uint64_t key)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, g->count, at, g->keys[at] < key);
    return low;
}

static bool near(const weld_grid *g, int64_t a, int64_t b)
{
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
        double d = g->vertices[3 * a + c] - g->vertices[3 * b + c];
        sum += d * d;
    }
    return sum <= g->tolerance * g->tolerance;
}

/* The first kept vertex before v within the tolerance, or v. */
static int32_t kept_before(const weld_grid *g, int32_t v, const int32_t *target)
{
    uint64_t keys[8];
    int32_t best = v;
    int around = keys_around(g, v, keys);
    for (int k = 0; k < around; ++k)
        for (int64_t i = first_with_key(g, keys[k]); i < g->count && g->keys[i] == keys[k]; ++i) {
            int32_t u = g->items[i];
            if (u >= best) break; /* ascending within a cell */
            if (target[u] == u && near(g, u, v)) best = u;
        }
    return best;
}

int64_t ps_vertices_weld(const double *vertices, int64_t count, double tolerance, void *workspace,
                         int32_t *target)
{
    int64_t merged = 0;
    weld_grid g = {.vertices = vertices, .count = count, .tolerance = tolerance};
    build_grid(&g, workspace);
    for (int64_t v = 0; v < count; ++v) {
        target[v] = g.alone[v] ? (int32_t)v : kept_before(&g, (int32_t)v, target);
        merged += target[v] != v;
    }
    return merged;
}

void ps_indices_replace(int32_t *indices, int64_t count, const int32_t *target)
{
    for (int64_t i = 0; i < count; ++i) indices[i] = target[indices[i]];
}

void ps_vertices_mark(const int32_t *indices, int64_t count, uint8_t *used)
{
    for (int64_t i = 0; i < count; ++i) used[indices[i]] = 1;
}

int64_t ps_vertices_compact(double *vertices, int32_t *source, int64_t count, const uint8_t *used,
                            int32_t *place)
{
    int64_t kept = 0;
    for (int64_t v = 0; v < count; ++v) {
        if (!used[v]) continue;
        memmove(vertices + 3 * kept, vertices + 3 * v, 3 * sizeof *vertices);
        source[kept] = source[v];
        place[v] = (int32_t)kept++;
    }
    return kept;
}

int64_t ps_cells_compact(int32_t *cells, int32_t *tags, int32_t *source, int64_t count, int size,
                         const uint8_t *drop)
{
    int64_t kept = 0;
    for (int64_t cell = 0; cell < count; ++cell) {
        if (drop[cell]) continue;
        memmove(cells + size * kept, cells + size * cell, (size_t)size * sizeof *cells);
        tags[kept] = tags[cell];
        source[kept++] = source[cell];
    }
    return kept;
}

int64_t ps_cells_turn(int32_t *cells, int64_t count, int size, const uint8_t *turn)
{
    int64_t turned = 0;
    for (int64_t cell = 0; cell < count; ++cell) {
        if (!turn[cell]) continue;
        int32_t *last = cells + size * (cell + 1) - 1, old = *last;
        last[0] = last[-1];
        last[-1] = old;
        ++turned;
    }
    return turned;
}

void ps_cells_centroids(const double *vertices, const int32_t *cells, int64_t count, int size,
                        double *centroids)
{
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < count; ++cell)
        for (int c = 0; c < 3; ++c) {
            double sum = 0;
            for (int k = 0; k < size; ++k) sum += vertices[3 * (int64_t)cells[size * cell + k] + c];
            centroids[3 * cell + c] = sum / size;
        }
}

void ps_items_reorder(void *data, int64_t count, size_t bytes, const int32_t *order, void *scratch)
{
    char *from = data, *to = scratch;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i)
        memcpy(to + (size_t)i * bytes, from + (size_t)order[i] * bytes, bytes);
    memcpy(data, scratch, (size_t)count * bytes);
}
