/* Vertices and cells along a space-filling curve. */
#include <string.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/radix_sort.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { CENTROID_BLOCK = 4096 };

typedef struct sorting {
    uint64_t *keys, *scratch; /* scratch: also what ps_items_reorder needs */
    int32_t *order, *order_scratch;
    double lower[3], extent;
} sorting;

static void sorting_release(sorting *s)
{
    PS_FREE(s->keys, s->scratch, s->order, s->order_scratch);
    memset(s, 0, sizeof *s);
}

/* item_words: 8-byte words of the largest item that is moved. */
static ps_status sorting_init(sorting *s, int64_t count, int item_words)
{
    PS_TRY(PS_ALLOC(&s->keys, count, "ordering"));
    PS_TRY(PS_ALLOC(&s->scratch, item_words * count, "ordering"));
    PS_TRY(PS_ALLOC(&s->order, count, "ordering"));
    PS_TRY(PS_ALLOC(&s->order_scratch, count, "ordering"));
    for (int64_t i = 0; i < count; ++i) s->order[i] = (int32_t)i;
    return PS_OK;
}

static void sort_by_key(sorting *s, int64_t count)
{
    ps_radix_sort(s->keys, s->order, count, 3 * PS_CURVE_BITS, s->scratch, s->order_scratch);
}

static ps_status order_vertices(import_mesh *mesh, ps_space_curve curve)
{
    PS_SCOPED(sorting_release) sorting s = {0};
    int64_t count = mesh->vertex_count;
    int32_t *place = NULL;
    PS_TRY(sorting_init(&s, count, 3));
    ps_space_curve_cube(mesh->vertices, count, s.lower, &s.extent);
    ps_space_curve_keys(curve, mesh->vertices, count, s.lower, s.extent, s.keys);
    sort_by_key(&s, count);
    ps_items_reorder(mesh->vertices, count, 3 * sizeof(double), s.order, s.scratch);
    ps_items_reorder(mesh->vertex_source, count, sizeof(int32_t), s.order, s.scratch);
    place = s.order_scratch;
    for (int64_t i = 0; i < count; ++i) place[s.order[i]] = (int32_t)i;
    ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, place);
    ps_indices_replace(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, place);
    return PS_OK;
}

/* Block by block, so that the centroids of all cells need not exist at once; the threads take
 * blocks (what is called inside then runs on the thread that calls it). */
static void centroid_keys(const import_mesh *mesh, const import_cells *cells, ps_space_curve curve,
                          sorting *s)
{
    int64_t blocks = (cells->count + CENTROID_BLOCK - 1) / CENTROID_BLOCK;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block) {
        double centroids[3 * CENTROID_BLOCK];
        int64_t first = block * CENTROID_BLOCK, n = cells->count - first;
        if (n > CENTROID_BLOCK) n = CENTROID_BLOCK;
        ps_cells_centroids(mesh->vertices, cells->vertices + cells->size * first, n, cells->size,
                           centroids);
        ps_space_curve_keys(curve, centroids, n, s->lower, s->extent, s->keys + first);
    }
}

static ps_status sort_cells(const import_mesh *mesh, const import_cells *cells,
                            ps_space_curve curve, int item_words, sorting *s)
{
    PS_TRY(sorting_init(s, cells->count, item_words));
    ps_space_curve_cube(mesh->vertices, mesh->vertex_count, s->lower, &s->extent);
    centroid_keys(mesh, cells, curve, s);
    sort_by_key(s, cells->count);
    return PS_OK;
}

ps_status import_cell_order(const import_mesh *mesh, const import_cells *cells,
                            ps_space_curve curve, int32_t *order)
{
    PS_SCOPED(sorting_release) sorting s = {0};
    PS_TRY(sort_cells(mesh, cells, curve, 1, &s));
    memcpy(order, s.order, (size_t)cells->count * sizeof *order);
    return PS_OK;
}

static ps_status order_cells(const import_mesh *mesh, import_cells *cells, ps_space_curve curve)
{
    PS_SCOPED(sorting_release) sorting s = {0};
    PS_TRY(sort_cells(mesh, cells, curve, 2, &s));
    ps_items_reorder(cells->vertices, cells->count, (size_t)cells->size * sizeof(int32_t), s.order,
                     s.scratch);
    ps_items_reorder(cells->tags, cells->count, sizeof(int32_t), s.order, s.scratch);
    ps_items_reorder(cells->source, cells->count, sizeof(int32_t), s.order, s.scratch);
    return PS_OK;
}

ps_status import_order(import_mesh *mesh, ps_space_curve curve)
{
    if (curve == PS_CURVE_NONE) return PS_OK;
    PS_TRY(order_vertices(mesh, curve));
    PS_TRY(order_cells(mesh, &mesh->triangles, curve));
    return order_cells(mesh, &mesh->tetrahedra, curve);
}
