/* Regular refinement: each tetrahedron in eight, each triangle in four, about the middles of edges
 * (Bey, Computing 55 (1995) 355; the octahedron within by its shortest diagonal). */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"

/* Edges 01 02 03 12 13 23 of a tetrahedron: the diagonals of the octahedron of their middles, and
 * about each of them the other four. */
static const int8_t corners[4][3] = {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};
static const int8_t diagonal[3][2] = {{0, 5}, {1, 4}, {2, 3}};
static const int8_t ring[3][4] = {{1, 2, 4, 3}, {0, 2, 5, 3}, {0, 1, 5, 4}};

typedef struct division {
    import_mesh *mesh;
    uint32_t *start, *ids; /* edges, sorted                       */
    int32_t *middle;       /* [6 tetrahedra] the vertex there     */
    int64_t edges;
} division;

static ps_status number_edges(division *d)
{
    const import_cells *cells = &d->mesh->tetrahedra;
    int64_t count = 6 * cells->count;
    if (count > UINT32_MAX - 2)
        return ps_fail(PS_EXHAUSTED, "%lld tetrahedra are too many to be divided",
                       (long long)cells->count);
    PS_TRY(PS_ALLOC(&d->start, d->mesh->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&d->ids, count, "edges"));
    PS_TRY(PS_ALLOC(&d->middle, count, "edges"));
    ps_facets_sort(&ps_tetrahedron_edges, cells->vertices, cells->count, d->mesh->vertex_count,
                   d->start, d->ids);
    for (int64_t first = 0, end; first < count; first = end, ++d->edges) {
        end = ps_facets_run(&ps_tetrahedron_edges, cells->vertices, d->ids, count, first);
        for (int64_t i = first; i < end; ++i)
            d->middle[d->ids[i]] = (int32_t)(d->mesh->vertex_count + d->edges);
    }
    return d->mesh->vertex_count + d->edges <= INT32_MAX && 8 * cells->count <= INT32_MAX
               ? PS_OK
               : ps_fail(PS_EXHAUSTED,
                         "divided, the mesh has too many vertices or cells for its file");
}

/* The middle of the edge between two vertices of a triangle that is a face. */
static int32_t middle_of(const division *d, int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a, key[4];
    for (uint32_t i = d->start[low];; ++i) {
        ps_facet_key(&ps_tetrahedron_edges, d->mesh->tetrahedra.vertices, d->ids[i], key);
        if (key[1] == high) return d->middle[d->ids[i]];
    }
}

static ps_status add_middles(division *d)
{
    import_mesh *m = d->mesh;
    const int64_t count = 6 * m->tetrahedra.count;
    PS_TRY(import_more_vertices(m, m->vertex_count + d->edges));
    for (int64_t i = 0; i < count; ++i) {
        const int32_t *cell = m->tetrahedra.vertices + i / 6 * 4;
        const int8_t *ends = ps_tetrahedron_edges.local[i % 6];
        ps_midpoint3(m->vertices + 3 * (int64_t)cell[ends[0]],
                     m->vertices + 3 * (int64_t)cell[ends[1]],
                     m->vertices + 3 * (int64_t)d->middle[i]);
    }
    return PS_OK;
}

/* The shortest diagonal, the first of equal ones. */
static int choose_diagonal(const import_mesh *m, const int32_t *middle)
{
    double length[3];
    for (int k = 0; k < 3; ++k)
        length[k] = ps_distance3(m->vertices + 3 * (int64_t)middle[diagonal[k][0]],
                                 m->vertices + 3 * (int64_t)middle[diagonal[k][1]]);
    int best = length[1] < length[0];
    return length[2] < length[best] ? 2 : best;
}

static void set_child(const import_mesh *m, const int32_t child[4], int32_t *out)
{
    const double *x[4];
    for (int k = 0; k < 4; ++k) x[k] = m->vertices + 3 * (int64_t)child[k];
    bool turned = ps_tetrahedron_volume(x[0], x[1], x[2], x[3]) < 0;
    memcpy(out, child, 4 * sizeof *out);
    if (turned) out[2] = child[3], out[3] = child[2];
}

static void divide_tetrahedron(const import_mesh *m, const int32_t *cell, const int32_t *middle,
                               int32_t *out)
{
    int k = choose_diagonal(m, middle);
    for (int v = 0; v < 4; ++v) {
        const int32_t child[4] = {cell[v], middle[corners[v][0]], middle[corners[v][1]],
                                  middle[corners[v][2]]};
        set_child(m, child, out + 4 * v);
    }
    for (int i = 0; i < 4; ++i) {
        const int32_t child[4] = {middle[diagonal[k][0]], middle[diagonal[k][1]],
                                  middle[ring[k][i]], middle[ring[k][(i + 1) % 4]]};
        set_child(m, child, out + 16 + 4 * i);
    }
}

/* Children with the tag and source of their parents take the place of these. */
static ps_status replace_cells(import_cells *cells, int children, int32_t *vertices)
{
    int64_t count = children * cells->count;
    int32_t *tags = NULL, *source = NULL;
    PS_TRY(PS_ALLOC(&tags, count, "tags"));
    ps_status status = PS_ALLOC(&source, count, "cells");
    if (status != PS_OK) {
        free(tags);
        return status;
    }
    for (int64_t i = 0; i < count; ++i)
        tags[i] = cells->tags[i / children], source[i] = cells->source[i / children];
    free(cells->vertices), free(cells->tags), free(cells->source);
    cells->vertices = vertices, cells->tags = tags, cells->source = source;
    cells->vertex_room = cells->size * count, cells->tag_room = count;
    cells->count = count;
    return PS_OK;
}

static ps_status divide_triangles(const division *d)
{
    import_cells *cells = &d->mesh->triangles;
    int32_t *out;
    if (cells->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&out, 12 * cells->count, "triangles"));
    for (int64_t t = 0; t < cells->count; ++t) {
        const int32_t *v = cells->vertices + 3 * t;
        const int32_t a = middle_of(d, v[0], v[1]), b = middle_of(d, v[1], v[2]),
                      c = middle_of(d, v[2], v[0]);
        const int32_t children[12] = {v[0], a, c, a, v[1], b, c, b, v[2], a, b, c};
        memcpy(out + 12 * t, children, sizeof children);
    }
    ps_status status = replace_cells(cells, 4, out);
    if (status != PS_OK) free(out);
    return status;
}

static ps_status divide_tetrahedra(const division *d)
{
    import_cells *cells = &d->mesh->tetrahedra;
    int32_t *out;
    PS_TRY(PS_ALLOC(&out, 32 * cells->count, "tetrahedra"));
    for (int64_t t = 0; t < cells->count; ++t)
        divide_tetrahedron(d->mesh, cells->vertices + 4 * t, d->middle + 6 * t, out + 32 * t);
    ps_status status = replace_cells(cells, 8, out);
    if (status != PS_OK) free(out);
    return status;
}

ps_status import_divide(import_mesh *mesh, import_figures *figures)
{
    division d = {.mesh = mesh};
    ps_status status;
    PS_GUARD(status, done, number_edges(&d));
    PS_GUARD(status, done, add_middles(&d));
    PS_GUARD(status, done, divide_triangles(&d));
    PS_GUARD(status, done, divide_tetrahedra(&d));
    figures->open_edges *= 4, figures->boundary_triangles *= 4;
done:
    free(d.start), free(d.ids), free(d.middle);
    return status;
}
