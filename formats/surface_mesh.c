#include "formats/surface_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

ps_status ps_surface_mesh_init(ps_surface_mesh *mesh, int64_t vertex_count, int64_t triangle_count)
{
    ps_status status;
    memset(mesh, 0, sizeof *mesh);
    mesh->vertex_count = vertex_count;
    mesh->triangle_count = triangle_count;
    strcpy(mesh->order, "none");
    PS_GUARD(status, failed, PS_ALLOC(&mesh->vertices, 3 * vertex_count, "mesh vertices"));
    PS_GUARD(status, failed, PS_ALLOC(&mesh->triangles, 3 * triangle_count, "mesh triangles"));
    PS_GUARD(status, failed, PS_ALLOC(&mesh->tags, triangle_count, "mesh tags"));
    PS_GUARD(status, failed, PS_ALLOC(&mesh->vertex_source, vertex_count, "vertex sources"));
    PS_GUARD(status, failed, PS_ALLOC(&mesh->triangle_source, triangle_count, "triangle sources"));
    return PS_OK;
failed:
    ps_surface_mesh_release(mesh);
    return status;
}

void ps_surface_mesh_release(ps_surface_mesh *mesh)
{
    PS_FREE(mesh->vertices, mesh->triangles, mesh->tags, mesh->vertex_source,
            mesh->triangle_source);
    memset(mesh, 0, sizeof *mesh);
}

ps_status ps_surface_mesh_find_tag(const ps_surface_mesh *mesh, const char *where, int64_t *out)
{
    int32_t tag;
    *out = -1;
    if (!strcmp(where, "all")) return PS_OK;
    PS_TRY(
        ps_tag_names_find(mesh->tag_names, PS_TAGS_OF_SURFACES, "a part of the mesh", where, &tag));
    *out = tag;
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
        if (mesh->tags[t] == *out) return PS_OK;
    return ps_fail(PS_USAGE, "no triangle of the mesh has tag %lld", (long long)*out);
}

ps_vtkhdf_grid ps_surface_mesh_grid(const ps_surface_mesh *mesh)
{
    return (ps_vtkhdf_grid){mesh->vertex_count, mesh->triangle_count, 3,
                            mesh->vertices,     mesh->triangles,      false};
}

/* Twice the area is the length of the cross product of two edges. */
static bool has_area(const double *a, const double *b, const double *c)
{
    double u[3], v[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
    }
    return u[1] * v[2] != u[2] * v[1] || u[2] * v[0] != u[0] * v[2] || u[0] * v[1] != u[1] * v[0];
}

ps_status ps_surface_mesh_check(const ps_surface_mesh *mesh)
{
    ps_vtkhdf_grid grid = ps_surface_mesh_grid(mesh);
    PS_TRY(ps_vtkhdf_check(&grid, "triangle"));
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        const int32_t *v = mesh->triangles + 3 * t;
        if (!has_area(mesh->vertices + 3 * (int64_t)v[0], mesh->vertices + 3 * (int64_t)v[1],
                      mesh->vertices + 3 * (int64_t)v[2]))
            return ps_fail(PS_INVALID, "triangle %lld (vertices %d %d %d) has no area",
                           (long long)t, v[0], v[1], v[2]);
    }
    return PS_OK;
}

static ps_status put_all(ps_store *store, const ps_surface_mesh *mesh)
{
    ps_vtkhdf_grid grid = ps_surface_mesh_grid(mesh);
    PS_TRY(ps_store_put_int(store, "/", "closed", mesh->closed));
    PS_TRY(ps_store_put_int(store, "/", "oriented", mesh->oriented));
    PS_TRY(ps_store_put_text(store, "/", "order", mesh->order));
    if (mesh->tag_names[0]) PS_TRY(ps_store_put_text(store, "/", "tag_names", mesh->tag_names));
    PS_TRY(ps_vtkhdf_put_grid(store, &grid));
    PS_TRY(ps_vtkhdf_put_i32(store, "/VTKHDF/CellData/tag", PS_VTKHDF_CELL,
                             "physical group, 0 where none", mesh->tags, mesh->triangle_count));
    PS_TRY(ps_vtkhdf_put_i32(store, "/VTKHDF/CellData/triangle_source", PS_VTKHDF_CELL,
                             "place among the triangles of the imported file",
                             mesh->triangle_source, mesh->triangle_count));
    return ps_vtkhdf_put_i32(store, "/VTKHDF/PointData/vertex_source", PS_VTKHDF_POINT,
                             "place among the vertices of the imported file", mesh->vertex_source,
                             mesh->vertex_count);
}

ps_status ps_surface_mesh_save(const char *path, const ps_surface_mesh *mesh, const char *creator,
                               const char *options)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_status status = ps_surface_mesh_check(mesh);
    if (status != PS_OK) return ps_context(status, "%s", path);
    ps_store_identity identity = {PS_SURFACE_MESH_FORMAT,
                                  PS_SURFACE_MESH_VERSION,
                                  creator,
                                  ps_revision(),
                                  options,
                                  28 * mesh->vertex_count + 25 * mesh->triangle_count};
    PS_TRY(ps_store_create(path, &identity, &store));
    status = put_all(store, mesh);
    if (status == PS_OK) return ps_store_commit(&store);
    return status;
}

static ps_status get_flags(ps_store *store, ps_surface_mesh *mesh)
{
    int64_t closed, oriented;
    PS_TRY(ps_store_get_int(store, "/", "closed", &closed));
    PS_TRY(ps_store_get_int(store, "/", "oriented", &oriented));
    mesh->closed = closed != 0;
    mesh->oriented = oriented != 0;
    PS_TRY(ps_store_get_text(store, "/", "order", mesh->order, sizeof mesh->order));
    if (ps_store_has(store, "/", "tag_names"))
        PS_TRY(ps_store_get_text(store, "/", "tag_names", mesh->tag_names, sizeof mesh->tag_names));
    strncpy(mesh->uuid, ps_store_uuid(store), sizeof mesh->uuid - 1);
    return ps_store_content_hash(store, mesh->content_hash);
}

static ps_status get_all(ps_store *store, ps_surface_mesh *mesh)
{
    int64_t vertices, triangles;
    PS_TRY(ps_vtkhdf_get_sizes(store, 3, &vertices, &triangles));
    PS_TRY(ps_store_expect(store, "/VTKHDF/Points", PS_F64, vertices, 3));
    PS_TRY(ps_surface_mesh_init(mesh, vertices, triangles));
    PS_TRY(get_flags(store, mesh));
    PS_TRY(ps_vtkhdf_get_f64(store, "/VTKHDF/Points", vertices, 3, mesh->vertices));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/Connectivity", 3 * triangles, 1, mesh->triangles));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/CellData/tag", triangles, 1, mesh->tags));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/CellData/triangle_source", triangles, 1,
                             mesh->triangle_source));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/PointData/vertex_source", vertices, 1,
                             mesh->vertex_source));
    ps_status status = ps_surface_mesh_check(mesh);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_store_path(store));
}

ps_status ps_surface_mesh_load(const char *path, ps_surface_mesh *mesh)
{
    ps_store *store = NULL;
    memset(mesh, 0, sizeof *mesh);
    PS_TRY(ps_store_open(path, PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &store));
    ps_status status = get_all(store, mesh);
    ps_store_close(&store);
    if (status != PS_OK) ps_surface_mesh_release(mesh);
    return status;
}
