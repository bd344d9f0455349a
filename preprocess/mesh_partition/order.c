/* order: the final places of elements. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_parts.h"
#include "kernels/common/radix_sort.h"
#include "partition.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status permute_rows(void *array, int64_t count, size_t bytes, const int32_t *order)
{
    char *old, *rows;
    memcpy(&old, array, sizeof old);
    PS_TRY(ps_alloc_untouched((void **)&rows, count * (int64_t)bytes, "a reordered array"));
#pragma omp parallel for
    for (int64_t i = 0; i < count; ++i)
        memcpy(rows + (size_t)i * bytes, old + (size_t)order[i] * bytes, bytes);
    free(old);
    memcpy(array, &rows, sizeof rows);
    return PS_OK;
}

/* Faces named by the elements' new places. */
static void renumber(int32_t *faces, int64_t count, const int32_t *place)
{
#pragma omp parallel for
    for (int64_t f = 0; f < count; ++f)
        if (faces[f] >= 0) faces[f] = 4 * place[faces[f] / 4] + faces[f] % 4;
}

static ps_status sort_tagged(ps_partition *p)
{
    PS_SCOPED_MEMORY uint64_t *keys = NULL, *keys_scratch = NULL;
    PS_SCOPED_MEMORY int32_t *scratch = NULL;
    PS_TRY(PS_ALLOC(&keys, p->face_count, "tagged faces"));
    PS_TRY(PS_ALLOC(&keys_scratch, p->face_count, "tagged faces"));
    PS_TRY(PS_ALLOC(&scratch, p->face_count, "tagged faces"));
    for (int64_t i = 0; i < p->face_count; ++i) keys[i] = (uint64_t)p->faces[i];
    ps_radix_sort(keys, p->face_tags, p->face_count, 32, keys_scratch, scratch);
    for (int64_t i = 0; i < p->face_count; ++i) p->faces[i] = (int32_t)keys[i];
    return PS_OK;
}

static ps_status permute_mesh(job *j, const int32_t *order)
{
    ps_partition *p = &j->mesh;
    int32_t *place;
    int64_t count = p->elements;
    PS_TRY(PS_ALLOC(&place, count, "places of elements"));
    for (int64_t i = 0; i < count; ++i) place[order[i]] = (int32_t)i;
    renumber(p->links, 4 * count, place);
    renumber(p->faces, p->face_count, place);
    free(place);
    PS_TRY(permute_rows(&p->links, count, 4 * sizeof *p->links, order));
    PS_TRY(permute_rows(&p->tetrahedra, count, 4 * sizeof *p->tetrahedra, order));
    PS_TRY(permute_rows(&p->tags, count, sizeof *p->tags, order));
    PS_TRY(permute_rows(&p->source, count, sizeof *p->source, order));
    if (j->weights) PS_TRY(permute_rows(&j->weights, count, sizeof *j->weights, order));
    return permute_rows(&j->part, count, sizeof *j->part, order);
}

static bool touches_other(const job *j, int64_t element)
{
    for (int f = 0; f < 4; ++f) {
        int32_t link = j->mesh.links[4 * element + f];
        if (link >= 0 && j->part[link / 4] != j->part[element]) return true;
    }
    return false;
}

/* Sorts elements by key[elements] within 0 .. keys - 1; start[keys + 1]. */
static ps_status sort_by(job *j, const int32_t *key, int64_t keys, int64_t *start)
{
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_TRY(PS_ALLOC(&order, j->mesh.elements, "an order"));
    ps_order_by_key(key, j->mesh.elements, keys, start, order);
    return permute_mesh(j, order);
}

/* Part by part, those that touch others last; with layers in their order, which layers sort. */
static ps_status order_parts(job *j)
{
    ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY int32_t *key = NULL;
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_TRY(PS_ALLOC(&key, p->elements, "keys of elements"));
    PS_TRY(PS_ALLOC(&start, 2 * j->parts + 1, "parts"));
    PS_TRY(PS_ALLOC(&p->part_start, j->parts + 1, "parts"));
    PS_TRY(PS_ALLOC(&p->interior, j->parts, "parts"));
    p->parts = j->parts;
#pragma omp parallel for
    for (int64_t e = 0; e < p->elements; ++e)
        key[e] = 2 * j->part[e] + (!j->layers && touches_other(j, e));
    PS_TRY(sort_by(j, key, 2 * j->parts, start));
    for (int64_t q = 0; q <= j->parts; ++q) p->part_start[q] = start[2 * q];
    for (int64_t q = 0; q < j->parts; ++q) p->interior[q] = start[2 * q + 1] - start[2 * q];
    return PS_OK;
}

static void set_interior(job *j, int64_t part)
{
    ps_partition *p = &j->mesh;
    for (int64_t e = p->part_start[part]; e < p->part_start[part + 1]; ++e)
        if (touches_other(j, e)) p->interior[part] = 0;
}

/* Layers of a part's elements, counted from those of the parts before on. */
static ps_status find_layers(job *j, int64_t part, int32_t *layer, int32_t *queue)
{
    ps_partition *p = &j->mesh;
    int64_t first = p->part_start[part], end = p->part_start[part + 1], *sizes;
    set_interior(j, part);
    int64_t layers =
        ps_mesh_layers(p->vertices, p->tetrahedra, p->links, first, end, layer + first, queue);
    PS_TRY(PS_ALLOC(&sizes, layers, "layers"));
    ps_mesh_even_layers(p->links, first, end, layers, queue, layer + first, sizes);
    free(sizes);
    for (int64_t e = first; e < end; ++e) layer[e] += (int32_t)p->layer_count;
    p->layer_count += layers;
    return PS_OK;
}

/* Within a layer those without a neighbour in the next one come first, and last those without one
 * in the layer before: a group of lanes that lies in two layers then reaches no farther than one of
 * them does, and ranges (kernels/dgtd/ranges.h) are hardly thicker than layers. */
enum { KEYS_A_LAYER = 3 };
static void mark_ends(const job *j, const int32_t *layer, int32_t *key)
{
    const ps_partition *p = &j->mesh;
#pragma omp parallel for
    for (int64_t e = 0; e < p->elements; ++e) {
        int next = 0, before = 0;
        for (int f = 0; f < 4; ++f) {
            int32_t link = p->links[4 * e + f];
            if (link < 0 || j->part[link / 4] != j->part[e]) continue;
            next |= layer[link / 4] > layer[e];
            before |= layer[link / 4] < layer[e];
        }
        key[e] = KEYS_A_LAYER * layer[e] + (!next ? 0 : before ? 1 : 2);
    }
}

static ps_status order_layers(job *j)
{
    ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY int32_t *layer = NULL, *queue = NULL;
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_TRY(PS_ALLOC(&layer, p->elements, "layers"));
    PS_TRY(PS_ALLOC(&queue, p->elements, "layers"));
    for (int64_t q = 0; q < p->parts; ++q) PS_TRY(find_layers(j, q, layer, queue));
    PS_TRY(PS_ALLOC(&p->layer_start, p->layer_count + 1, "layers"));
    PS_TRY(PS_ALLOC(&start, KEYS_A_LAYER * p->layer_count + 1, "layers"));
    mark_ends(j, layer, queue);
    PS_TRY(sort_by(j, queue, KEYS_A_LAYER * p->layer_count, start));
    for (int64_t l = 0; l <= p->layer_count; ++l) p->layer_start[l] = start[KEYS_A_LAYER * l];
    return PS_OK;
}

ps_status order_mesh(job *j)
{
    static const char *const methods[] = {"scotch", "boxes", "hilbert"};
    double start = ps_clock();
    PS_TRY(order_parts(j));
    if (j->layers) PS_TRY(order_layers(j));
    strcpy(j->mesh.method, methods[j->method]);
    strcpy(j->mesh.order, j->layers ? "layers" : "hilbert");
    PS_TRY(sort_tagged(&j->mesh));
    j->seconds[3] = ps_clock() - start;
    return PS_OK;
}
