#include "preprocess/mesh_import/gmsh_pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

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
            return ps_fail(PS_INVALID,
                           "%s: Gmsh's library ended while reading it: the file is "
                           "broken or not what its suffix says",
                           p->name);
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
    PS_SCOPED_MEMORY int32_t *numbers = NULL;
    PS_TRY(PS_ALLOC(&numbers, f->count, "element numbers"));
    PS_TRY(get_numbers(p, f->count, numbers));
    for (int64_t first = 0, n; first < f->count; first += n) {
        n = f->count - first < BLOCK ? f->count - first : BLOCK;
        PS_TRY(get(p, p->nodes, (size_t)(n * size) * sizeof *p->nodes));
        for (int64_t i = 0; i < n; ++i)
            PS_TRY(add_element(p, f, p->nodes + size * i, numbers[first + i]));
    }
    return PS_OK;
}

static ps_status get_text(parent *p, const frame *f)
{
    char text[1024];
    size_t bytes = (size_t)f->count < sizeof text - 1 ? (size_t)f->count : sizeof text - 1;
    PS_TRY(get(p, text, bytes));
    text[bytes] = '\0';
    if (f->kind == FRAME_ERROR) return ps_fail((ps_status)f->tag, "%s: %s", p->name, text);
    if (f->kind == FRAME_NOTE) {
        ps_info("%s: %s", p->name, text);
        return PS_OK;
    }
    if (f->kind == FRAME_WARNING) {
        if (p->warnings++ < WARNINGS_MAX) ps_warning("%s: %s", p->name, text);
        return PS_OK;
    }
    import_add_tag_name(p->mesh, f->tag, text);
    return PS_OK;
}

static ps_status get_frames(parent *p)
{
    for (;;) {
        frame f;
        PS_TRY(get(p, &f, sizeof f));
        if (f.kind == FRAME_END) return PS_OK;
        if (f.kind == FRAME_GENERATED)
            p->mesh->generated = true;
        else if (f.kind == FRAME_VERTICES)
            PS_TRY(get_vertices(p, f.count));
        else if (f.kind == FRAME_CELLS)
            PS_TRY(get_cells(p, &f));
        else
            PS_TRY(get_text(p, &f));
    }
}

ps_status gmsh_pipe_receive(int pipe, const char *name, import_mesh *mesh)
{
    parent *p;
    PS_TRY(PS_ALLOC(&p, 1, "receiving a mesh"));
    p->pipe = pipe;
    p->name = name;
    p->mesh = mesh;
    ps_status status = get_frames(p);
    free(p);
    return status == PS_OK ? import_numbers_to_indices(mesh, name) : status;
}
