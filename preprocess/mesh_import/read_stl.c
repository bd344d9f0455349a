/* STL, text and binary. The format has no shared vertices: equal positions are one vertex. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_repair.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };

static ps_status add_facet(import_mesh *mesh, const double corners[9], int32_t tag)
{
    int32_t first = (int32_t)mesh->vertex_count, vertices[3] = {first, first + 1, first + 2};
    if (mesh->vertex_count > INT32_MAX - 3)
        return ps_fail(PS_INVALID, "more than %d facets", INT32_MAX / 3);
    PS_TRY(import_add_vertices(mesh, 3, corners));
    return import_add_cell(&mesh->triangles, vertices, tag, mesh->triangles.count + 1);
}

static ps_status read_binary(FILE *file, const char *name, int64_t facets, import_mesh *mesh)
{
    unsigned char record[FACET_BYTES];
    for (int64_t f = 0; f < facets; ++f) {
        float values[12];
        double corners[9];
        if (fread(record, FACET_BYTES, 1, file) != 1)
            return ps_fail(PS_INVALID, "%s: ends within facet %lld of %lld", name,
                           (long long)f + 1, (long long)facets);
        memcpy(values, record, sizeof values);
        for (int i = 0; i < 9; ++i) corners[i] = values[3 + i];
        PS_TRY(add_facet(mesh, corners, 0));
    }
    return PS_OK;
}

/* "vertex x y z"; three of them make a facet at "endfacet". Each solid is a tag. */
static ps_status read_text(FILE *file, const char *name, import_mesh *mesh)
{
    char line[512];
    double corners[9];
    int corner = 0, solids = 0;
    for (int64_t number = 1; fgets(line, sizeof line, file); ++number) {
        char word[32] = "";
        int at = 0;
        sscanf(line, " %31s%n", word, &at);
        if (strcmp(word, "solid") == 0) ++solids;
        if (strcmp(word, "vertex") == 0) {
            double *x = corners + 3 * (corner < 3 ? corner : 2);
            if (corner++ >= 3 || sscanf(line + at, "%lf %lf %lf", x, x + 1, x + 2) != 3)
                return ps_fail(PS_INVALID, "%s: line %lld: expected three coordinates of one of "
                                           "three vertices", name, (long long)number);
        }
        if (strcmp(word, "endfacet") != 0) continue;
        if (corner != 3)
            return ps_fail(PS_INVALID, "%s: line %lld: a facet with %d vertices", name,
                           (long long)number, corner);
        corner = 0;
        PS_TRY(add_facet(mesh, corners, solids > 1 ? solids : 0));
    }
    return corner == 0 ? PS_OK : ps_fail(PS_INVALID, "%s: ends within a facet", name);
}

/* Equal positions become one vertex; what was dropped is no longer a vertex of the file. */
static ps_status share_vertices(import_mesh *mesh)
{
    int64_t count = mesh->vertex_count;
    int32_t *target = NULL;
    uint8_t *used = NULL;
    void *workspace = NULL;
    ps_status status;
    PS_GUARD(status, done, PS_ALLOC(&mesh->vertex_numbers, count, "vertex numbers"));
    PS_GUARD(status, done, PS_ALLOC(&target, count, "sharing vertices"));
    PS_GUARD(status, done, PS_ALLOC(&used, count, "sharing vertices"));
    PS_GUARD(status, done, ps_alloc(&workspace, (int64_t)ps_weld_workspace(count), 1,
                                    "sharing vertices"));
    ps_vertices_weld(mesh->vertices, count, 0, workspace, target);
    ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, target);
    ps_vertices_mark(mesh->triangles.vertices, 3 * mesh->triangles.count, used);
    for (int64_t v = 0; v < count; ++v) mesh->vertex_numbers[v] = (int32_t)v + 1;
    mesh->vertex_count =
        ps_vertices_compact(mesh->vertices, mesh->vertex_numbers, count, used, target);
    ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, target);
    for (int64_t v = 0; v < mesh->vertex_count; ++v) mesh->vertex_numbers[v] = (int32_t)v + 1;
done:
    free(target);
    free(used);
    free(workspace);
    return status;
}

ps_status import_read_stl(const import_input *input, import_mesh *mesh)
{
    unsigned char header[HEADER_BYTES] = {0};
    FILE *file = fopen(input->path, "rb");
    if (!file) return ps_fail(PS_INVALID, "%s: %s", input->name, strerror(errno));
    size_t got = fread(header, 1, sizeof header, file);
    fseeko(file, 0, SEEK_END);
    int64_t bytes = ftello(file), facets = 0;
    for (int i = 3; i >= 0; --i) facets = facets << 8 | header[80 + i];
    mesh->cell_word = "facet";
    mesh->soup = true;
    ps_status status;
    /* "solid" begins text files and some binary ones: the size of the file tells them apart. */
    if (got == HEADER_BYTES && bytes == HEADER_BYTES + FACET_BYTES * facets) {
        fseeko(file, HEADER_BYTES, SEEK_SET);
        status = read_binary(file, input->name, facets, mesh);
    } else if (memcmp(header, "solid", 5) == 0) {
        rewind(file);
        status = read_text(file, input->name, mesh);
    } else {
        status = ps_fail(PS_INVALID, "%s: neither a text STL (\"solid ...\") nor a binary one (its "
                                     "header announces %lld facets, which is %lld bytes; it has "
                                     "%lld)", input->name, (long long)facets,
                         (long long)(HEADER_BYTES + FACET_BYTES * facets), (long long)bytes);
    }
    fclose(file);
    return status == PS_OK ? share_vertices(mesh) : status;
}
