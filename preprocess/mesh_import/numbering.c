/* Files with node and element numbers: their order, and numbers to indices. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/radix_sort.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

static bool ascending(const int32_t *numbers, int64_t count)
{
    for (int64_t i = 1; i < count; ++i)
        if (numbers[i] < numbers[i - 1]) return false;
    return true;
}

/* A part of a record: `bytes` a item at `data`. */
typedef struct column {
    void *data;
    size_t bytes;
} column;

/* Sorts records by their numbers (the first column), stably. */
static ps_status sort_records(int64_t count, const column *columns, int column_count)
{
    const int32_t *numbers = columns[0].data;
    if (ascending(numbers, count)) return PS_OK;
    PS_SCOPED_MEMORY uint64_t *keys = NULL, *scratch = NULL;
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_TRY(PS_ALLOC(&keys, count, "sorting"));
    PS_TRY(PS_ALLOC(&order, 2 * count, "sorting"));
    PS_TRY(PS_ALLOC(&scratch, 3 * count, "sorting"));
    for (int64_t i = 0; i < count; ++i) {
        keys[i] = (uint32_t)numbers[i];
        order[i] = (int32_t)i;
    }
    ps_radix_sort(keys, order, count, 32, scratch, order + count);
    for (int i = 0; i < column_count; ++i)
        ps_items_reorder(columns[i].data, count, columns[i].bytes, order, scratch);
    return PS_OK;
}

static ps_status sort_cells(import_cells *cells)
{
    const column columns[] = {{cells->numbers, sizeof(int32_t)},
                              {cells->vertices, (size_t)cells->size * sizeof(int32_t)},
                              {cells->tags, sizeof(int32_t)}};
    return sort_records(cells->count, columns, 3);
}

static int64_t index_of(const import_mesh *mesh, int32_t number)
{
    const int32_t *numbers = mesh->vertex_numbers;
    int64_t low = (int64_t)number - numbers[0], high = mesh->vertex_count;
    if (low >= 0 && low < high && numbers[low] == number) return low; /* usual: no gaps */
    PS_LOWER_BOUND(low, 0, high, at, numbers[at] < number);
    return low < high && numbers[low] == number ? low : -1;
}

static ps_status replace_numbers(const import_mesh *mesh, import_cells *cells, const char *name)
{
    for (int64_t i = 0; i < cells->size * cells->count; ++i) {
        int64_t index = mesh->vertex_count ? index_of(mesh, cells->vertices[i]) : -1;
        if (index < 0)
            return ps_fail(PS_INVALID, "%s: element %d refers to node %d, which is not in the file",
                           name, cells->numbers[i / cells->size], cells->vertices[i]);
        cells->vertices[i] = (int32_t)index;
    }
    return PS_OK;
}

ps_status import_numbers_to_indices(import_mesh *mesh, const char *name)
{
    const column columns[] = {{mesh->vertex_numbers, sizeof(int32_t)},
                              {mesh->vertices, 3 * sizeof(double)}};
    PS_TRY(sort_records(mesh->vertex_count, columns, 2));
    for (int64_t v = 1; v < mesh->vertex_count; ++v)
        if (mesh->vertex_numbers[v] == mesh->vertex_numbers[v - 1])
            return ps_fail(PS_INVALID, "%s: node %d is given twice", name, mesh->vertex_numbers[v]);
    PS_TRY(sort_cells(&mesh->triangles));
    PS_TRY(sort_cells(&mesh->tetrahedra));
    PS_TRY(replace_numbers(mesh, &mesh->triangles, name));
    return replace_numbers(mesh, &mesh->tetrahedra, name);
}

ps_status import_nodes_add(import_nodes *nodes, int64_t number, const double x[3])
{
    PS_TRY(ps_grow((void **)&nodes->list, &nodes->room, nodes->count + 1, sizeof *nodes->list,
                   "nodes"));
    nodes->list[nodes->count++] = (struct import_node){number, {x[0], x[1], x[2]}};
    return PS_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct import_node *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

ps_status import_nodes_check(import_nodes *nodes, const char *name)
{
    if (nodes->count == 0) return PS_OK;
    qsort(nodes->list, (size_t)nodes->count, sizeof *nodes->list, by_number);
    for (const struct import_node *n = nodes->list + 1; n < nodes->list + nodes->count; ++n)
        if (n->number == n[-1].number && memcmp(n->x, n[-1].x, sizeof n->x) != 0)
            return ps_fail(PS_INVALID, "%s: node %lld is given twice, in two places", name,
                           (long long)n->number);
    return PS_OK;
}

void import_nodes_release(import_nodes *nodes) { free(nodes->list); }
