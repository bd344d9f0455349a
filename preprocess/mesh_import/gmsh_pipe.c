#include "preprocess/mesh_import/gmsh_pipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/radix_sort.h"
#include "runtime/log.h"
#include "runtime/memory.h"

enum { BLOCK = 4096, WARNINGS_MAX = 5 };

typedef struct parent {
    int pipe, warnings;
    const char *name;
    import_mesh *mesh;
    uint64_t numbers[BLOCK];
    uint64_t nodes[4 * BLOCK];
} parent;

static ps_status get(parent *p, void *data, size_t bytes)
{
    char *to = data;
    while (bytes > 0) {
        ssize_t got = read(p->pipe, to, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return ps_fail(PS_INVALID, "%s: Gmsh's library ended while reading it: the file is "
                                       "broken or not what its suffix says", p->name);
        to += got;
        bytes -= (size_t)got;
    }
    return PS_OK;
}

static ps_status narrow(const parent *p, uint64_t number, int32_t *out)
{
    if (number > INT32_MAX)
        return ps_fail(PS_INVALID, "%s: the number %llu does not fit 32 bits: renumber the mesh",
                       p->name, (unsigned long long)number);
    *out = (int32_t)number;
    return PS_OK;
}

static ps_status get_numbers(parent *p, int64_t count, int32_t *out)
{
    for (int64_t first = 0, n; first < count; first += n) {
        n = count - first < BLOCK ? count - first : BLOCK;
        PS_TRY(get(p, p->numbers, (size_t)n * sizeof *p->numbers));
        for (int64_t i = 0; i < n; ++i) PS_TRY(narrow(p, p->numbers[i], &out[first + i]));
    }
    return PS_OK;
}

static ps_status get_vertices(parent *p, int64_t count)
{
    import_mesh *m = p->mesh;
    int64_t old = m->vertex_count, all = old + count;
    PS_TRY(ps_grow((void **)&m->vertices, &m->vertex_room, 3 * all, sizeof(double), "vertices"));
    PS_TRY(ps_grow((void **)&m->vertex_numbers, &m->vertex_number_room, all, sizeof(int32_t),
                   "node numbers"));
    PS_TRY(get_numbers(p, count, m->vertex_numbers + old));
    PS_TRY(get(p, m->vertices + 3 * old, (size_t)(3 * count) * sizeof(double)));
    m->vertex_count = all;
    return PS_OK;
}

/* Keeps node numbers in place of indices until all nodes are there. */
static ps_status add_element(parent *p, const frame *f, const uint64_t *nodes, int32_t number)
{
    int32_t vertices[4];
    int size = abs(f->size);
    for (int k = 0; k < size; ++k) PS_TRY(narrow(p, nodes[k], &vertices[k]));
    if (f->size == 4) return import_add_cell(&p->mesh->tetrahedra, vertices, f->tag, number);
    return import_add_polygon(p->mesh, vertices, size, f->tag, number);
}

static ps_status get_cells(parent *p, const frame *f)
{
    int size = abs(f->size);
    int32_t *numbers;
    PS_TRY(PS_ALLOC(&numbers, f->count, "element numbers"));
    ps_status status = get_numbers(p, f->count, numbers);
    for (int64_t first = 0, n; first < f->count && status == PS_OK; first += n) {
        n = f->count - first < BLOCK ? f->count - first : BLOCK;
        status = get(p, p->nodes, (size_t)(n * size) * sizeof *p->nodes);
        for (int64_t i = 0; i < n && status == PS_OK; ++i)
            status = add_element(p, f, p->nodes + size * i, numbers[first + i]);
    }
    free(numbers);
    return status;
}

static ps_status get_text(parent *p, const frame *f)
{
    char text[1024];
    size_t bytes = (size_t)f->count < sizeof text - 1 ? (size_t)f->count : sizeof text - 1;
    PS_TRY(get(p, text, bytes));
    text[bytes] = '\0';
    if (f->kind == FRAME_ERROR) return ps_fail(PS_INVALID, "%s: %s", p->name, text);
    if (f->kind == FRAME_WARNING) {
        if (p->warnings++ < WARNINGS_MAX) ps_warning("%s: %s", p->name, text);
        return PS_OK;
    }
    char *names = p->mesh->tag_names;
    size_t used = strlen(names), room = sizeof p->mesh->tag_names - used;
    if (bytes + 16 < room) snprintf(names + used, room, "%s%d %s", used ? "\n" : "", f->tag, text);
    return PS_OK;
}

static ps_status get_frames(parent *p)
{
    for (;;) {
        frame f;
        PS_TRY(get(p, &f, sizeof f));
        if (f.kind == FRAME_END) return PS_OK;
        if (f.kind == FRAME_GENERATED) p->mesh->generated = true;
        else if (f.kind == FRAME_VERTICES) PS_TRY(get_vertices(p, f.count));
        else if (f.kind == FRAME_CELLS) PS_TRY(get_cells(p, &f));
        else PS_TRY(get_text(p, &f));
    }
}

/* ---- the order of the numbers ---- */

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
    uint64_t *keys = NULL, *scratch = NULL;
    int32_t *order = NULL;
    ps_status status;
    PS_GUARD(status, done, PS_ALLOC(&keys, count, "sorting"));
    PS_GUARD(status, done, PS_ALLOC(&order, 2 * count, "sorting"));
    PS_GUARD(status, done, PS_ALLOC(&scratch, 3 * count, "sorting"));
    for (int64_t i = 0; i < count; ++i) {
        keys[i] = (uint32_t)numbers[i];
        order[i] = (int32_t)i;
    }
    ps_radix_sort(keys, order, count, 32, scratch, order + count);
    for (int i = 0; i < column_count; ++i)
        ps_items_reorder(columns[i].data, count, columns[i].bytes, order, scratch);
done:
    free(keys);
    free(order);
    free(scratch);
    return status;
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
    for (low = 0; low < high;) {
        int64_t middle = low + (high - low) / 2;
        if (numbers[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low < mesh->vertex_count && numbers[low] == number ? low : -1;
}

static ps_status number_to_index(parent *p, import_cells *cells)
{
    for (int64_t i = 0; i < cells->size * cells->count; ++i) {
        int64_t index = p->mesh->vertex_count ? index_of(p->mesh, cells->vertices[i]) : -1;
        if (index < 0)
            return ps_fail(PS_INVALID, "%s: element %d refers to node %d, which is not in the file",
                           p->name, cells->numbers[i / cells->size], cells->vertices[i]);
        cells->vertices[i] = (int32_t)index;
    }
    return PS_OK;
}

ps_status gmsh_pipe_receive(int pipe, const char *name, import_mesh *mesh)
{
    parent *p;
    PS_TRY(PS_ALLOC(&p, 1, "receiving a mesh"));
    p->pipe = pipe;
    p->name = name;
    p->mesh = mesh;
    ps_status status = get_frames(p);
    if (status == PS_OK) {
        const column columns[] = {{mesh->vertex_numbers, sizeof(int32_t)},
                                  {mesh->vertices, 3 * sizeof(double)}};
        status = sort_records(mesh->vertex_count, columns, 2);
    }
    if (status == PS_OK) status = sort_cells(&mesh->triangles);
    if (status == PS_OK) status = sort_cells(&mesh->tetrahedra);
    if (status == PS_OK) status = number_to_index(p, &mesh->triangles);
    if (status == PS_OK) status = number_to_index(p, &mesh->tetrahedra);
    free(p);
    return status;
}
