#include "formats/surface_mesh.h"

#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

/* The grid comes first; it is written as such. */
enum { GRID = 2 };
static ps_status pass_arrays(ps_store *store, const ps_surface_mesh *m, int first,
                             ps_columns_pass *each)
{
    int64_t n = m->triangle_count;
    const ps_column columns[] = {
        {"/VTKHDF/Points", "m", NULL, PS_F64, m->vertex_count, 3, .at = &m->vertices},
        {"/VTKHDF/Connectivity", "1", NULL, PS_I32, 3 * n, 1, .at = &m->triangles},
        {"/VTKHDF/CellData/tag", "1", "physical group, 0 where none", PS_I32, n, 1, &m->tags,
         .dimensions = {PS_VTKHDF_CELL}},
        {"/VTKHDF/CellData/triangle_source", "1", "place among the triangles of the imported file",
         PS_I32, n, 1, &m->triangle_source, .dimensions = {PS_VTKHDF_CELL}},
        {"/VTKHDF/PointData/vertex_source", "1", "place among the vertices of the imported file",
         PS_I32, m->vertex_count, 1, &m->vertex_source, .dimensions = {PS_VTKHDF_POINT}}};
    return each(store, columns + first, PS_COLUMNS(columns) - first);
}

static ps_status pass_header(ps_store *store, const ps_surface_mesh *m, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("closed", m->closed), PS_ENTRY("oriented", m->oriented),
                                PS_ENTRY("order", m->order),
                                PS_ENTRY_OPTIONAL("tag_names", m->tag_names)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

ps_status ps_surface_mesh_init(ps_surface_mesh *mesh, int64_t vertex_count, int64_t triangle_count)
{
    *mesh = (ps_surface_mesh){
        .vertex_count = vertex_count, .triangle_count = triangle_count, .order = "none"};
    ps_status status = pass_arrays(NULL, mesh, 0, ps_columns_allocate);
    if (status != PS_OK) ps_surface_mesh_release(mesh);
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
    PS_TRY(pass_header(store, mesh, ps_entries_put));
    PS_TRY(ps_vtkhdf_put_grid(store, &grid));
    return pass_arrays(store, mesh, GRID, ps_columns_write);
}

ps_status ps_surface_mesh_save(const char *path, const ps_surface_mesh *mesh, const char *creator,
                               const char *options)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY_IN(ps_surface_mesh_check(mesh), "%s", path);
    ps_store_identity identity = {PS_SURFACE_MESH_FORMAT,
                                  PS_SURFACE_MESH_VERSION,
                                  creator,
                                  ps_revision(),
                                  options,
                                  28 * mesh->vertex_count + 25 * mesh->triangle_count};
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(put_all(store, mesh));
    return ps_store_commit(&store);
}

static ps_status get_all(ps_store *store, ps_surface_mesh *mesh)
{
    int64_t vertices, triangles;
    PS_TRY(ps_vtkhdf_get_sizes(store, 3, &vertices, &triangles));
    PS_TRY(ps_store_expect(store, "/VTKHDF/Points", PS_F64, vertices, 3));
    PS_TRY(ps_surface_mesh_init(mesh, vertices, triangles));
    PS_TRY(pass_header(store, mesh, ps_entries_get));
    strncpy(mesh->uuid, ps_store_uuid(store), sizeof mesh->uuid - 1);
    PS_TRY(ps_store_content_hash(store, mesh->content_hash));
    PS_TRY(pass_arrays(store, mesh, 0, ps_columns_read));
    PS_TRY_IN(ps_surface_mesh_check(mesh), "%s", ps_store_path(store));
    return PS_OK;
}

ps_status ps_surface_mesh_load(const char *path, ps_surface_mesh *mesh)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(mesh, 0, sizeof *mesh);
    PS_TRY(ps_store_open(path, PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &store));
    ps_status status = get_all(store, mesh);
    if (status != PS_OK) ps_surface_mesh_release(mesh);
    return status;
}
