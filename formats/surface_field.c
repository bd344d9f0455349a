#include "formats/surface_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

/* Vertices of files may be f32. */
static const double same = 1e-6; /* of the largest coordinate */

/* ---- numbers ---- */

/* All numbers of a dataset of `rows` rows, f32 or f64. */
static ps_status read_numbers(ps_store *store, const char *name, int64_t rows, int *width,
                              double **out)
{
    ps_dataset_info info;
    PS_SCOPED_MEMORY float *narrow = NULL;
    PS_TRY(ps_store_describe(store, name, &info));
    *width = info.rank > 1 ? (int)info.dims[1] : 1;
    if (info.dims[0] != rows || info.rank > 2 || *width < 1 || *width > 9 ||
        (info.type != PS_F32 && info.type != PS_F64))
        return ps_fail(PS_INVALID, "%s: %s has %lld rows of %d numbers, expected %lld of f32 or f64",
                       ps_store_path(store), name, (long long)info.dims[0], *width,
                       (long long)rows);
    int64_t count = rows * *width;
    PS_TRY(PS_ALLOC(out, count, "a field"));
    if (info.type == PS_F64)
        return ps_store_read_array(store, name, PS_F64, 0, rows, PS_ROOM(*out, count), *out);
    PS_TRY(PS_ALLOC(&narrow, count, "a field"));
    PS_TRY(ps_store_read_array(store, name, PS_F32, 0, rows, PS_ROOM(narrow, count), narrow));
    for (int64_t i = 0; i < count; ++i) (*out)[i] = narrow[i];
    return PS_OK;
}

/* ---- whether it is of the mesh ---- */

static ps_status other_mesh(const ps_store *store, const char *how)
{
    return ps_fail(PS_INVALID, "%s is of another mesh: %s", ps_store_path(store), how);
}

static ps_status compare_meshes(ps_store *store, const ps_surface_mesh *mesh)
{
    int64_t vertices, triangles;
    int width;
    double most = 0;
    PS_SCOPED_MEMORY double *points = NULL;
    PS_SCOPED_MEMORY int32_t *corners = NULL;
    PS_TRY(ps_vtkhdf_get_sizes(store, 3, &vertices, &triangles));
    if (vertices != mesh->vertex_count || triangles != mesh->triangle_count)
        return other_mesh(store, "it has other numbers of vertices and triangles");
    PS_TRY(PS_ALLOC(&corners, 3 * triangles, "triangles"));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/Connectivity", 3 * triangles, 1, corners));
    if (memcmp(corners, mesh->triangles, (size_t)triangles * 3 * sizeof *corners) != 0)
        return other_mesh(store, "its triangles have other corners");
    PS_TRY(read_numbers(store, "/VTKHDF/Points", vertices, &width, &points));
    if (width != 3) return other_mesh(store, "its vertices have no three coordinates");
    for (int64_t i = 0; i < 3 * vertices; ++i) most = fmax(most, fabs(mesh->vertices[i]));
    for (int64_t i = 0; i < 3 * vertices; ++i)
        if (!(fabs(points[i] - mesh->vertices[i]) <= same * most))
            return other_mesh(store, "its vertices lie elsewhere");
    return PS_OK;
}

static ps_status check_mesh(ps_store *store, const ps_surface_mesh *mesh)
{
    char hash[64] = "";
    if (ps_store_has(store, "/", "mesh_hash"))
        PS_TRY(ps_store_get_text(store, "/", "mesh_hash", hash, sizeof hash));
    if (hash[0] == 0) return compare_meshes(store, mesh);
    if (strcmp(hash, mesh->content_hash) == 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s is of another mesh (%s) than this one (%s)",
                   ps_store_path(store), hash, mesh->content_hash);
}

/* ---- fields ---- */

static ps_status read_field(ps_store *store, const char *name, const ps_surface_mesh *mesh,
                            ps_surface_field *out)
{
    char place[PS_NAME_MAX];
    if (strlen(name) > PS_NAME_MAX - 32)
        return ps_fail(PS_USAGE, "%.40s..: no field has a name as long", name);
    snprintf(place, sizeof place, "/VTKHDF/PointData/%s", name);
    out->on_points = ps_store_has(store, place, NULL);
    if (!out->on_points) snprintf(place, sizeof place, "/VTKHDF/CellData/%s", name);
    if (!ps_store_has(store, place, NULL))
        return ps_fail(PS_INVALID, "%s has no field \"%s\"", ps_store_path(store), name);
    int64_t rows = out->on_points ? mesh->vertex_count : mesh->triangle_count;
    PS_TRY(read_numbers(store, place, rows, &out->components, &out->values));
    for (int64_t i = 0; i < rows * out->components; ++i)
        if (!isfinite(out->values[i]))
            return ps_fail(PS_INVALID, "%s: %s: number %lld is %g", ps_store_path(store), name,
                           (long long)i, out->values[i]);
    return PS_OK;
}

/* Cuts the last `count` words between colons off: names[count] point into text. */
static bool cut_names(char *text, int count, char **names)
{
    for (int i = count - 1; i >= 0; --i) {
        char *colon = strrchr(text, ':');
        if (!colon || colon == text || colon[1] == 0) return false;
        *colon = 0;
        names[i] = colon + 1;
    }
    return true;
}

static ps_status read_all(const char *text, const ps_surface_mesh *mesh, int count,
                          ps_surface_field *out)
{
    char path[4096], *names[4];
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    if (snprintf(path, sizeof path, "%s", text) >= (int)sizeof path || count > 4 ||
        !cut_names(path, count, names))
        return ps_fail(PS_USAGE, "PATH and %d name%s of fields are expected, with colons between",
                       count, count > 1 ? "s" : "");
    PS_TRY(ps_store_open(path, NULL, 0, &store));
    PS_TRY(check_mesh(store, mesh));
    for (int i = 0; i < count; ++i) PS_TRY(read_field(store, names[i], mesh, &out[i]));
    return PS_OK;
}

ps_status ps_surface_fields_read(const char *what, const char *text, const ps_surface_mesh *mesh,
                                 int count, ps_surface_field *out)
{
    memset(out, 0, (size_t)count * sizeof *out);
    ps_status status = read_all(text, mesh, count, out);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", what);
}

void ps_surface_field_release(ps_surface_field *field)
{
    free(field->values);
    *field = (ps_surface_field){0};
}

ps_status ps_surface_field_expect(const char *what, const ps_surface_field *f, int components)
{
    if (f->components == components || f->components == 2 * components) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %d numbers a place; %d are expected, or %d: real parts, then imaginary ones",
                   what, f->components, components, 2 * components);
}
