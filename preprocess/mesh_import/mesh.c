/* The mesh as it is read, and how its parts are named to people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"
#include "runtime/memory.h"

void import_mesh_init(import_mesh *mesh)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->triangles.size = 3;
    mesh->tetrahedra.size = 4;
    mesh->vertex_word = "vertex";
    mesh->vertex_words = "vertices";
    mesh->cell_word = "face";
}

void import_cells_release(import_cells *cells)
{
    PS_FREE(cells->vertices, cells->tags, cells->numbers, cells->source);
}

void import_mesh_release(import_mesh *mesh)
{
    PS_FREE(mesh->vertices, mesh->vertex_numbers, mesh->vertex_source);
    import_cells_release(&mesh->triangles);
    import_cells_release(&mesh->tetrahedra);
    import_mesh_init(mesh);
}

static ps_status narrow(int64_t number, int32_t *out)
{
    if (number < INT32_MIN || number > INT32_MAX)
        return ps_fail(PS_INVALID, "the number %lld does not fit 32 bits: renumber the mesh",
                       (long long)number);
    *out = (int32_t)number;
    return PS_OK;
}

ps_status import_add_vertices(import_mesh *mesh, int64_t count, const double *positions)
{
    PS_TRY(ps_grow((void **)&mesh->vertices, &mesh->vertex_room, 3 * (mesh->vertex_count + count),
                   sizeof(double), "vertices"));
    memcpy(mesh->vertices + 3 * mesh->vertex_count, positions,
           (size_t)(3 * count) * sizeof(double));
    mesh->vertex_count += count;
    return PS_OK;
}

ps_status import_add_vertex_number(import_mesh *mesh, int64_t number)
{
    int64_t last = mesh->vertex_count - 1;
    PS_TRY(ps_grow((void **)&mesh->vertex_numbers, &mesh->vertex_number_room, last + 1,
                   sizeof(int32_t), "vertex numbers"));
    return narrow(number, &mesh->vertex_numbers[last]);
}

ps_status import_add_cell(import_cells *cells, const int32_t *vertices, int32_t tag, int64_t number)
{
    int64_t i = cells->count;
    PS_TRY(ps_grow((void **)&cells->vertices, &cells->vertex_room, cells->size * (i + 1),
                   sizeof(int32_t), "cells"));
    PS_TRY(ps_grow((void **)&cells->tags, &cells->tag_room, i + 1, sizeof(int32_t), "tags"));
    PS_TRY(ps_grow((void **)&cells->numbers, &cells->number_room, i + 1, sizeof(int32_t),
                   "cell numbers"));
    memcpy(cells->vertices + cells->size * i, vertices, (size_t)cells->size * sizeof *vertices);
    cells->tags[i] = tag;
    PS_TRY(narrow(number, &cells->numbers[i]));
    ++cells->count;
    return PS_OK;
}

ps_status import_more_vertices(import_mesh *mesh, int64_t all)
{
    PS_TRY(
        ps_grow((void **)&mesh->vertices, &mesh->vertex_room, 3 * all, sizeof(double), "vertices"));
    int32_t *source = realloc(mesh->vertex_source, (size_t)all * sizeof *source);
    if (!source) return ps_fail(PS_EXHAUSTED, "no memory for the vertices of a divided mesh");
    for (int64_t v = mesh->vertex_count; v < all; ++v) source[v] = (int32_t)v;
    mesh->vertex_source = source;
    mesh->vertex_count = all;
    return PS_OK;
}

ps_status import_more_cells(import_cells *cells, int64_t more)
{
    const int64_t all = cells->count + more;
    if (more == 0) return PS_OK;
    PS_TRY(ps_grow((void **)&cells->vertices, &cells->vertex_room, cells->size * all,
                   sizeof(int32_t), "cells"));
    PS_TRY(ps_grow((void **)&cells->tags, &cells->tag_room, all, sizeof(int32_t), "tags"));
    int32_t *source = realloc(cells->source, (size_t)all * sizeof *source);
    if (!source) return ps_fail(PS_EXHAUSTED, "no memory for the cells of a divided mesh");
    cells->source = source;
    return PS_OK;
}

ps_status import_add_polygon(import_mesh *mesh, const int32_t *vertices, int count, int32_t tag,
                             int64_t number)
{
    mesh->polygons += count > 3;
    for (int k = 1; k + 1 < count; ++k) {
        const int32_t triangle[3] = {vertices[0], vertices[k], vertices[k + 1]};
        PS_TRY(import_add_cell(&mesh->triangles, triangle, tag, number));
    }
    return PS_OK;
}

void import_add_tag_name(import_mesh *mesh, int tag, const char *name)
{
    size_t used = strlen(mesh->tag_names), room = sizeof mesh->tag_names - used;
    if (strlen(name) + 16 >= room)
        ps_warning("no room is left for the name \"%.60s\" of tag %d: it has its number alone",
                   name, tag);
    else
        snprintf(mesh->tag_names + used, room, "%s%d %s", used ? "\n" : "", tag, name);
}

static ps_status identity(int32_t **out, int64_t count, const char *what)
{
    PS_TRY(PS_ALLOC(out, count, what));
    for (int64_t i = 0; i < count; ++i) (*out)[i] = (int32_t)i;
    return PS_OK;
}

static ps_status check_indices(const import_mesh *mesh, const import_cells *cells, const char *path)
{
    for (int64_t i = 0; i < cells->size * cells->count; ++i)
        if (cells->vertices[i] < 0 || cells->vertices[i] >= mesh->vertex_count)
            return ps_fail(PS_INVALID,
                           "%s: %s %d refers to a %s that is not in the file (there are %lld)",
                           path, mesh->cell_word, cells->numbers[i / cells->size],
                           mesh->vertex_word, (long long)mesh->vertex_count);
    return PS_OK;
}

ps_status import_settle(import_mesh *mesh, const char *path)
{
    if (mesh->vertex_count > INT32_MAX || mesh->triangles.count > INT32_MAX / 3 ||
        mesh->tetrahedra.count > INT32_MAX / 4)
        return ps_fail(PS_INVALID, "%s: more vertices or cells than 32-bit indices reach", path);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i)
        if (!isfinite(mesh->vertices[i]))
            return ps_fail(PS_INVALID, "%s: %s %d has a coordinate that is not a finite number",
                           path, mesh->vertex_word, mesh->vertex_numbers[i / 3]);
    PS_TRY(check_indices(mesh, &mesh->triangles, path));
    PS_TRY(check_indices(mesh, &mesh->tetrahedra, path));
    PS_TRY(identity(&mesh->vertex_source, mesh->vertex_count, "vertex sources"));
    PS_TRY(identity(&mesh->triangles.source, mesh->triangles.count, "triangle sources"));
    return identity(&mesh->tetrahedra.source, mesh->tetrahedra.count, "tetrahedron sources");
}

static int number_of(const import_mesh *mesh, int64_t vertex)
{
    return mesh->vertex_numbers[mesh->vertex_source[vertex]];
}

void import_vertex_place(const import_mesh *mesh, int64_t vertex, char *out, int size)
{
    const double *x = mesh->vertices + 3 * vertex;
    snprintf(out, (size_t)size, "%s %d at (%.6g, %.6g, %.6g)", mesh->vertex_word,
             number_of(mesh, vertex), x[0], x[1], x[2]);
}

void import_edge_place(const import_mesh *mesh, int32_t a, int32_t b, char *out, int size)
{
    const double *x = mesh->vertices + 3 * (int64_t)a, *y = mesh->vertices + 3 * (int64_t)b;
    snprintf(out, (size_t)size, "%s %d - %d at (%.6g, %.6g, %.6g)", mesh->vertex_words,
             number_of(mesh, a), number_of(mesh, b), (x[0] + y[0]) / 2, (x[1] + y[1]) / 2,
             (x[2] + y[2]) / 2);
}

void import_cell_place(const import_mesh *mesh, const import_cells *cells, int64_t cell, char *out,
                       int size)
{
    const int32_t *v = cells->vertices + cells->size * cell;
    double middle[3] = {0, 0, 0};
    int used = snprintf(out, (size_t)size, "%s %d (%s", mesh->cell_word,
                        cells->numbers[cells->source[cell]], mesh->vertex_words);
    for (int k = 0; k < cells->size; ++k) {
        for (int c = 0; c < 3; ++c)
            middle[c] += mesh->vertices[3 * (int64_t)v[k] + c] / cells->size;
        if (used < size)
            used += snprintf(out + used, (size_t)(size - used), " %d", number_of(mesh, v[k]));
    }
    if (used < size)
        snprintf(out + used, (size_t)(size - used), ") at (%.6g, %.6g, %.6g)", middle[0], middle[1],
                 middle[2]);
}
